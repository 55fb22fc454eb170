//! Unknown and repeated fields, as upstream's strict decoder tells of them.
//!
//! What it decodes in one go (typed objects in JSON) it tells of in the order of the text, and looks into nothing that
//! is unknown. All else it parses before it looks for unknown fields, so the repeated ones come first.

use std::collections::{HashMap, HashSet};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// So many are told.
const MOST: usize = 100;

/// The faults of an object. `text` is the JSON of a typed one.
pub fn faults(repeated: &[String], unknown: &[String], text: Option<&[u8]>) -> Vec<String> {
    let nowhere: HashSet<&str> = unknown.iter().filter(|_| text.is_some()).map(String::as_str).collect();
    let repeated = repeated.iter().filter(|path| !is_within(path, &nowhere)).map(|path| (1, path));
    let mut all: Vec<(usize, &String)> = repeated.chain(unknown.iter().map(|path| (0, path))).collect();
    if let Some(text) = text.filter(|_| !unknown.is_empty() && all.len() > 1) {
        let mut places = Places::new();
        // It has been parsed before; if it cannot be now, the order stays.
        let _ = Walk { at: START, places: &mut places }.deserialize(&mut serde_json::Deserializer::from_slice(text));
        all.sort_by_key(|(time, path)| places.get(&hash(START, path)).map(|places| places[*time]));
    }
    let mut seen = HashSet::new();
    all.retain(|fault| seen.insert(*fault));
    let words = ["unknown", "duplicate"];
    all.iter().take(MOST).map(|(time, path)| format!("{} field \"{path}\"", words[*time])).collect()
}

/// Whether a path or one above it is among `paths`.
fn is_within(path: &str, paths: &HashSet<&str>) -> bool {
    let ends = path.match_indices(['.', '[']).map(|(at, _)| at).chain([path.len()]);
    !paths.is_empty() && ends.into_iter().any(|end| paths.contains(&path[..end]))
}

/// Where a field stands the first and the second time, by the hash of its path.
type Places = HashMap<u64, [usize; 2]>;

/// FNV-1a, which goes on from the hash of the path above: paths may be long, and there may be many.
const START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash(from: u64, text: &str) -> u64 {
    text.bytes().fold(from, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Notes the places of all fields below a path.
struct Walk<'a> {
    at: u64,
    places: &'a mut Places,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut next = 0;
        while items
            .next_element_seed(Walk { at: hash(self.at, &format!("[{next}]")), places: &mut *self.places })?
            .is_some()
        {
            next += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            let parent = if self.at == START { START } else { hash(self.at, ".") };
            let at = hash(parent, &name);
            let place = self.places.len();
            self.places.entry(at).and_modify(|places| places[1] = places[1].min(place)).or_insert([place, usize::MAX]);
            fields.next_value_seed(Walk { at, places: &mut *self.places })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    /// Unknown fields stood before repeated ones, in the order of the alphabet.
    #[test]
    fn faults_of_typed_objects_are_in_the_order_of_the_text() {
        let text = br#"{"metadata": {"name": "a", "name": "b", "z": 1},
            "spec": {"x": 1, "dupe": 1, "dupe": {"a": 1, "a": 2}, "paused": true, "paused": false,
                "c": [{"y": 1, "image": "a", "image": "b"}]}, "a": 1}"#;
        let repeated = texts(&["metadata.name", "spec.dupe", "spec.dupe.a", "spec.paused", "spec.c[0].image"]);
        let unknown = texts(&["a", "metadata.z", "spec.c[0].y", "spec.dupe", "spec.x"]);
        let told = [
            "duplicate metadata.name",
            "unknown metadata.z",
            "unknown spec.x",
            "unknown spec.dupe",
            "duplicate spec.paused",
            "unknown spec.c[0].y",
            "duplicate spec.c[0].image",
            "unknown a",
        ];
        let told = told.map(|fault| format!("{}\"", fault.replace(' ', " field \"")));
        assert_eq!(faults(&repeated, &unknown, Some(text)), told);
        let apart = faults(&repeated, &unknown, None);
        assert_eq!(apart[..2], texts(&["duplicate field \"metadata.name\"", "duplicate field \"spec.dupe\""]));
        assert_eq!(apart[5..7], texts(&["unknown field \"a\"", "unknown field \"metadata.z\""]));
    }

    #[test]
    fn each_fault_is_told_once_and_not_all_of_very_many() {
        assert_eq!(faults(&texts(&["a", "a"]), &[], Some(b"{}")), ["duplicate field \"a\""]);
        let many: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        assert_eq!(faults(&[], &many, None).len(), MOST);
    }
}
