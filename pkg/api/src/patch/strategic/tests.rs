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
            // Null is an empty text in a map, which the decoder knows.
            Ok(json!({"data": {"c": "d", "n": null}})),
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
            Ok(containers(json!([{"name": "c", "image": null}, {"name": "a", "image": "x"}, {"name": "b"}]))),
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
            Err("expected a []interface {}, but received a int64"),
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
            // An unknown field, then: there was nothing to retain.
            Ok(json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}})),
        ),
    ]);
}

#[test]
fn what_is_new_keeps_other_directives_for_the_decoder() {
    let nested = || json!({"name": "c", "ports": [{"containerPort": 1, "$patch": "delete"}, {"containerPort": 2}]});
    check([
        (
            "a new object: no nulls, no objects with a directive",
            json!({}),
            json!({"spec": {"strategy": {"type": null, "rollingUpdate": {"$patch": "replace"}}, "containers": [nested()]}}),
            Ok(json!({"spec": {"strategy": {}, "containers": [{"name": "c", "ports": [{"containerPort": 2}]}]}})),
        ),
        (
            "an item of a merged list: as it is",
            containers(json!([])),
            containers(json!([nested()])),
            Ok(containers(json!([nested()]))),
        ),
        (
            "the rest of a replacement: as it is",
            json!({"spec": {"replicas": 1}}),
            json!({"spec": {"$patch": "replace", "containers": [nested()]}}),
            Ok(containers(json!([nested()]))),
        ),
        (
            "the items of a replacement: as they are",
            containers(json!([{"name": "a"}])),
            containers(json!([nested(), {"$patch": "replace"}])),
            Ok(containers(json!([nested()]))),
        ),
        (
            "a list that is new with its order: no objects with a directive",
            json!({"spec": {}}),
            json!({"spec": {"$setElementOrder/containers": [{"name": "c"}], "containers": [nested()]}}),
            Ok(containers(json!([{"name": "c", "ports": [{"containerPort": 2}]}]))),
        ),
        (
            "an atomic list: as it is",
            json!({"spec": {"hosts": ["a"]}}),
            json!({"spec": {"hosts": [null, "b"]}}),
            Ok(json!({"spec": {"hosts": [null, "b"]}})),
        ),
    ]);
}

#[test]
fn items_there_twice() {
    let live = || containers(json!([{"name": "a", "image": "1"}, {"name": "b"}, {"name": "a", "image": "2"}]));
    let finalizers = |items: Value| json!({"metadata": {"finalizers": items}});
    check([
        (
            "the first is merged, both come in the patch's place",
            live(),
            containers(json!([{"name": "a", "image": "3"}])),
            Ok(containers(json!([{"name": "a", "image": "3"}, {"name": "a", "image": "2"}, {"name": "b"}]))),
        ),
        (
            "all are deleted",
            live(),
            containers(json!([{"name": "a", "$patch": "delete"}])),
            Ok(containers(json!([{"name": "b"}]))),
        ),
        (
            "twice in the patch: merged in turn",
            containers(json!([])),
            containers(json!([{"name": "a", "image": "1"}, {"name": "a", "ports": []}])),
            Ok(containers(json!([{"name": "a", "image": "1", "ports": []}]))),
        ),
        (
            "scalars are a set after a merge",
            finalizers(json!(["a", "b", "a"])),
            finalizers(json!(["c", "b", "c"])),
            Ok(finalizers(json!(["c", "a", "b"]))),
        ),
        (
            "all of a scalar are deleted",
            finalizers(json!(["a", "b", "a"])),
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}),
            Ok(finalizers(json!(["b"]))),
        ),
        (
            "the other items go where they were in front of",
            finalizers(json!(["a", "b", "c", "d"])),
            finalizers(json!(["d", "b"])),
            Ok(finalizers(json!(["a", "c", "d", "b"]))),
        ),
    ]);
}

#[test]
fn deletions_from_what_is_no_list() {
    let finalizers = |items: Value| json!({"metadata": {"finalizers": items}});
    let delete = |what: Value| json!({"metadata": {"$deleteFromPrimitiveList/finalizers": what}});
    check([
        ("no list to delete", finalizers(json!(["a"])), delete(json!("a")), Ok(finalizers(json!(["a"])))),
        ("null is the whole list", finalizers(json!(["a"])), delete(Value::Null), Ok(json!({"metadata": {}}))),
        (
            "other types",
            finalizers(json!(["a"])),
            delete(json!([1])),
            Err("list element types are not identical: [[a] [1]]"),
        ),
    ]);
}

#[test]
fn what_is_wrong_is_said_as_upstream_says_it() {
    let live = || containers(json!([{"name": "a"}]));
    let order = |order: Value, list: Value| json!({"spec": {"$setElementOrder/containers": order, "containers": list}});
    check([
        (
            "no merge key in the patch",
            live(),
            containers(json!([{"image": "x", "$retainKeys": ["image"]}])),
            Err("map: map[$retainKeys:[image] image:x] does not contain declared merge key: name"),
        ),
        (
            "no merge key in the live list",
            containers(json!([{"image": "x"}])),
            containers(json!([{"name": "a"}])),
            Err("map: map[image:x] does not contain declared merge key: name"),
        ),
        (
            "unknown directive in a list",
            live(),
            containers(json!([{"name": "a", "$patch": "x"}])),
            Err("unknown patch type: x in map: map[$patch:x name:a]"),
        ),
        ("mixed", live(), containers(json!(["x"])), Err("list element types are not identical: [[map[name:a]] [x]]")),
        (
            "against the order",
            live(),
            order(json!([{"name": "a"}, {"name": "b"}]), json!([{"name": "b"}, {"name": "a"}])),
            Err("The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n\
                 [map[name:a] map[name:b]]\n"),
        ),
        (
            "order is null",
            live(),
            order(Value::Null, json!([])),
            Err("expected a []interface {}, but received a %!s(<nil>)"),
        ),
        (
            "list is null",
            live(),
            order(json!([]), Value::Null),
            Err("expected a []interface {}, but received a %!s(<nil>)"),
        ),
        (
            "order of scalars",
            live(),
            order(json!(["a"]), json!([{"name": "a"}])),
            Err("expected a map[string]interface {}, but received a string"),
        ),
        (
            "order of an unknown field",
            live(),
            json!({"spec": {"$setElementOrder/nonsense": []}}),
            Err("unable to find api field in struct Spec for the json field \"nonsense\""),
        ),
        (
            "order of nobody",
            live(),
            json!({"spec": {"$setElementOrder": []}}),
            Err("invalid patch format of setElementOrder list"),
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
