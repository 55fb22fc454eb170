//! What field selectors compare with.

use std::borrow::Cow;

use serde_json::Value;

/// Labels of field selectors that are not the path they stand for.
const ALIASES: [(&str, &str); 3] =
    [("source", "source.component"), ("status.successful", "status.succeeded"), ("spec.host", "spec.nodeName")];

/// Fields that are text to a selector even where the object leaves them out.
const ZEROS: [(&str, &str); 4] = [
    ("spec.hostNetwork", "false"),
    ("spec.unschedulable", "false"),
    ("status.replicas", "0"),
    ("status.successful", "0"),
];

/// The path of the field that a selector's label stands for.
pub fn field_path(label: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == label).map_or(label, |(_, path)| path)
}

/// The text that a field selector on `label` compares with, for an object in its stored form;
/// empty where the field is absent.
pub fn field_text<'a>(object: &'a Value, label: &str) -> Cow<'a, str> {
    let mut found = field_path(label).split('.').try_fold(object, |at, step| at.get(step));
    // Events of the newer kind have no source but who reports them.
    if label == "source" && found.is_none_or(|component| component == "") {
        found = object.get("reportingComponent");
    }
    match found {
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(Value::Bool(yes)) => Cow::Borrowed(if *yes { "true" } else { "false" }),
        Some(Value::Number(number)) => Cow::Owned(number.to_string()),
        Some(Value::Array(items)) if label == "status.podIPs" => {
            Cow::Owned(items.iter().filter_map(|i| i["ip"].as_str()).collect::<Vec<_>>().join(","))
        }
        _ => Cow::Borrowed(ZEROS.iter().find(|(zero, _)| *zero == label).map_or("", |(_, text)| text)),
    }
}
