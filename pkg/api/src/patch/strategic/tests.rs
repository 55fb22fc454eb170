//! Tables and properties of strategic merge patch.

use serde_json::json;

use super::*;
use crate::schema_fixture::{ROOT, schema};

fn check(table: impl IntoIterator<Item = (&'static str, Value, Value, Result<Value, &'static str>)>) {
    let schema = schema();
    for (name, live, patch, expected) in table {
        let got = strategic(&schema, ROOT, &live, &patch).map_err(|status| status.message);
        match (&got, &expected) {
            (Err(got), Err(expected)) => assert!(got.contains(expected), "{name}: {got}"),
            _ => assert_eq!(got.as_ref().map_err(String::as_str), expected.as_ref().map_err(|e| *e), "{name}"),
        }
    }
}

fn containers(items: Value) -> Value {
    json!({"spec": {"containers": items}})
}

#[test]
fn objects_and_scalars() {
    check([
        ("nothing", json!({"data": {"a": "b"}}), json!({}), Ok(json!({"data": {"a": "b"}}))),
        (
            "scalar",
            json!({"spec": {"replicas": 1}}),
            json!({"spec": {"replicas": 2}}),
            Ok(json!({"spec": {"replicas": 2}})),
        ),
        (
            "null",
            json!({"data": {"a": "b", "c": "d"}}),
            json!({"data": {"a": null, "x": null}}),
            Ok(json!({"data": {"c": "d"}})),
        ),
        ("new object", json!({}), json!({"data": {"a": "1", "b": null}}), Ok(json!({"data": {"a": "1"}}))),
        ("type change", json!({"data": "x"}), json!({"data": {"a": "1"}}), Ok(json!({"data": {"a": "1"}}))),
        (
            "replace",
            json!({"data": {"a": "b"}}),
            json!({"data": {"$patch": "replace", "c": "d", "n": null}}),
            Ok(json!({"data": {"c": "d"}})),
        ),
        ("delete", json!({"data": {"a": "b"}}), json!({"data": {"$patch": "delete"}}), Ok(json!({"data": {}}))),
        ("delete of nothing", json!({}), json!({"data": {"$patch": "delete"}}), Ok(json!({}))),
        (
            "replace at the top",
            json!({"data": {}}),
            json!({"$patch": "replace", "kind": "X"}),
            Ok(json!({"kind": "X"})),
        ),
        (
            "unknown directive",
            json!({"data": {}}),
            json!({"data": {"$patch": "x"}}),
            Err("unknown patch type: x in map:"),
        ),
        (
            "any is merged as a map",
            json!({"spec": {"raw": {"a": 1, "l": [1]}}}),
            json!({"spec": {"raw": {"b": 2, "l": [2]}}}),
            Ok(json!({"spec": {"raw": {"a": 1, "b": 2, "l": [2]}}})),
        ),
        ("not an object", json!({}), json!([]), Err("invalid JSON document")),
    ]);
}

#[test]
fn lists_of_objects() {
    let live = || containers(json!([{"name": "a", "image": "x"}, {"name": "b"}]));
    check([
        (
            "merge by key",
            live(),
            containers(json!([{"name": "a", "image": "y"}])),
            Ok(containers(json!([{"name": "a", "image": "y"}, {"name": "b"}]))),
        ),
        (
            "append",
            live(),
            containers(json!([{"name": "c", "image": null}])),
            Ok(containers(json!([{"name": "c"}, {"name": "a", "image": "x"}, {"name": "b"}]))),
        ),
        (
            "delete and add",
            live(),
            containers(json!([{"name": "b", "$patch": "delete"}, {"name": "c"}])),
            Ok(containers(json!([{"name": "c"}, {"name": "a", "image": "x"}]))),
        ),
        (
            "replace",
            live(),
            containers(json!([{"name": "c"}, {"$patch": "replace"}])),
            Ok(containers(json!([{"name": "c"}]))),
        ),
        (
            "item replaced",
            live(),
            containers(json!([{"name": "a", "ports": [{"containerPort": 1}]}])),
            Ok(containers(json!([{"name": "a", "image": "x", "ports": [{"containerPort": 1}]}, {"name": "b"}]))),
        ),
        ("no merge key", live(), containers(json!([{"image": "y"}])), Err("does not contain declared merge key: name")),
        ("delete without key", live(), containers(json!([{"$patch": "delete"}])), Err("declared merge key: name")),
        (
            "merge directive",
            live(),
            containers(json!([{"$patch": "merge"}])),
            Err("merging lists cannot yet be specified"),
        ),
        ("mixed", live(), containers(json!(["x"])), Err("list element types are not identical")),
        ("list of lists", live(), containers(json!([[]])), Err("lists of lists are not supported")),
        (
            "new list with directives",
            json!({"spec": {}}),
            containers(json!([{"name": "a"}, {"name": "b", "$patch": "delete"}])),
            Ok(containers(json!([{"name": "a"}]))),
        ),
        ("null removes the list", live(), json!({"spec": {"containers": null}}), Ok(json!({"spec": {}}))),
        (
            "atomic",
            json!({"spec": {"hosts": ["a"]}}),
            json!({"spec": {"hosts": ["b"]}}),
            Ok(json!({"spec": {"hosts": ["b"]}})),
        ),
        (
            "nested ports by port alone",
            containers(json!([{"name": "a", "ports": [{"containerPort": 1, "name": "x"}, {"containerPort": 2}]}])),
            containers(json!([{"name": "a", "ports": [{"containerPort": 1, "name": "y"}]}])),
            Ok(containers(json!([{"name": "a", "ports": [{"containerPort": 1, "name": "y"}, {"containerPort": 2}]}]))),
        ),
    ]);
}

#[test]
fn lists_of_scalars() {
    let finalizers = |items: Value| json!({"metadata": {"finalizers": items}});
    check([
        ("union", finalizers(json!(["a", "b"])), finalizers(json!(["b", "c"])), Ok(finalizers(json!(["a", "b", "c"])))),
        (
            "delete",
            finalizers(json!(["a", "b"])),
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a", "x"]}}),
            Ok(finalizers(json!(["b"]))),
        ),
        (
            "delete, add and order",
            finalizers(json!(["a", "b"])),
            json!({"metadata": {
                "$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"], "$setElementOrder/finalizers": ["c", "b"],
            }}),
            Ok(finalizers(json!(["c", "b"]))),
        ),
        (
            "delete from nothing",
            json!({"metadata": {}}),
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}),
            Ok(json!({"metadata": {}})),
        ),
        (
            "malformed",
            finalizers(json!([])),
            json!({"metadata": {"$deleteFromPrimitiveList": ["a"]}}),
            Err("invalid patch format of primitive list"),
        ),
    ]);
}

#[test]
fn order() {
    let named = |names: &str| names.chars().map(|c| json!({"name": c.to_string()})).collect::<Value>();
    let case = |name, live: &str, patch: Option<&str>, order: &str, expected: &str| {
        let mut spec = json!({"$setElementOrder/containers": named(order)});
        if let Some(patch) = patch {
            spec["containers"] = named(patch);
        }
        (name, containers(named(live)), json!({ "spec": spec }), Ok(containers(named(expected))))
    };
    check([
        case("reorder", "abc", None, "cab", "cab"),
        case("add in the middle", "abc", Some("d"), "adbc", "adbc"),
        case("what is live only stays in front of what it was in front of", "abxc", Some("d"), "cdab", "xcdab"),
        case("live only in front", "xab", None, "ab", "xab"),
        case("live only between", "axb", None, "ab", "axb"),
        (
            "patch against order",
            containers(named("ab")),
            json!({"spec": {"$setElementOrder/containers": named("ab"), "containers": named("ba")}}),
            Err("doesn't match $setElementOrder list"),
        ),
        (
            "order without key",
            containers(named("ab")),
            json!({"spec": {"$setElementOrder/containers": [{}], "containers": named("a")}}),
            Err("declared merge key: name"),
        ),
        (
            "order is no list",
            containers(named("ab")),
            json!({"spec": {"$setElementOrder/containers": 1}}),
            Err("invalid patch format of setElementOrder list"),
        ),
        (
            "order of nothing",
            json!({"spec": {}}),
            json!({"spec": {"$setElementOrder/containers": named("ab")}}),
            Ok(json!({"spec": {}})),
        ),
        (
            "deletions need no place",
            containers(named("ab")),
            json!({"spec": {
                "$setElementOrder/containers": named("ca"),
                "containers": [{"name": "c"}, {"name": "b", "$patch": "delete"}],
            }}),
            Ok(containers(named("ca"))),
        ),
    ]);
}

#[test]
fn retained_keys() {
    let live = || json!({"spec": {"strategy": {"type": "Rolling", "rollingUpdate": {"maxSurge": 1}}}});
    check([
        (
            "other fields go",
            live(),
            json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
            Ok(json!({"spec": {"strategy": {"type": "Recreate"}}})),
        ),
        (
            "kept fields are merged",
            live(),
            json!({"spec": {"strategy": {"$retainKeys": ["rollingUpdate"], "rollingUpdate": {"maxSurge": 2}}}}),
            Ok(json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 2}}}})),
        ),
        (
            "patch outside",
            live(),
            json!({"spec": {"strategy": {"$retainKeys": ["x"], "type": "Recreate"}}}),
            Err("invalid patch format of retainKeys"),
        ),
        (
            "malformed",
            live(),
            json!({"spec": {"strategy": {"$retainKeys": "x"}}}),
            Err("invalid patch format of retainKeys"),
        ),
        (
            "on a new object",
            json!({"spec": {}}),
            json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
            Ok(json!({"spec": {"strategy": {"type": "Recreate"}}})),
        ),
    ]);
}

#[test]
fn built_in_types() {
    let schema = crate::schema::builtin();
    let pod = schema.find("io.k8s.api.core.v1.Pod").unwrap();
    let live = json!({
        "spec": {
            "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}],
            "containers": [{"name": "c", "env": [{"name": "A", "value": "1"}], "command": ["x", "y"]}],
            "tolerations": [{"key": "a"}],
        },
        "status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "Initialized", "status": "True"}]},
    });
    let patch = json!({
        "spec": {
            "volumes": [{"name": "v", "$retainKeys": ["configMap", "name"], "configMap": {"name": "m"}}],
            "containers": [{"name": "c", "env": [{"name": "B", "value": "2"}], "command": ["z"]}],
            "tolerations": [{"key": "b"}],
        },
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    });
    let expected = json!({
        "spec": {
            "volumes": [{"name": "v", "configMap": {"name": "m"}}],
            "containers": [{"name": "c", "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}], "command": ["z"]}],
            "tolerations": [{"key": "b"}],
        },
        "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}]},
    });
    assert_eq!(strategic(&schema, pod, &live, &patch).unwrap(), expected);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn object()(
            replicas in 0..3,
            names in proptest::collection::btree_set("[a-c]", 0..3),
            finalizers in proptest::collection::btree_set("[a-c]", 0..3),
            data in proptest::collection::btree_map("[a-c]", "[a-c]", 0..3),
        ) -> Value {
            let containers: Vec<_> = names.iter().map(|n| json!({"name": n, "image": n})).collect();
            json!({
                "metadata": {"finalizers": finalizers}, "data": data,
                "spec": {"replicas": replicas, "containers": containers},
            })
        }
    }

    proptest! {
        #[test]
        fn a_patch_with_itself_changes_nothing(live in object()) {
            prop_assert_eq!(strategic(&schema(), ROOT, &live, &live).unwrap(), live.clone());
            prop_assert_eq!(strategic(&schema(), ROOT, &live, &json!({})).unwrap(), live);
        }

        #[test]
        fn a_patch_holds_after_it_is_applied_twice(live in object(), patch in object()) {
            let once = strategic(&schema(), ROOT, &live, &patch).unwrap();
            prop_assert_eq!(strategic(&schema(), ROOT, &once, &patch).unwrap(), once);
        }
    }
}
