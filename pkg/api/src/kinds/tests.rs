//! The kinds table: every row has its type, names and columns.

use super::*;

#[test]
fn shape_of_the_table() {
    let kinds = builtin();
    let mut seen = std::collections::BTreeSet::new();
    for row in kinds.rows() {
        assert!(seen.insert((row.qualified(), row.version.to_string())), "{} stands twice", row.qualified());
        assert!(row.plural.chars().all(|c| c.is_ascii_lowercase()));
        if row.storage.is_some() {
            assert!(row.conversion.is_some() && !std::ptr::eq(kinds.stored(row), &**row));
        }
    }
    let pod = kinds.by_kind("", "v1", "Pod").expect("pods are served");
    assert_eq!((&*pod.plural, &*pod.singular), ("pods", "pod"));
    assert!(kinds.by_resource("apps", "v1", "deployments").is_some_and(|d| d.subresource("scale").is_some()));
}

#[test]
fn events_share_storage() {
    let kinds = builtin();
    let row = kinds.by_kind("events.k8s.io", "v1", "Event").expect("served");
    assert_eq!(row.stored_as(), ("", "events"));
    let Some(Conversion::Code { to_storage, from_storage }) = row.conversion else { panic!("converted by code") };
    let served = serde_json::json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "regarding": {"name": "a"}, "note": "b",
        "reportingController": "c", "reason": "d",
    });
    let mut object = served.clone();
    to_storage(&mut object);
    assert_eq!(
        object,
        serde_json::json!({
            "apiVersion": "v1", "kind": "Event", "involvedObject": {"name": "a"}, "message": "b",
            "reportingComponent": "c", "reason": "d",
        })
    );
    from_storage(&mut object);
    assert_eq!(object, served);
}

#[test]
fn field_selectors() {
    let object = serde_json::json!({"spec": {"unschedulable": true}, "source": {"component": "kubelet"}});
    assert_eq!(field_text(&object, "spec.unschedulable"), "true");
    assert_eq!(field_text(&object, "spec.hostNetwork"), "false");
    assert_eq!(field_text(&object, "source"), "kubelet");
    assert_eq!(field_text(&object, "status.phase"), "");
    let event = serde_json::json!({"source": {}, "reportingComponent": "scheduler"});
    assert_eq!(field_text(&event, "source"), "scheduler");
}

#[test]
fn updates_of_taint_rules_were_taken_without_a_version() {
    let kinds = builtin();
    let based = |plural: &str| kinds.by_resource("resource.k8s.io", "v1", plural).map(|kind| kind.traits.based);
    assert_eq!((based("devicetaintrules"), based("resourceclaims")), (Some(true), Some(false)));
}
