//! The conditions that tell how far the deletion of a namespace is.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::{api::core::v1::NamespaceCondition, apimachinery::pkg::apis::meta::v1::Time};

use super::content::Content;

/// Sets the conditions that tell how far the deletion is. Whether that changed anything.
pub fn set_conditions(conditions: &mut Vec<NamespaceCondition>, content: &Content, now: Timestamp) -> bool {
    let instances = |counts: &BTreeMap<String, usize>, word: &str| {
        let parts: Vec<_> = counts.iter().map(|(what, n)| format!("{what} {word} {n} resource instances")).collect();
        parts.join(", ")
    };
    let (remaining, finalizers) = (content.remaining(), content.finalizers());
    let failures: Vec<_> = content.failures.iter().map(|(kind, why)| format!("{}: {why}", kind.name())).collect();
    let rows = [
        (
            "NamespaceDeletionDiscoveryFailure",
            content.discovery.is_some(),
            ["ResourcesDiscovered", "DiscoveryFailed"],
            "All resources successfully discovered",
            format!(
                "Discovery failed for some groups, 1 failing: {}",
                content.discovery.as_deref().unwrap_or_default()
            ),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            ["ParsedGroupVersions", "GroupVersionParsingFailed"],
            "All legacy kube types successfully parsed",
            String::new(),
        ),
        (
            "NamespaceDeletionContentFailure",
            !content.failures.is_empty(),
            ["ContentDeleted", "ContentDeletionFailed"],
            "All content successfully deleted, may be waiting on finalization",
            format!(
                "Failed to delete all resource types, {} remaining: {}",
                content.failures.len(),
                failures.join(", ")
            ),
        ),
        (
            "NamespaceContentRemaining",
            !remaining.is_empty(),
            ["ContentRemoved", "SomeResourcesRemain"],
            "All content successfully removed",
            format!("Some resources are remaining: {}", instances(&remaining, "has")),
        ),
        (
            "NamespaceFinalizersRemaining",
            !finalizers.is_empty(),
            ["ContentHasNoFinalizers", "SomeFinalizersRemain"],
            "All content-preserving finalizers finished",
            format!("Some content in the namespace has finalizers remaining: {}", instances(&finalizers, "in")),
        ),
    ];
    let mut changed = false;
    for (type_, bad, [good_reason, bad_reason], good_message, bad_message) in rows {
        let (status, reason, message) = match bad {
            true => ("True", bad_reason, bad_message),
            false => ("False", good_reason, good_message.to_owned()),
        };
        changed |= set_condition(conditions, type_, status, reason, &message, now);
    }
    changed
}

fn set_condition(
    conditions: &mut Vec<NamespaceCondition>,
    type_: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> bool {
    let at = conditions.iter().position(|c| c.type_ == type_);
    let before = at.map(|at| conditions[at].clone());
    if before.as_ref().is_some_and(|c| {
        c.status == status && c.reason.as_deref() == Some(reason) && c.message.as_deref() == Some(message)
    }) {
        return false;
    }
    let since = before.filter(|c| c.status == status).and_then(|c| c.last_transition_time);
    let condition = NamespaceCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_transition_time: since.or(Some(Time(now))),
    };
    match at {
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::content::{Found, tests::found};

    #[test]
    fn conditions_tell_what_remains_and_are_written_once() {
        let now = Timestamp::UNIX_EPOCH;
        let finalizers = [("example.com/hold".to_owned(), 1)].into();
        let pods = Found { objects: 2, finalizers, ..found("", "Pod") };
        let content = Content { kinds: vec![pods], ..Content::default() };
        let mut conditions = Vec::new();
        assert!(set_conditions(&mut conditions, &content, now));
        assert!(!set_conditions(&mut conditions, &content, now), "the same again changes nothing");
        let message = |type_: &str| {
            let condition = conditions.iter().find(|c| c.type_ == type_).expect("set");
            (condition.status.clone(), condition.message.clone().unwrap_or_default())
        };
        for (type_, status, text) in [
            ("NamespaceDeletionDiscoveryFailure", "False", "All resources successfully discovered"),
            ("NamespaceContentRemaining", "True", "Some resources are remaining: pods. has 2 resource instances"),
            (
                "NamespaceFinalizersRemaining",
                "True",
                "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
            ),
        ] {
            assert_eq!(message(type_), (status.to_owned(), text.to_owned()));
        }
    }
}
