//! Rows of definitions, and what their schemas do with objects.

use serde_json::{Value, json};

use super::*;
use crate::{Kind, decode, defaults};

/// A definition with one version `v1` of this schema.
pub(super) fn crd(schema: Value) -> Value {
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
