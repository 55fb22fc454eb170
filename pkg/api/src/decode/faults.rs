//! Unknown and repeated fields, as upstream's strict decoder tells of them.
//!
//! What it decodes in one go (typed objects in JSON) it tells of in the order of the text, and looks into nothing that
//! is unknown. All else it parses before it looks for unknown fields, so the repeated ones come first.

use std::collections::{HashMap, HashSet};

use serde::de::DeserializeSeed;

use super::tree::{Path, Seed};

/// So many are told.
const MOST: usize = 100;

/// The faults of an object. `text` is the JSON of a typed one.
pub fn faults(repeated: &[String], unknown: &[String], text: Option<&[u8]>) -> Vec<String> {
    let nowhere: HashSet<&str> = unknown.iter().filter(|_| text.is_some()).map(String::as_str).collect();
    let repeated = repeated.iter().filter(|path| !is_within(path, &nowhere)).map(|path| (1, path));
    let mut all: Vec<(usize, &String)> = repeated.chain(unknown.iter().map(|path| (0, path))).collect();
    if let Some(text) = text.filter(|_| !unknown.is_empty() && all.len() > 1) {
        let places = places(text, all.iter().map(|(_, path)| path.as_str()));
        all.sort_by_cached_key(|(time, path)| places.get(path.as_str()).map(|places| places[*time]));
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

/// Where fields stand in a text, the first time and again.
fn places<'a>(text: &[u8], paths: impl Iterator<Item = &'a str>) -> HashMap<&'a str, [usize; 2]> {
    let mut places: HashMap<&str, [usize; 2]> = paths.map(|path| (path, [usize::MAX; 2])).collect();
    let (mut place, mut here) = (0, String::new());
    let mut seen = |path: &Path, again: bool| {
        place += 1;
        here.clear();
        path.write(&mut here);
        if let Some(places) = places.get_mut(here.as_str()) {
            let earliest = &mut places[usize::from(again)];
            *earliest = place.min(*earliest);
        }
    };
    // It has been parsed before; if it cannot be now, the order stays.
    let _ = Seed::root(&mut seen).deserialize(&mut serde_json::Deserializer::from_slice(text));
    places
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
