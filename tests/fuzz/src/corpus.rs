//! Valid inputs: the samples of the contract test, and what is special to a target.

use api::{Value, protobuf};
use serde_json::json;

/// One object of every kind.
pub fn objects() -> Vec<Value> {
    let samples = include_str!("../../../pkg/apiserver/src/tests/contract/samples.yaml");
    let samples: Vec<Value> = serde_saphyr::from_str(samples).expect("the samples are YAML");
    let named = |sample: &Value| {
        let mut object = sample["object"].clone();
        if object["metadata"]["name"].is_null() {
            object["metadata"]["name"] = "thing".into();
        }
        if !sample["status"].is_null() {
            object["status"] = sample["status"].clone();
        }
        object
    };
    samples.iter().map(named).collect()
}

/// Objects as JSON.
pub fn json_objects() -> Vec<Vec<u8>> {
    objects().iter().map(|object| object.to_string().into_bytes()).collect()
}

/// Objects as YAML.
pub fn yaml_objects() -> Vec<Vec<u8>> {
    objects().iter().filter_map(|object| serde_saphyr::to_string(object).ok()).map(String::into_bytes).collect()
}

/// Objects as protobuf, with their envelopes.
pub fn protobuf_objects() -> Vec<Vec<u8>> {
    objects().iter().filter_map(protobuf::encode_object).collect()
}

/// A live object and a patch of it, as `[live, patch]`.
pub fn patches() -> Vec<Vec<u8>> {
    let special = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "thing", "$deleteFromPrimitiveList/finalizers": ["a"]},
        "spec": {
            "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "$retainKeys": ["containers"],
            "containers": [{"name": "a", "$patch": "delete"}, {"name": "b", "image": "y", "ports": [{"containerPort": 80}]}],
        },
    });
    let operations = json!([
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}, {"op": "remove", "path": "/kind"},
        {"op": "move", "from": "/metadata", "path": "/spec/x~1y"}, {"op": "copy", "from": "", "path": "/metadata/-"},
        {"op": "test", "path": "/apiVersion", "value": "v1"}, {"op": "replace", "path": "/metadata/name", "value": 1},
    ]);
    let objects = objects();
    let own = objects.iter().map(|object| json!([object, object]));
    let others = objects.iter().flat_map(|object| [json!([object, special]), json!([object, operations])]);
    own.chain(others).map(|pair| pair.to_string().into_bytes()).collect()
}

/// Selectors of labels and fields.
pub fn selectors() -> Vec<Vec<u8>> {
    let texts = [
        "a=b",
        "a==b,c!=d",
        "x in (a,b),y notin (c), z, !w",
        "example.com/a>5,b<3",
        "metadata.name=a,status.phase!=Running",
        "spec.x=a\\,b\\=c\\\\",
        "",
        ",",
        "a in ()",
        "!a,!b",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Quantities.
pub fn quantities() -> Vec<Vec<u8>> {
    let texts =
        ["1", "100m", "1Gi", "1.5", "-3e2", "0.000000001", "12E", "5Ki", "1e3", "9223372036854775807", "1n", ".5"];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// CustomResourceDefinitions with an object of theirs, as `[definition, object]`.
pub fn definitions() -> Vec<Vec<u8>> {
    let schema = json!({
        "type": "object", "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object", "minProperties": 1, "additionalProperties": false,
                "properties": {
                    "size": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 9, "default": 3},
                    "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 1, "maxLength": 9, "nullable": true},
                    "when": {"type": "string", "format": "date-time"},
                    "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                    "kind": {"type": "string", "enum": ["A", "B"]},
                    "list": {
                        "type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                        "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "number", "multipleOf": 0.5}}},
                    },
                    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                    "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
                    "any": {"x-kubernetes-preserve-unknown-fields": true},
                    "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
                },
                "oneOf": [{"required": ["size"]}, {"not": {"required": ["kind"]}}],
                "x-kubernetes-validations": [{"rule": "self.size > 1", "message": "m"}],
            },
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}, "scale": {
                    "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size", "labelSelectorPath": ".status.s",
                }},
                "selectableFields": [{"jsonPath": ".spec.kind"}],
                "additionalPrinterColumns": [
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                    {"name": "All", "type": "string", "jsonPath": ".spec.list[?(@.k==\"a\")].v"},
                    {"name": "Some", "type": "string", "jsonPath": ".spec.list[*].k"},
                ],
            }],
        },
    });
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {
            "size": 5, "name": "abc", "when": "2026-01-02T03:04:05Z", "port": "http", "list": [{"k": "a", "v": 1.5}],
            "set": ["x"], "map": {"a": true}, "any": {"b": [1]}, "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}},
        },
    });
    vec![json!([definition, object]).to_string().into_bytes()]
}
