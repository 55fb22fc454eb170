//! Tables and properties of server-side apply, on the small schema of `schema_fixture`.

use serde_json::json;

mod built_in;
mod cases;

use super::*;
use crate::schema_fixture::{ROOT, schema};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

/// A server with one object.
struct Server {
    schema: Schema,
    root: TypeId,
    object: Option<Value>,
    clock: i64,
}

impl Server {
    fn new() -> Self {
        Server { schema: schema(), root: ROOT, object: None, clock: 0 }
    }

    fn try_apply(&mut self, manager: &str, mut applied: Value, force: bool, subresource: &str) -> Result<(), Status> {
        self.clock += 1;
        applied["apiVersion"] = "apps/v1".into();
        let merged = apply(Apply {
            schema: &self.schema,
            root: self.root,
            live: self.object.as_ref(),
            applied: &applied,
            manager,
            api_version: "apps/v1",
            subresource,
            force,
            now: at(self.clock),
        })?;
        self.object = Some(merged);
        Ok(())
    }

    fn apply(&mut self, manager: &str, applied: Value) {
        self.try_apply(manager, applied, false, "").unwrap();
    }

    fn force(&mut self, manager: &str, applied: Value) {
        self.try_apply(manager, applied, true, "").unwrap();
    }

    fn refuse(&mut self, manager: &str, applied: Value) -> Status {
        self.try_apply(manager, applied, false, "").unwrap_err()
    }

    fn update(&mut self, manager: &str, change: impl FnOnce(&mut Value)) {
        self.update_part(manager, "", change);
    }

    fn update_part(&mut self, manager: &str, subresource: &str, change: impl FnOnce(&mut Value)) {
        self.clock += 1;
        let mut new = self.object.clone().unwrap_or_else(|| json!({"apiVersion": "apps/v1"}));
        change(&mut new);
        let old = self.object.as_ref();
        let track = Track {
            schema: &self.schema,
            root: self.root,
            old,
            manager,
            api_version: "apps/v1",
            subresource,
            now: at(self.clock),
        };
        track_update(track, &mut new);
        self.object = Some(new);
    }

    /// The object without managed fields and version.
    fn content(&self) -> Value {
        let mut object = self.object.clone().unwrap();
        take_managed_fields(&mut object);
        object.as_object_mut().unwrap().remove("apiVersion");
        if object["metadata"] == json!({}) {
            object.as_object_mut().unwrap().remove("metadata");
        }
        object
    }

    /// `manager/Operation: fields`
    fn owners(&self) -> Value {
        let entries =
            self.object.as_ref().unwrap()["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        let owner = |entry: &Value| {
            let name = format!("{}/{}", entry["manager"].as_str().unwrap(), entry["operation"].as_str().unwrap());
            (name, entry["fieldsV1"].clone())
        };
        entries.iter().map(owner).collect::<serde_json::Map<_, _>>().into()
    }

    fn times(&self) -> Vec<i64> {
        let entries = &self.object.as_ref().unwrap()["metadata"]["managedFields"];
        let time = |entry: &Value| entry["time"].as_str().unwrap().parse::<Timestamp>().unwrap().as_second();
        entries.as_array().into_iter().flatten().map(|e| time(e) - at(0).as_second()).collect()
    }
}

#[test]
fn the_worked_example() {
    let mut server = Server::new();
    server.apply("a", json!({"spec": {"replicas": 1, "hosts": ["x"]}}));
    assert_eq!(server.owners(), json!({"a/Apply": {"f:spec": {"f:hosts": {}, "f:replicas": {}}}}));

    let status = server.refuse("b", json!({"spec": {"replicas": 2}}));
    assert_eq!((status.code, status.reason), (409, "Conflict"));
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"a\": .spec.replicas");
    let cause = json!({"reason": "FieldManagerConflict", "message": "conflict with \"a\"", "field": ".spec.replicas"});
    assert_eq!(status.details, json!({"causes": [cause]}));

    server.force("b", json!({"spec": {"replicas": 2}}));
    assert_eq!(
        server.owners(),
        json!({"a/Apply": {"f:spec": {"f:hosts": {}}}, "b/Apply": {"f:spec": {"f:replicas": {}}}})
    );

    server.apply("a", json!({"spec": {}}));
    assert_eq!(server.content(), json!({"spec": {"replicas": 2}}));
    assert_eq!(server.owners(), json!({"a/Apply": {"f:spec": {}}, "b/Apply": {"f:spec": {"f:replicas": {}}}}));
}

#[test]
fn conflicts() {
    let mut server = Server::new();
    server.update("ctl", |o| o["spec"] = json!({"replicas": 1, "containers": [{"name": "x", "image": "1"}]}));
    server.update_part("ctl", "status", |o| o["status"] = json!({"replicas": 1}));
    server.apply("a", json!({"data": {"k": "1"}}));
    let applied = json!({
        "spec": {"replicas": 2, "containers": [{"name": "x", "image": "2"}]}, "data": {"k": "2"}, "status": {"replicas": 2},
    });
    let status = server.refuse("b", applied.clone());
    assert_eq!(
        status.message,
        "Apply failed with 4 conflicts: conflicts with \"a\":\n- .data.k\nconflicts with \"ctl\" using apps/v1:\n\
         - .spec.replicas\n- .spec.containers[name=\"x\"].image\nconflicts with \"ctl\" with subresource \"status\" using \
         apps/v1:\n- .status.replicas"
    );
    server.force("b", applied);
    let owners = server.owners();
    assert_eq!(owners["b/Apply"]["f:data"], json!({"f:k": {}}));
    assert_eq!(owners.get("a/Apply"), None, "an entry that owns nothing goes");
    // The same value is no conflict: both own it.
    server.apply("c", json!({"spec": {"replicas": 2}}));
    assert_eq!(server.owners()["c/Apply"], json!({"f:spec": {"f:replicas": {}}}));
    assert_eq!(server.owners()["b/Apply"]["f:spec"]["f:replicas"], json!({}));
}

#[test]
fn fields_that_are_no_longer_applied_go() {
    let mut server = Server::new();
    server.apply(
        "a",
        json!({
            "metadata": {"labels": {"a": "1", "b": "2"}, "finalizers": ["x", "y"]},
            "spec": {"replicas": 1, "containers": [{"name": "p", "ports": [{"containerPort": 80}]}, {"name": "q"}]},
        }),
    );
    server.apply("b", json!({"metadata": {"labels": {"b": "2"}}, "spec": {"containers": [{"name": "p"}]}}));
    server.apply("a", json!({"metadata": {"finalizers": ["y"]}, "spec": {"replicas": 1}}));
    assert_eq!(
        server.content(),
        json!({
            "metadata": {"labels": {"b": "2"}, "finalizers": ["y"]},
            "spec": {"replicas": 1, "containers": [{"name": "p"}]},
        })
    );
    server.apply("b", json!({"metadata": {}}));
    assert_eq!(server.content(), json!({"metadata": {"finalizers": ["y"]}, "spec": {"replicas": 1}}));
}

#[test]
fn an_applied_item_goes_with_what_others_added_below() {
    let mut server = Server::new();
    server.apply("a", json!({"spec": {"containers": [{"name": "p", "image": "1"}]}}));
    server.update("ctl", |o| o["spec"]["containers"][0]["limits"] = json!({"cpu": "1"}));
    server.apply("a", json!({"spec": {"replicas": 1}}));
    assert_eq!(server.content(), json!({"spec": {"replicas": 1}}));
    assert_eq!(server.owners(), json!({"a/Apply": {"f:spec": {"f:replicas": {}}}}));
}

#[test]
fn what_is_emptied_goes_unless_it_was_applied_as_empty() {
    let strategy = |strategy: Value| json!({"spec": {"replicas": 1, "strategy": strategy}});
    let mut server = Server::new();
    server.update("ctl", |o| o["spec"] = json!({"replicas": 1, "strategy": {"rollingUpdate": {"maxSurge": 1}}}));
    server.force("a", strategy(json!({"type": "x", "rollingUpdate": {"maxSurge": 2}})));
    server.apply("a", strategy(json!({"type": "y"})));
    assert_eq!(server.content(), strategy(json!({"type": "y"})));
    server.apply("a", strategy(json!({"rollingUpdate": {"maxSurge": 2}})));
    server.apply("b", strategy(json!({"rollingUpdate": {}})));
    server.apply("a", json!({"spec": {"replicas": 1}}));
    assert_eq!(server.content(), strategy(json!({"rollingUpdate": {}})));
}

#[test]
fn atomic_values_are_owned_as_a_whole() {
    let mut server = Server::new();
    server.apply("a", json!({"spec": {"hosts": ["x"], "selector": {"matchLabels": {"a": "b"}}}}));
    assert_eq!(server.owners()["a/Apply"], json!({"f:spec": {"f:hosts": {}, "f:selector": {}}}));
    let status = server.refuse("b", json!({"spec": {"hosts": ["x", "y"], "selector": {"x": "1"}}}));
    assert_eq!(status.message, "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.hosts\n- .spec.selector");
    server.apply("a", json!({"spec": {"selector": {"x": "1"}}}));
    assert_eq!(server.content(), json!({"spec": {"selector": {"x": "1"}}}));
}

#[test]
fn keys_with_defaults() {
    let port = |number: i64, protocol: Option<&str>| match protocol {
        Some(protocol) => json!({"containerPort": number, "protocol": protocol}),
        None => json!({"containerPort": number}),
    };
    let object = |ports: Value| json!({"spec": {"containers": [{"name": "c", "ports": ports}]}});
    let mut server = Server::new();
    server.apply("a", object(json!([port(53, Some("UDP")), port(53, None)])));
    let ports = &server.owners()["a/Apply"]["f:spec"]["f:containers"]["k:{\"name\":\"c\"}"]["f:ports"];
    let names: Vec<_> = ports.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        names,
        ["k:{\"containerPort\":53,\"protocol\":\"TCP\"}", "k:{\"containerPort\":53,\"protocol\":\"UDP\"}"]
    );
    let status = server.refuse("a", object(json!([port(53, None), port(53, Some("TCP"))])));
    assert_eq!(
        status.message,
        "failed to create typed patch object (/; apps/v1, Kind=): .spec.containers[name=\"c\"].ports: duplicate entries for \
         key [containerPort=53,protocol=\"TCP\"]"
    );
    server.apply("a", object(json!([port(53, Some("UDP"))])));
    assert_eq!(server.content(), object(json!([port(53, Some("UDP"))])));
}

#[test]
fn order_of_merged_lists() {
    let named = |names: &str| -> Value { names.chars().map(|c| json!({"name": c.to_string()})).collect() };
    let table = [
        ("", "ab", "ab"),
        ("ab", "", "ab"),
        ("ab", "ba", "ba"),
        ("abc", "ca", "bca"),
        ("abc", "d", "abcd"),
        ("axb", "ab", "axb"),
        ("abc", "bxc", "abxc"),
        ("abcd", "db", "acdb"),
    ];
    for (live, applied, expected) in table {
        let mut server = Server::new();
        server.update("ctl", |o| o["spec"] = json!({"containers": named(live)}));
        server.apply("a", json!({"spec": {"containers": named(applied)}}));
        assert_eq!(server.content()["spec"]["containers"], named(expected), "{live} {applied}");
    }
}

#[test]
fn refused_configurations() {
    let mut server = Server::new();
    let typed = "failed to create typed patch object (n/x; apps/v1, Kind=W): ";
    let table = [
        (json!({"spec": {"x": 1}}), ".spec.x: field not declared in schema"),
        (json!({"spec": {"replicas": "1"}}), ".spec.replicas: expected numeric (int or float), got \"1\""),
        (json!({"spec": 1}), ".spec: expected map, got 1"),
        (json!({"spec": {"containers": {}}}), ".spec.containers: expected list, got {}"),
        (json!({"spec": {"groups": ["a", "a"]}}), ".spec.groups: duplicate entries for key [=\"a\"]"),
        (
            json!({"spec": {"groups": [{}]}}),
            ".spec.groups: element 0: associative list without keys has an element that's a map type",
        ),
        (
            json!({"spec": {"containers": [{"image": "x"}]}}),
            ".spec.containers: element 0: associative list with keys has an element that omits all key fields [\"name\"] (and \
             doesn't have default values for any key fields)",
        ),
    ];
    for (mut applied, text) in table {
        applied["metadata"] = json!({"name": "x", "namespace": "n"});
        applied["kind"] = "W".into();
        let status = server.refuse("a", applied);
        assert_eq!((status.code, status.message), (400, format!("{typed}{text}")));
    }
    let status = server.refuse("a", json!({"metadata": {"managedFields": []}}));
    assert_eq!((status.code, status.message.as_str()), (400, "metadata.managedFields must be nil"));
    let wrong = json!({"apiVersion": "v2"});
    let request = Apply {
        schema: &schema(),
        root: ROOT,
        live: None,
        applied: &wrong,
        manager: "a",
        api_version: "apps/v1",
        subresource: "",
        force: false,
        now: at(0),
    };
    assert_eq!(
        apply(request).unwrap_err().message,
        "Incorrect version specified in apply patch. Specified patch version: v2, expected: apps/v1"
    );
}

#[test]
fn metadata_that_nobody_owns() {
    let mut server = Server::new();
    server.update("ctl", |o| {
        o["metadata"] = json!({
            "name": "x", "namespace": "n", "uid": "u", "creationTimestamp": "2020-01-01T00:00:00Z", "generation": 1,
            "resourceVersion": "1", "labels": {"a": "b"},
        });
    });
    assert_eq!(server.owners(), json!({"ctl/Update": {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}}));
    server.apply("a", json!({"kind": "W", "metadata": {"name": "x"}}));
    assert_eq!(server.owners().get("a/Apply"), None);
    server.update("ctl2", |o| o["metadata"]["resourceVersion"] = "2".into());
    assert_eq!(server.owners().get("ctl2/Update"), None);
}

#[test]
fn times_move_only_with_the_fields() {
    let mut server = Server::new();
    server.apply("a", json!({"spec": {"replicas": 1}}));
    server.apply("a", json!({"spec": {"replicas": 1}}));
    server.update("b", |_| {});
    assert_eq!(server.times(), [1]);
    server.update("b", |o| o["data"] = json!({"k": "v"}));
    server.update("b", |_| {});
    server.apply("a", json!({"spec": {"replicas": 1}}));
    assert_eq!(server.times(), [1, 4]);
    server.apply("a", json!({"spec": {"replicas": 2}}));
    assert_eq!(server.times(), [7, 4]);
    server.update("b", |o| o["spec"]["replicas"] = 3.into());
    assert_eq!(server.owners(), json!({"b/Update": {"f:data": {".": {}, "f:k": {}}, "f:spec": {"f:replicas": {}}}}));
    assert_eq!(server.times(), [8]);
}

#[test]
fn updates_by_version_and_subresource_have_their_own_entries() {
    let mut server = Server::new();
    server.update("ctl", |o| o["spec"] = json!({"replicas": 1}));
    server.update_part("ctl", "status", |o| o["status"] = json!({"conditions": [{"type": "Ready", "status": "True"}]}));
    let entries = server.object.as_ref().unwrap()["metadata"]["managedFields"].clone();
    assert_eq!(
        entries,
        json!([
            {
                "manager": "ctl", "operation": "Update", "apiVersion": "apps/v1", "time": rfc3339(at(1)),
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {".": {}, "f:replicas": {}}},
            },
            {
                "manager": "ctl", "operation": "Update", "apiVersion": "apps/v1", "time": rfc3339(at(2)),
                "subresource": "status", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:status": {".": {}, "f:conditions": {
                    ".": {}, "k:{\"type\":\"Ready\"}": {".": {}, "f:status": {}, "f:type": {}},
                }}},
            },
        ])
    );
}

#[test]
fn what_clients_send_as_managed_fields() {
    let entry = |manager: &str| {
        json!({
            "manager": manager, "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:replicas": {}}},
        })
    };
    let sent = |managed_fields: Value| {
        let mut server = Server::new();
        server.update("a", |o| o["spec"] = json!({"replicas": 1}));
        server.update("b", |o| o["metadata"]["managedFields"] = managed_fields);
        server.owners()
    };
    let kept = json!({"a/Update": {"f:spec": {".": {}, "f:replicas": {}}}});
    assert_eq!(sent(json!([entry("x")])), json!({"x/Apply": {"f:spec": {"f:replicas": {}}}}));
    assert_eq!(sent(Value::Null), kept);
    assert_eq!(sent(json!([{"manager": "x"}])), kept, "what cannot be read is ignored");
    assert_eq!(sent(json!([])), json!({}));
    assert_eq!(sent(json!([{}])), json!({}));

    // Through a subresource nothing can be sent.
    let mut server = Server::new();
    server.update("a", |o| o["spec"] = json!({"replicas": 1}));
    server.update_part("b", "status", |o| o["metadata"]["managedFields"] = json!([]));
    assert_eq!(server.owners(), kept);
}

#[test]
fn an_object_without_a_record_gets_one_with_the_first_apply() {
    let mut server = Server::new();
    server.object = Some(json!({"apiVersion": "apps/v1", "metadata": {"uid": "u"}, "spec": {"replicas": 1}}));
    server.update("b", |o| o["spec"]["replicas"] = 2.into());
    assert_eq!(server.owners(), json!({}));
    let status = server.refuse("a", json!({"spec": {"replicas": 3}}));
    assert_eq!(
        status.message,
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: .spec.replicas"
    );
    server.apply("a", json!({"spec": {"replicas": 2}}));
    assert_eq!(
        server.owners(),
        json!({
            "a/Apply": {"f:spec": {"f:replicas": {}}},
            "before-first-apply/Update": {"f:spec": {".": {}, "f:replicas": {}}},
        })
    );
}

#[test]
fn the_oldest_updates_are_merged() {
    let mut server = Server::new();
    for at in 0..14 {
        server.update(&format!("m{at:02}"), |o| o["data"][format!("k{at:02}")] = "v".into());
    }
    let owners = server.owners();
    assert_eq!(owners.as_object().unwrap().len(), 10);
    let ancient = owners["ancient-changes/Update"]["f:data"].as_object().unwrap();
    assert_eq!(ancient.keys().collect::<Vec<_>>(), [".", "f:k00", "f:k01", "f:k02", "f:k03", "f:k04"]);
}

#[test]
fn from_client_side_apply() {
    let last = json!({"apiVersion": "apps/v1", "spec": {"replicas": 1}, "data": {"k": "1"}}).to_string();
    let annotations = || json!({ LAST_APPLIED: last });
    let mut server = Server::new();
    server.update("kubectl-client-side-apply", |o| {
        *o = json!({
            "apiVersion": "apps/v1", "metadata": {"annotations": annotations()}, "spec": {"replicas": 1}, "data": {"k": "1"},
        });
    });
    let change = json!({"spec": {"replicas": 2}, "data": {"k": "1"}});
    assert_eq!(server.refuse("other", change.clone()).code, 409);
    server.apply("kubectl", change);
    assert_eq!(server.content()["spec"], json!({"replicas": 2}));
    let renewed = server.content()["metadata"]["annotations"][LAST_APPLIED].as_str().unwrap().to_owned();
    assert_eq!(renewed, "{\"apiVersion\":\"apps/v1\",\"data\":{\"k\":\"1\"},\"spec\":{\"replicas\":2}}\n");
    // What somebody changed since is still a conflict.
    server.update("hpa", |o| o["spec"]["replicas"] = 5.into());
    let status = server.refuse("kubectl", json!({"spec": {"replicas": 3}}));
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"hpa\" using apps/v1: .spec.replicas");
}

#[test]
fn quantities_are_compared_by_value() {
    let mut server = Server::new();
    server.apply("a", json!({"spec": {"limits": {"cpu": "1"}}}));
    server.apply("b", json!({"spec": {"limits": {"cpu": "1000m"}}}));
    assert_eq!(server.owners().as_object().unwrap().len(), 2);
}

#[test]
fn undescribed_values_are_granular_but_for_lists() {
    let mut server = Server::new();
    server.apply("a", json!({"spec": {"raw": {"x": {"y": 1}, "l": [1]}}}));
    assert_eq!(server.owners()["a/Apply"], json!({"f:spec": {"f:raw": {"f:l": {}, "f:x": {".": {}, "f:y": {}}}}}));
    server.apply("b", json!({"spec": {"raw": {"x": {"z": 1}}}}));
    server.apply("a", json!({"spec": {"raw": {"l": [2]}}}));
    assert_eq!(server.content(), json!({"spec": {"raw": {"x": {"z": 1}, "l": [2]}}}));
    let status = server.refuse("b", json!({"spec": {"raw": {"x": {"z": 1}, "l": {"a": 1}}}}));
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"a\": .spec.raw.l");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn config()(
            replicas in proptest::option::of(0..3_i64),
            names in proptest::collection::btree_set("[a-c]", 0..3),
            images in "[xy]",
            groups in proptest::collection::btree_set("[a-c]", 0..3),
            data in proptest::collection::btree_map("[a-c]", "[a-b]", 0..3),
            hosts in proptest::option::of(proptest::collection::vec("[a-b]", 0..2)),
        ) -> Value {
            let containers: Vec<_> = names.iter().map(|n| json!({"name": n, "image": images})).collect();
            let mut config = json!({"spec": {"containers": containers, "groups": groups}, "data": data});
            if let Some(replicas) = replicas {
                config["spec"]["replicas"] = replicas.into();
            }
            if let Some(hosts) = hosts {
                config["spec"]["hosts"] = hosts.into();
            }
            config
        }
    }

    proptest! {
        #[test]
        fn applying_twice_changes_nothing(before in config(), other in config(), applied in config()) {
            let mut server = Server::new();
            server.force("a", before);
            server.force("b", other);
            server.force("a", applied.clone());
            let once = server.object.clone();
            server.apply("a", applied);
            prop_assert_eq!(&server.object, &once);
            server.update("c", |_| {});
            prop_assert_eq!(&server.object, &once);
        }

        #[test]
        fn what_is_applied_is_there(before in config(), applied in config()) {
            let mut server = Server::new();
            server.update("a", |o| { o["spec"] = before["spec"].clone(); o["data"] = before["data"].clone(); });
            server.force("b", applied.clone());
            let schema = schema();
            let root = Shape::Object(ROOT);
            let place = Place::root(&schema, &root);
            let content = server.content();
            let change = compare(place, &applied, &content);
            prop_assert!(change.modified.is_empty() && change.removed.is_empty(), "{change:?}");
            // An update by the same manager is another entry, and applying again has no conflict.
            server.update("b", |o| o["spec"]["replicas"] = 7.into());
            if applied["spec"].get("replicas").is_some() {
                prop_assert_eq!(server.refuse("b", applied.clone()).code, 409);
            }
            server.force("b", applied.clone());
            server.apply("b", applied);
        }

        #[test]
        fn one_applier_alone_gets_what_it_applies(first in config(), second in config()) {
            let mut server = Server::new();
            server.apply("a", first);
            server.apply("a", second.clone());
            let schema = schema();
            let root = Shape::Object(ROOT);
            let place = Place::root(&schema, &root);
            let change = compare(place, &server.content(), &second);
            prop_assert!(change.modified.is_empty() && change.added.is_empty(), "{change:?}");
            prop_assert!(change.removed.is_empty(), "{change:?}");
        }
    }
}
