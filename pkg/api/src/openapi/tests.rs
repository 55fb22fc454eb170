//! Documents are whole, and say what kubectl looks for.

use super::*;
use crate::kinds;

/// All references of a document.
fn references<'a>(value: &'a Value, out: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            out.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|v| references(v, out));
        }
        Value::Array(items) => items.iter().for_each(|v| references(v, out)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let kinds = kinds::builtin();
    let index = v3_index(&kinds);
    let mut documents = vec![v2(&kinds)];
    for path in index["paths"].as_object().expect("paths").keys() {
        let (group, version) = match path.split('/').collect::<Vec<_>>()[..] {
            ["api", version] => ("", version),
            ["apis", group, version] => (group, version),
            _ => panic!("{path}"),
        };
        documents.push(v3(&kinds, group, version).expect("a document"));
    }
    for document in &documents {
        let mut found = Vec::new();
        references(document, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            // Names hold no slash.
            assert!(document.pointer(&reference[1..]).is_some(), "{reference}");
        }
    }
}

#[test]
fn operations_have_upstreams_names_and_parameters() {
    let kinds = kinds::builtin();
    let core = v3(&kinds, "", "v1").expect("core");
    let apps = v3(&kinds, "apps", "v1").expect("apps");
    let rbac = v3(&kinds, "rbac.authorization.k8s.io", "v1").expect("rbac");
    let pods = "/api/v1/namespaces/{namespace}/pods";
    let deployments = "/apis/apps/v1/namespaces/{namespace}/deployments";
    let cases = [
        (&core, pods.to_owned(), "post", "createCoreV1NamespacedPod", "post"),
        (&core, pods.to_owned(), "get", "listCoreV1NamespacedPod", "list"),
        (&core, pods.to_owned(), "delete", "deleteCoreV1CollectionNamespacedPod", "deletecollection"),
        (&core, format!("{pods}/{{name}}"), "patch", "patchCoreV1NamespacedPod", "patch"),
        (&core, format!("{pods}/{{name}}/log"), "get", "readCoreV1NamespacedPodLog", "get"),
        (&core, format!("{pods}/{{name}}/exec"), "post", "connectCoreV1PostNamespacedPodExec", "connect"),
        (&core, "/api/v1/pods".to_owned(), "get", "listCoreV1PodForAllNamespaces", "list"),
        (&core, "/api/v1/nodes/{name}/status".to_owned(), "put", "replaceCoreV1NodeStatus", "put"),
        (&apps, format!("{deployments}/{{name}}/scale"), "get", "readAppsV1NamespacedDeploymentScale", "get"),
        (
            &rbac,
            "/apis/rbac.authorization.k8s.io/v1/clusterroles".to_owned(),
            "delete",
            "deleteRbacAuthorizationV1CollectionClusterRole",
            "deletecollection",
        ),
    ];
    for (document, path, method, id, action) in cases {
        let operation = &document["paths"][&path][method];
        assert_eq!((&operation["operationId"], &operation["x-kubernetes-action"]), (&id.into(), &action.into()));
    }
    let patch = &apps["paths"][format!("{deployments}/{{name}}")]["patch"];
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "apps", "version": "v1", "kind": "Deployment"})
    );
    let names: Vec<_> = patch["parameters"].as_array().expect("a list").iter().map(|p| &p["name"]).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
    assert_eq!(
        rbac["paths"]["/apis/rbac.authorization.k8s.io/v1/clusterroles"]["get"]["tags"][0],
        "rbacAuthorization_v1"
    );
}

#[test]
fn definitions_in_both_dialects() {
    let kinds = kinds::builtin();
    let core = v3(&kinds, "", "v1").expect("core");
    let port = &core["components"]["schemas"]["io.k8s.api.core.v1.ContainerPort"];
    assert_eq!(
        *port,
        json!({
            "type": "object", "required": ["containerPort"],
            "properties": {
                "containerPort": {"type": "integer", "format": "int32", "default": 0},
                "hostIP": {"type": "string"}, "hostPort": {"type": "integer", "format": "int32"},
                "name": {"type": "string"},
                "protocol": {"type": "string", "default": "TCP", "enum": ["SCTP", "TCP", "UDP"]},
            },
        })
    );
    let pod = &core["components"]["schemas"]["io.k8s.api.core.v1.Pod"];
    let reference = "#/components/schemas/io.k8s.api.core.v1.PodSpec";
    assert_eq!(pod["properties"]["spec"], json!({"allOf": [{"$ref": reference}], "default": {}}));
    assert_eq!(pod["x-kubernetes-group-version-kind"], json!([{"group": "", "version": "v1", "kind": "Pod"}]));
    let two = v2(&kinds);
    let containers = &two["definitions"]["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"];
    let want = json!({
        "type": "array", "items": {"$ref": "#/definitions/io.k8s.api.core.v1.Container"},
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
    });
    assert_eq!(*containers, want);
}

#[test]
fn the_index_points_to_documents_that_change_with_their_kinds() {
    let all = kinds::builtin();
    let index = v3_index(&all);
    let address = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().expect("an address");
    assert!(address.starts_with("/openapi/v3/apis/apps/v1?hash="), "{address}");
    assert_eq!(index, v3_index(&all));
    assert!(address.ends_with(&v3_hash(&all, "apps", "v1").expect("served")));
    assert_eq!(v3_hash(&all, "apps", "v2"), None);
    let fewer = Kinds::new(all.rows().iter().filter(|k| &*k.kind != "DaemonSet").cloned().collect());
    assert_ne!(v3_index(&fewer)["paths"]["apis/apps/v1"]["serverRelativeURL"], address);
    assert_eq!(v3(&all, "nobody", "v1"), None);
}

/// The table of built-in kinds with a custom one of this schema.
fn with_custom(schema: Value) -> Kinds {
    let mut crd = crate::crd::tests::crd(schema);
    crd["spec"]["versions"][0]["selectableFields"] = json!([{"jsonPath": ".spec.color"}]);
    let mut rows = kinds::builtin().rows().to_vec();
    rows.extend(crate::crd::rows(&crd).expect("rows").into_iter().map(Into::into));
    Kinds::new(rows)
}

#[test]
fn custom_kinds_are_published_with_their_texts() {
    let schema = json!({
        "type": "object", "description": "Foo is for tests",
        "properties": {"spec": {
            "type": "object", "description": "What is wanted", "required": ["null", "color"],
            "properties": {
                "color": {"type": "string", "enum": ["red"], "description": "Which one", "default": "red"},
                "null": {"type": "object", "nullable": true, "properties": {"a": {"type": "string"}}},
                "port": {"x-kubernetes-int-or-string": true},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "one": {"type": "string", "oneOf": [{"minLength": 1}]},
                "template": {
                    "type": "object", "x-kubernetes-embedded-resource": true,
                    "properties": {"spec": {"type": "object"}},
                },
            },
        }},
    });
    let kinds = with_custom(schema.clone());
    let v3 = v3(&kinds, "example.com", "v1").expect("a document");
    let schemas = &v3["components"]["schemas"];
    let foo = &schemas["com.example.v1.Foo"];
    assert_eq!(foo["description"], "Foo is for tests");
    assert_eq!(
        foo["x-kubernetes-group-version-kind"],
        json!([{"group": "example.com", "version": "v1", "kind": "Foo"}])
    );
    assert_eq!(foo["x-kubernetes-selectable-fields"], json!([{"fieldPath": "spec.color"}]));
    let spec = &foo["properties"]["spec"]["properties"];
    assert_eq!(spec["color"], schema["properties"]["spec"]["properties"]["color"]);
    assert_eq!(spec["port"]["anyOf"], json!([{"type": "integer"}, {"type": "string"}]));
    assert_eq!(spec["one"]["oneOf"], json!([{"minLength": 1}]));
    assert_eq!(spec["template"]["required"], json!(["kind", "apiVersion"]));
    let metadata = &foo["properties"]["metadata"];
    assert!(metadata["description"].as_str().is_some_and(|text| text.starts_with("Standard object's metadata")));
    assert!(schemas["com.example.v1.FooList"]["properties"]["items"]["items"]["$ref"].is_string());
    let patch = &v3["paths"]["/apis/example.com/v1/namespaces/{namespace}/foos/{name}"]["patch"];
    assert_eq!(patch["operationId"], "patchExampleComV1NamespacedFoo");
    assert!(patch["requestBody"]["content"].get("application/strategic-merge-patch+json").is_none());

    let v2 = v2(&kinds);
    let foo = &v2["definitions"]["com.example.v1.Foo"];
    assert_eq!(foo["properties"]["spec"]["required"], json!(["color"]));
    let spec = &foo["properties"]["spec"]["properties"];
    assert_eq!(spec["null"], json!({}));
    assert_eq!(spec["port"], json!({"x-kubernetes-int-or-string": true}));
    assert_eq!(spec["free"], json!({"x-kubernetes-preserve-unknown-fields": true}));
    assert_eq!(spec["one"], json!({"type": "string"}));

    let free = with_custom(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    assert_eq!(super::v2(&free)["definitions"]["com.example.v1.Foo"]["properties"], Value::Null);
    let address = |kinds: &Kinds| v3_index(kinds)["paths"]["apis/example.com/v1"]["serverRelativeURL"].clone();
    assert!(address(&kinds) != address(&free) && address(&free) == address(&free));
}

#[test]
fn v2_as_a_message() {
    use crate::protobuf::wire;
    /// The content of the first field with each of these numbers, one within the other.
    fn within<'a>(mut bytes: &'a [u8], numbers: &[u32]) -> &'a [u8] {
        for number in numbers {
            loop {
                let record = wire::next(&mut bytes).expect("a message").expect("the field");
                if record.number == *number {
                    bytes = record.bytes("x").expect("a message");
                    break;
                }
            }
        }
        bytes
    }
    let document = json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "v1"},
        "paths": {"/api/": {
            "get": {
                "operationId": "list",
                "parameters": [
                    {"in": "query", "name": "limit", "type": "integer"},
                    {"in": "body", "name": "body", "schema": {"$ref": "#/definitions/a"}},
                ],
                "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/a"}}},
                "x-kubernetes-action": "list",
            },
            "parameters": [{"in": "path", "name": "namespace", "required": true}],
        }},
        "definitions": {"a": {
            "type": "object",
            "additionalProperties": {"items": {"type": "string"}, "type": "array"},
            "x-kubernetes-group-version-kind": [{"kind": "A"}],
        }},
        "security": [{"BearerToken": []}],
    });
    let bytes = v2_message(&document);
    let cases: [(&[u32], &str); 12] = [
        (&[1], "2.0"),
        (&[2, 1], "Kubernetes"),
        (&[8, 2, 1], "/api/"),
        (&[8, 2, 2, 2, 5], "list"),
        (&[8, 2, 2, 2, 8, 1, 2, 3, 4], "limit"),
        (&[8, 2, 2, 2, 9, 1, 1], "200"),
        (&[8, 2, 2, 2, 9, 1, 2, 1, 2, 1, 1], "#/definitions/a"),
        (&[8, 2, 2, 2, 13, 2, 2], "\"list\""),
        (&[8, 2, 2, 9, 1, 2, 4, 4], "namespace"),
        (&[9, 1, 2, 22, 1], "object"),
        (&[9, 1, 2, 21, 1, 23, 1, 22, 1], "string"),
        (&[9, 1, 2, 31, 2, 2], r#"[{"kind":"A"}]"#),
    ];
    for (numbers, want) in cases {
        assert_eq!(String::from_utf8_lossy(within(&bytes, numbers)), want, "{numbers:?}");
    }
    assert_eq!(within(&bytes, &[12, 1, 1]), b"BearerToken");
    assert!(v2_message(&v2(&kinds::builtin())).len() > 100_000);
}
