//! `metadata.managedFields`: reading, writing, and the limit on how many entries there are.

use std::{cmp::Reverse, collections::BTreeMap};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::set::Set;

/// Most entries of updates.
const MAX_UPDATERS: usize = 10;
/// Who owns what the oldest updates set.
const ANCIENT: &str = "ancient-changes";

/// How a manager came to its fields. The order is that of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Everything else.
    Update,
}

/// What tells entries apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Manager {
    /// `kubectl`, `kube-controller-manager`, …
    pub name: String,
    /// Apply or update.
    pub operation: Operation,
    /// Empty for appliers, who have one entry whatever the version.
    pub api_version: String,
    /// `status`, `scale`; empty for the main resource.
    pub subresource: String,
}

impl Manager {
    /// The identity of whoever makes a request.
    pub fn new(name: &str, operation: Operation, api_version: &str, subresource: &str) -> Self {
        let name = if name.is_empty() { "unknown" } else { name };
        let api_version = if operation == Operation::Apply { "" } else { api_version };
        Manager {
            name: name.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// As in conflict messages.
    pub fn shown(&self) -> String {
        let mut text = format!("{:?}", self.name);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {:?}", self.subresource));
        }
        if self.operation == Operation::Update {
            text.push_str(&format!(" using {}", self.api_version));
        }
        text
    }
}

/// What a manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The version that the paths are in.
    pub api_version: String,
    /// RFC 3339; `None` where the client left it out.
    pub time: Option<String>,
    /// The fields.
    pub set: Set,
}

/// All entries of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Managed(pub BTreeMap<Manager, Entry>);

/// As in `metadata`, in seconds.
pub fn rfc3339(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Whether the list asks for all entries to be forgotten: `[]` or `[{}]`.
pub fn is_reset(managed_fields: &Value) -> bool {
    match managed_fields.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([one]) => one.as_object().is_some_and(serde_json::Map::is_empty),
        _ => false,
    }
}

impl Managed {
    /// Reads `metadata.managedFields`.
    pub fn decode(managed_fields: &Value) -> Result<Self, String> {
        let mut out = Managed::default();
        for (at, entry) in managed_fields.as_array().into_iter().flatten().enumerate() {
            let text = |field: &str| entry[field].as_str().unwrap_or_default();
            let operation = match text("operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err("operation must be `Apply` or `Update`".to_owned()),
            };
            let api_version = text("apiVersion");
            if api_version.is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match text("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {at}")),
                other => return Err(format!("invalid fieldsType {other:?} in managed fields entry {at}")),
            }
            let mut manager = Manager::new("", operation, api_version, text("subresource"));
            manager.name = text("manager").to_owned();
            let set = Set::from_fields_v1(&entry["fieldsV1"]).map_err(|e| format!("error decoding set: {e}"))?;
            let time = entry["time"].as_str().map(str::to_owned);
            out.0.insert(manager, Entry { api_version: api_version.to_owned(), time, set });
        }
        Ok(out)
    }

    /// Writes `metadata.managedFields`; null for no entries.
    pub fn encode(&self) -> Value {
        let mut entries: Vec<_> = self.0.iter().collect();
        entries.sort_by(|(m, e), (n, f)| {
            let key = |m: &Manager, e: &Entry| (m.operation, e.time.clone().unwrap_or_default());
            let names = |m: &Manager, e: &Entry| (m.name.clone(), e.api_version.clone(), m.subresource.clone());
            key(m, e).cmp(&key(n, f)).then_with(|| names(m, e).cmp(&names(n, f)))
        });
        let encode = |(manager, entry): (&Manager, &Entry)| {
            let mut out = json!({
                "manager": manager.name, "apiVersion": entry.api_version,
                "operation": if manager.operation == Operation::Apply { "Apply" } else { "Update" },
                "fieldsType": "FieldsV1", "fieldsV1": entry.set.to_fields_v1(),
            });
            if let Some(time) = &entry.time {
                out["time"] = time.as_str().into();
            }
            if !manager.subresource.is_empty() {
                out["subresource"] = manager.subresource.as_str().into();
            }
            out
        };
        if entries.is_empty() { Value::Null } else { entries.into_iter().map(encode).collect() }
    }

    /// Sets an entry, or removes it where it would own nothing.
    pub fn put(&mut self, manager: Manager, entry: Entry) {
        if entry.set.is_empty() {
            self.0.remove(&manager);
        } else {
            self.0.insert(manager, entry);
        }
    }

    /// Takes fields from all managers but one; entries that own nothing then go.
    pub fn take(&mut self, gone: &Set, except: Option<&Manager>) {
        self.0.retain(|manager, entry| {
            if Some(manager) != except {
                entry.set = entry.set.difference(gone);
            }
            !entry.set.is_empty()
        });
    }

    /// What all managers own together, and what the appliers among them do.
    pub fn unions(&self) -> (Set, Set) {
        let union = |all: Set, entry: &Entry| all.union(&entry.set);
        let appliers = self.0.iter().filter(|(manager, _)| manager.operation == Operation::Apply);
        let applied = appliers.map(|(_, entry)| entry).fold(Set::default(), union);
        (self.0.values().fold(Set::default(), union), applied)
    }

    /// Merges the oldest updates of a version into one entry, until there are few enough.
    pub fn cap(&mut self) {
        let mut updaters: Vec<_> = self.0.iter().filter(|(m, _)| m.operation == Operation::Update).collect();
        updaters.sort_by_key(|(manager, entry)| Reverse((entry.time.clone(), (*manager).clone())));
        let mut updaters: Vec<Manager> = updaters.into_iter().map(|(manager, _)| manager.clone()).collect();
        let mut count = updaters.len();
        let mut first_of: BTreeMap<String, Manager> = BTreeMap::new();
        while count > MAX_UPDATERS {
            let Some(manager) = updaters.pop() else { return };
            let version = manager.api_version.clone();
            let Some(first) = first_of.get(&version) else {
                first_of.insert(version, manager);
                continue;
            };
            let bucket = Manager::new(ANCIENT, Operation::Update, &version, "");
            // The first of a version stays, unless the bucket has to be made of it.
            let first = first.clone();
            let merged = if manager == bucket { first.clone() } else { manager };
            if !self.0.contains_key(&bucket)
                && let Some(entry) = self.0.remove(&first)
            {
                self.0.insert(bucket.clone(), entry);
            }
            if let (Some(entry), Some(into)) = (self.0.remove(&merged), self.0.get_mut(&bucket)) {
                into.set = into.set.union(&entry.set);
                into.time = entry.time.max(into.time.take());
            }
            first_of.insert(version, bucket);
            count -= 1;
        }
    }
}
