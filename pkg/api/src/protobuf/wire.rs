//! The wire format: tags, variable-length integers, lengths.

use super::Error;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Payload<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64([u8; 8]),
    /// Wire type 2.
    Bytes(&'a [u8]),
    /// Wire type 5.
    Fixed32,
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// Its number.
    pub number: u32,
    /// Its content.
    pub payload: Payload<'a>,
}

impl<'a> Record<'a> {
    /// The field is not of the wire type that its type has.
    pub fn mismatch(&self, name: &str) -> Error {
        let wire_type = match self.payload {
            Payload::Varint(_) => 0,
            Payload::Fixed64(_) => 1,
            Payload::Bytes(_) => 2,
            Payload::Fixed32 => 5,
        };
        Error::WireType(wire_type, name.to_owned())
    }

    /// A number.
    pub fn varint(&self, name: &str) -> Result<u64, Error> {
        match self.payload {
            Payload::Varint(number) => Ok(number),
            _ => Err(self.mismatch(name)),
        }
    }

    /// Bytes, or a message.
    pub fn bytes(&self, name: &str) -> Result<&'a [u8], Error> {
        match self.payload {
            Payload::Bytes(bytes) => Ok(bytes),
            _ => Err(self.mismatch(name)),
        }
    }

    /// Text.
    pub fn text(&self, name: &str) -> Result<&'a str, Error> {
        std::str::from_utf8(self.bytes(name)?).map_err(|_| Error::Text(name.to_owned()))
    }
}

/// Takes the next field off a message.
pub fn next<'a>(rest: &mut &'a [u8]) -> Result<Option<Record<'a>>, Error> {
    if rest.is_empty() {
        return Ok(None);
    }
    let tag = varint(rest)?;
    let number = u32::try_from(tag >> 3).map_err(|_| Error::Overflow)?;
    let payload = match tag & 7 {
        0 => Payload::Varint(varint(rest)?),
        1 => Payload::Fixed64(take(rest, 8)?.try_into().map_err(|_| Error::Truncated)?),
        2 => {
            let length = usize::try_from(varint(rest)?).map_err(|_| Error::Truncated)?;
            Payload::Bytes(take(rest, length)?)
        }
        5 => {
            take(rest, 4)?;
            Payload::Fixed32
        }
        // Groups: nothing in the API has them.
        #[allow(clippy::cast_possible_truncation, reason = "three bits")]
        other => return Err(Error::WireType(other as u8, number.to_string())),
    };
    Ok(Some(Record { number, payload }))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], Error> {
    let (taken, left) = rest.split_at_checked(length).ok_or(Error::Truncated)?;
    *rest = left;
    Ok(taken)
}

/// Takes a variable-length integer.
pub fn varint(rest: &mut &[u8]) -> Result<u64, Error> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, left) = rest.split_first().ok_or(Error::Truncated)?;
        *rest = left;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Error::Overflow)
}

/// Appends a variable-length integer.
pub fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    loop {
        let low = value.to_le_bytes()[0];
        value >>= 7;
        if value == 0 {
            return out.push(low & 0x7f);
        }
        out.push(low | 0x80);
    }
}

/// How many bytes a variable-length integer takes.
pub fn varint_length(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Appends a number's field.
pub fn number(field: u32, value: u64, out: &mut Vec<u8>) {
    put_varint(u64::from(field) << 3, out);
    put_varint(value, out);
}

/// Appends a double's field.
pub fn double(field: u32, value: f64, out: &mut Vec<u8>) {
    put_varint(u64::from(field) << 3 | 1, out);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends tag and length of a field whose content follows.
pub fn header(field: u32, length: usize, out: &mut Vec<u8>) {
    put_varint(u64::from(field) << 3 | 2, out);
    put_varint(length as u64, out);
}

/// Appends a field of bytes.
pub fn bytes(field: u32, content: &[u8], out: &mut Vec<u8>) {
    header(field, content.len(), out);
    out.extend_from_slice(content);
}

/// Appends a field whose content `write` appends.
pub fn message(field: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    put_varint(u64::from(field) << 3 | 2, out);
    // Most messages are short: room for a length of one byte, and more is made where it is needed.
    let at = out.len();
    out.push(0);
    write(out);
    let length = out.len() - at - 1;
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => out[at] = short,
        _ => {
            let mut prefix = Vec::with_capacity(10);
            put_varint(length as u64, &mut prefix);
            out.splice(at..=at, prefix);
        }
    }
}
