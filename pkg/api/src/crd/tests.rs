//! Rows of definitions, and what their schemas do with objects.

use serde_json::{Value, json};

use super::*;
use crate::{Kind, Kinds, decode, defaults};

/// A definition with one version `v1` of this schema.
pub(crate) fn crd(schema: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList", "shortNames": ["fo"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
            "conversion": {"strategy": "None"},
        },
    })
}

/// The row of a schema whose `spec` is this.
fn row(spec: Value) -> Kind {
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": {"type": "object"}}});
    rows(&crd(schema)).expect("a row").remove(0)
}

fn foo(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
}

#[test]
fn a_row_says_what_the_definition_says() {
    let mut crd = crd(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let versions = crd["spec"]["versions"].as_array_mut().expect("versions");
    versions[0]["subresources"] = json!({
        "status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"},
    });
    versions[0]["selectableFields"] = json!([{"jsonPath": ".spec.color"}]);
    let old = json!({
        "name": "v1alpha1", "served": true, "storage": false, "deprecated": true, "schema": versions[0]["schema"],
        "additionalPrinterColumns": [{"name": "N", "type": "integer", "jsonPath": ".spec.n", "priority": 1}],
    });
    let gone = json!({"name": "v0", "served": false, "storage": false, "schema": versions[0]["schema"]});
    versions.extend([old, gone]);
    let rows = rows(&crd).expect("rows");
    let [v1, alpha] = rows.as_slice() else { panic!("one row to each served version") };
    assert_eq!((v1.qualified().as_str(), &*v1.singular, &*v1.short_names[0]), ("foos.example.com", "foo", "fo"));
    assert!(v1.namespaced && v1.is_custom() && v1.storage.is_none());
    assert_eq!((v1.list_kind(), v1.deprecation()), ("FooList".to_owned(), None));
    assert_eq!(&*v1.selectable[0], "spec.color");
    let Some(Action::Scale(paths)) = v1.subresource("scale").map(|s| &s.action) else { panic!("scaled") };
    assert_eq!((&*paths.spec, &*paths.status, &*paths.selector), ("spec.n", "status.n", ""));
    assert!(v1.subresource("status").is_some() && alpha.subresource("status").is_none());
    assert_eq!(alpha.storage.as_ref().map(|row| &*row.version), Some("v1"));
    assert_eq!(alpha.deprecation(), Some("example.com/v1alpha1 Foo is deprecated"));
    assert_eq!((v1.columns.len(), &*v1.columns[0].name), (1, "Age"));
    assert_eq!((&*alpha.columns[0].name, alpha.columns[0].priority), ("N", 1));

    let mut crd = crd.clone();
    crd["status"] = json!({"acceptedNames": {"plural": "foos", "kind": "Foo", "listKind": "Foos"}});
    let accepted = super::rows(&crd).expect("rows").remove(0);
    assert_eq!((accepted.short_names.len(), accepted.list_kind().as_str()), (0, "Foos"));
    assert!(super::rows(&json!({})).is_err());
}

/// A kind whose `spec.songs` is a list by `name`.
fn singers() -> Kind {
    row(json!({"type": "object", "properties": {
        "color": {"type": "string"},
        "songs": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "seconds": {"type": "integer"},
            }},
        },
    }}))
}

fn songs(names: &[&str]) -> Value {
    foo(json!({"songs": names.iter().map(|name| json!({"name": name, "seconds": 1})).collect::<Value>()}))
}

fn applied(kind: &Kind, live: Option<&Value>, applied: &Value, manager: &str) -> Value {
    crate::apply::apply(crate::apply::Apply {
        schema: &kind.schema,
        root: kind.root,
        live,
        applied,
        manager,
        api_version: "example.com/v1",
        subresource: "",
        force: false,
        now: jiff::Timestamp::UNIX_EPOCH,
    })
    .expect("no conflict")
}

fn sung(object: &Value) -> Vec<&str> {
    let songs = object["spec"]["songs"].as_array().into_iter().flatten();
    songs.filter_map(|song| song["name"].as_str()).collect()
}

#[test]
fn an_applied_item_of_a_keyed_list_leaves_those_of_others() {
    let kind = singers();
    let one = applied(&kind, None, &songs(&["dawn", "dusk"]), "one");
    let two = applied(&kind, Some(&one), &songs(&["noon"]), "two");
    assert_eq!(sung(&two), ["dawn", "dusk", "noon"]);
    assert_eq!(sung(&applied(&kind, Some(&two), &songs(&["dusk"]), "one")), ["dusk", "noon"]);
}

/// `kubectl apply --server-side` gives its own manager, whatever its name, all that client-side apply owned, and
/// applies once more: then items that the configuration does not have go.
#[test]
fn items_go_once_kubectl_has_taken_over_from_client_side_apply() {
    let kind = singers();
    let track = |old: Option<&Value>, new: &mut Value, manager: &str| {
        let track = crate::apply::Track {
            schema: &kind.schema,
            root: kind.root,
            old,
            manager,
            api_version: "example.com/v1",
            subresource: "",
            now: jiff::Timestamp::UNIX_EPOCH,
        };
        crate::apply::track_update(track, new);
    };
    let mut live = songs(&["dawn", "dusk"]);
    track(None, &mut live, "kubectl-client-side-apply");
    let first = applied(&kind, Some(&live), &songs(&["noon"]), "other");
    assert_eq!(sung(&first), ["dawn", "dusk", "noon"]);

    // The patch that kubectl sends: the two entries as one.
    let mut patched = first.clone();
    let entries = patched["metadata"]["managedFields"].as_array_mut().expect("entries");
    let client_side = entries.iter().position(|entry| entry["operation"] == "Update").expect("client-side apply");
    let fields = entries.remove(client_side)["fieldsV1"].clone();
    let all = fields["f:spec"]["f:songs"].as_object().expect("songs").clone();
    entries[0]["fieldsV1"]["f:spec"]["f:songs"].as_object_mut().expect("songs").extend(all);
    track(Some(&first), &mut patched, "kubectl");
    let second = applied(&kind, Some(&patched), &songs(&["noon"]), "other");
    assert_eq!(sung(&second), ["noon"]);
}

#[test]
fn unknown_fields_and_nulls_go() {
    let kind = row(json!({
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "n": {"type": "string", "nullable": true},
            "d": {"type": "string", "default": "x"},
            "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "free": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}},
            },
        },
    }));
    let mut object = foo(json!({
        "a": null, "n": null, "d": null, "zz": null, "x": 1,
        "list": [{"a": "b", "c": "d"}, {"a": null}],
        "map": {"k": {"a": "b", "c": "d"}},
        "free": {"x": {"y": null}, "known": {"a": "b", "c": "d"}},
    }));
    object["metadata"]["wrong"] = 1.into();
    object["metadata"]["creationTimestamp"] = Value::Null;
    object["more"] = 2.into();
    let unknown = decode::check(&kind.schema, kind.root, &mut object).expect("decodes");
    let want = ["metadata.wrong", "more", "spec.free.known.c", "spec.list[0].c", "spec.map.k.c", "spec.x", "spec.zz"];
    assert_eq!(unknown, want);
    assert_eq!(
        object,
        foo(json!({
            "n": null, "d": null, "list": [{"a": "b"}, {}], "map": {"k": {"a": "b"}},
            "free": {"x": {"y": null}, "known": {"a": "b"}},
        }))
    );
    defaults::apply(&kind.schema, kind.root, &mut object);
    assert_eq!(object["spec"]["d"], "x");
    assert_eq!(object["spec"]["n"], Value::Null);

    let mut object = foo(json!({}));
    object["metadata"]["labels"] = 5.into();
    let status = decode::check(&kind.schema, kind.root, &mut object).expect_err("labels are a map");
    assert_eq!(
        (status.code, status.message.as_str()),
        (
            400,
            "Foo in version \"v1\" cannot be handled as a Foo: json: cannot unmarshal number into Go struct field \
             ObjectMeta.labels of type map[string]string"
        )
    );
}

#[test]
fn defaults_go_all_the_way_down() {
    let kind = row(json!({
        "type": "object", "default": {},
        "properties": {
            "a": {"type": "object", "default": {}, "properties": {"b": {"type": "integer", "default": 5}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"p": {"type": "string", "default": "TCP"}}}},
            "map": {"type": "object", "additionalProperties": {"type": "string", "default": "q"}},
            "bare": {"type": "object", "properties": {"b": {"type": "integer", "default": 5}}},
        },
    }));
    let mut object = foo(json!({"list": [{}, {"p": "UDP"}], "map": {"k": null, "l": "m"}}));
    defaults::apply(&kind.schema, kind.root, &mut object);
    let want = json!({"a": {"b": 5}, "list": [{"p": "TCP"}, {"p": "UDP"}], "map": {"k": "q", "l": "m"}});
    assert_eq!(object["spec"], want);
    let mut bare = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {}});
    defaults::apply(&kind.schema, kind.root, &mut bare);
    assert_eq!(bare["spec"], json!({"a": {"b": 5}}));
    let again = bare.clone();
    defaults::apply(&kind.schema, kind.root, &mut bare);
    assert_eq!(bare, again);
}

#[test]
fn embedded_resources() {
    let kind = row(json!({
        "type": "object",
        "properties": {"template": {
            "type": "object", "x-kubernetes-embedded-resource": true,
            "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        }},
    }));
    let mut object = foo(json!({"template": {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b", "odd": 1, "labels": {"a": "b"}},
        "spec": {"x": 1}, "other": 1,
    }}));
    let unknown = decode::check(&kind.schema, kind.root, &mut object).expect("decodes");
    assert_eq!(unknown, ["spec.template.other", "spec.template.metadata.odd"]);
    assert_eq!(object["spec"]["template"]["metadata"], json!({"name": "a/b", "labels": {"a": "b"}}));
    let errors = kind.strategy.validate_create(&object).to_string();
    assert_eq!(errors, "spec.template.metadata.name: Invalid value: \"a/b\": may not contain '/'");
    let mut object = foo(json!({"template": {"metadata": {"labels": 1}}}));
    assert!(decode::check(&kind.schema, kind.root, &mut object).is_err());
    let errors = kind.strategy.validate_create(&foo(json!({"template": {}}))).to_string();
    assert_eq!(errors, "[spec.template.apiVersion: Required value, spec.template.kind: Required value]");
}

#[test]
fn what_is_stored_is_brought_up_to_date() {
    let kind = row(json!({
        "type": "object", "properties": {"a": {"type": "string"}, "d": {"type": "string", "default": "x"}},
    }));
    let mut object = foo(json!({"a": "b", "gone": 1}));
    object["apiVersion"] = "example.com/v0".into();
    object["metadata"]["labels"] = 5.into();
    assert!(kind.from_storage(&mut object));
    assert_eq!(object, foo(json!({"a": "b", "d": "x"})));
    assert!(!kind.from_storage(&mut object), "nothing is left to do");
}

#[test]
fn types_for_apply() {
    let kind = row(json!({
        "type": "object",
        "properties": {
            "ports": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
                "items": {"type": "object", "properties": {
                    "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"},
                }},
            },
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "one": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}}},
        },
    }));
    use crate::schema::{ListKind, Shape};
    let field = |of: TypeId, name: &str| kind.schema.get(of).field(name).map(|f| f.shape.clone());
    let Some(Shape::Object(spec)) = field(kind.root, "spec") else { panic!("an object") };
    let Some(Shape::List { kind: ListKind::Map(keys), .. }) = field(spec, "ports") else { panic!("a map") };
    let keys: Vec<_> = keys.iter().map(|key| (&*key.name, key.default.as_deref())).collect();
    assert_eq!(keys, [("port", None), ("protocol", Some("\"TCP\""))]);
    assert!(matches!(field(spec, "tags"), Some(Shape::List { kind: ListKind::Set, .. })));
    let Some(Shape::Object(one)) = field(spec, "one") else { panic!("an object") };
    assert!(kind.schema.get(one).atomic);
    let Some(Shape::Object(metadata)) = field(kind.root, "metadata") else { panic!("metadata") };
    assert!(kind.schema.get(metadata).name.ends_with("ObjectMeta"));
}

#[test]
fn what_is_the_same_is_one_node() {
    let part = json!({"type": "object", "description": "a", "properties": {"a": {"type": "string", "maxLength": 5}}});
    let mut other = part.clone();
    other["description"] = "b".into();
    let schema = json!({"type": "object", "properties": {"x": part, "y": {"type": "array", "items": other}}});
    let mut builder = Builder::default();
    builder.add(&schema);
    // The text, the object, the list, the whole.
    assert_eq!(builder.finish().len(), 4);
}

#[test]
fn rules_for_values() {
    let kind = row(json!({
        "type": "object", "required": ["must"],
        "properties": {
            "must": {"type": "string"},
            "text": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
            "day": {"type": "string", "format": "date"},
            "color": {"type": "string", "enum": ["red", "blue"]},
            "size": {"enum": [1, "big"], "x-kubernetes-int-or-string": true},
            "n": {"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 2},
            "x": {"type": "number", "minimum": 0.5, "exclusiveMinimum": true},
            "small": {"type": "integer", "format": "int32"},
            "either": {"x-kubernetes-int-or-string": true},
            "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
            "map": {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": "integer"}},
            "null": {"type": "string", "nullable": true},
            "one": {
                "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            "any": {"type": "string", "anyOf": [{"minLength": 5}, {"pattern": "^x"}]},
            "all": {"type": "string", "allOf": [{"minLength": 2}, {"maxLength": 3}]},
            "not": {"type": "string", "not": {"pattern": "^x"}},
        },
    }));
    let cases: &[(Value, &str)] = &[
        (json!({"text": "abc", "n": 4, "x": 0.6, "either": 5, "null": null, "list": ["a"], "day": "2026-11-30"}), ""),
        (json!({"either": "25%", "size": "big", "one": {"a": ""}, "any": "x", "all": "ab", "n": 2.0}), ""),
        (
            json!({"text": 5}),
            r#"spec.text: Invalid value: "integer": spec.text in body must be of type string: "integer""#,
        ),
        (
            json!({"text": null}),
            r#"spec.text: Invalid value: "null": spec.text in body must be of type string: "null""#,
        ),
        (json!({"text": "a"}), r#"spec.text: Invalid value: "a": spec.text in body should be at least 2 chars long"#),
        (json!({"text": "abcde"}), "spec.text: Too long: may not be more than 4 bytes"),
        (json!({"text": "AB"}), r#"spec.text: Invalid value: "AB": spec.text in body should match '^[a-z]+$'"#),
        (json!({"day": "x"}), r#"spec.day: Invalid value: "x": spec.day in body must be of type date: "x""#),
        (json!({"color": "green"}), r#"spec.color: Unsupported value: "green": supported values: "red", "blue""#),
        (json!({"size": 2}), r#"spec.size: Unsupported value: 2: supported values: "1", "big""#),
        (json!({"n": 0}), "spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1"),
        (json!({"n": 6}), "spec.n: Invalid value: 6: spec.n in body should be less than or equal to 5"),
        (json!({"n": 3}), "spec.n: Invalid value: 3: spec.n in body should be a multiple of 2"),
        (json!({"x": 0.5}), "spec.x: Invalid value: 0.5: spec.x in body should be greater than 0.5"),
        (
            json!({"small": 3_000_000_000_u64}),
            r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.small"#,
        ),
        (
            json!({"either": true}),
            r#"spec.either: Invalid value: "boolean": spec.either in body must be of type integer,string: "boolean""#,
        ),
        (json!({"list": []}), "spec.list: Invalid value: 0: spec.list in body should have at least 1 items"),
        (json!({"list": ["a", "b", "c"]}), "spec.list: Too many: 3: must have at most 2 items"),
        (
            json!({"list": [5]}),
            r#"spec.list[0]: Invalid value: "integer": spec.list[0] in body must be of type string: "integer""#,
        ),
        (
            json!({"map": {"k": "v"}}),
            r#"spec.map.k: Invalid value: "string": spec.map.k in body must be of type integer: "string""#,
        ),
        (json!({"map": {}}), "spec.map: Invalid value: 0: spec.map in body should have at least 1 properties"),
        (json!({"map": {"a": 1, "b": 2}}), "spec.map: Too many: 2: must have at most 1 item"),
        (
            json!({"one": {}}),
            r#"[<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid, spec.one.a: Required value]"#,
        ),
        (
            json!({"one": {"a": "", "b": ""}}),
            r#"<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives"#,
        ),
        (
            json!({"any": "abc"}),
            r#"[<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf), spec.any: Invalid value: "abc": spec.any in body should be at least 5 chars long]"#,
        ),
        (
            json!({"all": "a"}),
            r#"[spec.all: Invalid value: "a": spec.all in body should be at least 2 chars long, <nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf)]"#,
        ),
        (json!({"not": "xy"}), r#"<nil>: Invalid value: "": "spec.not" must not validate the schema (not)"#),
    ];
    for (spec, want) in cases {
        let mut spec = spec.clone();
        spec["must"] = "".into();
        let errors = kind.strategy.validate_create(&foo(spec.clone()));
        let want = if want.is_empty() { "[]" } else { want };
        assert_eq!(errors.to_string(), want, "{spec}");
    }
    assert_eq!(kind.strategy.validate_create(&foo(json!({}))).to_string(), "spec.must: Required value");
}

#[test]
fn lists_hold_each_key_once() {
    let kind = row(json!({
        "type": "object",
        "properties": {
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "map": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}},
            },
        },
    }));
    let bad = foo(json!({"set": ["a", "b", "a", "a"], "map": [{"k": "x"}, {"k": "y"}, {"k": "x", "v": 1}]}));
    let want = "[spec.map[2]: Duplicate value: {\"k\":\"x\"}, spec.set[2]: Duplicate value: \"a\"]";
    assert_eq!(kind.strategy.validate_create(&bad).to_string(), want);
    // What was stored so may stay.
    let mut new = bad.clone();
    new["metadata"]["labels"] = json!({"a": "b"});
    assert!(kind.strategy.validate_update(&new, &bad).is_empty());
}

#[test]
fn what_was_wrong_before_is_let_through() {
    let kind = row(json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 1},
            "b": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string", "maxLength": 1}},
            "map": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "string", "maxLength": 1}}},
            },
        },
    }));
    let old = foo(json!({"a": "long", "list": ["long"], "map": [{"k": "x", "v": "long"}]}));
    let update = |spec: Value| kind.strategy.validate_update(&foo(spec), &old).to_string();
    let same = json!({"a": "long", "b": "new", "list": ["long"], "map": [{"k": "y"}, {"k": "x", "v": "long"}]});
    assert_eq!(update(same), "[]");
    assert_eq!(update(json!({"a": "longer"})), "spec.a: Too long: may not be more than 1 byte");
    assert_eq!(update(json!({"list": ["long", "b"]})), "spec.list[0]: Too long: may not be more than 1 byte");
}

#[test]
fn scales_and_the_status() {
    let mut crd = crd(json!({
        "type": "object",
        "properties": {
            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "status": {"type": "object", "properties": {
                "n": {"type": "integer"}, "s": {"type": "string"}, "phase": {"type": "string", "enum": ["Up"]},
            }},
        },
    }));
    crd["spec"]["versions"][0]["subresources"] = json!({
        "status": {},
        "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"},
    });
    let kind = rows(&crd).expect("a row").remove(0);
    let errors = kind.strategy.validate_create(&foo(json!({"n": -1}))).to_string();
    assert_eq!(errors, ".spec.n: Invalid value: -1: should be a non-negative integer");
    let errors = kind.strategy.validate_create(&foo(json!({"n": "x"}))).to_string();
    let want = ".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64";
    assert_eq!(errors, want);
    let old = foo(json!({"n": -1}));
    let mut new = old.clone();
    new["status"] = json!({"n": -1, "phase": "Down"});
    let errors = kind.strategy.validate_subresource("status", &new, &old).to_string();
    let want = "[status.phase: Unsupported value: \"Down\": supported values: \"Up\", .status.n: Invalid value: -1: should \
                be a non-negative integer]";
    assert_eq!(errors, want);
}

#[test]
fn definitions_start_with_what_the_server_sets() {
    let kinds = crate::kinds::builtin();
    let kind = kinds.by_kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition").expect("served");
    let mut definition = crd(json!({"type": "object"}));
    for field in ["singular", "listKind"] {
        tree::remove(&mut definition, &format!("spec.names.{field}"));
    }
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {}}}});
    let strategy = &kind.strategy;
    strategy.default(&mut definition);
    strategy.prepare_for_create(&mut definition);
    assert_eq!(definition["spec"]["names"]["singular"], "foo");
    assert_eq!(definition["spec"]["names"]["listKind"], "FooList");
    assert_eq!(definition["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"], 443);
    let status = json!({"acceptedNames": {"kind": "", "plural": ""}, "conditions": [], "storedVersions": ["v1"]});
    assert_eq!(definition["status"], status);
    let old = definition.clone();
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    definition["spec"]["versions"][0]["storage"] = false.into();
    definition["spec"]["versions"].as_array_mut().expect("versions").push(second);
    strategy.prepare_for_update(&mut definition, &old);
    assert_eq!(definition["status"]["storedVersions"], json!(["v1", "v2"]));
    assert!(strategy.generation_moves(&definition, &old) && !strategy.generation_moves(&old, &old));
}

#[test]
fn applying() {
    let mut crd = crd(json!({
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {
                "ports": {
                    "type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    "items": {"type": "object", "required": ["port"], "properties": {
                        "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"},
                        "name": {"type": "string"},
                    }},
                },
                "template": {
                    "type": "object", "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true,
                },
            }},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    }));
    crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    let kind = rows(&crd).expect("a row").remove(0);
    let apply = |live: Option<&Value>, applied: &Value, manager: &str| {
        crate::apply::apply(crate::apply::Apply {
            schema: &kind.schema,
            root: kind.root,
            live,
            applied,
            manager,
            api_version: "example.com/v1",
            subresource: "",
            force: false,
            now: jiff::Timestamp::UNIX_EPOCH,
        })
    };
    let mut one = foo(json!({"ports": [{"port": 1, "name": "a"}], "template": {"any": {"thing": 1}}}));
    one["status"] = json!({"x": 1});
    let live = apply(None, &one, "one").expect("applied");
    assert!(live.get("status").is_none(), "the status is a subresource");
    let two = foo(json!({"ports": [{"port": 1, "protocol": "UDP"}, {"port": 1, "protocol": "TCP", "name": "a"}]}));
    let merged = apply(Some(&live), &two, "two").expect("the keys have a default");
    assert_eq!(merged["spec"]["ports"].as_array().map(Vec::len), Some(2), "{merged}");
    assert_eq!(merged["spec"]["template"], json!({"any": {"thing": 1}}));
    let three = foo(json!({"ports": [{"port": 1, "name": "b"}]}));
    let conflict = apply(Some(&live), &three, "three").expect_err("another has the name");
    let want = "Apply failed with 1 conflict: conflict with \"one\": .spec.ports[port=1,protocol=\"TCP\"].name";
    assert_eq!(conflict.message, want);
    for (applied, want) in [
        (foo(json!({"x": 1})), ".spec.x: field not declared in schema"),
        (
            foo(json!({"template": {"metadata": {"odd": 1}}})),
            ".spec.template.metadata.odd: field not declared in schema",
        ),
        (foo(json!({"ports": [{"port": "x"}]})), ".port: expected numeric (int or float)"),
    ] {
        let status = apply(None, &applied, "one").expect_err("of the wrong form");
        assert!(status.message.contains(want), "{}", status.message);
    }
}

/// Trees in which the words of schemas come up often.
fn trees() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    const WORDS: [&str; 24] = [
        "properties",
        "items",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "default",
        "enum",
        "required",
        "minimum",
        "multipleOf",
        "maxLength",
        "pattern",
        "format",
        "nullable",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-int-or-string",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-preserve-unknown-fields",
        "metadata",
        "spec",
        "apiVersion",
    ];
    const TEXTS: [&str; 12] =
        ["object", "array", "string", "integer", "map", "set", "date", "[a", "^(a|b)*$", "spec", "", "a.b/c"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(&TEXTS[..]).prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let key = prop_oneof![
            3 => proptest::sample::select(&WORDS[..]).prop_map(str::to_owned),
            2 => Just("type".to_owned()),
            1 => "[a-c]",
        ];
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => proptest::collection::vec((key, inner), 0..6).prop_map(|fields| {
                fields.into_iter().collect::<serde_json::Map<_, _>>().into()
            }),
        ]
    })
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 200, ..Default::default() })]

    #[test]
    fn any_schema_is_read_or_refused(schema in trees(), spec in trees(), old in trees()) {
        let mut definition = crd(schema);
        let kinds = crate::kinds::builtin();
        let kind = kinds.by_kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition").expect("served");
        if decode::check(&kind.schema, kind.root, &mut definition).is_err() {
            return Ok(());
        }
        kind.strategy.default(&mut definition);
        kind.strategy.prepare_for_create(&mut definition);
        let valid = kind.strategy.validate_create(&definition).is_empty();
        // What is stored was valid, but rows are made of whatever is there.
        for row in rows(&definition).unwrap_or_default() {
            let (mut new, old) = (foo(spec.clone()), foo(old.clone()));
            let read = decode::check(&row.schema, row.root, &mut new).is_ok();
            defaults::apply(&row.schema, row.root, &mut new);
            let _ = row.strategy.validate_create(&new).to_string();
            let _ = row.strategy.validate_update(&new, &old).to_string();
            let _ = row.strategy.validate_subresource("status", &new, &old).to_string();
            row.from_storage(&mut new);
            if valid && read {
                proptest::prop_assert!(!row.from_storage(&mut new), "nothing is left to do: {}", new);
            }
            let _ = crate::openapi::v3(&Kinds::new(vec![row.into()]), "example.com", "v1");
        }
    }
}

#[test]
fn items_with_keys_were_looked_for_in_the_whole_old_list() {
    let row = row(json!({"type": "object", "properties": {"list": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "required": ["k"], "properties": {
            "k": {"type": "integer"}, "v": {"type": "string", "maxLength": 1},
        }},
    }}}));
    let list = |count: usize, v: &str| {
        let items: Vec<_> = (0..count).rev().map(|k| json!({"k": k, "v": v})).collect();
        foo(json!({"list": items}))
    };
    // What was too long before may stay; what is new may not.
    let (old, mut new) = (list(50_000, "long"), list(50_001, "long"));
    let start = std::time::Instant::now();
    new["spec"]["list"][7]["v"] = "other".into();
    let errors = row.strategy.validate_update(&new, &old);
    assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
    let paths: Vec<_> = errors.0.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["spec.list[0].v", "spec.list[7].v"]);
}
