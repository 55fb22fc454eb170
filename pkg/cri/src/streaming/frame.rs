//! Frames of SPDY/3.1 on a byte stream.

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Error;
use super::headers::{self, Headers};

/// The largest control frame accepted, in bytes.
const CONTROL_LIMIT: usize = 64 << 10;
/// A data frame is read in pieces of this size: peers send their whole buffer in one frame.
const PIECE: usize = 32 << 10;

const FIN: u8 = 1;
/// The setting that tells how many bytes a stream may send before it hears back.
pub(super) const INITIAL_WINDOW: u32 = 7;
/// The status of RST_STREAM with which a stream is given up without a fault.
pub(super) const CANCEL: u32 = 5;

/// One frame, or a piece of a data frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    SynStream {
        id: u32,
        fin: bool,
        headers: Headers,
    },
    SynReply {
        id: u32,
        fin: bool,
    },
    RstStream {
        id: u32,
        status: u32,
    },
    Settings(Vec<(u32, u32)>),
    Ping(u32),
    GoAway {
        last: u32,
    },
    /// More headers of a stream; nobody uses them, but they carry compression state and may end it.
    Headers {
        id: u32,
        fin: bool,
    },
    WindowUpdate {
        id: u32,
        delta: u32,
    },
    Data {
        id: u32,
        fin: bool,
        data: Bytes,
    },
    /// A type that the specification lets us ignore.
    Other,
}

mod kind {
    pub const SYN_STREAM: u16 = 1;
    pub const SYN_REPLY: u16 = 2;
    pub const RST_STREAM: u16 = 3;
    pub const SETTINGS: u16 = 4;
    pub const PING: u16 = 6;
    pub const GOAWAY: u16 = 7;
    pub const HEADERS: u16 = 8;
    pub const WINDOW_UPDATE: u16 = 9;
}

/// Writes frames into a buffer.
pub(super) struct Encoder(headers::Writer);

impl Encoder {
    pub(super) fn new() -> Result<Self, Error> {
        Ok(Self(headers::Writer::new()?))
    }

    pub(super) fn encode(&mut self, frame: &Frame, out: &mut BytesMut) -> Result<(), Error> {
        let flags = |fin: &bool| if *fin { FIN } else { 0 };
        match frame {
            Frame::SynStream { id, fin, headers } => {
                let block = self.0.write(headers)?;
                control(out, kind::SYN_STREAM, flags(fin), 10 + block.len());
                out.put_u32(*id);
                out.put_slice(&[0; 6]); // no associated stream, highest priority, no slot
                out.put_slice(&block);
            }
            Frame::SynReply { id, fin } => {
                let block = self.0.write(&Vec::new())?;
                control(out, kind::SYN_REPLY, flags(fin), 4 + block.len());
                out.put_u32(*id);
                out.put_slice(&block);
            }
            Frame::Headers { id, fin } => {
                let block = self.0.write(&Vec::new())?;
                control(out, kind::HEADERS, flags(fin), 4 + block.len());
                out.put_u32(*id);
                out.put_slice(&block);
            }
            Frame::RstStream { id, status } => pair(out, kind::RST_STREAM, *id, *status),
            Frame::GoAway { last } => pair(out, kind::GOAWAY, *last, 0),
            Frame::WindowUpdate { id, delta } => pair(out, kind::WINDOW_UPDATE, *id, *delta),
            Frame::Ping(id) => {
                control(out, kind::PING, 0, 4);
                out.put_u32(*id);
            }
            Frame::Settings(settings) => {
                control(out, kind::SETTINGS, 0, 4 + 8 * settings.len());
                out.put_u32(settings.len() as u32);
                for (id, value) in settings {
                    out.put_u32(*id & 0xff_ffff);
                    out.put_u32(*value);
                }
            }
            Frame::Data { id, fin, data } => {
                out.put_u32(*id & 0x7fff_ffff);
                out.put_u32(u32::from(flags(fin)) << 24 | data.len() as u32);
                out.put_slice(data);
            }
            Frame::Other => {}
        }
        Ok(())
    }
}

fn control(out: &mut BytesMut, kind: u16, flags: u8, length: usize) {
    out.put_u16(0x8003);
    out.put_u16(kind);
    out.put_u32(u32::from(flags) << 24 | length as u32);
}

fn pair(out: &mut BytesMut, kind: u16, first: u32, second: u32) {
    control(out, kind, 0, 8);
    out.put_u32(first);
    out.put_u32(second);
}

/// Reads frames from a byte stream.
pub(super) struct Decoder<R> {
    source: R,
    headers: headers::Reader,
    /// What is left of a data frame: stream, whether it ends the stream, bytes.
    rest: Option<(u32, bool, usize)>,
}

impl<R: AsyncRead + Unpin> Decoder<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, headers: headers::Reader::new(), rest: None }
    }

    /// The next frame; none at the end of the connection. Not safe to cancel in the middle.
    pub(super) async fn next(&mut self) -> Result<Option<Frame>, Error> {
        if let Some((id, fin, left)) = self.rest.take() {
            return self.piece(id, fin, left).await.map(Some);
        }
        let mut head = [0; 8];
        match self.source.read(&mut head).await? {
            0 => return Ok(None),
            n => self.source.read_exact(&mut head[n..]).await?,
        };
        let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (first, fin, length) = (word(0), head[4] & FIN != 0, (word(4) & 0xff_ffff) as usize);
        if first & 0x8000_0000 == 0 {
            return self.piece(first, fin, length).await.map(Some);
        }
        if length > CONTROL_LIMIT {
            return Err(Error::Protocol(format!("a control frame of {length} bytes")));
        }
        let mut body = vec![0; length];
        self.source.read_exact(&mut body).await?;
        self.control((first & 0xffff) as u16, fin, &body).map(Some)
    }

    async fn piece(&mut self, id: u32, fin: bool, left: usize) -> Result<Frame, Error> {
        let length = left.min(PIECE);
        let mut data = vec![0; length];
        self.source.read_exact(&mut data).await?;
        if left > length {
            self.rest = Some((id, fin, left - length));
        }
        Ok(Frame::Data { id, fin: fin && left == length, data: data.into() })
    }

    fn control(&mut self, kind: u16, fin: bool, body: &[u8]) -> Result<Frame, Error> {
        let word = |at: usize| -> Result<u32, Error> {
            let bytes = body.get(at..at + 4).and_then(|bytes| bytes.first_chunk::<4>());
            bytes
                .map(|bytes| u32::from_be_bytes(*bytes))
                .ok_or_else(|| Error::Protocol("a frame ends early".to_owned()))
        };
        Ok(match kind {
            kind::SYN_STREAM => {
                let id = word(0)? & 0x7fff_ffff;
                Frame::SynStream { id, fin, headers: self.headers.read(body.get(10..).unwrap_or_default())? }
            }
            kind::SYN_REPLY | kind::HEADERS => {
                let id = word(0)? & 0x7fff_ffff;
                self.headers.read(body.get(4..).unwrap_or_default())?;
                if kind == kind::SYN_REPLY { Frame::SynReply { id, fin } } else { Frame::Headers { id, fin } }
            }
            kind::RST_STREAM => Frame::RstStream { id: word(0)?, status: word(4)? },
            kind::SETTINGS => {
                let entries = body.get(4..).unwrap_or_default().chunks_exact(8);
                let word = |entry: &[u8], at: usize| {
                    u32::from_be_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
                };
                Frame::Settings(entries.map(|entry| (word(entry, 0) & 0xff_ffff, word(entry, 4))).collect())
            }
            kind::PING => Frame::Ping(word(0)?),
            kind::GOAWAY => Frame::GoAway { last: word(0)? },
            kind::WINDOW_UPDATE => Frame::WindowUpdate { id: word(0)? & 0x7fff_ffff, delta: word(4)? & 0x7fff_ffff },
            _ => Frame::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_come_back_as_they_were() {
        let headers = || vec![("streamtype".to_owned(), "data".to_owned())];
        let frames = [
            Frame::Settings(vec![(INITIAL_WINDOW, 65536)]),
            Frame::SynStream { id: 1, fin: false, headers: headers() },
            Frame::SynReply { id: 1, fin: false },
            Frame::SynStream { id: 3, fin: true, headers: headers() },
            Frame::Data { id: 1, fin: false, data: Bytes::from_static(&[0, 255, 10, 13]) },
            Frame::Headers { id: 1, fin: true },
            Frame::Ping(7),
            Frame::WindowUpdate { id: 1, delta: 9 },
            Frame::RstStream { id: 3, status: CANCEL },
            Frame::GoAway { last: 3 },
            Frame::Data { id: 1, fin: true, data: Bytes::new() },
        ];
        let (mut encoder, mut bytes) = (Encoder::new().unwrap(), BytesMut::new());
        for frame in &frames {
            encoder.encode(frame, &mut bytes).unwrap();
        }
        let mut decoder = Decoder::new(&bytes[..]);
        for frame in frames {
            assert_eq!(decoder.next().await.unwrap(), Some(frame));
        }
        assert_eq!(decoder.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_large_data_frame_comes_in_pieces_and_ends_once() {
        let (mut encoder, mut bytes) = (Encoder::new().unwrap(), BytesMut::new());
        encoder.encode(&Frame::Data { id: 5, fin: true, data: vec![1; 100_000].into() }, &mut bytes).unwrap();
        let mut decoder = Decoder::new(&bytes[..]);
        let (mut total, mut ends) = (0, 0);
        while let Some(Frame::Data { fin, data, .. }) = decoder.next().await.unwrap() {
            total += data.len();
            ends += usize::from(fin);
        }
        assert_eq!((total, ends), (100_000, 1));
    }

    #[tokio::test]
    async fn nonsense_is_an_error() {
        for bytes in [&b"HTTP/1.1 200 OK\r\n"[..], &[0x80, 3, 0, 1, 0, 255, 255, 255], &[0x80, 3, 0, 3, 0, 0, 0, 1, 0]]
        {
            assert!(Decoder::new(bytes).next().await.is_err(), "{bytes:?}");
        }
    }
}
