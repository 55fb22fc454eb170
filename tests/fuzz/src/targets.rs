//! The targets: one for each reader.

use std::sync::LazyLock;

use api::{Value, apply, crd, decode, defaults, kinds, patch, protobuf, quantity::Quantity, schema, selector, table};
use apiserver::query::{Continue, ListOptions, Query};

use crate::{Target, corpus, mutate, server};

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "json",
        corpus: corpus::json_objects,
        mutate: mutate::tree,
        start: || Box::new(|input| object(decode::json(input))),
    },
    Target {
        name: "yaml",
        corpus: corpus::yaml_objects,
        mutate: mutate::text,
        start: || Box::new(|input| object(decode::yaml(input))),
    },
    Target { name: "protobuf", corpus: corpus::protobuf_objects, mutate: mutate::bytes, start: || Box::new(wire) },
    Target { name: "patches", corpus: corpus::patches, mutate: mutate::tree, start: || Box::new(patches) },
    Target { name: "selectors", corpus: corpus::selectors, mutate: mutate::text, start: || Box::new(selectors) },
    Target { name: "quantities", corpus: corpus::quantities, mutate: mutate::text, start: || Box::new(quantities) },
    Target { name: "tokens", corpus: tokens, mutate: mutate::text, start: || Box::new(token) },
    Target { name: "schemas", corpus: corpus::definitions, mutate: mutate::tree, start: || Box::new(schemas) },
    Target { name: "requests", corpus: server::corpus, mutate: server::mutate, start: server::start },
];

const OPTIONS: table::Options =
    table::Options { api_version: "meta.k8s.io/v1", now: 0, include: table::Include::Metadata, columns: true };

static KINDS: LazyLock<api::Kinds> = LazyLock::new(kinds::builtin);

/// What happens to an object on its way in and out.
fn object(decoded: Result<decode::Decoded, api::Status>) {
    let Ok(decoded) = decoded else { return };
    let (schema, kinds) = (schema::builtin(), &*KINDS);
    let value = decoded.value;
    let named =
        kinds.rows().iter().find(|kind| value["kind"] == *kind.kind && value["apiVersion"] == kind.api_version());
    let Some(kind) = named else { return };
    let mut value = value;
    if decode::check(&schema, kind.root, &mut value).is_err() {
        return;
    }
    defaults::apply(&schema, kind.root, &mut value);
    kind.strategy.default(&mut value);
    kind.strategy.prepare_for_create(&mut value);
    let _ = kind.strategy.validate(&value);
    let _ = kind.strategy.validate_create(&value);
    let _ = kind.strategy.validate_update(&value, &value);
    let mut stored = value.clone();
    kind.to_storage(kinds.stored(kind), &mut stored);
    kind.from_storage(&mut stored);
    let _ = table::table(kind, std::iter::once(&stored), &Value::Null, OPTIONS);
    for field in kind.selectable.iter() {
        let _ = kinds::field_text(&stored, field);
    }
    if let Some(bytes) = protobuf::encode_object(&value) {
        let read = protobuf::decode_object(&bytes);
        assert!(read.is_ok(), "what is written can be read: {read:?}");
    }
}

fn wire(input: &[u8]) {
    let Ok(value) = protobuf::decode_object(input) else { return };
    object(Ok(decode::Decoded { value, duplicates: Vec::new() }));
}

/// `[live, patch]`, in every form of patch.
fn patches(input: &[u8]) {
    let Ok(pair) = serde_json::from_slice::<Value>(input) else { return };
    let (live, change) = (&pair[0], &pair[1]);
    let _ = patch::json_patch(live, change.to_string().as_bytes());
    let _ = patch::merge_patch(live, change);
    let (schema, kinds) = (schema::builtin(), &*KINDS);
    let named = kinds.rows().iter().find(|kind| live["kind"] == *kind.kind && live["apiVersion"] == kind.api_version());
    let Some(kind) = named else { return };
    let mut live = live.clone();
    if decode::check(&schema, kind.root, &mut live).is_err() {
        return;
    }
    let _ = patch::strategic(&schema, kind.root, &live, change);
    let api_version = kind.api_version();
    let applied = |live: &Value| {
        apply::apply(apply::Apply {
            schema: &schema,
            root: kind.root,
            live: Some(live),
            applied: change,
            manager: "m",
            api_version: &api_version,
            subresource: "",
            force: true,
            now: jiff::Timestamp::UNIX_EPOCH,
        })
    };
    let Ok(once) = applied(&live) else { return };
    let _ = applied(&once);
}

fn selectors(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Ok(labels) = selector::Labels::parse(&text) {
        let _ = labels.matches_with(|key| (key.len() > 1).then_some("b"));
    }
    if let Ok(fields) = selector::Fields::parse(&text) {
        let _ = fields.matches_with(|path| path.to_owned());
    }
}

fn quantities(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let Ok(quantity) = Quantity::from_value(&Value::from(&*text)) else { return };
    let canonical = quantity.to_string();
    let again = Quantity::from_value(&Value::from(canonical.as_str()));
    assert_eq!(again.map(|q| q.to_string()).ok(), Some(canonical), "the canonical form of {text:?} is read as itself");
    let _ = (quantity.value(), quantity.milli(), quantity.as_f64(), quantity.is_zero());
}

fn tokens() -> Vec<Vec<u8>> {
    let token = Continue { revision: 12, start: "default/a\0".to_owned() }.encode();
    let queries = [
        format!("limit=5&continue={token}"),
        "resourceVersion=5&resourceVersionMatch=Exact&labelSelector=a%3Db".to_owned(),
        "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1&timeoutSeconds=9"
            .to_owned(),
        "fieldSelector=metadata.name%3Da&limit=-1".to_owned(),
        token,
    ];
    queries.map(String::into_bytes).to_vec()
}

fn token(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Ok(token) = Continue::decode(&text) {
        assert_eq!(Continue::decode(&token.encode()).ok(), Some(token), "a token is read as it was");
    }
    let query = Query::parse(Some(&text));
    for watch in [false, true] {
        let _ = ListOptions::parse(&query, watch);
    }
}

/// `[definition, object]`: rows of the definition, and the object on its way through them.
fn schemas(input: &[u8]) {
    let Ok(pair) = serde_json::from_slice::<Value>(input) else { return };
    let (mut definition, object) = (pair[0].clone(), pair[1].clone());
    if !object.is_object() {
        return;
    }
    let own = KINDS.by_kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition").expect("a row");
    if decode::check(&own.schema, own.root, &mut definition).is_err() {
        return;
    }
    defaults::apply(&own.schema, own.root, &mut definition);
    own.strategy.default(&mut definition);
    let refused =
        !own.strategy.validate(&definition).is_empty() || !own.strategy.validate_create(&definition).is_empty();
    // What validation refuses is not stored; rows of it are made all the same, since old ones may be there.
    let Ok(rows) = crd::rows(&definition) else { return };
    let _ = refused;
    for kind in &rows {
        let mut object = object.clone();
        object["apiVersion"] = kind.api_version().into();
        object["kind"] = (*kind.kind).into();
        if decode::check(&kind.schema, kind.root, &mut object).is_err() {
            continue;
        }
        defaults::apply(&kind.schema, kind.root, &mut object);
        kind.strategy.default(&mut object);
        kind.strategy.prepare_for_create(&mut object);
        let _ = kind.strategy.validate(&object);
        let _ = kind.strategy.validate_update(&object, &object);
        kind.to_storage(kind, &mut object);
        kind.from_storage(&mut object);
        let _ = table::table(kind, std::iter::once(&object), &Value::Null, OPTIONS);
    }
}
