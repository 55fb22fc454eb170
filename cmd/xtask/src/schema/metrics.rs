//! `metrics.k8s.io` is served by an add-on upstream, so the release's documents lack it.

use anyhow::Result;
use serde_json::{Value, json};

use super::openapi::Definitions;

const PACKAGE: &str = "io.k8s.metrics.pkg.apis.metrics.v1beta1";

/// Adds the definitions of `metrics.k8s.io/v1beta1`.
pub fn add(definitions: &mut Definitions) -> Result<()> {
    let meta = |name: &str| reference(&format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}"));
    let text = || json!({"type": "string"});
    let usage = || {
        json!({"type": "object", "default": {},
               "additionalProperties": reference("io.k8s.apimachinery.pkg.api.resource.Quantity")})
    };
    let list = |item: &str| json!({"type": "array", "items": reference(&format!("{PACKAGE}.{item}"))});
    let object = |required: &[&str], properties: Value| json!({"type": "object", "required": required, "properties": properties});
    let timed = |required: &[&str], key: &str, value: Value| {
        let mut properties = json!({"apiVersion": text(), "kind": text(), "metadata": meta("ObjectMeta"),
            "timestamp": meta("Time"), "window": text()});
        properties[key] = value;
        object(required, properties)
    };
    let listed = |item: &str| {
        object(
            &["items"],
            json!({"apiVersion": text(), "kind": text(), "metadata": meta("ListMeta"), "items": list(item)}),
        )
    };
    let mut containers = list("ContainerMetrics");
    containers["x-kubernetes-list-type"] = "atomic".into();
    let types = [
        ("NodeMetrics", timed(&["timestamp", "usage", "window"], "usage", usage())),
        ("PodMetrics", timed(&["containers", "timestamp", "window"], "containers", containers)),
        ("ContainerMetrics", object(&["name", "usage"], json!({"name": text(), "usage": usage()}))),
        ("NodeMetricsList", listed("NodeMetrics")),
        ("PodMetricsList", listed("PodMetrics")),
    ];
    definitions.extend(types.map(|(name, schema)| (format!("{PACKAGE}.{name}"), schema)));
    Ok(())
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
