//! Lets clients in that name the path of a Unix socket as the `:authority` of their requests.
//!
//! Older gRPC libraries do (Go's up to 1.30, which is that of Debian's `etcdctl`; Java's; C's with `%2F`),
//! and our HTTP/2 server refuses it, since such a path is no host. Nothing here asks for the authority,
//! so each one is overwritten, in the stream of bytes, with as many letters `X`.
//!
//! Guarantees: nothing moves, and no other byte changes. A compressed authority becomes shorter when
//! it is decoded (`X` takes eight bits, other characters take five or six): the server's table of headers
//! then keeps entries for longer than the client knows of, and the numbers of newer ones stay the same.
//!
//! Frames: RFC 9113, section 4.1; header blocks: RFC 7541, section 6.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that a client sends before its first frame.
const PREFACE: usize = 24;
/// Bytes of the head of a frame.
const HEAD: usize = 9;
/// Types of frames.
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
/// Flags of HEADERS.
const PADDED: u8 = 0x08;
const PRIORITY: u8 = 0x20;
/// The static table's number for `:authority`.
const AUTHORITY: usize = 1;
/// `X` in Huffman's code, and as it is.
const X: [u8; 2] = [0xfc, b'X'];

/// A connection whose incoming authorities are overwritten.
pub(super) struct Lenient<Io> {
    io: Io,
    frames: Frames,
}

impl<Io> Lenient<Io> {
    pub fn new(io: Io) -> Self {
        Lenient { io, frames: Frames::default() }
    }
}

/// Where in the stream of frames we are.
#[derive(Default)]
struct Frames {
    /// Bytes of preface and frame heads that were seen.
    seen: usize,
    head: [u8; HEAD],
    /// Bytes of the frame that are not the header block: first padding's length and priority.
    before: usize,
    padded: bool,
    block: usize,
    after: usize,
    fields: Fields,
}

impl Frames {
    fn pass(&mut self, mut bytes: &mut [u8]) {
        while let Some((&mut first, _)) = bytes.split_first_mut() {
            let taken = if self.seen < PREFACE + HEAD {
                if let Some(at) = self.seen.checked_sub(PREFACE) {
                    self.head[at] = first;
                }
                self.seen += 1;
                if self.seen == PREFACE + HEAD {
                    self.begin();
                }
                1
            } else if self.before > 0 {
                if self.padded {
                    self.padded = false;
                    self.after = self.block.min(usize::from(first));
                    self.block -= self.after;
                }
                self.before -= 1;
                1
            } else if self.block > 0 {
                let taken = self.block.min(bytes.len());
                bytes[..taken].iter_mut().for_each(|byte| self.fields.pass(byte));
                self.block -= taken;
                taken
            } else {
                let taken = self.after.min(bytes.len());
                self.after -= taken;
                taken
            };
            bytes = &mut bytes[taken..];
            if self.seen == PREFACE + HEAD && self.before + self.block + self.after == 0 {
                self.seen = PREFACE;
            }
        }
    }

    /// The head is complete.
    fn begin(&mut self) {
        let [a, b, c, kind, flags, ..] = self.head;
        let length = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        (self.before, self.padded, self.block, self.after) = (0, false, 0, length);
        if kind == HEADERS {
            self.fields = Fields::default();
            self.padded = flags & PADDED != 0;
            let before = usize::from(self.padded) + if flags & PRIORITY != 0 { 5 } else { 0 };
            self.before = before.min(length);
        }
        if kind == HEADERS || kind == CONTINUATION {
            (self.block, self.after) = (length - self.before, 0);
        }
    }
}

/// Where in a header block we are.
#[derive(Default)]
struct Fields {
    next: Next,
    /// The strings that are still to come in this field.
    strings: u8,
    /// The field's last string is an authority.
    authority: bool,
}

#[derive(Default, Clone, Copy)]
enum Next {
    #[default]
    Field,
    /// More bytes of a number, which is `value` so far; then what it was for.
    Number {
        value: usize,
        shift: u32,
        of: Number,
    },
    Length,
    Text {
        left: usize,
        compressed: bool,
    },
}

#[derive(Clone, Copy)]
enum Number {
    /// Of a field that is in a table, or of a size.
    Whole,
    /// Of a name.
    Name,
    /// Of bytes.
    Length { compressed: bool },
}

impl Fields {
    fn pass(&mut self, byte: &mut u8) {
        match self.next {
            Next::Field => match *byte {
                0x80.. => self.number(*byte, 0x7f, Number::Whole),
                0x40.. => self.number(*byte, 0x3f, Number::Name),
                0x20.. => self.number(*byte, 0x1f, Number::Whole),
                _ => self.number(*byte, 0x0f, Number::Name),
            },
            Next::Number { value, shift, of } => {
                let part = usize::from(*byte & 0x7f).checked_shl(shift).unwrap_or(0);
                let value = value.saturating_add(part);
                if *byte & 0x80 == 0 {
                    self.complete(value, of);
                } else {
                    self.next = Next::Number { value, shift: shift.saturating_add(7), of };
                }
            }
            Next::Length => self.number(*byte, 0x7f, Number::Length { compressed: *byte & 0x80 != 0 }),
            Next::Text { left, compressed } => {
                if self.authority && self.strings == 1 {
                    *byte = X[usize::from(!compressed)];
                }
                self.text(left - 1, compressed);
            }
        }
    }

    /// A number begins in the bits `mask` of `byte`.
    fn number(&mut self, byte: u8, mask: u8, of: Number) {
        let value = usize::from(byte & mask);
        if byte & mask == mask {
            self.next = Next::Number { value, shift: 0, of };
        } else {
            self.complete(value, of);
        }
    }

    fn complete(&mut self, value: usize, of: Number) {
        match of {
            Number::Whole => self.next = Next::Field,
            Number::Name => {
                self.strings = if value == 0 { 2 } else { 1 };
                self.authority = value == AUTHORITY;
                self.next = Next::Length;
            }
            Number::Length { compressed } => self.text(value, compressed),
        }
    }

    /// `left` more bytes of a string.
    fn text(&mut self, left: usize, compressed: bool) {
        self.next = if left > 0 {
            Next::Text { left, compressed }
        } else {
            self.strings = self.strings.saturating_sub(1);
            if self.strings > 0 { Next::Length } else { Next::Field }
        };
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Lenient<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        self.frames.pass(&mut buffer.filled_mut()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Lenient<Io> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
    }

    #[test]
    fn authorities_are_overwritten_and_nothing_else_is() {
        // POST (a number), a size of table, `:authority` /a/b as it is and compressed, `te: /a/b` with its name,
        // a header with a long name, another authority that is not kept.
        let long = [&[0x00, 0x7f, 0x01][..], &[b'n'; 128], b"\x04/a/b"].concat();
        let block =
            [b"\x83\x3f\xe1\x1f\x41\x04/a/b\x41\x83\x60\x10\x2f\x40\x02te\x04/a/b", &long[..], b"\x11\x02/c"].concat();
        let wanted =
            [b"\x83\x3f\xe1\x1f\x41\x04XXXX\x41\x83\xfc\xfc\xfc\x40\x02te\x04/a/b", &long[..], b"\x11\x02XX"].concat();
        let stream = |block: &[u8]| {
            let (one, two) = block.split_at(7);
            let padded = [b"\x03prio!".as_slice(), one, &[0; 3]].concat();
            let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
            let data = frame(0, 0, b"\x41\x04/a/b");
            [
                preface,
                frame(4, 0, &[]),
                frame(1, PADDED | PRIORITY, &padded),
                frame(9, 4, two),
                data,
                frame(1, 4, block),
            ]
            .concat()
        };
        let (sent, wanted) = (stream(&block), stream(&wanted));
        for size in 1..sent.len() {
            let mut got = sent.clone();
            let mut frames = Frames::default();
            got.chunks_mut(size).for_each(|chunk| frames.pass(chunk));
            assert!(got == wanted, "in pieces of {size}: {}", got.escape_ascii());
        }
    }

    proptest::proptest! {
        #[test]
        fn garbage_does_no_harm(mut bytes: Vec<u8>, kind in 0u8..10, flags: u8) {
            let mut frames = Frames { seen: PREFACE, ..Frames::default() };
            frames.pass(&mut frame(kind, flags, &bytes));
            frames.pass(&mut bytes);
        }
    }
}
