//! How inputs are changed: as bytes, as text, as trees.

use api::Value;
use rand::{Rng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::json;

/// Longest input.
const LONGEST: usize = 64 * 1024;

/// What readers have a special case for.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "-",
    "0",
    "1e999",
    "-1",
    "9223372036854775807",
    "18446744073709551616",
    "0.0000000000000000001",
    "\\u0000",
    "\\ud800",
    "\u{0}",
    "\u{feff}",
    "é",
    "🐦",
    "\n",
    "---\n",
    "&a [*a]",
    "*a",
    "<<: *a",
    "!!binary ",
    "? ",
    "|\n  ",
    "k8s\0",
    "=",
    "==",
    "!=",
    " in (",
    " notin (",
    ")",
    "!",
    "%",
    "%00",
    "~1",
    "~0",
    "/-",
    "/0",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "$deleteFromPrimitiveList/x",
    "x-kubernetes-preserve-unknown-fields",
    "metadata",
    "managedFields",
    "f:metadata",
    "k:{\"name\":\"a\"}",
    "v:1",
    "resourceVersion",
    "..",
    "/",
    "'",
    "Ki",
    "E",
    "e",
    "n",
    "u",
    "m",
    "1Ei",
    "999999999999999999999999999",
    ".",
    "+",
];

/// Any bytes.
pub fn bytes(random: &mut StdRng, input: &mut Vec<u8>) {
    let at = random.random_range(0..=input.len());
    match random.random_range(0..7) {
        0 if at < input.len() => input[at] = random.random(),
        1 if at < input.len() => input[at] ^= 1 << random.random_range(0..8),
        2 => {
            let end = (at + random.random_range(0..16)).min(input.len());
            input.drain(at..end);
        }
        3 => input.truncate(at),
        4 => {
            // Lengths in protobuf.
            let bytes: Vec<u8> = (0..random.random_range(1..11)).map(|_| random.random::<u8>() | 0x80).collect();
            input.splice(at..at, bytes);
        }
        5 => {
            let end = (at + random.random_range(0..256)).min(input.len());
            let piece = input[at..end].to_vec();
            for _ in 0..random.random_range(1..4) {
                input.splice(at..at, piece.clone());
            }
        }
        _ => {
            input.insert(at, random.random());
        }
    }
    input.truncate(LONGEST);
}

/// Text: bytes, and words that mean something.
pub fn text(random: &mut StdRng, input: &mut Vec<u8>) {
    if random.random_bool(0.4) {
        return bytes(random, input);
    }
    let at = random.random_range(0..=input.len());
    let word = WORDS.choose(random).copied().unwrap_or_default().as_bytes();
    let times = if random.random_bool(0.03) { random.random_range(100..2000) } else { 1 };
    let end = if random.random_bool(0.5) { (at + word.len()).min(input.len()) } else { at };
    input.splice(at..end, word.repeat(times));
    input.truncate(LONGEST);
}

/// JSON: mostly stays JSON.
pub fn tree(random: &mut StdRng, input: &mut Vec<u8>) {
    let parsed = serde_json::from_slice::<Value>(input).ok().filter(|_| random.random_bool(0.9));
    let Some(mut value) = parsed else { return text(random, input) };
    let donor = value.clone();
    for _ in 0..random.random_range(1..4) {
        change(random, &mut value, &donor, 0);
    }
    *input = value.to_string().into_bytes();
    if input.len() > LONGEST {
        *input = donor.to_string().into_bytes();
    }
}

/// Changes something, somewhere.
fn change(random: &mut StdRng, value: &mut Value, donor: &Value, depth: usize) {
    if depth < 12 && random.random_bool(0.85) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                let names: Vec<String> = fields.keys().cloned().collect();
                let name = names.choose(random).cloned().unwrap_or_default();
                match random.random_range(0..12) {
                    0 => drop(fields.remove(&name)),
                    1 => {
                        let value = fields.get(&name).cloned().unwrap_or_default();
                        fields.insert(word(random), value);
                    }
                    2 => {
                        fields.insert(word(random), any(random, donor));
                    }
                    _ => {
                        if let Some(inner) = fields.get_mut(&name) {
                            change(random, inner, donor, depth + 1);
                        }
                    }
                }
                return;
            }
            Value::Array(items) if !items.is_empty() => {
                let at = random.random_range(0..items.len());
                match random.random_range(0..8) {
                    0 => drop(items.remove(at)),
                    1 => items.insert(at, items[at].clone()),
                    2 => items.push(any(random, donor)),
                    _ => change(random, &mut items[at], donor, depth + 1),
                }
                return;
            }
            _ => {}
        }
    }
    *value = any(random, donor);
}

fn word(random: &mut StdRng) -> String {
    WORDS.choose(random).copied().unwrap_or_default().to_owned()
}

/// A value of any kind, or a piece of the donor.
fn any(random: &mut StdRng, donor: &Value) -> Value {
    match random.random_range(0..14) {
        0 => Value::Null,
        1 => random.random::<bool>().into(),
        2 => random.random::<i64>().into(),
        3 => random.random_range(-3..70_000).into(),
        4 => json!(f64::from_bits(random.random())),
        5 => word(random).into(),
        6 => json!({}),
        7 => json!([]),
        8 => json!({ word(random): word(random) }),
        9 => json!([word(random), null, { word(random): [] }]),
        10 => u64::MAX.into(),
        11 => word(random).repeat(random.random_range(1..300)).into(),
        12 => {
            let depth = random.random_range(1..200);
            (0..depth).fold(json!(1), |inner, _| if depth % 2 == 0 { json!([inner]) } else { json!({"a": inner}) })
        }
        _ => piece(random, donor),
    }
}

fn piece(random: &mut StdRng, donor: &Value) -> Value {
    let inner = match donor {
        Value::Object(fields) => fields.values().collect::<Vec<_>>(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    match inner.choose(random) {
        Some(inner) if random.random_bool(0.8) => piece(random, inner),
        _ => donor.clone(),
    }
}
