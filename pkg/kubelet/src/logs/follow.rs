//! A log as a stream: what is there, then what comes. Waiting costs nothing: the kernel tells of writes and renames.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::read::{self, Options, Printer};

/// Bytes sent at a time.
const CHUNK: usize = 32 << 10;

/// Sends a log to `out`, until its end; when following, until `ended` is cancelled and all was read, or nobody listens.
pub async fn stream(
    path: PathBuf,
    options: Options,
    ended: CancellationToken,
    out: mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<()> {
    let follow = options.follow;
    // The watch comes before the first read, so that no write is missed between them.
    let mut watch = if follow { Some(watch(&path)?) } else { None };
    let mut events = [0; 4096];
    let mut printer = Printer::new(options.clone());
    let mut current = open(&path, &options, &mut printer, &out).await?;
    loop {
        let last_round = ended.is_cancelled();
        if !drain(&mut current, &mut printer, &out).await? {
            return Ok(());
        }
        if replaced(&current, &path) {
            current = BufReader::new(File::open(&path)?);
            continue;
        }
        let Some(watch) = watch.as_mut().filter(|_| !last_round) else { return Ok(()) };
        tokio::select! {
            () = ended.cancelled() => {}
            () = out.closed() => return Ok(()),
            // What happened does not matter: the file is looked at again.
            read = watch.read(&mut events) => { read?; }
        }
    }
}

/// One watch, of the directory: it sees writes to the log, and its successor after a rotation.
fn watch(path: &Path) -> io::Result<Receiver> {
    let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
    let dir = path.parent().unwrap_or(Path::new("/"));
    inotify.add_watch(dir, AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_MOVED_TO)?;
    // Not a pipe, but read like one.
    Receiver::from_owned_fd_unchecked(OwnedFd::from(inotify))
}

/// Opens the log where the options begin. Rotated files are sent first, where the options reach into them.
async fn open(
    path: &Path,
    options: &Options,
    printer: &mut Printer,
    out: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<BufReader<File>> {
    let mut file = File::open(path)?;
    match options.tail {
        Some(lines) => {
            let offset = read::tail_offset(&mut file, lines)?;
            file.seek(SeekFrom::Start(offset))?;
        }
        None => {
            for old in super::rotate::rotated(path) {
                drain(&mut BufReader::new(File::open(old)?), printer, out).await?;
            }
        }
    }
    Ok(BufReader::new(file))
}

/// Sends all whole lines that are there. Returns whether anyone wants more.
async fn drain(
    file: &mut BufReader<File>,
    printer: &mut Printer,
    out: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<bool> {
    let mut pending = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.read_until(b'\n', &mut line)?;
        let whole = line.last() == Some(&b'\n');
        if whole {
            line.pop();
            printer.print(&line, &mut pending);
        } else if read > 0 {
            // Half a line: the runtime is writing it. Read again when the rest is there.
            file.seek_relative(-i64::try_from(read).unwrap_or(0))?;
        }
        if pending.len() >= CHUNK || (!whole || printer.full()) && !pending.is_empty() {
            let chunk = Bytes::from(std::mem::take(&mut pending));
            if out.send(Ok(chunk)).await.is_err() {
                return Ok(false);
            }
        }
        if printer.full() {
            return Ok(false);
        }
        if !whole {
            return Ok(true);
        }
    }
}

/// Whether another file now has the log's name.
fn replaced(current: &BufReader<File>, path: &Path) -> bool {
    let ours = current.get_ref().metadata().map(|m| m.ino());
    matches!((ours, std::fs::metadata(path)), (Ok(ours), Ok(theirs)) if ours != theirs.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[tokio::test]
    async fn following_goes_on_after_rotation_and_ends_with_the_container() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0.log");
        let line = |text: &str| format!("2016-10-06T00:17:09.669794202Z stdout F {text}\n");
        std::fs::write(&path, line("a")).unwrap();
        let ended = CancellationToken::new();
        let (out, mut got) = mpsc::channel(10);
        let options = Options { follow: true, ..Options::default() };
        let task = tokio::spawn(stream(path.clone(), options, ended.clone(), out));
        assert_eq!(got.recv().await.unwrap().unwrap(), "a\n");
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        let text = line("b");
        let (half, rest) = text.split_at(40);
        file.write_all(half.as_bytes()).unwrap();
        tokio::task::yield_now().await;
        file.write_all(rest.as_bytes()).unwrap();
        assert_eq!(got.recv().await.unwrap().unwrap(), "b\n");
        super::super::rotate::rename(&path, jiff::Timestamp::now()).unwrap();
        std::fs::write(&path, line("c")).unwrap();
        assert_eq!(got.recv().await.unwrap().unwrap(), "c\n");
        ended.cancel();
        assert!(got.recv().await.is_none());
        task.await.unwrap().unwrap();
    }
}
