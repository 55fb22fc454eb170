//! The few fields of an object that selectors look at, read from its bytes without building a tree.

use std::fmt;

use api::{
    Value,
    kinds::{field_path, field_text},
    schema::Shared,
};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Labels and selectable fields of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Sorted by key.
    pub labels: Box<[(Box<str>, Box<str>)]>,
    /// As text, in the order of the kind's selectable paths; empty where absent.
    pub fields: Box<[Box<str>]>,
}

const LABELS: &str = "metadata.labels";

impl Facts {
    /// Reads the facts from JSON. Bytes that are no JSON object have none.
    pub fn read(json: &[u8], selectable: &[Shared<str>]) -> Self {
        let mut found = Value::Null;
        let mut wanted: Vec<&str> = selectable.iter().map(|label| field_path(label)).collect();
        wanted.push(LABELS);
        let seed = Seed { wanted, found: &mut found };
        // What was read before an error stays; an object's bytes are ours and have none.
        let _ = seed.deserialize(&mut serde_json::Deserializer::from_slice(json));
        let labels = found["metadata"]["labels"].as_object().into_iter().flatten();
        let mut labels: Vec<(Box<str>, Box<str>)> =
            labels.map(|(k, v)| (k.as_str().into(), v.as_str().unwrap_or_default().into())).collect();
        labels.sort();
        let fields = selectable.iter().map(|label| field_text(&found, label).into());
        Facts { labels: labels.into(), fields: fields.collect() }
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        let at = self.labels.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        Some(&self.labels[at].1)
    }
}

/// Copies the wanted paths of one object; they are relative to it.
struct Seed<'a> {
    wanted: Vec<&'a str>,
    found: &'a mut Value,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let leaf = self.wanted.iter().any(|path| *path == key);
            let below = || self.wanted.iter().filter_map(|path| path.strip_prefix(&*key)?.strip_prefix('.'));
            if leaf {
                self.found[&*key] = map.next_value()?;
            } else if below().next().is_some() {
                let wanted = below().collect();
                map.next_value_seed(Seed { wanted, found: &mut self.found[&*key] })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
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
    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_fields_are_read() {
        let json =
            br#"{"kind":"Pod","metadata":{"name":"a","labels":{"z":"1","app":"web"},"annotations":{"labels":"no"}},
            "spec":{"nodeName":"n1","hostNetwork":true,"containers":[{"nodeName":"x"}]},"status":{}}"#;
        let facts = Facts::read(json, &["spec.nodeName", "spec.hostNetwork", "status.phase"].map(Shared::Static));
        assert_eq!(facts.label("app"), Some("web"));
        assert_eq!(facts.label("labels"), None);
        assert_eq!(facts.fields.iter().map(|f| &**f).collect::<Vec<_>>(), ["n1", "true", ""]);
    }
}
