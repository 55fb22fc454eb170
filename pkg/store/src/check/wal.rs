//! The write-ahead log, frame by frame (<https://www.sqlite.org/fileformat2.html#walformat>).
//!
//! SQLite takes frames up to the last commit whose checksums hold, and never says what it left. A
//! frame that does not hold is one of four things: zeros that we fill the log with, a frame of an
//! older generation (other salts), the write that a power cut tore, or damage. Each commit is
//! synced before the next begins, so a torn write is the last of its generation: where frames of
//! this generation follow a later commit, something that was acknowledged is lost.

use std::{
    fmt,
    fs::File,
    io::{self, BufReader, ErrorKind, Read},
    path::Path,
};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// First word of a log with checksums over little-endian words; the next number is big-endian.
const MAGIC: u32 = 0x377f_0682;

/// What a log holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wal {
    /// Bytes of the file.
    pub bytes: u64,
    /// Frames up to the last commit.
    pub frames: u64,
    /// What follows them.
    pub rest: Rest,
    /// Whether commits that were acknowledged may be lost in it.
    pub damaged: bool,
}

/// What follows the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rest {
    /// The end of the file.
    Nothing,
    /// Our own filling.
    Zeros,
    /// What was moved into the database already.
    Older,
    /// A write that was not finished, or damage.
    Torn,
}

impl Wal {
    /// Reads a log; `None` if there is none, or if it is empty.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let bytes = file.metadata()?.len();
        if bytes == 0 { Ok(None) } else { scan(BufReader::new(file), bytes).map(Some) }
    }
}

impl fmt::Display for Wal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = match (self.damaged, self.rest) {
            (true, _) => "then a frame that does not hold, with later commits behind it",
            (_, Rest::Nothing) => "then its end",
            (_, Rest::Zeros) => "then its filling",
            (_, Rest::Older) => "then frames that are in the database already",
            (_, Rest::Torn) => "then a write that was not finished, and not acknowledged",
        };
        write!(f, "{} frames up to the last commit, {rest}", self.frames)
    }
}

fn scan(mut log: impl Read, bytes: u64) -> io::Result<Wal> {
    let mut wal = Wal { bytes, frames: 0, rest: Rest::Nothing, damaged: false };
    let mut header = [0; HEADER];
    if !fill(&mut log, &mut header)? {
        wal.rest = Rest::Torn;
        return Ok(wal);
    }
    let big_endian = word(&header, 0) == MAGIC + 1;
    let mut sum = checksum(big_endian, (0, 0), &header[..24]);
    let page = word(&header, 8) as usize;
    let salts = (word(&header, 16), word(&header, 20));
    if word(&header, 0) & !1 != MAGIC || sum != (word(&header, 24), word(&header, 28)) || !(512..=65536).contains(&page)
    {
        // It is one sector, and synced before the frames: nothing but zeros is in order here.
        let mut rest = Vec::new();
        log.read_to_end(&mut rest)?;
        wal.damaged = header.iter().chain(&rest).any(|byte| *byte != 0);
        wal.rest = if wal.damaged { Rest::Torn } else { Rest::Zeros };
        return Ok(wal);
    }
    let mut frame = vec![0; FRAME_HEADER + page];
    let (mut count, mut holding, mut commit_behind) = (0, true, false);
    while fill(&mut log, &mut frame)? {
        let ours = salts == (word(&frame, 8), word(&frame, 12));
        let commit = word(&frame, 4) != 0;
        if holding {
            let next = checksum(big_endian, checksum(big_endian, sum, &frame[..8]), &frame[FRAME_HEADER..]);
            holding = ours && next == (word(&frame, 16), word(&frame, 20));
            sum = next;
        }
        if holding {
            count += 1;
            if commit {
                (wal.frames, wal.rest) = (count, Rest::Nothing);
            } else {
                wal.rest = Rest::Torn;
            }
            continue;
        }
        let kind = match frame.iter().any(|byte| *byte != 0) {
            _ if ours => Rest::Torn,
            true => Rest::Older,
            false => Rest::Zeros,
        };
        wal.rest = wal.rest.max(kind);
        wal.damaged |= ours && commit_behind;
        commit_behind |= ours && commit;
    }
    Ok(wal)
}

/// Fills the buffer; false if there is less.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn checksum(big_endian: bool, (mut a, mut b): (u32, u32), bytes: &[u8]) -> (u32, u32) {
    let native = |at| if big_endian { word(bytes, at) } else { word(bytes, at).swap_bytes() };
    for at in (0..bytes.len()).step_by(8) {
        a = a.wrapping_add(native(at)).wrapping_add(b);
        b = b.wrapping_add(native(at + 4)).wrapping_add(a);
    }
    (a, b)
}
