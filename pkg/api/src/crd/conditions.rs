//! Conditions of a CustomResourceDefinition, and what its deletion begins with.

use serde_json::{Value, json};

/// The finalizer that lets a definition go only after its objects.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// Why a definition is terminating before anyone has begun to delete its objects.
pub const PENDING: &str = "InstanceDeletionPending";

/// Sets a condition: type, status, reason, message. The time is of the last change of its status.
pub fn set_condition(status: &mut Value, [type_, state, reason, message]: [&str; 4], now: &str) {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else { return };
    let at = conditions.iter().position(|condition| condition["type"] == type_);
    let since = at.map(|at| &conditions[at]).filter(|c| c["status"] == state).map(|c| c["lastTransitionTime"].clone());
    let condition = json!({
        "type": type_, "status": state, "reason": reason, "message": message,
        "lastTransitionTime": since.filter(|time| !time.is_null()).unwrap_or_else(|| now.into()),
    });
    // A condition may have more than that: it stays.
    match at {
        Some(at) => merge(&mut conditions[at], condition),
        None => conditions.push(condition),
    }
}

fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}

/// Marks a definition that is to go: it waits for its objects.
pub(crate) fn begin_to_end(crd: &mut Value, now: &str) {
    if !crd["metadata"]["finalizers"].is_array() {
        crd["metadata"]["finalizers"] = json!([]);
    }
    if let Some(finalizers) = crd["metadata"]["finalizers"].as_array_mut()
        && !finalizers.iter().any(|finalizer| finalizer == CLEANUP)
    {
        finalizers.push(CLEANUP.into());
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set_condition(&mut crd["status"], ["Terminating", "True", PENDING, message], now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_keeps_its_time_while_its_status_stays() {
        let mut status =
            json!({"conditions": [{"type": "A", "status": "True", "lastTransitionTime": "t", "extra": 1}]});
        set_condition(&mut status, ["A", "True", "R", "m"], "now");
        set_condition(&mut status, ["B", "False", "R", "m"], "now");
        let want = json!({"conditions": [
            {"type": "A", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "t", "extra": 1},
            {"type": "B", "status": "False", "reason": "R", "message": "m", "lastTransitionTime": "now"},
        ]});
        assert_eq!(status, want);
        set_condition(&mut status, ["A", "False", "R", "m"], "now");
        assert_eq!(status["conditions"][0]["lastTransitionTime"], "now");
    }

    #[test]
    fn deletion_begins_with_the_finalizer_and_once() {
        let mut crd = json!({"metadata": {"finalizers": ["mine"]}, "status": {}});
        begin_to_end(&mut crd, "now");
        let once = crd.clone();
        begin_to_end(&mut crd, "later");
        assert_eq!(crd, once);
        assert_eq!(crd["metadata"]["finalizers"], json!(["mine", CLEANUP]));
        assert_eq!(crd["status"]["conditions"][0]["reason"], PENDING);
    }
}
