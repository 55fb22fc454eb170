//! Header blocks of SPDY/3: pairs of names and values, compressed with zlib, one stream for each direction of a
//! connection, primed with a dictionary.

use std::sync::LazyLock;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

use super::Error;

/// Names and values of one frame. Names are lower case.
pub type Headers = Vec<(String, String)>;

/// The largest header block after decompression, in bytes.
const LIMIT: usize = 64 << 10;

/// The words of the dictionary, each of which stands there behind its length (draft-mbelshe-httpbis-spdy-00, 2.6.10.1).
const WORDS: &str = "options head post put delete trace accept accept-charset accept-encoding accept-language \
    accept-ranges age allow authorization cache-control connection content-base content-encoding content-language \
    content-length content-location content-md5 content-range content-type date etag expect expires from host \
    if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma \
    proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade \
    user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie \
    keep-alive origin";

/// The rest of it, without lengths.
const TAIL: &str = "10010120120220520630030230330430530630740240540640740840941041141241341441541641750250450520\
    3 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized\
    403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable\
    Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT\
    chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,\
    text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

static DICTIONARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut dictionary = Vec::with_capacity(1423);
    for word in WORDS.split_whitespace() {
        dictionary.extend((word.len() as u32).to_be_bytes());
        dictionary.extend(word.replace('_', " ").bytes());
    }
    dictionary.extend(TAIL.bytes());
    dictionary
});

/// Writes the header blocks of one direction.
pub(super) struct Writer(Compress);

impl Writer {
    pub(super) fn new() -> Result<Self, Error> {
        let mut compress = Compress::new(Compression::fast(), true);
        compress.set_dictionary(&DICTIONARY).map_err(|error| Error::Protocol(error.to_string()))?;
        Ok(Self(compress))
    }

    pub(super) fn write(&mut self, headers: &Headers) -> Result<Vec<u8>, Error> {
        let mut plain = Vec::new();
        plain.extend((headers.len() as u32).to_be_bytes());
        for text in headers.iter().flat_map(|(name, value)| [name, value]) {
            plain.extend((text.len() as u32).to_be_bytes());
            plain.extend(text.bytes());
        }
        let mut block = Vec::with_capacity(plain.len() + 128);
        let begin = self.0.total_in();
        loop {
            let done = (self.0.total_in() - begin) as usize;
            let compressed = self.0.compress_vec(&plain[done..], &mut block, FlushCompress::Sync);
            compressed.map_err(|error| Error::Protocol(error.to_string()))?;
            // Room left means that everything is out.
            if (self.0.total_in() - begin) as usize == plain.len() && block.len() < block.capacity() {
                return Ok(block);
            }
            block.reserve(1024);
        }
    }
}

/// Reads the header blocks of one direction.
pub(super) struct Reader(Decompress);

impl Reader {
    pub(super) fn new() -> Self {
        Self(Decompress::new(true))
    }

    pub(super) fn read(&mut self, block: &[u8]) -> Result<Headers, Error> {
        let mut plain = Vec::with_capacity(1024);
        let begin = self.0.total_in();
        loop {
            let done = (self.0.total_in() - begin) as usize;
            match self.0.decompress_vec(&block[done..], &mut plain, FlushDecompress::Sync) {
                Ok(_) => {}
                Err(error) if error.needs_dictionary().is_some() => {
                    self.0.set_dictionary(&DICTIONARY).map_err(|error| Error::Protocol(error.to_string()))?;
                    continue;
                }
                Err(error) => return Err(Error::Protocol(format!("header block: {error}"))),
            }
            if (self.0.total_in() - begin) as usize == block.len() && plain.len() < plain.capacity() {
                return parse(&plain);
            }
            if plain.len() >= LIMIT {
                return Err(Error::Protocol(format!("a header block of more than {LIMIT} bytes")));
            }
            plain.reserve(4096);
        }
    }
}

fn parse(mut plain: &[u8]) -> Result<Headers, Error> {
    let count = number(&mut plain)?;
    (0..count).map(|_| Ok((text(&mut plain)?, text(&mut plain)?))).collect()
}

fn number(plain: &mut &[u8]) -> Result<usize, Error> {
    let (number, rest) = plain.split_first_chunk::<4>().ok_or_else(cut)?;
    *plain = rest;
    Ok(u32::from_be_bytes(*number) as usize)
}

fn text(plain: &mut &[u8]) -> Result<String, Error> {
    let length = number(plain)?;
    let (text, rest) = plain.split_at_checked(length).ok_or_else(cut)?;
    *plain = rest;
    Ok(String::from_utf8_lossy(text).into_owned())
}

fn cut() -> Error {
    Error::Protocol("a header block ends early".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number by which zlib streams name the dictionary is part of the specification.
    #[test]
    fn the_dictionary_is_that_of_the_specification() {
        let (mut a, mut b) = (1u32, 0u32);
        for byte in DICTIONARY.iter() {
            a = (a + u32::from(*byte)) % 65521;
            b = (b + a) % 65521;
        }
        assert_eq!((DICTIONARY.len(), b << 16 | a), (1423, 0xe3c6_a7c2));
    }

    #[test]
    fn blocks_of_one_direction_depend_on_each_other_and_come_back() {
        let (mut writer, mut reader) = (Writer::new().unwrap(), Reader::new());
        let long = "x".repeat(30_000);
        for round in 0..3 {
            for value in ["", "stdin", &long, &format!("value {round}")] {
                let headers = vec![("streamtype".to_owned(), value.to_owned()), ("port".to_owned(), "80".to_owned())];
                assert_eq!(reader.read(&writer.write(&headers).unwrap()).unwrap(), headers);
            }
        }
        assert!(reader.read(b"rubbish").is_err());
    }

    #[test]
    fn a_block_that_swells_is_refused() {
        let (mut writer, mut reader) = (Writer::new().unwrap(), Reader::new());
        let block = writer.write(&vec![("a".to_owned(), "0".repeat(1 << 20))]).unwrap();
        assert!(reader.read(&block).is_err());
    }
}
