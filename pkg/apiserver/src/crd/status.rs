//! What becomes of a definition's status: accepted names, conditions, versions that objects are stored in. Pure.
//!
//! # Guarantees
//! - Deciding again over what was decided changes nothing.
//! - Conditions that others wrote stay.
//! - A name that another definition of the group has is not accepted; what was accepted before stays, and goes on
//!   being served.
//!
//! Source: apiextensions-apiserver, `pkg/controller/{status,establish,apiapproval,finalizer}`.

use std::collections::BTreeSet;

use api::{
    Value,
    crd::{PENDING, set_condition as set},
    tree,
};
use serde_json::json;

use super::definition::Definition;

/// Names that are taken in a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl Taken {
    /// What definitions of the same group other than `of` have accepted.
    pub fn by_others<'a>(of: &Definition, all: impl IntoIterator<Item = &'a Definition>) -> Self {
        let mut taken = Taken::default();
        for other in all.into_iter().filter(|other| other.group == of.group && other.name != of.name) {
            let names = &other.status["acceptedNames"];
            let text = |field: &str| tree::text(names, field).to_owned();
            taken.resources.extend([text("plural"), text("singular")]);
            taken.resources.extend(tree::texts(names, "shortNames").map(str::to_owned));
            taken.kinds.extend([text("kind"), text("listKind")]);
        }
        taken.resources.remove("");
        taken.kinds.remove("");
        taken
    }
}

/// The status that a definition should have; `None` if it has it. `now` in RFC 3339.
pub fn decide(definition: &Definition, taken: &Taken, now: &str) -> Option<Value> {
    let mut status = match &definition.status {
        Value::Object(_) => definition.status.clone(),
        _ => json!({}),
    };
    names(definition, taken, &mut status, now);
    establish(definition, &mut status, now);
    approve(definition, &mut status, now);
    store(definition, &mut status);
    let pending = definition.condition("Terminating").is_none_or(|c| c["reason"] == PENDING || c["status"] != "True");
    if definition.is_ending() && pending {
        let message = "CustomResource deletion is in progress";
        set(&mut status, ["Terminating", "True", "InstanceDeletionInProgress", message], now);
    }
    (!tree::equal(&status, &definition.status)).then_some(status)
}

fn names(definition: &Definition, taken: &Taken, status: &mut Value, now: &str) {
    let wanted = &definition.names;
    let had = definition.status["acceptedNames"].clone();
    if tree::equal(wanted, &had) && definition.is("NamesAccepted") {
        return;
    }
    let in_use = |name: &str| format!("{name:?} is already in use");
    let mut accepted = if had.is_object() { had.clone() } else { json!({}) };
    let mut refused: Option<(&str, String)> = None;
    for (field, reason, used) in [
        ("plural", "PluralConflict", &taken.resources),
        ("singular", "SingularConflict", &taken.resources),
        ("shortNames", "ShortNamesConflict", &taken.resources),
        ("kind", "KindConflict", &taken.kinds),
        ("listKind", "ListKindConflict", &taken.kinds),
    ] {
        let mine: Vec<&str> = match field {
            "shortNames" => tree::texts(&had, field).collect(),
            _ => vec![tree::text(&had, field)],
        };
        let asked: Vec<&str> = match field {
            "shortNames" => tree::texts(wanted, field).collect(),
            _ => vec![tree::text(wanted, field)],
        };
        let clashes: Vec<String> =
            asked.into_iter().filter(|name| !mine.contains(name) && used.contains(*name)).map(in_use).collect();
        match clashes.as_slice() {
            [] => copy(wanted, field, &mut accepted),
            [one] => refused = Some((reason, one.clone())),
            many => refused = Some((reason, format!("[{}]", many.join(", ")))),
        }
    }
    copy(wanted, "categories", &mut accepted);
    status["acceptedNames"] = accepted;
    match refused {
        None => set(status, ["NamesAccepted", "True", "NoConflicts", "no conflicts found"], now),
        Some((reason, message)) => set(status, ["NamesAccepted", "False", reason, &message], now),
    }
}

fn copy(from: &Value, field: &str, to: &mut Value) {
    match &from[field] {
        Value::Null => drop(to.as_object_mut().map(|names| names.remove(field))),
        value => to[field] = value.clone(),
    }
}

fn establish(definition: &Definition, status: &mut Value, now: &str) {
    let accepted =
        tree::items(status, "conditions").iter().any(|c| c["type"] == "NamesAccepted" && c["status"] == "True");
    match (accepted, definition.condition("Established")) {
        (true, _) if !definition.is_served() => {
            let message = "the initial names have been accepted";
            set(status, ["Established", "True", "InitialNamesAccepted", message], now);
        }
        (false, None) => set(status, ["Established", "False", "NotAccepted", "not all names are accepted"], now),
        _ => {}
    }
}

/// Groups of the community are to be used with its approval.
fn approve(definition: &Definition, status: &mut Value, now: &str) {
    const ANNOTATION: &str = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
    const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    let group = definition.group.as_str();
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|of| group.strip_suffix(of).is_some_and(|p| p.is_empty() || p.ends_with('.')));
    if !protected {
        return;
    }
    let approval = definition.approval.as_str();
    let url = approval.split_once("://").is_some_and(|(scheme, rest)| {
        !scheme.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric())
            && !rest.trim_start_matches('/').is_empty()
    });
    let (state, reason, message) = match approval {
        "" => ("False", "MissingAnnotation", format!("{ANNOTATION}, {SEE}")),
        text if text.starts_with("unapproved") => ("False", "UnapprovedAnnotation", format!("not approved: {text:?}")),
        text if url => ("True", "ApprovedAnnotation", format!("approved in {text}")),
        _ => (
            "False",
            "InvalidAnnotation",
            format!("{ANNOTATION} with either a URL or a reason starting with \"unapproved\", {SEE}"),
        ),
    };
    set(status, ["KubernetesAPIApprovalPolicyConformant", state, reason, &message], now);
}

/// The version that objects are stored in is among those that they may be found in.
fn store(definition: &Definition, status: &mut Value) {
    if definition.storage.is_empty() || tree::texts(status, "storedVersions").any(|v| v == definition.storage) {
        return;
    }
    if !status["storedVersions"].is_array() {
        status["storedVersions"] = json!([]);
    }
    if let Some(versions) = status["storedVersions"].as_array_mut() {
        versions.push(definition.storage.as_str().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-02T03:04:05Z";

    fn definition(plural: &str, kind: &str, short: &[&str], status: Value) -> Definition {
        let object = json!({
            "metadata": {"name": format!("{plural}.example.com"), "uid": plural},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List"),
                    "shortNames": short, "categories": ["all"]},
                "versions": [{"name": "v1", "served": true, "storage": true}],
            },
            "status": status,
        });
        Definition::new(&object, 1)
    }

    fn with(definition: &Definition, status: &Value) -> Definition {
        Definition { status: status.clone(), ..definition.clone() }
    }

    fn shown(status: &Value) -> Vec<String> {
        let conditions = tree::items(status, "conditions").iter();
        let text = |c: &Value, field: &str| c[field].as_str().unwrap_or_default().to_owned();
        conditions.map(|c| ["type", "status", "reason", "message"].map(|f| text(c, f)).join("|")).collect()
    }

    const ACCEPTED: &str = "NamesAccepted|True|NoConflicts|no conflicts found";
    const ESTABLISHED: &str = "Established|True|InitialNamesAccepted|the initial names have been accepted";
    const NOT_ACCEPTED: &str = "Established|False|NotAccepted|not all names are accepted";

    #[test]
    fn a_new_definition_is_established_and_that_is_all() {
        let new = definition("widgets", "Widget", &["w"], Value::Null);
        let status = decide(&new, &Taken::default(), NOW).expect("a decision");
        assert_eq!(shown(&status), [ACCEPTED, ESTABLISHED]);
        assert_eq!(status["acceptedNames"], new.names);
        assert_eq!(status["storedVersions"], json!(["v1"]));
        assert_eq!(status["conditions"][0]["lastTransitionTime"], NOW);
        assert_eq!(decide(&with(&new, &status), &Taken::default(), "later"), None, "deciding again changes nothing");
    }

    #[test]
    fn names_that_others_have_are_refused() {
        let first = definition("widgets", "Widget", &["w"], Value::Null);
        let first = with(&first, &decide(&first, &Taken::default(), NOW).expect("a decision"));
        for (plural, kind, short, reason, message) in [
            ("gadgets", "Widget", vec![], "ListKindConflict", "\"WidgetList\" is already in use"),
            ("w", "Gadget", vec![], "PluralConflict", "\"w\" is already in use"),
            ("gadgets", "Gadget", vec!["w"], "ShortNamesConflict", "\"w\" is already in use"),
            (
                "gadgets",
                "Gadget",
                vec!["w", "widgets"],
                "ShortNamesConflict",
                "[\"w\" is already in use, \"widgets\" is already in use]",
            ),
        ] {
            let second = definition(plural, kind, &short, Value::Null);
            let taken = Taken::by_others(&second, [&first, &second]);
            let status = decide(&second, &taken, NOW).expect("a decision");
            let refused = format!("NamesAccepted|False|{reason}|{message}");
            assert_eq!(shown(&status), [refused.as_str(), NOT_ACCEPTED], "{plural} {kind}");
            assert_eq!(decide(&with(&second, &status), &taken, "later"), None, "deciding again changes nothing");
            // The other one goes: the names are free.
            let free = decide(&with(&second, &status), &Taken::default(), "later").expect("a decision");
            assert_eq!(shown(&free), [ACCEPTED, ESTABLISHED]);
            assert_eq!(free["conditions"][0]["lastTransitionTime"], "later");
        }
        let elsewhere =
            Definition { group: "example.org".to_owned(), ..definition("x", "Widget", &["w"], Value::Null) };
        assert!(Taken::by_others(&elsewhere, [&first]).kinds.is_empty(), "other groups have names of their own");
    }

    #[test]
    fn what_is_established_stays_so_when_a_new_name_is_refused() {
        let taken = Taken { resources: ["g".to_owned()].into(), kinds: BTreeSet::new() };
        let mut had = definition("widgets", "Widget", &["w"], Value::Null);
        had.status = decide(&had, &taken, NOW).expect("a decision");
        had.names["shortNames"] = json!(["w", "g"]);
        let status = decide(&had, &taken, NOW).expect("a decision");
        let refused = "NamesAccepted|False|ShortNamesConflict|\"g\" is already in use";
        assert_eq!(shown(&status), [refused, ESTABLISHED]);
        assert_eq!(status["acceptedNames"]["shortNames"], json!(["w"]));
    }

    #[test]
    fn conditions_of_others_survive_and_a_new_storage_version_is_noted() {
        let custom = json!({"conditions": [{"type": "Mine", "status": "True", "reason": "r", "message": "m"}]});
        let mut one = definition("widgets", "Widget", &[], custom);
        one.status = decide(&one, &Taken::default(), NOW).expect("a decision");
        assert_eq!(shown(&one.status), ["Mine|True|r|m", ACCEPTED, ESTABLISHED]);
        one.storage = "v2".to_owned();
        let status = decide(&one, &Taken::default(), NOW).expect("a decision");
        assert_eq!(status["storedVersions"], json!(["v1", "v2"]));
    }

    #[test]
    fn a_definition_that_is_deleted_is_terminating() {
        let mut one = definition("widgets", "Widget", &[], Value::Null);
        one.status = decide(&one, &Taken::default(), NOW).expect("a decision");
        one.deleting = true;
        assert_eq!(decide(&one, &Taken::default(), NOW), None, "nobody waits for its objects");
        one.finalizers = vec![api::crd::CLEANUP.to_owned()];
        let status = decide(&one, &Taken::default(), NOW).expect("a decision");
        let terminating = "Terminating|True|InstanceDeletionInProgress|CustomResource deletion is in progress";
        assert_eq!(shown(&status), [ACCEPTED, ESTABLISHED, terminating]);
        assert_eq!(decide(&with(&one, &status), &Taken::default(), "later"), None);
    }

    #[test]
    fn groups_of_the_community_need_approval() {
        for (group, approval, want) in [
            ("example.com", "", None),
            ("notk8s.io", "", None),
            ("a.k8s.io", "", Some("False|MissingAnnotation")),
            ("a.k8s.io", "unapproved, for a test", Some("False|UnapprovedAnnotation")),
            ("kubernetes.io", "https://github.com/x/y/pull/1", Some("True|ApprovedAnnotation")),
            ("kubernetes.io", "yes", Some("False|InvalidAnnotation")),
        ] {
            let one = Definition {
                group: group.to_owned(),
                approval: approval.to_owned(),
                ..definition("widgets", "Widget", &[], Value::Null)
            };
            let status = decide(&one, &Taken::default(), NOW).expect("a decision");
            let got = shown(&status).into_iter().find_map(|c| {
                let rest = c.strip_prefix("KubernetesAPIApprovalPolicyConformant|")?;
                Some(rest.split('|').take(2).collect::<Vec<_>>().join("|"))
            });
            assert_eq!(got.as_deref(), want, "{group} {approval}");
        }
    }
}
