//! A disk of our own: a FUSE file system in memory that records what is written and synced, in
//! order, and can be told to misbehave.
//!
//! From the record it builds what a power cut could leave: what was synced is there; what was
//! not is there, absent or torn. Names count like data: they last once the directory is synced.
//! One flat directory; links, owners and times are not kept.

use std::{
    collections::{BTreeMap, HashMap},
    env,
    ffi::OsStr,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, MountOption, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyStatfs, ReplyWrite, Request, Session, TimeOrNow, WriteFlags,
};
use nix::mount::{MntFlags, umount2};
use parking_lot::{Condvar, Mutex, MutexGuard};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use tempfile::TempDir;

/// How long the kernel may keep names and sizes; only it changes them.
const TTL: Duration = Duration::from_secs(60);
/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// A thing that happened to the disk.
#[derive(Clone, Debug)]
enum Entry {
    /// Somebody wanted a place in the order.
    Mark,
    /// A new file.
    Create { name: String, file: u64 },
    /// Bytes.
    Write { file: u64, offset: usize, data: Vec<u8> },
    /// A new length.
    Truncate { file: u64, len: usize },
    /// A name that another takes.
    Rename { from: String, to: String },
    /// A name that goes.
    Unlink { name: String },
    /// All entries of the file before `upto` are on the disk.
    Sync { file: u64, upto: usize },
    /// All names given and taken before `upto` are on the disk.
    SyncDirectory { upto: usize },
}

/// How the disk misbehaves.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Bytes that all files together may have.
    pub capacity: Option<usize>,
    /// Nothing may be changed.
    pub read_only: bool,
    /// Syncs fail, and then nothing is known about what they should have synced.
    pub sync_fails: bool,
    /// Syncs do nothing, and say that they did.
    pub sync_lies: bool,
    /// Syncs take so long.
    pub sync_delay: Duration,
    /// Writes and syncs wait until it is over.
    pub stalled: bool,
}

#[derive(Default)]
struct State {
    files: HashMap<u64, Vec<u8>>,
    names: BTreeMap<String, u64>,
    record: Vec<Entry>,
    faults: Faults,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Faults were changed.
    changed: Condvar,
}

/// Names the directory for [`serve`]; the socket for orders is beside it.
const DIRECTORY: &str = "KINGLET_TEST_DISK";

/// A mounted disk. Another process serves it: one that maps files of its own file system waits for
/// itself when it unmaps them.
pub struct Disk {
    directory: TempDir,
    orders: Mutex<BufReader<UnixStream>>,
    server: Child,
}

impl Disk {
    /// Mounts an empty disk; needs root and /dev/fuse.
    pub fn mount() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("disk")).unwrap();
        let listener = UnixListener::bind(directory.path().join("orders")).unwrap();
        let server = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "support::disk::serve", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let disk = Disk { orders: Mutex::new(BufReader::new(listener.accept().unwrap().0)), directory, server };
        assert_eq!(disk.order("begin"), 0);
        disk
    }

    /// Gives the server an order, and waits for its answer.
    fn order(&self, order: &str) -> u64 {
        let mut orders = self.orders.lock();
        writeln!(orders.get_mut(), "{order}").unwrap();
        let mut answer = String::new();
        orders.read_line(&mut answer).unwrap();
        answer.trim().parse().expect("root and /dev/fuse are needed to mount the test's disk")
    }

    /// Where the disk is mounted.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("disk")
    }

    /// How the disk misbehaves from now on.
    pub fn set(&self, faults: &Faults) {
        let Faults { capacity, read_only, sync_fails, sync_lies, sync_delay, stalled } = faults;
        let (capacity, delay) = (capacity.unwrap_or(usize::MAX), sync_delay.as_millis());
        self.order(&format!("faults {capacity} {read_only} {sync_fails} {sync_lies} {delay} {stalled}"));
    }

    /// A place in the order of what happens to the disk.
    pub fn mark(&self) -> u64 {
        self.order("mark")
    }

    /// Bytes that all files have together.
    pub fn used(&self) -> usize {
        self.order("used") as usize
    }

    /// Builds in `directory` what a power cut at a place in the order could leave.
    pub fn cut(&self, at: u64, seed: u64, directory: &Path) {
        self.order(&format!("cut {at} {seed} {}", directory.display()));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The server ends when nobody can give it orders any more.
        let _ = self.orders.lock().get_mut().shutdown(Shutdown::Both);
        let _ = self.server.wait();
    }
}

/// The process that serves a [`Disk`].
#[test]
#[ignore = "started by the tests that need a disk"]
fn serve() {
    let directory = PathBuf::from(env::var_os(DIRECTORY).expect("it is started by tests"));
    let (mounted, orders) = (directory.join("disk"), UnixStream::connect(directory.join("orders")).unwrap());
    let shared = Arc::new(Shared::default());
    let mut config = Config::default();
    config.n_threads = Some(8);
    config.mount_options = vec![MountOption::FSName("kinglet-test".into()), MountOption::NoAtime];
    let session = Session::new(Mounted(shared.clone()), &mounted, &config).and_then(Session::spawn).unwrap();
    let mut answers = orders.try_clone().unwrap();
    for order in BufReader::new(orders).lines().map_while(Result::ok) {
        let answer = shared.obey(&order.split(' ').collect::<Vec<_>>());
        if writeln!(answers, "{answer}").is_err() {
            break;
        }
    }
    shared.state.lock().faults = Faults::default();
    shared.changed.notify_all();
    // Also with files open, for a test that failed.
    umount2(&mounted, MntFlags::MNT_FORCE | MntFlags::MNT_DETACH).unwrap();
    drop(session);
}

impl Shared {
    fn obey(&self, order: &[&str]) -> u64 {
        let mut state = self.state.lock();
        match order {
            ["begin"] => 0,
            ["mark"] => {
                state.record.push(Entry::Mark);
                state.record.len() as u64 - 1
            }
            ["used"] => state.used() as u64,
            ["faults", capacity, read_only, sync_fails, sync_lies, delay, stalled] => {
                state.faults = Faults {
                    capacity: Some(capacity.parse().unwrap()).filter(|capacity| *capacity < usize::MAX),
                    read_only: read_only.parse().unwrap(),
                    sync_fails: sync_fails.parse().unwrap(),
                    sync_lies: sync_lies.parse().unwrap(),
                    sync_delay: Duration::from_millis(delay.parse().unwrap()),
                    stalled: stalled.parse().unwrap(),
                };
                self.changed.notify_all();
                0
            }
            ["cut", at, seed, directory] => {
                let record = &state.record[..at.parse::<usize>().unwrap()];
                for (name, content) in image(record, &mut StdRng::seed_from_u64(seed.parse().unwrap())) {
                    fs::write(Path::new(directory).join(name), content).unwrap();
                }
                0
            }
            other => panic!("no order of ours: {other:?}"),
        }
    }
}

impl State {
    fn used(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    /// Whether a file may grow from `old` to `new` bytes.
    fn may_change(&self, old: usize, new: usize) -> Result<(), Errno> {
        if self.faults.read_only {
            return Err(Errno::EROFS);
        }
        match self.faults.capacity {
            Some(capacity) if new > old && self.used() + (new - old) > capacity => Err(Errno::ENOSPC),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, entry: Entry) {
        apply(&mut self.files, &mut self.names, &entry);
        self.record.push(entry);
    }

    fn attributes(&self, file: u64) -> Option<FileAttr> {
        let directory = file == INodeNo::ROOT.0;
        let size = if directory { 0 } else { self.files.get(&file)?.len() as u64 };
        Some(FileAttr {
            ino: INodeNo(file),
            size,
            blocks: size.div_ceil(SECTOR as u64),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if directory { FileType::Directory } else { FileType::RegularFile },
            perm: 0o755,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

fn apply(files: &mut HashMap<u64, Vec<u8>>, names: &mut BTreeMap<String, u64>, entry: &Entry) {
    match entry {
        Entry::Create { name, file } => {
            files.entry(*file).or_default();
            names.insert(name.clone(), *file);
        }
        Entry::Write { file, offset, data } => {
            let content = files.entry(*file).or_default();
            content.resize(content.len().max(offset + data.len()), 0);
            content[*offset..offset + data.len()].copy_from_slice(data);
        }
        Entry::Truncate { file, len } => files.entry(*file).or_default().resize(*len, 0),
        Entry::Rename { from, to } => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        Entry::Unlink { name } => drop(names.remove(name)),
        Entry::Mark | Entry::Sync { .. } | Entry::SyncDirectory { .. } => {}
    }
}

/// What a cut does to what was not synced.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Nothing,
    Everything,
    /// From some point on.
    Tail(usize),
    /// Any of it, some torn.
    Any,
}

/// Names and contents that a power cut after `record` could leave.
fn image(record: &[Entry], random: &mut StdRng) -> BTreeMap<String, Vec<u8>> {
    let mut synced: HashMap<u64, usize> = HashMap::new();
    let mut names_synced = 0;
    for entry in record {
        match entry {
            Entry::Sync { file, upto } => {
                let synced = synced.entry(*file).or_default();
                *synced = (*synced).max(*upto);
            }
            Entry::SyncDirectory { upto } => names_synced = names_synced.max(*upto),
            _ => {}
        }
    }
    let loss = match random.random_range(0..8) {
        0 => Loss::Nothing,
        1 => Loss::Everything,
        2 | 3 => Loss::Tail(record.len() - random.random_range(0..=record.len().min(100))),
        _ => Loss::Any,
    };
    // Directories are kept in order by all file systems: a tail is lost, not any of it.
    let names_kept = match loss {
        Loss::Nothing => record.len(),
        Loss::Everything => 0,
        Loss::Tail(at) => at,
        Loss::Any => record.len() - random.random_range(0..=record.len()),
    };
    let (mut files, mut names) = (HashMap::new(), BTreeMap::new());
    for (at, entry) in record.iter().enumerate() {
        match entry {
            Entry::Create { .. } | Entry::Rename { .. } | Entry::Unlink { .. } => {
                if at < names_synced.max(names_kept) {
                    apply(&mut files, &mut names, entry);
                }
            }
            Entry::Write { file, .. } | Entry::Truncate { file, .. } => {
                let safe = at < synced.get(file).copied().unwrap_or(0);
                for entry in if safe { vec![entry.clone()] } else { survivors(loss, at, entry, random) } {
                    apply(&mut files, &mut names, &entry);
                }
            }
            Entry::Mark | Entry::Sync { .. } | Entry::SyncDirectory { .. } => {}
        }
    }
    names.into_iter().map(|(name, file)| (name, files.remove(&file).unwrap_or_default())).collect()
}

/// What is left of an entry that was not synced.
fn survivors(loss: Loss, at: usize, entry: &Entry, random: &mut StdRng) -> Vec<Entry> {
    let kept = match loss {
        Loss::Nothing => true,
        Loss::Everything => false,
        Loss::Tail(end) if at + 1 == end => return torn(entry, random),
        Loss::Tail(end) => at < end,
        Loss::Any => match random.random_range(0..4) {
            0 => return torn(entry, random),
            other => other > 1,
        },
    };
    if kept { vec![entry.clone()] } else { Vec::new() }
}

fn torn(entry: &Entry, random: &mut StdRng) -> Vec<Entry> {
    let Entry::Write { file, offset, data } = entry else { return Vec::new() };
    if random.random() {
        let data = data[..random.random_range(0..=data.len())].to_vec();
        return vec![Entry::Write { file: *file, offset: *offset, data }];
    }
    let sectors = data.chunks(SECTOR).enumerate().filter(|_| random.random());
    let write =
        |(at, data): (usize, &[u8])| Entry::Write { file: *file, offset: offset + at * SECTOR, data: data.to_vec() };
    sectors.map(write).collect()
}

/// The side that the kernel speaks to.
struct Mounted(Arc<Shared>);

impl Mounted {
    /// The state, once no stall holds back changes.
    fn changing(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.state.lock();
        while state.faults.stalled {
            self.0.changed.wait(&mut state);
        }
        state
    }

    /// Answers a sync with what it synced, after the disk's delay, on a thread of its own: others go on.
    fn sync(&self, entry: impl FnOnce(usize) -> Entry + Send + 'static, reply: ReplyEmpty) {
        let state = self.changing();
        let (upto, delay) = (state.record.len(), state.faults.sync_delay);
        drop(state);
        let shared = self.0.clone();
        let finish = move || {
            thread::sleep(delay);
            let mut state = shared.state.lock();
            if state.faults.sync_fails {
                return reply.error(Errno::EIO);
            }
            if !state.faults.sync_lies {
                state.record.push(entry(upto));
            }
            drop(state);
            reply.ok();
        };
        if delay.is_zero() { finish() } else { drop(thread::spawn(finish)) }
    }
}

fn text(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

impl Filesystem for Mounted {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let state = self.0.state.lock();
        match state.names.get(&text(name)).and_then(|file| state.attributes(*file)) {
            Some(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, file: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.0.state.lock().attributes(file.0) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        file: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut state = self.changing();
        if let Some(size) = size {
            let (old, len) = (state.files.get(&file.0).map_or(0, Vec::len), size as usize);
            if let Err(error) = state.may_change(old, len) {
                return reply.error(error);
            }
            state.apply(Entry::Truncate { file: file.0, len });
        }
        match state.attributes(file.0) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn create(&self, _: &Request, _: INodeNo, name: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        let mut state = self.changing();
        if let Err(error) = state.may_change(0, 0) {
            return reply.error(error);
        }
        let file = INodeNo::ROOT.0 + 1 + state.files.len() as u64;
        state.apply(Entry::Create { name: text(name), file });
        let attributes = state.attributes(file).expect("it was made just now");
        reply.created(&TTL, &attributes, Generation(0), FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: fuser::ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn read(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let state = self.0.state.lock();
        let Some(content) = state.files.get(&file.0) else { return reply.error(Errno::ENOENT) };
        let start = content.len().min(offset as usize);
        reply.data(&content[start..content.len().min(start + size as usize)]);
    }

    fn write(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut state = self.changing();
        let (old, offset) = (state.files.get(&file.0).map_or(0, Vec::len), offset as usize);
        if let Err(error) = state.may_change(old, old.max(offset + data.len())) {
            return reply.error(error);
        }
        state.apply(Entry::Write { file: file.0, offset, data: data.to_vec() });
        reply.written(data.len() as u32);
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let mut state = self.changing();
        if let Err(error) = state.may_change(0, 0) {
            return reply.error(error);
        }
        state.apply(Entry::Unlink { name: text(name) });
        reply.ok();
    }

    fn rename(&self, _: &Request, _: INodeNo, from: &OsStr, _: INodeNo, to: &OsStr, _: RenameFlags, reply: ReplyEmpty) {
        let mut state = self.changing();
        if let Err(error) = state.may_change(0, 0) {
            return reply.error(error);
        }
        state.apply(Entry::Rename { from: text(from), to: text(to) });
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, file: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.sync(move |upto| Entry::Sync { file: file.0, upto }, reply);
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.sync(|upto| Entry::SyncDirectory { upto }, reply);
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let state = self.0.state.lock();
        for (at, (name, file)) in state.names.iter().enumerate().skip(offset as usize) {
            if reply.add(INodeNo(*file), at as u64 + 1, FileType::RegularFile, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let state = self.0.state.lock();
        let block = 4096;
        let total = state.faults.capacity.unwrap_or(1 << 40) / block;
        let free = total.saturating_sub(state.used().div_ceil(block)) as u64;
        reply.statfs(total as u64, free, free, 0, 0, block as u32, 255, block as u32);
    }
}
