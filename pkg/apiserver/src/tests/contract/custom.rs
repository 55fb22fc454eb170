//! CustomResourceDefinitions that give the contract test rows of their own: one with two versions, `/status` and
//! `/scale`, one of the cluster without a schema.

use std::time::Duration;

use serde_json::{Value, json};

use crate::tests::Fixture;

fn widgets() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer"},
            "replicas": {"type": "integer", "default": 1},
        }},
        "status": {"type": "object", "properties": {
            "replicas": {"type": "integer"},
            "selector": {"type": "string"},
        }},
    }}});
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage, "schema": schema,
            "subresources": {"status": {}, "scale": {
                "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            }},
            "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
        })
    };
    definition("Widget", "widgets", "Namespaced", json!([version("v1", true), version("v1beta1", false)]))
}

fn gadgets() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    definition(
        "Gadget",
        "gadgets",
        "Cluster",
        json!([{"name": "v1", "served": true, "storage": true, "schema": schema}]),
    )
}

fn definition(kind: &str, plural: &str, scope: &str, versions: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.contract.example.com")},
        "spec": {
            "group": "contract.example.com", "scope": scope, "versions": versions,
            "names": {"kind": kind, "plural": plural, "shortNames": [&plural[..2]], "categories": ["contract"]},
        },
    })
}

impl Fixture {
    /// A server with rows of custom resources.
    pub async fn with_custom() -> Self {
        let fixture = Self::new().await;
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for definition in [widgets(), gadgets()] {
            fixture.post(definitions, &definition).await.expect(201);
        }
        for _ in 0..100 {
            if fixture.server.server.kinds().rows().iter().filter(|kind| kind.is_custom()).count() == 3 {
                return fixture;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the rows of the CustomResourceDefinitions are not there within a second");
    }
}
