//! The visitor that builds a tree and tells of each field that it sees. Paths are kept on the stack and written only
//! when there is something to report.

use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::MAX_DEPTH;

/// Where a value stands, as a list from the leaf to the root.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    /// A key of a map, where it is written in brackets.
    Key(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(name),
            Path::Field(parent, name) => write!(f, "{parent}.{name}"),
            Path::Key(parent, key) => write!(f, "{parent}[{key}]"),
            Path::Item(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}

/// Longest path that is told, in bytes: what is longer is cut.
const LONGEST: usize = 1 << 10;
/// Bytes of all paths that are told of one object: a client sends what it likes, and each field below a long name has a
/// long path.
const MOST_BYTES: usize = 1 << 18;

impl Path<'_> {
    /// Adds as much of it as is told.
    pub(super) fn write(&self, out: &mut String) {
        if write!(Cut(out), "{self}").is_err() {
            out.push_str("...");
        }
    }
}

/// A text that takes no more than is told of a path.
struct Cut<'a>(&'a mut String);

impl fmt::Write for Cut<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = text.floor_char_boundary(LONGEST.saturating_sub(self.0.len()));
        self.0.push_str(&text[..room]);
        if room == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Paths of faults, the first ones of very many.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    all: Vec<String>,
    bytes: usize,
}

impl Paths {
    fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES
    }

    /// Adds one.
    pub(crate) fn note(&mut self, path: &Path) {
        if !self.is_full() {
            let mut text = String::new();
            path.write(&mut text);
            self.extend([text]);
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Forgets all but so many.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.bytes -= self.all.drain(count..).map(|text| cost(&text)).sum::<usize>();
    }

    /// In the order of the alphabet.
    pub(crate) fn sorted(mut self) -> Vec<String> {
        self.all.sort_unstable();
        self.all
    }
}

/// What a path takes of the room.
fn cost(text: &str) -> usize {
    size_of::<String>() + text.len()
}

impl Extend<String> for Paths {
    fn extend<I: IntoIterator<Item = String>>(&mut self, texts: I) {
        for text in texts {
            if self.is_full() {
                return;
            }
            self.bytes += cost(&text);
            self.all.push(text);
        }
    }
}

impl From<Paths> for Vec<String> {
    fn from(paths: Paths) -> Self {
        paths.all
    }
}

/// Reads one value. `seen` is told of each field, and whether it stands there again.
pub(super) struct Seed<'a, F> {
    path: Path<'a>,
    depth: usize,
    seen: &'a mut F,
}

impl<'a, F: FnMut(&Path, bool)> Seed<'a, F> {
    pub(super) fn root(seen: &'a mut F) -> Self {
        Seed { path: Path::Root, depth: 0, seen }
    }
}

impl<'de, F: FnMut(&Path, bool)> DeserializeSeed<'de> for Seed<'_, F> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(D::Error::custom("exceeded max depth"));
        }
        reader.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&Path, bool)> Visitor<'de> for Seed<'_, F> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("unsupported number"))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = Path::Item(&self.path, list.len());
            let seed = Seed { path, depth: self.depth + 1, seen: &mut *self.seen };
            match items.next_element_seed(seed)? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key_seed(KeySeed)? {
            let path = Path::Field(&self.path, &key);
            (self.seen)(&path, map.contains_key(&key));
            let seed = Seed { path, depth: self.depth + 1, seen: &mut *self.seen };
            let value = entries.next_value_seed(seed)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// Reads a key. YAML has keys that are no text; as in upstream's conversion they become text.
struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<String, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }
    fn visit_str<E>(self, key: &str) -> Result<String, E> {
        Ok(key.to_owned())
    }
    fn visit_string<E>(self, key: String) -> Result<String, E> {
        Ok(key)
    }
    fn visit_bool<E>(self, key: bool) -> Result<String, E> {
        Ok(key.to_string())
    }
    fn visit_i64<E>(self, key: i64) -> Result<String, E> {
        Ok(key.to_string())
    }
    fn visit_u64<E>(self, key: u64) -> Result<String, E> {
        Ok(key.to_string())
    }
    fn visit_f64<E>(self, key: f64) -> Result<String, E> {
        Ok(key.to_string())
    }
    fn visit_unit<E>(self) -> Result<String, E> {
        Ok("null".to_owned())
    }
}
