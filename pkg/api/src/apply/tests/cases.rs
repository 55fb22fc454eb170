//! Cases that could go wrong: steps, then what is there and who owns it.

use super::*;

enum Step {
    Apply(&'static str, Value),
    Force(&'static str, Value),
    Update(&'static str, fn(&mut Value)),
    /// Manager, configuration, fields in conflict.
    Refused(&'static str, Value, &'static [&'static str]),
}
use Step::{Apply, Force, Refused, Update};

fn run(name: &str, steps: Vec<Step>, content: Value, owners: Value) {
    let mut server = Server::new();
    for step in steps {
        match step {
            Apply(manager, applied) => server.apply(manager, applied),
            Force(manager, applied) => server.force(manager, applied),
            Update(manager, change) => server.update(manager, change),
            Refused(manager, applied, fields) => {
                let status = server.refuse(manager, applied);
                let causes = status.details["causes"].as_array().unwrap();
                let got: Vec<_> = causes.iter().map(|cause| cause["field"].as_str().unwrap()).collect();
                assert_eq!(got, fields, "{name}");
            }
        }
    }
    assert_eq!(server.content(), content, "{name}");
    assert_eq!(server.owners(), owners, "{name}");
}

fn containers(items: Value) -> Value {
    json!({"spec": {"containers": items}})
}

#[test]
fn shared_ownership() {
    run(
        "the last owner takes the field away",
        vec![
            Apply("a", json!({"data": {"k": "1"}})),
            Apply("b", json!({"data": {"k": "1", "l": "1"}})),
            Apply("a", json!({"data": {"m": "1"}})),
            Apply("b", json!({"data": {"l": "1"}})),
        ],
        json!({"data": {"l": "1", "m": "1"}}),
        json!({"a/Apply": {"f:data": {"f:m": {}}}, "b/Apply": {"f:data": {"f:l": {}}}}),
    );
    run(
        "all other owners conflict",
        vec![
            Apply("a", json!({"data": {"k": "1"}})),
            Apply("b", json!({"data": {"k": "1"}})),
            Refused("c", json!({"data": {"k": "2"}}), &[".data.k", ".data.k"]),
            Refused("a", json!({"data": {"k": "2"}}), &[".data.k"]),
            Force("a", json!({"data": {"k": "2"}})),
        ],
        json!({"data": {"k": "2"}}),
        json!({"a/Apply": {"f:data": {"f:k": {}}}}),
    );
    run(
        "an updater's field survives the applier's change of mind",
        vec![
            Apply("a", json!({"data": {"k": "1"}})),
            Update("u", |o| o["data"]["k"] = "2".into()),
            Apply("a", json!({"data": {"l": "1"}})),
        ],
        json!({"data": {"k": "2", "l": "1"}}),
        json!({"a/Apply": {"f:data": {"f:l": {}}}, "u/Update": {"f:data": {"f:k": {}}}}),
    );
    run(
        "an update that removes takes it from the applier",
        vec![
            Apply("a", json!({"data": {"k": "1", "l": "1"}})),
            Update("u", |o| {
                o["data"].as_object_mut().unwrap().remove("k");
            }),
        ],
        json!({"data": {"l": "1"}}),
        json!({"a/Apply": {"f:data": {"f:l": {}}}}),
    );
    run(
        "a field that an update removed comes back without a conflict",
        vec![
            Apply("a", json!({"data": {"k": "1"}})),
            Update("u", |o| {
                o.as_object_mut().unwrap().remove("data");
            }),
            Apply("a", json!({"data": {"k": "1"}})),
        ],
        json!({"data": {"k": "1"}}),
        json!({"a/Apply": {"f:data": {"f:k": {}}}}),
    );
}

#[test]
fn lists() {
    run(
        "two appliers, two items",
        vec![
            Apply("a", containers(json!([{"name": "x", "image": "1"}]))),
            Apply("b", containers(json!([{"name": "y", "image": "1"}]))),
            Refused("b", containers(json!([{"name": "x", "image": "2"}])), &[".spec.containers[name=\"x\"].image"]),
            Apply("a", containers(json!([]))),
        ],
        containers(json!([{"name": "y", "image": "1"}])),
        json!({
            "a/Apply": {"f:spec": {"f:containers": {}}},
            "b/Apply": {"f:spec": {"f:containers": {"k:{\"name\":\"y\"}": {".": {}, "f:image": {}, "f:name": {}}}}},
        }),
    );
    run(
        "a renamed item is another item",
        vec![
            Apply("a", containers(json!([{"name": "x", "image": "1"}]))),
            Apply("a", containers(json!([{"name": "y", "image": "1"}]))),
        ],
        containers(json!([{"name": "y", "image": "1"}])),
        json!({"a/Apply": {"f:spec": {"f:containers": {"k:{\"name\":\"y\"}": {".": {}, "f:image": {}, "f:name": {}}}}}}),
    );
    run(
        "sets are owned by the value",
        vec![
            Apply("a", json!({"spec": {"groups": ["x", "y"]}})),
            Apply("b", json!({"spec": {"groups": ["y", "z"]}})),
            Apply("a", json!({"spec": {"groups": ["w"]}})),
        ],
        json!({"spec": {"groups": ["y", "z", "w"]}}),
        json!({
            "a/Apply": {"f:spec": {"f:groups": {"v:\"w\"": {}}}},
            "b/Apply": {"f:spec": {"f:groups": {"v:\"y\"": {}, "v:\"z\"": {}}}},
        }),
    );
    run(
        "an atomic list changes hands as a whole",
        vec![
            Apply("a", json!({"spec": {"hosts": ["x"]}})),
            Refused("b", json!({"spec": {"hosts": []}}), &[".spec.hosts"]),
            Force("b", json!({"spec": {"hosts": []}})),
            Apply("a", json!({"data": {"k": "1"}})),
        ],
        json!({"spec": {"hosts": []}, "data": {"k": "1"}}),
        json!({"a/Apply": {"f:data": {"f:k": {}}}, "b/Apply": {"f:spec": {"f:hosts": {}}}}),
    );
    run(
        "items that an update doubled are kept, and owned as one",
        vec![
            Update("u", |o| o["spec"] = json!({"groups": ["x"]})),
            Update("v", |o| o["spec"]["groups"] = json!(["x", "x"])),
            Apply("a", json!({"spec": {"groups": ["y"]}})),
        ],
        json!({"spec": {"groups": ["x", "x", "y"]}}),
        json!({
            "a/Apply": {"f:spec": {"f:groups": {"v:\"y\"": {}}}},
            "u/Update": {"f:spec": {".": {}, "f:groups": {}}},
            "v/Update": {"f:spec": {"f:groups": {"v:\"x\"": {}}}},
        }),
    );
}

#[test]
fn nulls_and_empty_values() {
    run(
        "an empty object is a field",
        vec![Apply("a", json!({"spec": {"strategy": {}}, "data": {}})), Apply("b", json!({"data": {"k": "1"}}))],
        json!({"spec": {"strategy": {}}, "data": {"k": "1"}}),
        json!({
            "a/Apply": {"f:data": {}, "f:spec": {"f:strategy": {}}},
            "b/Apply": {"f:data": {"f:k": {}}},
        }),
    );
    run(
        "nothing applied, nothing owned",
        vec![Apply("a", json!({"metadata": {"name": "x"}}))],
        json!({"metadata": {"name": "x"}}),
        json!({}),
    );
    run(
        "a null map does not clear what others set",
        vec![Apply("a", json!({"data": {"k": "1"}})), Apply("b", json!({"data": null}))],
        json!({"data": {"k": "1"}}),
        json!({"a/Apply": {"f:data": {"f:k": {}}}, "b/Apply": {"f:data": {}}}),
    );
}

#[test]
fn one_name_as_applier_and_updater() {
    run(
        "they are two managers",
        vec![
            Apply("m", json!({"data": {"k": "1"}})),
            Update("m", |o| o["data"]["k"] = "2".into()),
            Refused("m", json!({"data": {"k": "1"}}), &[".data.k"]),
            Apply("m", json!({"data": {"k": "2"}})),
        ],
        json!({"data": {"k": "2"}}),
        json!({"m/Apply": {"f:data": {"f:k": {}}}, "m/Update": {"f:data": {"f:k": {}}}}),
    );
}
