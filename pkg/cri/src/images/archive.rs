//! Reading an image archive: the compression around it, and its members one after the other.
//!
//! An archive is read once, front to back, in pieces of [`PIECE`] bytes, so its size never matters. Where the
//! compression is known only by content, it is told by magic bytes, never by the file's name.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// Bytes in one piece of a member.
const PIECE: usize = 256 << 10;
/// Members that describe the archive are kept whole, up to this size.
const JSON_LIMIT: u64 = 8 << 20;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How a stream is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// Tells the compression by the first bytes of a stream.
    pub(super) fn of(start: &[u8]) -> Self {
        if start.starts_with(GZIP) {
            Self::Gzip
        } else if start.starts_with(ZSTD) {
            Self::Zstd
        } else {
            Self::None
        }
    }
}

/// What comes out of an archive, in the order in which it stands there.
#[derive(Debug)]
pub(super) enum Item {
    /// A member that describes the archive: `index.json` or `manifest.json`.
    Json { path: String, bytes: Vec<u8> },
    /// A link from one member to another, both as paths within the archive.
    Link { path: String, target: String },
    /// A blob begins; its pieces follow.
    Begin { path: String, size: u64 },
    /// The next piece of the blob.
    Piece(Vec<u8>),
    /// The blob is complete.
    End,
}

/// Why an archive cannot be read: the member (if it got that far) and the reason.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) member: Option<String>,
    pub(super) reason: String,
}

/// Reads `source` and hands each item to `send`, until the end or until `send` wants no more (returns false).
pub(super) fn read(source: impl Read + Send + 'static, mut send: impl FnMut(Item) -> bool) -> Result<(), Broken> {
    let whole = |error: io::Error| Broken { member: None, reason: error.to_string() };
    let plain = decompress(source).map_err(whole)?;
    let mut archive = tar::Archive::new(plain);
    let mut members = 0;
    let mut last = None;
    for entry in archive.entries().map_err(whole)? {
        let mut entry = entry.map_err(|error| match last.take() {
            None => Broken { member: None, reason: format!("not a tar archive, plain or with gzip or zstd: {error}") },
            Some(last) => Broken { member: None, reason: format!("damaged after member {last}: {error}") },
        })?;
        let path = {
            let path = entry.path().map_err(whole)?;
            clean(&path).ok_or_else(|| Broken {
                member: Some(path.display().to_string()),
                reason: "path leads out of the archive".into(),
            })?
        };
        members += 1;
        let broken = |error: io::Error| Broken { member: Some(path.clone()), reason: error.to_string() };
        let kind = entry.header().entry_type();
        if kind.is_symlink() || kind.is_hard_link() {
            if let Some(target) = entry.link_name().map_err(broken)? {
                let base =
                    if kind.is_symlink() { Path::new(&path).parent().unwrap_or(Path::new("")) } else { Path::new("") };
                if let Some(target) = clean(&base.join(&target))
                    && !send(Item::Link { path: path.clone(), target })
                {
                    return Ok(());
                }
            }
        } else if kind.is_file() && !is_ignored(&path) && !member(&mut entry, &path, &mut send).map_err(broken)? {
            return Ok(());
        }
        last = Some(path);
    }
    if members == 0 {
        return Err(Broken { member: None, reason: "it is empty".into() });
    }
    Ok(())
}

/// Sends one regular member; false when the receiver wants no more.
fn member<R: Read>(entry: &mut tar::Entry<'_, R>, path: &str, send: &mut impl FnMut(Item) -> bool) -> io::Result<bool> {
    let size = entry.size();
    if matches!(path, "index.json" | "manifest.json") {
        if size > JSON_LIMIT {
            return Err(io::Error::other(format!("{size} bytes are too many for it, at most {JSON_LIMIT} are read")));
        }
        let mut bytes = Vec::with_capacity(size as usize);
        entry.read_to_end(&mut bytes)?;
        return Ok(send(Item::Json { path: path.to_owned(), bytes }));
    }
    if !send(Item::Begin { path: path.to_owned(), size }) {
        return Ok(false);
    }
    let mut left = size;
    while left > 0 {
        let mut piece = vec![0; (left.min(PIECE as u64)) as usize];
        let mut filled = 0;
        while filled < piece.len() {
            match entry.read(&mut piece[filled..])? {
                0 => {
                    return Err(io::Error::other(format!(
                        "ends early: {} of {size} bytes missing",
                        left - filled as u64
                    )));
                }
                n => filled += n,
            }
        }
        left -= filled as u64;
        if !send(Item::Piece(piece)) {
            return Ok(false);
        }
    }
    Ok(send(Item::End))
}

/// Members of old archives that say nothing that is needed: one request to containerd saved for each.
fn is_ignored(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("json" | "VERSION" | "repositories" | "oci-layout"))
}

/// A path within the archive without `.` and `..`; none if it leads out.
fn clean(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

fn decompress(source: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut source = BufReader::with_capacity(PIECE, source);
    let compression = Compression::of(source.fill_buf()?);
    Ok(match compression {
        Compression::None => Box::new(source),
        Compression::Gzip => Box::new(MultiGzDecoder::new(source)),
        Compression::Zstd => Box::new(Frames { source: Some(source), frame: None }),
    })
}

/// Zstandard frames one after the other, as parallel compressors write them, skippable ones left out.
struct Frames<R: BufRead> {
    source: Option<R>,
    frame: Option<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>,
}

impl<R: BufRead> Frames<R> {
    /// Opens the next frame; false at the end of the source.
    fn open(&mut self) -> io::Result<bool> {
        let Some(source) = self.source.as_mut() else { return Ok(false) };
        loop {
            let start = source.fill_buf()?;
            if start.is_empty() {
                return Ok(false);
            }
            // 0x184D2A50 to 0x184D2A5F, little endian: a frame to skip, its length in the next four bytes.
            if start.len() < 4 || start[0] & 0xf0 != 0x50 || start[1..4] != [0x2a, 0x4d, 0x18] {
                break;
            }
            let mut header = [0; 8];
            source.read_exact(&mut header)?;
            let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
            io::copy(&mut source.take(length.into()), &mut io::sink())?;
        }
        let source = self.source.take().expect("checked at the top");
        self.frame = Some(StreamingDecoder::new(source).map_err(io::Error::other)?);
        Ok(true)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = self.frame.as_mut() {
                let n = frame.read(buffer)?;
                if n > 0 || buffer.is_empty() {
                    return Ok(n);
                }
                self.source = self.frame.take().map(StreamingDecoder::into_inner);
            }
            if !self.open()? {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use std::io::{Cursor, Write};

    fn archive() -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, data) in
            [("index.json", b"{}".to_vec()), ("x/VERSION", b"1".to_vec()), ("x/layer.tar", vec![7; 600_000])]
        {
            let mut header = tar::Header::new_gnu();
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, data.as_slice()).unwrap();
        }
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        builder.append_link(&mut header, "y/layer.tar", "../x/layer.tar").unwrap();
        builder.into_inner().unwrap()
    }

    fn items(bytes: Vec<u8>) -> Result<Vec<String>, Broken> {
        let mut seen = Vec::new();
        read(Cursor::new(bytes), |item| {
            seen.push(match item {
                Item::Json { path, bytes } => format!("json {path} {}", bytes.len()),
                Item::Link { path, target } => format!("link {path} {target}"),
                Item::Begin { path, size } => format!("begin {path} {size}"),
                Item::Piece(piece) => format!("piece {}", piece.len()),
                Item::End => "end".to_owned(),
            });
            true
        })?;
        Ok(seen)
    }

    #[test]
    fn every_compression_gives_the_same_members() {
        let plain = archive();
        let want = [
            "json index.json 2",
            "begin x/layer.tar 600000",
            "piece 262144",
            "piece 262144",
            "piece 75712",
            "end",
            "link y/layer.tar x/layer.tar",
        ];
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        // Two frames with a skippable one between them, as `pzstd` writes them.
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let (first, second) = plain.split_at(300_000);
        let mut zstd = ruzstd::encoding::compress_to_vec(first, level);
        zstd.extend([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
        zstd.extend(ruzstd::encoding::compress_to_vec(second, level));
        for (name, bytes) in [("plain", plain), ("gzip", gzip.finish().unwrap()), ("zstd", zstd)] {
            assert_eq!(items(bytes).unwrap(), want, "{name}");
        }
    }

    #[test]
    fn damage_names_the_member() {
        let mut short = archive();
        short.truncate(100_000);
        let broken = items(short).unwrap_err();
        assert_eq!(broken.member.as_deref(), Some("x/layer.tar"));
        assert!(broken.reason.contains("ends early"), "{}", broken.reason);
        let broken = items(b"<html>404 not found, and some more of it</html>".repeat(30)).unwrap_err();
        assert!(broken.reason.contains("not a tar archive"), "{}", broken.reason);
        assert!(items(Vec::new()).unwrap_err().reason.contains("empty"));
    }
}
