//! Tables: cells as upstream prints them.

use serde_json::json;

use super::*;
use crate::kinds::builtin;

const NOW: i64 = 1_800_000_000;
const V1: &str = "meta.k8s.io/v1";

fn ago(seconds: i64) -> String {
    jiff::Timestamp::from_second(NOW - seconds).expect("in range").to_string()
}

fn cells(kind: &str, object: Value) -> Vec<Value> {
    let kinds = builtin();
    let kind = kinds.rows().iter().find(|k| &*k.kind == kind).expect("served");
    let options = Options { now: NOW, include: Include::None, columns: true, api_version: V1 };
    let table = table(kind, [&object], &json!({}), options);
    table["rows"][0]["cells"].as_array().expect("cells").clone()
}

fn waiting(reason: &str) -> Value {
    json!({"state": {"waiting": {"reason": reason}}})
}

#[test]
fn ages() {
    let cases = [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (599, "9m59s"),
        (600, "10m"),
        (10_799, "179m"),
        (10_800, "3h"),
        (11_000, "3h3m"),
        (28_800, "8h"),
        (172_799, "47h"),
        (172_800, "2d"),
        (180_000, "2d2h"),
        (691_200, "8d"),
        (63_072_000, "2y"),
        (63_072_000 + 86_400, "2y1d"),
        (252_288_000, "8y"),
    ];
    for (seconds, text) in cases {
        assert_eq!(human_duration(seconds), text, "{seconds}");
    }
    assert_eq!(since("", NOW), "<unknown>");
    assert_eq!(since("2027-01-15T08:00:00.123456Z", NOW), "0s");
}

/// Ready, Status and Restarts.
#[test]
fn status_of_pods() {
    let running = json!({"ready": true, "restartCount": 0, "state": {"running": {}}});
    let done = json!({"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}});
    let crashed = json!({
        "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"finishedAt": ago(300)}},
    });
    let ready = json!([{"type": "Ready", "status": "True"}]);
    let two = json!([{"name": "a"}, {"name": "b"}]);
    let sidecar = json!([{"name": "s", "restartPolicy": "Always"}, {"name": "i"}]);
    let cases = [
        (json!({"spec": {"containers": two}, "status": {"phase": "Pending"}}), ["0/2", "Pending", "0"]),
        (
            json!({"spec": {"containers": two}, "status": {"phase": "Running", "containerStatuses": [running, crashed]}}),
            ["1/2", "CrashLoopBackOff", "3 (5m ago)"],
        ),
        (
            json!({"spec": {"containers": two}, "status": {"phase": "Running", "conditions": ready,
                "containerStatuses": [done, running]}}),
            ["1/2", "Running", "0"],
        ),
        (
            json!({"spec": {"containers": two}, "status": {"phase": "Running", "containerStatuses": [done, running]}}),
            ["1/2", "NotReady", "0"],
        ),
        (
            json!({"spec": {"containers": [{}]}, "status": {"phase": "Succeeded", "containerStatuses": [done]}}),
            ["0/1", "Completed", "0"],
        ),
        (
            json!({"spec": {"containers": [{}]}, "status": {"phase": "Failed", "containerStatuses": [
                {"state": {"terminated": {"exitCode": 137, "signal": 9}}}]}}),
            ["0/1", "Signal:9", "0"],
        ),
        (
            json!({"spec": {"containers": [{}]}, "status": {"phase": "Failed", "reason": "Evicted"}}),
            ["0/1", "Evicted", "0"],
        ),
        (
            json!({"spec": {"containers": [{}], "initContainers": [{"name": "i"}, {"name": "j"}]},
                "status": {"phase": "Pending", "initContainerStatuses": [{"state": {"running": {}}}],
                "containerStatuses": [waiting("PodInitializing")]}}),
            ["0/1", "Init:0/2", "0"],
        ),
        (
            json!({"spec": {"containers": [{}], "initContainers": [{"name": "i"}]},
                "status": {"phase": "Pending", "initContainerStatuses": [waiting("CrashLoopBackOff")]}}),
            ["0/1", "Init:CrashLoopBackOff", "0"],
        ),
        (
            json!({"spec": {"containers": [{}], "initContainers": [{"name": "i"}]}, "status": {"phase": "Pending",
                "initContainerStatuses": [{"restartCount": 2, "state": {"terminated": {"exitCode": 1}}}]}}),
            ["0/1", "Init:ExitCode:1", "2"],
        ),
        (
            json!({"spec": {"containers": [{}], "initContainers": sidecar}, "status": {"phase": "Running",
                "initContainerStatuses": [{"name": "s", "started": true, "ready": true, "restartCount": 1}, done],
                "containerStatuses": [running]}}),
            ["2/2", "Running", "1"],
        ),
        (
            json!({"metadata": {"deletionTimestamp": ago(1)}, "spec": {"containers": [{}]},
                "status": {"phase": "Running", "containerStatuses": [running]}}),
            ["1/1", "Terminating", "0"],
        ),
        (
            json!({"spec": {"containers": [{}]}, "status": {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}}),
            ["0/1", "SchedulingGated", "0"],
        ),
    ];
    for (pod, expected) in cases {
        assert_eq!(cells("Pod", pod.clone())[1..4], expected, "{pod}");
    }
}

#[test]
fn cells_of_other_kinds() {
    let created = ago(90);
    let metadata = json!({"name": "x", "creationTimestamp": created});
    let selector = json!({"matchLabels": {"app": "web"}, "matchExpressions": [
        {"key": "a", "operator": "In", "values": ["2", "1"]}]});
    let template = json!({"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]}});
    let cases = [
        (
            "Deployment",
            json!({"metadata": metadata, "spec": {"replicas": 3, "selector": selector, "template": template},
                "status": {"readyReplicas": 2, "updatedReplicas": 1}}),
            json!(["x", "2/3", 1, 0, "90s", "c,d", "i,j", "a in (1,2),app=web"]),
        ),
        (
            "Service",
            json!({"metadata": metadata, "spec": {"type": "NodePort", "clusterIPs": ["10.43.0.9"], "selector": {"a": "b"},
                "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}}),
            json!(["x", "NodePort", "10.43.0.9", "<none>", "80:30080/TCP,53/UDP", "90s", "a=b"]),
        ),
        (
            "Node",
            json!({"metadata": {"name": "x", "creationTimestamp": created, "labels": {
                "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "", "a": "b"}},
                "spec": {"unschedulable": true},
                "status": {"conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "nodeInfo": {"kubeletVersion": "v1.37.2", "kernelVersion": "6.1", "architecture": "arm64"}}}),
            json!([
                "x",
                "Ready,SchedulingDisabled",
                "control-plane,worker",
                "90s",
                "v1.37.2",
                "10.0.0.1",
                "<none>",
                "<unknown>",
                "6.1 (arm64)",
                "<unknown>"
            ]),
        ),
        (
            "Endpoints",
            json!({"metadata": metadata, "subsets": [{"addresses": [{"ip": "a"}, {"ip": "b"}, {"ip": "c"}, {"ip": "d"}],
                "ports": [{"port": 80}]}]}),
            json!(["x", "a:80,b:80,c:80 + 1 more...", "90s"]),
        ),
        (
            "EndpointSlice",
            json!({"metadata": metadata, "addressType": "IPv4", "endpoints": [], "ports": [{"port": 80}, {"name": "n"}]}),
            json!(["x", "IPv4", "80,n", "<unset>", "90s"]),
        ),
        (
            "Event",
            json!({"metadata": metadata, "type": "Normal", "reason": "Pulled", "message": " hi\n", "lastTimestamp": created,
                "involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "kubelet", "host": "n"}}),
            json!(["90s", "Normal", "Pulled", "pod/p", "", "kubelet, n", "hi", "<unknown>", 1, "x"]),
        ),
        (
            "Job",
            json!({"metadata": metadata, "spec": {"completions": 1, "template": template},
                "status": {"succeeded": 1, "startTime": ago(90), "completionTime": ago(80),
                "conditions": [{"type": "Complete", "status": "True"}]}}),
            json!(["x", "Complete", "1/1", "10s", "90s", "c,d", "i,j", "<none>"]),
        ),
        (
            "RoleBinding",
            json!({"metadata": metadata, "roleRef": {"kind": "Role", "name": "r"}, "subjects": [
                {"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "namespace": "n", "name": "s"}]}),
            json!(["x", "Role/r", "90s", "u", "", "n/s"]),
        ),
        ("ClusterRole", json!({"metadata": metadata}), json!(["x", created])),
    ];
    for (kind, object, expected) in cases {
        assert_eq!(Value::from(cells(kind, object)), expected, "{kind}");
    }
}

#[test]
fn forms_of_a_table() {
    let kinds = builtin();
    let kind = kinds.by_kind("", "v1", "ConfigMap").expect("served");
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u"}, "data": {}});
    let list_meta = json!({"resourceVersion": "7", "continue": "c", "remainingItemCount": 2, "name": "not taken"});
    let make =
        |include, columns| table(kind, [&object], &list_meta, Options { now: NOW, include, columns, api_version: V1 });
    let full = make(Include::Metadata, true);
    assert_eq!(full["metadata"], json!({"resourceVersion": "7", "continue": "c", "remainingItemCount": 2}));
    assert_eq!(
        full["columnDefinitions"][0],
        json!({"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0})
    );
    assert_eq!(full["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(make(Include::Object, true)["rows"][0]["object"], object);
    assert_eq!(make(Include::None, false)["columnDefinitions"], json!([]));
    assert_eq!(Include::parse("Some"), None);
}

/// The Scale itself was the answer, and kubectl printed no numbers.
#[test]
fn the_table_of_a_scale() {
    let scale = json!({"kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {"name": "web", "resourceVersion": "7", "creationTimestamp": ago(60)},
        "spec": {"replicas": 3}, "status": {"replicas": 2}});
    let options = Options { now: NOW, include: Include::Metadata, columns: true, api_version: "meta.k8s.io/v1beta1" };
    let made = of_scale(&scale, options);
    let headings: Vec<_> = tree::items(&made, "columnDefinitions").iter().map(|c| tree::text(c, "name")).collect();
    assert_eq!(headings, ["Name", "Desired", "Available", "Age"]);
    assert_eq!(made["rows"][0]["cells"], json!(["web", 3, 2, "60s"]));
    assert_eq!(made["metadata"], json!({"resourceVersion": "7"}));
    assert_eq!(made["apiVersion"], "meta.k8s.io/v1beta1");
    assert_eq!(made["rows"][0]["object"]["apiVersion"], "meta.k8s.io/v1beta1");
}
