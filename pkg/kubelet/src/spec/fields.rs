//! Field references of the downward API: `metadata.name`, `status.podIP`, `requests.cpu`, …
//!
//! Rules: <https://kubernetes.io/docs/concepts/workloads/pods/downward-api/>.

use std::collections::BTreeMap;
use std::net::IpAddr;

use k8s_openapi::api::core::v1::{Pod, ResourceFieldSelector};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::resources;

/// What a pod's fields are read from besides the pod itself.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The node's name.
    pub node_name: String,
    /// The node's addresses, the primary one first.
    pub host_ips: Vec<IpAddr>,
    /// The pod's addresses, the primary one first.
    pub pod_ips: Vec<String>,
    /// What stands in for limits that a container has not.
    pub allocatable: BTreeMap<String, Quantity>,
}

/// The value of a field path, or why it cannot be had.
pub fn field(pod: &Pod, facts: &Facts, path: &str) -> Result<String, String> {
    let meta = &pod.metadata;
    let spec = pod.spec.as_ref();
    let join = |ips: &mut dyn Iterator<Item = String>| ips.collect::<Vec<_>>().join(",");
    Ok(match path {
        "metadata.name" => meta.name.clone().unwrap_or_default(),
        "metadata.namespace" => meta.namespace.clone().unwrap_or_default(),
        "metadata.uid" => meta.uid.clone().unwrap_or_default(),
        "metadata.labels" => format_map(meta.labels.as_ref()),
        "metadata.annotations" => format_map(meta.annotations.as_ref()),
        "spec.nodeName" => facts.node_name.clone(),
        "spec.serviceAccountName" => spec.and_then(|s| s.service_account_name.clone()).unwrap_or_default(),
        "status.hostIP" => facts.host_ips.first().map(ToString::to_string).unwrap_or_default(),
        "status.hostIPs" => join(&mut facts.host_ips.iter().map(ToString::to_string)),
        "status.podIP" => facts.pod_ips.first().cloned().unwrap_or_default(),
        "status.podIPs" => join(&mut facts.pod_ips.iter().cloned()),
        path => return subscript(pod, path).ok_or_else(|| format!("unsupported fieldPath: {path}")),
    })
}

/// `metadata.labels['key']` and `metadata.annotations['key']`.
fn subscript(pod: &Pod, path: &str) -> Option<String> {
    let (map, key) = path.strip_suffix("']")?.split_once("['")?;
    let map = match map {
        "metadata.labels" => &pod.metadata.labels,
        "metadata.annotations" => &pod.metadata.annotations,
        _ => return None,
    };
    Some(map.as_ref().and_then(|m| m.get(key)).cloned().unwrap_or_default())
}

/// `key="escaped value"`, one to a line, sorted.
fn format_map(map: Option<&BTreeMap<String, String>>) -> String {
    let lines: Vec<String> = map.into_iter().flatten().map(|(k, v)| format!("{k}={}", quote(v))).collect();
    lines.join("\n")
}

/// A string in double quotes, with escapes that shells and Go understand.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The value of a resource reference of `container` (or of the container that the reference names), divided by its
/// divisor and rounded up.
pub fn resource(
    pod: &Pod,
    facts: &Facts,
    container: Option<&str>,
    selector: &ResourceFieldSelector,
) -> Result<String, String> {
    let name = selector.container_name.as_deref().filter(|n| !n.is_empty()).or(container).unwrap_or_default();
    let (_, container) = super::container(pod, name).ok_or_else(|| format!("container {name} not found"))?;
    let unsupported = || format!("unsupported container resource : {}", selector.resource);
    let (list, resource) = selector.resource.split_once('.').ok_or_else(unsupported)?;
    let resources = container.resources.as_ref();
    let from = |map: Option<&BTreeMap<String, Quantity>>| map.and_then(|m| m.get(resource)).cloned();
    let limit = from(resources.and_then(|r| r.limits.as_ref()));
    let quantity = match list {
        "limits" => limit.or_else(|| facts.allocatable.get(resource).cloned()),
        "requests" => from(resources.and_then(|r| r.requests.as_ref())).or(limit),
        _ => return Err(unsupported()),
    };
    let amount = quantity.as_ref().and_then(resources::milli).unwrap_or(0);
    let divisor = selector.divisor.as_ref().and_then(resources::milli).filter(|d| *d > 0).unwrap_or(1000);
    Ok(((amount + divisor - 1) / divisor).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod() -> Pod {
        serde_json::from_value(json!({
            "metadata": {"name": "p", "namespace": "n", "uid": "u", "labels": {"b": "2\n", "a": "\"1\""}},
            "spec": {"serviceAccountName": "sa", "containers": [{"name": "c", "resources":
                {"limits": {"cpu": "1500m"}, "requests": {"memory": "10Mi"}}}]},
        }))
        .unwrap()
    }

    fn facts() -> Facts {
        Facts {
            node_name: "node".into(),
            host_ips: vec!["192.0.2.1".parse().unwrap()],
            pod_ips: vec!["10.42.0.2".into(), "fd00::2".into()],
            allocatable: BTreeMap::from([("memory".into(), Quantity("64Mi".into()))]),
        }
    }

    #[test]
    fn fields_are_read() {
        let table = [
            ("metadata.name", Ok("p")),
            ("metadata.labels", Ok("a=\"\\\"1\\\"\"\nb=\"2\\n\"")),
            ("metadata.labels['a']", Ok("\"1\"")),
            ("metadata.labels['none']", Ok("")),
            ("metadata.annotations", Ok("")),
            ("spec.serviceAccountName", Ok("sa")),
            ("spec.nodeName", Ok("node")),
            ("status.hostIP", Ok("192.0.2.1")),
            ("status.podIP", Ok("10.42.0.2")),
            ("status.podIPs", Ok("10.42.0.2,fd00::2")),
            ("status.phase", Err("unsupported fieldPath: status.phase")),
        ];
        for (path, want) in table {
            assert_eq!(field(&pod(), &facts(), path), want.map(String::from).map_err(String::from), "{path}");
        }
    }

    #[test]
    fn resources_are_divided_and_rounded_up() {
        let table = [
            ("limits.cpu", "0", "2"),
            ("limits.cpu", "1m", "1500"),
            ("limits.cpu", "1", "2"),
            ("requests.cpu", "1m", "1500"),
            ("requests.memory", "1Mi", "10"),
            ("limits.memory", "1Mi", "64"),
            ("limits.memory", "1", "67108864"),
        ];
        for (resource_name, divisor, want) in table {
            let selector = ResourceFieldSelector {
                resource: resource_name.into(),
                divisor: Some(Quantity(divisor.into())),
                ..ResourceFieldSelector::default()
            };
            assert_eq!(resource(&pod(), &facts(), Some("c"), &selector).unwrap(), want, "{resource_name} / {divisor}");
        }
    }
}
