//! Label selectors of typed objects.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::NodeSelectorRequirement,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};

/// Labels of an object.
pub type Labels = BTreeMap<String, String>;

/// Whether `labels` hold all of `wanted`.
pub fn contains(labels: Option<&Labels>, wanted: &Labels) -> bool {
    wanted.iter().all(|(key, value)| labels.and_then(|l| l.get(key)) == Some(value))
}

/// Whether the selector accepts the labels. An empty selector accepts everything; a requirement
/// with an unknown operator accepts nothing.
pub fn matches(selector: &LabelSelector, labels: Option<&Labels>) -> bool {
    selector.match_labels.as_ref().is_none_or(|wanted| contains(labels, wanted))
        && selector.match_expressions.iter().flatten().all(|requirement| meets(requirement, labels))
}

/// Whether the selector accepts everything.
pub fn is_empty(selector: &LabelSelector) -> bool {
    selector.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
        && selector.match_expressions.as_ref().is_none_or(Vec::is_empty)
}

fn meets(requirement: &LabelSelectorRequirement, labels: Option<&Labels>) -> bool {
    operate(
        &requirement.operator,
        labels.and_then(|l| l.get(&requirement.key)),
        requirement.values.as_deref().unwrap_or_default(),
    )
}

/// Whether labels (or fields) of a node meet a requirement of a node selector.
pub fn node_meets(requirement: &NodeSelectorRequirement, labels: Option<&Labels>) -> bool {
    operate(
        &requirement.operator,
        labels.and_then(|l| l.get(&requirement.key)),
        requirement.values.as_deref().unwrap_or_default(),
    )
}

fn operate(operator: &str, value: Option<&String>, values: &[String]) -> bool {
    match operator {
        "In" => value.is_some_and(|v| values.contains(v)),
        "NotIn" => value.is_none_or(|v| !values.contains(v)),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compare(value, values).is_some_and(|(v, w)| v > w),
        "Lt" => compare(value, values).is_some_and(|(v, w)| v < w),
        _ => false,
    }
}

fn compare(value: Option<&String>, values: &[String]) -> Option<(i64, i64)> {
    match values {
        [wanted] => Some((value?.parse().ok()?, wanted.parse().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator() {
        let labels: Labels = [("a", "1"), ("n", "7")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        for (key, operator, values, expected) in [
            ("a", "In", &["1", "2"][..], true),
            ("a", "In", &["2"], false),
            ("x", "In", &["1"], false),
            ("a", "NotIn", &["1"], false),
            ("x", "NotIn", &["1"], true),
            ("a", "Exists", &[], true),
            ("x", "Exists", &[], false),
            ("x", "DoesNotExist", &[], true),
            ("n", "Gt", &["6"], true),
            ("n", "Gt", &["7"], false),
            ("n", "Lt", &["8"], true),
            ("x", "Lt", &["8"], false),
            ("a", "Nonsense", &[], false),
        ] {
            let requirement = NodeSelectorRequirement {
                key: key.to_owned(),
                operator: operator.to_owned(),
                values: Some(values.iter().map(|v| (*v).to_owned()).collect()),
            };
            assert_eq!(node_meets(&requirement, Some(&labels)), expected, "{key} {operator} {values:?}");
        }
    }

    #[test]
    fn an_empty_selector_accepts_everything() {
        assert!(matches(&LabelSelector::default(), None));
        assert!(is_empty(&LabelSelector::default()));
    }
}
