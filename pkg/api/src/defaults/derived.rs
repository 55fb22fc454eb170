//! Defaults that depend on other fields. Each function sees one object of its type, after the fixed
//! defaults of that object and before those of what it holds.

use serde_json::{Value, json};

use super::Object;
use crate::schema::{TypeId, ids::*};

type Function = fn(&mut Object);

pub(super) static FUNCTIONS: &[(TypeId, Function)] = &[
    (CORE_V1_POD, pod),
    (CORE_V1_POD_SPEC, pod_spec),
    (CORE_V1_POD_STATUS, pod_status),
    (CORE_V1_CONTAINER, container),
    (CORE_V1_EPHEMERAL_CONTAINER, container),
    (CORE_V1_VOLUME, volume),
    (CORE_V1_SERVICE, service),
    (CORE_V1_SERVICE_SPEC, service_spec),
    (CORE_V1_SERVICE_PORT, service_port),
    (CORE_V1_NODE_STATUS, node_status),
    (CORE_V1_LIMIT_RANGE_ITEM, limit_range_item),
    (CORE_V1_REPLICATION_CONTROLLER, replication_controller),
    (APPS_V1_DEPLOYMENT_STRATEGY, rolling_update),
    (APPS_V1_DAEMON_SET_UPDATE_STRATEGY, rolling_update),
    (APPS_V1_STATEFUL_SET_UPDATE_STRATEGY, stateful_set_strategy),
    (BATCH_V1_JOB, job),
    (AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_SPEC, autoscaler),
    (AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_BEHAVIOR, autoscaler_behavior),
    (NETWORKING_V1_NETWORK_POLICY_SPEC, network_policy),
    (RBAC_V1_SUBJECT, subject),
    (APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION, custom_resource_definition),
    (RESOURCE_V1_EXACT_DEVICE_REQUEST, device_count),
    (RESOURCE_V1_DEVICE_SUB_REQUEST, device_count),
];

fn text<'a>(object: &'a Object, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn number(object: &Object, field: &str) -> i64 {
    object.get(field).and_then(Value::as_i64).unwrap_or_default()
}

fn empty(object: &Object, field: &str) -> bool {
    match object.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
        Some(_) => false,
    }
}

fn set(object: &mut Object, field: &str, value: impl Into<Value>) {
    object.insert(field.to_owned(), value.into());
}

/// Sets what is absent.
fn fill(object: &mut Object, field: &str, value: impl Into<Value>) {
    if object.get(field).is_none_or(Value::is_null) {
        set(object, field, value);
    }
}

fn child<'a>(object: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    object.get_mut(field)?.as_object_mut()
}

fn children<'a>(object: &'a mut Object, field: &str) -> impl Iterator<Item = &'a mut Object> {
    object.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Only for pods, not for their templates.
fn pod(pod: &mut Object) {
    let Some(spec) = child(pod, "spec") else { return };
    if number(spec, "terminationGracePeriodSeconds") < 0 {
        set(spec, "terminationGracePeriodSeconds", 1);
    }
    fill(spec, "enableServiceLinks", true);
    let host_network = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["containers", "initContainers"] {
        for container in children(spec, list) {
            if let Some(resources) = child(container, "resources") {
                requests_from_limits(resources);
            }
            for port in children(container, "ports").filter(|_| host_network) {
                if number(port, "hostPort") == 0 {
                    let own = number(port, "containerPort");
                    set(port, "hostPort", own);
                }
            }
        }
    }
}

fn requests_from_limits(resources: &mut Object) {
    let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() else { return };
    fill(resources, "requests", json!({}));
    if let Some(requests) = child(resources, "requests") {
        merge_absent(requests, limits);
    }
}

fn merge_absent(into: &mut Object, from: Object) {
    for (name, amount) in from {
        into.entry(name).or_insert(amount);
    }
}

/// `serviceAccount` is an old name of `serviceAccountName`, which wins where both are set.
fn pod_spec(spec: &mut Object) {
    let account = match (text(spec, "serviceAccountName"), text(spec, "serviceAccount")) {
        ("", "") => return,
        ("", old) => old.to_owned(),
        (name, _) => name.to_owned(),
    };
    set(spec, "serviceAccountName", account.clone());
    set(spec, "serviceAccount", account);
}

/// `podIP` is the first of `podIPs`, and wins where they differ.
fn pod_status(status: &mut Object) {
    let first = status.get("podIPs").map(|ips| ips[0]["ip"].clone()).unwrap_or_default();
    match (text(status, "podIP"), first.as_str().unwrap_or_default()) {
        ("", "") => {}
        ("", first) => set(status, "podIP", first.to_owned()),
        (ip, first) if ip != first => set(status, "podIPs", json!([{"ip": ip}])),
        _ => {}
    }
}

fn container(container: &mut Object) {
    if text(container, "imagePullPolicy").is_empty() {
        set(container, "imagePullPolicy", pull_policy(text(container, "image")));
    }
}

/// Always for the tag `latest`, given or implied.
fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').unwrap_or((image, ""));
    let last = name.rsplit('/').next().unwrap_or_default();
    match last.split_once(':') {
        Some((_, "latest")) => "Always",
        None if digest.is_empty() && !last.is_empty() => "Always",
        _ => "IfNotPresent",
    }
}

fn volume(volume: &mut Object) {
    if volume.keys().all(|key| key == "name") {
        set(volume, "emptyDir", json!({}));
    }
    if let Some(image) = child(volume, "image")
        && text(image, "pullPolicy").is_empty()
    {
        set(image, "pullPolicy", pull_policy(text(image, "reference")));
    }
}

fn service(service: &mut Object) {
    if service.get("spec").is_none_or(|spec| spec["type"] != "LoadBalancer") {
        return;
    }
    let Some(balancer) = child(service, "status").and_then(|status| child(status, "loadBalancer")) else { return };
    for ingress in children(balancer, "ingress") {
        if !text(ingress, "ip").is_empty() {
            fill(ingress, "ipMode", "VIP");
        }
    }
}

fn service_spec(spec: &mut Object) {
    match text(spec, "sessionAffinity") {
        "None" => drop(spec.remove("sessionAffinityConfig")),
        "ClientIP" => {
            let timeout = spec.get("sessionAffinityConfig").map(|config| &config["clientIP"]["timeoutSeconds"]);
            if timeout.is_none_or(Value::is_null) {
                set(spec, "sessionAffinityConfig", json!({"clientIP": {"timeoutSeconds": 10800}}));
            }
        }
        _ => {}
    }
    let kind = text(spec, "type").to_owned();
    let outside = matches!(&*kind, "LoadBalancer" | "NodePort") || kind == "ClusterIP" && !empty(spec, "externalIPs");
    if outside && text(spec, "externalTrafficPolicy").is_empty() {
        set(spec, "externalTrafficPolicy", "Cluster");
    }
    if matches!(&*kind, "LoadBalancer" | "NodePort" | "ClusterIP") {
        fill(spec, "internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        fill(spec, "allocateLoadBalancerNodePorts", true);
    }
}

fn service_port(port: &mut Object) {
    let target = port.get("targetPort");
    if target.is_none_or(|t| t.is_null() || t == 0 || t == "") {
        let own = number(port, "port");
        set(port, "targetPort", own);
    }
}

fn node_status(status: &mut Object) {
    if let Some(capacity) = status.get("capacity").cloned() {
        fill(status, "allocatable", capacity);
    }
}

/// Limits from maxima, requests from limits and minima.
fn limit_range_item(item: &mut Object) {
    if text(item, "type") != "Container" {
        return;
    }
    let amounts = |item: &Object, field: &str| item.get(field).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut limits = amounts(item, "default");
    merge_absent(&mut limits, amounts(item, "max"));
    let mut requests = amounts(item, "defaultRequest");
    merge_absent(&mut requests, limits.clone());
    merge_absent(&mut requests, amounts(item, "min"));
    for (field, amounts) in [("default", limits), ("defaultRequest", requests)] {
        if !amounts.is_empty() {
            set(item, field, amounts);
        }
    }
}

/// Labels of the template of a workload, if any.
fn template_labels(workload: &Object) -> Option<Value> {
    let labels = &workload.get("spec")?["template"]["metadata"]["labels"];
    labels.as_object().filter(|labels| !labels.is_empty()).map(|labels| labels.clone().into())
}

fn labels_from_template(workload: &mut Object, labels: &Value) {
    if let Some(metadata) = child(workload, "metadata")
        && empty(metadata, "labels")
    {
        set(metadata, "labels", labels.clone());
    }
}

fn replication_controller(controller: &mut Object) {
    let Some(labels) = template_labels(controller) else { return };
    labels_from_template(controller, &labels);
    if let Some(spec) = child(controller, "spec")
        && empty(spec, "selector")
    {
        set(spec, "selector", labels);
    }
}

fn rolling_update(strategy: &mut Object) {
    if text(strategy, "type") == "RollingUpdate" {
        fill(strategy, "rollingUpdate", json!({}));
    }
}

fn stateful_set_strategy(strategy: &mut Object) {
    if text(strategy, "type").is_empty() {
        set(strategy, "type", "RollingUpdate");
        fill(strategy, "rollingUpdate", json!({}));
    }
}

fn job(job: &mut Object) {
    if let Some(labels) = template_labels(job) {
        labels_from_template(job, &labels);
    }
    let Some(spec) = child(job, "spec") else { return };
    let has = |spec: &Object, field: &str| spec.get(field).is_some_and(|v| !v.is_null());
    if !has(spec, "completions") && !has(spec, "parallelism") {
        set(spec, "completions", 1);
    }
    fill(spec, "parallelism", 1);
    let limit = if has(spec, "backoffLimitPerIndex") { i32::MAX } else { 6 };
    fill(spec, "backoffLimit", limit);
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    let replacement = if has(spec, "podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    fill(spec, "podReplacementPolicy", replacement);
    fill(spec, "manualSelector", false);
}

fn autoscaler(spec: &mut Object) {
    if empty(spec, "metrics") {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        set(spec, "metrics", json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]));
    }
}

fn autoscaler_behavior(behavior: &mut Object) {
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    if let Some(up) = child(behavior, "scaleUp") {
        fill(up, "stabilizationWindowSeconds", 0);
        fill(up, "selectPolicy", "Max");
        fill(up, "policies", json!([{"type": "Pods", "value": 4, "periodSeconds": 15}, percent]));
    }
    if let Some(down) = child(behavior, "scaleDown") {
        fill(down, "selectPolicy", "Max");
        fill(down, "policies", json!([percent]));
    }
}

fn network_policy(spec: &mut Object) {
    if empty(spec, "policyTypes") {
        let egress = !empty(spec, "egress");
        set(spec, "policyTypes", if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) });
    }
}

fn subject(subject: &mut Object) {
    if text(subject, "apiGroup").is_empty() && matches!(text(subject, "kind"), "User" | "Group") {
        set(subject, "apiGroup", "rbac.authorization.k8s.io");
    }
}

fn custom_resource_definition(definition: &mut Object) {
    let mut stored = None;
    if let Some(spec) = child(definition, "spec") {
        if let Some(names) = child(spec, "names") {
            let kind = text(names, "kind").to_owned();
            if text(names, "singular").is_empty() && !kind.is_empty() {
                set(names, "singular", kind.to_lowercase());
            }
            if text(names, "listKind").is_empty() && !kind.is_empty() {
                set(names, "listKind", format!("{kind}List"));
            }
        }
        fill(spec, "conversion", json!({"strategy": "None"}));
        let storage = children(spec, "versions").find(|v| v.get("storage") == Some(&Value::Bool(true)));
        stored = storage.and_then(|v| v.get("name").cloned());
    }
    if let (Some(version), Some(status)) = (stored, child(definition, "status"))
        && empty(status, "storedVersions")
    {
        set(status, "storedVersions", json!([version]));
    }
}

fn device_count(request: &mut Object) {
    if text(request, "allocationMode") == "ExactCount" && number(request, "count") == 0 {
        set(request, "count", 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_policy_follows_the_tag() {
        let cases = [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("nginx:1.25", "IfNotPresent"),
            ("host:5000/nginx", "Always"),
            ("host:5000/nginx:1", "IfNotPresent"),
            ("nginx@sha256:0", "IfNotPresent"),
            ("nginx:latest@sha256:0", "Always"),
            ("", "IfNotPresent"),
        ];
        for (image, want) in cases {
            assert_eq!(pull_policy(image), want, "{image}");
        }
    }
}
