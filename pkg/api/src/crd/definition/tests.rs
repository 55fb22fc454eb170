//! Definitions that are refused, and what is said about them.

use serde_json::{Value, json};

use super::*;
use crate::crd::tests::crd;

/// A definition as it is checked at creation.
fn made(schema: Value) -> Value {
    let mut crd = crd(schema);
    default(&mut crd);
    crd["status"] = json!({"storedVersions": ["v1"]});
    crd
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn schemas() {
    const ROOT: &str = "spec.validation.openAPIV3Schema";
    let cases: &[(Value, &str)] = &[
        (object(json!({"spec": {"type": "object"}})), ""),
        (json!({"type": "string"}), ".type: Invalid value: \"string\": must be object at the root"),
        (json!({}), ".type: Required value: must not be empty at the root"),
        (
            object(json!({"a": {}})),
            ".properties[a].type: Required value: must not be empty for specified object fields",
        ),
        (
            object(json!({"a": {"type": "array", "items": {}}})),
            ".properties[a].items.type: Required value: must not be empty for specified array items",
        ),
        (object(json!({"a": {"type": "array"}})), ".properties[a].items: Required value: must be specified"),
        (object(json!({"a": {"x-kubernetes-int-or-string": true}})), ""),
        (object(json!({"a": {"x-kubernetes-preserve-unknown-fields": true}})), ""),
        (
            object(json!({"a": {
                "x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}],
            }})),
            "",
        ),
        (
            object(json!({"a": {"type": "string", "anyOf": [{"type": "string"}]}})),
            ".properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            json!({"type": "object", "oneOf": [{"properties": {"b": {"minLength": 1}}}]}),
            ".properties[b]: Required value: because it is defined in ROOT.oneOf[0].properties[b]",
        ),
        (
            object(json!({"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}})),
            ".properties[metadata]: Forbidden: must not specify anything other than name and generateName, but \
             metadata is implicitly specified",
        ),
        (
            object(json!({"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}})),
            "",
        ),
        (
            object(json!({"a": {"type": "strange"}})),
            ".properties[a].type: Unsupported value: \"strange\": supported values: \"array\", \"boolean\", \"integer\", \
             \"number\", \"object\", \"string\"",
        ),
        (
            object(json!({"a": {"type": "object", "$ref": "#/x"}})),
            ".properties[a].$ref: Forbidden: $ref is not supported",
        ),
        (
            object(json!({"a": {"type": "array", "uniqueItems": true, "items": {"type": "string"}}})),
            ".properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity \
             becomes quadratic",
        ),
        (
            object(json!({"a": {
                "type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": {"type": "string"},
            }})),
            ".properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            object(json!({"a": {"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "string"}}})),
            ".properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is \
             map, ROOT.properties[a].items.type: Invalid value: \"string\": must be object if parent array's \
             x-kubernetes-list-type is map",
        ),
        (
            object(json!({"a": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}}},
            }})),
            ".properties[a].items.properties[k].default: Required value: this property is in \
             x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
        (
            object(json!({"a": {"type": "array", "x-kubernetes-list-type": "set", "items": object(json!({}))}})),
            ".properties[a].items.x-kubernetes-map-type: Invalid value: \"null\": must be atomic as item of a list with \
             x-kubernetes-list-type=set",
        ),
        (
            object(json!({"a": {"type": "string", "default": 5}})),
            ".properties[a].default: Invalid value: \"integer\":  in body must be of type string: \"integer\"",
        ),
        (
            object(json!({"a": {"type": "object", "default": {"x": 1}, "properties": {"b": {"type": "string"}}}})),
            ".properties[a].default: Invalid value: {\"x\":1}: must not have unknown fields",
        ),
        (
            object(json!({"metadata": {"type": "object", "default": {}}})),
            ".properties[metadata].default: Forbidden: must not be set in top-level metadata",
        ),
        (
            object(json!({"a": {"type": "string", "x-kubernetes-validations": [{"rule": " "}]}})),
            ".properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified",
        ),
        (object(json!({"a": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'a'"}]}})), ""),
        (
            object(json!({"a": {"type": "object", "x-kubernetes-embedded-resource": true}})),
            ".properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true \
             without x-kubernetes-preserve-unknown-fields",
        ),
    ];
    for (schema, want) in cases {
        let errors = validate(&made(schema.clone()));
        let want = want.replace("ROOT", ROOT);
        let want = match want.as_str() {
            "" => "[]".to_owned(),
            text if errors.0.len() > 1 => format!("[{ROOT}{text}]"),
            text => format!("{ROOT}{text}"),
        };
        assert_eq!(errors.to_string(), want, "{schema}");
    }
    let pattern = made(object(json!({"a": {"type": "string", "pattern": "["}})));
    assert!(validate(&pattern).to_string().contains("must be a valid regular expression, but isn't: error parsing"));
}

#[test]
fn the_rest() {
    let plain = || made(object(json!({"spec": {"type": "object", "properties": {"a": {"type": "string"}}}})));
    let cases: &[(&str, Value, &str)] = &[
        (
            "metadata.name",
            json!("x"),
            "metadata.name: Invalid value: \"x\": must be spec.names.plural+\".\"+spec.group",
        ),
        (
            "spec.scope",
            json!("Global"),
            "spec.scope: Unsupported value: \"Global\": supported values: \"Cluster\", \"Namespaced\"",
        ),
        ("spec.names.shortNames", json!(["A"]), "spec.names.shortNames[0]: Invalid value: \"A\": a DNS-1035 label"),
        (
            "spec.names.listKind",
            json!("Foo"),
            "spec.names.listKind: Invalid value: \"Foo\": kind and listKind may not be the same",
        ),
        (
            "spec.preserveUnknownFields",
            json!(true),
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true",
        ),
        ("spec.conversion.strategy", json!("Magic"), "spec.conversion.strategy: Unsupported value: \"Magic\""),
        (
            "spec.conversion",
            json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v9"], "clientConfig": {"url": "http://a"}}}),
            "[spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; \
             desired format: https://host[/path], spec.conversion.conversionReviewVersions: Invalid value: [\"v9\"]: must \
             include at least one of v1, v1beta1]",
        ),
        (
            "status.storedVersions",
            json!(["v0", "v1"]),
            "status.storedVersions[0]: Invalid value: \"v0\": missing from spec.versions; v0 was previously",
        ),
    ];
    for (path, value, want) in cases {
        let mut crd = plain();
        tree::set(&mut crd, path, value.clone());
        let errors = validate(&crd).to_string();
        assert!(errors.starts_with(want), "{path}: {errors}");
    }
    let cases: &[(&str, Value, &str)] = &[
        ("storage", json!(false), "must have exactly one version marked as storage version"),
        ("name", json!("V1"), "spec.versions[0].name: Invalid value: \"V1\": a DNS-1035 label"),
        ("schema", Value::Null, "spec.versions[0].schema.openAPIV3Schema: Required value"),
        (
            "deprecationWarning",
            json!("x"),
            "spec.versions[0].deprecationWarning: Invalid value: \"x\": can only be set for",
        ),
        (
            "subresources",
            json!({"scale": {"specReplicasPath": ".x", "statusReplicasPath": "status"}}),
            "[spec.subresources.scale.specReplicasPath: Invalid value: \".x\": should be a json path under .spec, \
             spec.subresources.scale.statusReplicasPath: Invalid value: \"status\": must be a simple json path starting with .]",
        ),
        (
            "additionalPrinterColumns",
            json!([{"name": "A", "type": "text", "jsonPath": "a"}]),
            "[spec.additionalPrinterColumns[0].type: Invalid value: \"text\": must be one of \
             boolean,date,integer,number,string, spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"a\": must be \
             a simple json path starting with .]",
        ),
        (
            "selectableFields",
            json!([{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.b"}, {"jsonPath": ".spec"}]),
            "[spec.selectableFields[1].jsonPath: Invalid value: \".spec.b\": is an invalid path: does not refer to a valid \
             field, spec.selectableFields[2].jsonPath: Invalid value: \".spec\": must point to a field of type",
        ),
    ];
    for (field, value, want) in cases {
        let mut crd = plain();
        crd["spec"]["versions"][0][*field] = value.clone();
        let errors = validate(&crd).to_string();
        assert!(errors.contains(want), "{field}: {errors}");
    }
}

#[test]
fn versions_that_differ_have_paths_of_their_own() {
    let mut crd = made(object(json!({"spec": {"type": "object"}})));
    let mut second = crd["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    second["schema"]["openAPIV3Schema"]["properties"]["a"] = json!({});
    crd["spec"]["versions"].as_array_mut().expect("versions").push(second);
    let want = "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for \
                specified object fields";
    assert_eq!(validate(&crd).to_string(), want);
}

#[test]
fn changes() {
    let mut old = made(object(json!({"spec": {"type": "object"}})));
    old["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
    assert!(validate_update(&old, &old).is_empty());
    let mut new = old.clone();
    new["spec"]["scope"] = "Cluster".into();
    assert_eq!(validate_update(&new, &old).to_string(), "spec.scope: Invalid value: \"Cluster\": field is immutable");
    let mut gone = old.clone();
    gone["spec"]["versions"][0]["name"] = "v2".into();
    assert!(validate_update(&gone, &old).to_string().contains("must have the storage version v2"));
}

#[test]
fn groups_of_the_community_are_protected() {
    let mut crd = made(object(json!({"spec": {"type": "object"}})));
    crd["spec"]["group"] = "x.k8s.io".into();
    crd["metadata"]["name"] = "foos.x.k8s.io".into();
    let errors = validate(&crd).to_string();
    assert!(errors.starts_with("metadata.annotations[api-approved.kubernetes.io]: Required value"), "{errors}");
    crd["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": "https://github.com/x/y"});
    assert!(validate(&crd).is_empty());
    crd["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": "yes"});
    assert!(validate(&crd).to_string().contains("with either a URL or a reason"));
}

#[test]
fn a_column_of_filters_within_filters_was_taken_in() {
    let mut crd = made(object(json!({})));
    let path = format!(".a{}@{}", "[?(@.b".repeat(100_000), ")]".repeat(100_000));
    crd["spec"]["versions"][0]["additionalPrinterColumns"] = json!([{"name": "A", "type": "string", "jsonPath": path}]);
    let text = validate(&crd).to_string();
    assert!(text.ends_with("is an invalid path: more than 8 filters within each other"), "{}", text.len());
    for path in [".a", ".status.conditions[?(@.type==\"Ready\")].status", ".a[*].b[0:2]", ".", r".a\.b/c", "..a"] {
        crd["spec"]["versions"][0]["additionalPrinterColumns"][0]["jsonPath"] = path.into();
        assert_eq!(validate(&crd).to_string(), "[]", "{path}");
    }
}

#[test]
fn what_says_nothing_at_the_root_was_refused_beside_a_status() {
    let mut crd = made(json!({
        "type": "object", "nullable": false, "x-kubernetes-embedded-resource": false, "x-kubernetes-map-type": null,
        "$ref": null,
    }));
    crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    assert_eq!(validate(&crd).to_string(), "[]");
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["maxProperties"] = 5.into();
    assert!(validate(&crd).to_string().contains("fields are allowed at the root of the schema"));
}

#[test]
fn a_bad_bundle_that_was_there_kept_a_definition_from_changing() {
    let webhook = |bundle: &str| {
        let mut crd = made(object(json!({})));
        crd["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
        crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a/b", "caBundle": bundle},
        }});
        crd
    };
    let (bad, mut other) = (webhook("YWJj"), webhook("eHl6"));
    other["spec"]["names"]["shortNames"] = json!(["f"]);
    assert_eq!(validate_update(&other, &bad).to_string(), "[]");
    assert!(validate_update(&other, &webhook("")).to_string().contains("unable to load root certificates"));
}

#[test]
fn patterns_together_took_any_amount_of_memory() {
    let fields: serde_json::Map<String, Value> = (0..9)
        .map(|at| (format!("f{at}"), json!({"type": "string", "pattern": format!("^\\p{{L}}{{1,{}}}$", 110 + at)})))
        .collect();
    let text = validate(&made(object(fields.into()))).to_string();
    assert!(text.contains("the patterns of a definition may take 64 MiB together when compiled"), "{text}");
}
