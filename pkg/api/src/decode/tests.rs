//! Texts that arrive, faults in upstream's words, and the canonical form.

use serde_json::json;

use super::*;
use crate::schema::{TypeId, builtin, ids};

fn checked(root: TypeId, mut value: Value) -> (Value, Vec<String>) {
    let unknown = check(&builtin(), root, &mut value).expect("right types");
    (value, unknown)
}

fn fault(root: TypeId, mut value: Value) -> String {
    let status = check(&builtin(), root, &mut value).expect_err("wrong types");
    assert_eq!((status.code, status.reason), (400, "BadRequest"));
    status.message
}

#[test]
fn repeated_fields_are_noted_and_the_last_counts() {
    let decoded = json(br#"{"a":1,"b":{"c":[{"d":1,"d":2}],"e":0},"a":3}"#).expect("valid");
    assert_eq!(decoded.duplicates, ["b.c[0].d", "a"]);
    assert_eq!(decoded.value, json!({"a": 3, "b": {"c": [{"d": 2}], "e": 0}}));
    let decoded = yaml(b"a: 1\nb:\n  c:\n  - {d: 1, d: 2}\na: 3\n").expect("valid");
    assert_eq!(decoded.duplicates, ["b.c[0].d", "a"]);
    assert_eq!(decoded.value, json!({"a": 3, "b": {"c": [{"d": 2}]}}));
}

#[test]
fn faults_below_a_long_name_took_all_memory() {
    let (name, fields) = ("k".repeat(1 << 20), "\"a\":1,".repeat(100_000));
    let text = format!("{{\"{name}\":{{{fields}\"a\":1}},\"b\":1}}");
    let decoded = json(text.as_bytes()).expect("valid");
    let told: usize = decoded.duplicates.iter().map(String::len).sum();
    assert!((1 << 17..1 << 19).contains(&told), "{told}");
    assert!(decoded.duplicates.iter().all(|path| path.starts_with("kkk") && path.ends_with("k...")));
    let unknown: serde_json::Map<String, Value> = (0..100_000).map(|n| (format!("{n:0100}"), 1.into())).collect();
    let (_, unknown) = checked(ids::CORE_V1_CONFIG_MAP, Value::Object(unknown));
    let told: usize = unknown.iter().map(String::len).sum();
    assert!((1 << 17..1 << 19).contains(&told), "{told}");
    // The order is found all the same.
    let long = decoded.duplicates[0].clone();
    let told = faults(&[], &["b".to_owned(), long.clone()], Some(text.as_bytes()));
    assert_eq!(told, [format!("unknown field \"{long}\""), "unknown field \"b\"".to_owned()]);
}

#[test]
fn yaml_scalars() {
    let decoded = yaml(b"mode: 0644\nport: 80\nok: true\nnone: null\ntext: \"80\"\n1: x\nratio: 1.5\n").expect("valid");
    let want = json!({"mode": 420, "port": 80, "ok": true, "none": null, "text": "80", "1": "x", "ratio": 1.5});
    assert_eq!(decoded.value, want);
}

#[test]
fn malformed_text_is_a_bad_request_in_upstreams_words() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "unexpected end of JSON input"),
        (b"{\"a\":", "unexpected end of JSON input"),
        (b"x", "invalid character 'x' looking for beginning of value"),
        (b"{\"a\" 1}", "invalid character '1' after object key"),
        (b"{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
        (b"{a:1}", "invalid character 'a' looking for beginning of object key string"),
        (b"{} x", "invalid character 'x' after top-level value"),
    ];
    for (text, want) in cases {
        let status = json(text).expect_err("malformed");
        assert_eq!((status.code, status.reason), (400, "BadRequest"));
        assert_eq!(status.message, format!("couldn't get version/kind; json parse error: {want}"));
    }
    assert_eq!(yaml(b"a: [").expect_err("malformed").code, 400);
}

#[test]
fn nesting_is_limited() {
    let deep = "[".repeat(100_000);
    assert!(json(deep.as_bytes()).expect_err("too deep").message.contains("max depth"));
    assert_eq!(yaml(deep.as_bytes()).expect_err("too deep").code, 400);
}

#[test]
fn unknown_fields_have_paths_and_are_dropped() {
    let (value, unknown) = checked(
        ids::APPS_V1_DEPLOYMENT,
        json!({"spec": {"foo": 1, "template": {"spec": {"containers": [{"name": "a", "image": "b", "foo": {}}]}}},
               "metadata": {"labels": {"x.y/z": "1"}}}),
    );
    assert_eq!(unknown, ["spec.foo", "spec.template.spec.containers[0].foo"]);
    assert_eq!(value["spec"]["template"]["spec"]["containers"][0], json!({"name": "a", "image": "b", "resources": {}}));
    assert_eq!(value["metadata"]["labels"]["x.y/z"], "1");
}

#[test]
fn wrong_types_in_upstreams_words() {
    let deployment = "Deployment in version \"v1\" cannot be handled as a Deployment: ";
    let cases = [
        (json!({"spec": {"replicas": "3"}}), "string into Go struct field DeploymentSpec.spec.replicas of type int32"),
        (
            json!({"spec": {"replicas": 1.5}}),
            "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            json!({"metadata": {"labels": {"a": 1}}}),
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": {}}}}}),
            "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": [{"env": [{"name": "A", "value": 1}]}]}}}}),
            "number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string",
        ),
        (json!({"spec": []}), "array into Go struct field Deployment.spec of type v1.DeploymentSpec"),
        (json!([]), "array into Go value of type v1.Deployment"),
    ];
    for (value, want) in cases {
        assert_eq!(fault(ids::APPS_V1_DEPLOYMENT, value), format!("{deployment}json: cannot unmarshal {want}"));
    }
    let secret = fault(ids::CORE_V1_SECRET, json!({"data": {"a": "abc!"}}));
    assert!(secret.ends_with("illegal base64 data at input byte 3"), "{secret}");
    let time = fault(ids::CORE_V1_POD, json!({"metadata": {"creationTimestamp": "now"}}));
    assert!(time.ends_with("cannot parse \"now\" as \"2006\""), "{time}");
    let pod = json!({"spec": {"containers": [{"resources": {"limits": {"cpu": "lots"}}}]}});
    assert!(fault(ids::CORE_V1_POD, pod).contains("quantities must match the regular expression"));
}

#[test]
fn values_become_canonical() {
    let (value, unknown) = checked(
        ids::CORE_V1_POD,
        json!({
            "metadata": {"creationTimestamp": "2026-01-02T05:04:05.5+02:00", "name": null, "labels": {}},
            "spec": {
                "hostNetwork": false, "nodeSelector": {}, "hostUsers": false, "terminationGracePeriodSeconds": 0,
                "containers": [{
                    "name": "", "resources": {"limits": {"cpu": 0.5, "memory": "1024Mi", "x/y": null}},
                    "env": [{"name": "A", "value": ""}], "args": [],
                    "ports": [{"containerPort": 80, "hostPort": 0}],
                    "livenessProbe": {"httpGet": {"port": 0}, "periodSeconds": 0},
                }],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
        }),
    );
    assert!(unknown.is_empty());
    let want = json!({
        "metadata": {"creationTimestamp": "2026-01-02T03:04:05Z"},
        "spec": {
            "hostUsers": false, "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "", "resources": {"limits": {"cpu": "500m", "memory": "1Gi", "x/y": "0"}},
                "env": [{"name": "A"}], "ports": [{"containerPort": 80}],
                "livenessProbe": {"httpGet": {"port": 0}},
            }],
            "volumes": [{"name": "v", "emptyDir": {}}],
        },
        "status": {},
    });
    assert_eq!(value, want);
    let (lease, _) = checked(
        ids::COORDINATION_V1_LEASE,
        json!({"spec": {"renewTime": "2026-01-02T03:04:05.123456789Z", "leaseTransitions": 0}}),
    );
    assert_eq!(lease["spec"], json!({"renewTime": "2026-01-02T03:04:05.123456Z", "leaseTransitions": 0}));
}

#[test]
fn schemas_of_custom_resources_take_their_choices() {
    let schema = json!({"type": "object", "additionalProperties": false, "items": {"type": "string", "odd": 1},
        "dependencies": {"a": ["b"]}, "default": {"x": null}, "properties": {"p": {"items": [{"type": "string"}]}}});
    let crd = json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}});
    let (value, unknown) = checked(ids::APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION, crd);
    assert!(unknown.is_empty());
    let schema = &value["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    assert_eq!(schema["items"], json!({"type": "string"}));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["default"], json!({"x": null}));
}

#[test]
fn of_several_documents_the_first_counts() {
    let cases = [
        "a: 1\n",
        "---\na: 1\n",
        "# x\n---\na: 1\n---\n",
        "a: 1\n---\nb: 2\n",
        "--- {a: 1}\n...\nx",
        "%YAML 1.2\n---\na: 1",
    ];
    for text in cases {
        assert_eq!(yaml(text.as_bytes()).map(|d| d.value), Ok(json!({"a": 1})), "{text}");
    }
    for empty in ["", " \n"] {
        assert_eq!(yaml(empty.as_bytes()).map_err(|e| e.code), Err(400));
    }
    let truths = yaml(b"a: yes\nb: off\nc: 'no'\n").expect("valid");
    assert_eq!(truths.value, json!({"a": true, "b": false, "c": "no"}));
}

#[test]
fn json_is_yaml_with_its_own_escapes() {
    let decoded = yaml(br#" {"a": "\ud83d\ude00", "b": "yes", "b": "no"}"#).expect("valid");
    assert_eq!(decoded.value, json!({"a": "\u{1f600}", "b": "no"}));
    assert_eq!(decoded.duplicates, ["b"]);
    // Flow style that is no JSON.
    assert_eq!(yaml(b"{a: b}").expect("valid").value, json!({"a": "b"}));
}

/// Trees of the kinds of values that JSON has.
fn tree() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-z./]{1,6}", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn any_tree_comes_back(value in tree()) {
        let text = serde_json::to_vec(&value).expect("a tree can be written");
        proptest::prop_assert_eq!(json(&text).expect("valid"), Decoded { value, duplicates: Vec::new() });
    }

    /// Whatever is sent as a pod, the checked form is stable.
    #[test]
    fn checking_again_changes_nothing(value in tree()) {
        let mut pod = json!({"metadata": {"labels": value.clone()}, "spec": value});
        let schema = builtin();
        if check(&schema, ids::CORE_V1_POD, &mut pod).is_ok() {
            let once = pod.clone();
            proptest::prop_assert_eq!(check(&schema, ids::CORE_V1_POD, &mut pod), Ok(Vec::new()));
            proptest::prop_assert_eq!(pod, once);
        }
    }
}

#[test]
fn structs_that_are_no_pointers_are_there() {
    for (id, sent, want) in [
        (ids::CORE_V1_SERVICE, json!({}), json!({"metadata": {}, "spec": {}, "status": {"loadBalancer": {}}})),
        (
            ids::APPS_V1_REPLICA_SET,
            json!({"spec": {"replicas": 1}}),
            json!({"metadata": {}, "spec": {"replicas": 1, "template": null}, "status": {"replicas": 0}}),
        ),
        (ids::CORE_V1_CONFIG_MAP, json!({"data": {"a": "b"}}), json!({"metadata": {}, "data": {"a": "b"}})),
        (ids::CORE_V1_CONTAINER, json!({"name": "a"}), json!({"name": "a", "resources": {}})),
    ] {
        let (mut value, _) = checked(id, sent);
        // Not looked at here.
        if value["spec"].get("template").is_some() {
            value["spec"]["template"] = Value::Null;
        }
        assert_eq!(value, want);
    }
    let schema = builtin();
    let mut service = json!({"status": {"loadBalancer": {"ingress": []}}, "spec": {"type": "x"}});
    clear(&schema, ids::CORE_V1_SERVICE, &mut service, "status");
    assert_eq!(service, json!({"status": {"loadBalancer": {}}, "spec": {"type": "x"}}));
}

#[test]
fn a_repeated_field_of_yaml_has_a_line() {
    let text = b"\nkind: A\nspec:\n  foo: a\n  ports:\n  - name: x\n  foo: b\n";
    let told = "error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key \"foo\" already set in map";
    assert_eq!(yaml_duplicate(text).as_deref(), Some(told));
    assert!(yaml_duplicate(b"{\"a\": 1,\n\"a\": 2}").is_some_and(|told| told.contains("line 2: key \"a\"")));
    assert_eq!(yaml_duplicate(b"a: 1"), None);
}
