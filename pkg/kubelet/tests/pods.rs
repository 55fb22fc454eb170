//! Pods on a real containerd: start, readiness, restart, adoption, deletion. Needs root, containerd, runc and a static
//! busybox.
#![allow(clippy::unwrap_used)]

mod support;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::json;
use support::api::Api;
use support::containerd::Containerd;
use support::{PODS, kubelet, path, pod, ready, until};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest as _};

fn main_status(pod: &serde_json::Value) -> &serde_json::Value {
    &pod["status"]["containerStatuses"][0]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_lives_from_start_to_deletion() {
    let containerd = Containerd::start().await;
    let api = Api::start().await;
    let map = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m", "namespace": "default"},
                     "data": {"greeting": "hello"}});
    api.create("/api/v1/namespaces/default/configmaps", map).await;
    let running = kubelet(&api, &containerd).await;

    // Volumes, environment, readiness.
    let server = "(while :; do echo pong | nc -l -p 7000; done) &";
    let mut web = pod("web", &format!("{server} echo $GREETING; echo done > /dev/termination-log; sleep 1000"));
    let container = &mut web["spec"]["containers"][0];
    container["env"] =
        json!([{"name": "GREETING", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "greeting"}}}]);
    container["volumeMounts"] = json!([{"name": "c", "mountPath": "/c"}, {"name": "t", "mountPath": "/t"}]);
    container["readinessProbe"] = json!({"exec": {"command": ["cat", "/c/greeting"]}, "periodSeconds": 1});
    web["spec"]["volumes"] = json!([
        {"name": "c", "configMap": {"name": "m"}},
        {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
    ]);
    let started = std::time::Instant::now();
    api.create(PODS, web).await;
    let first = until(&api, "web", "is ready", ready).await;
    println!("ready after {:?}", started.elapsed());
    assert_eq!(first["status"]["phase"], "Running");
    assert_eq!(first["status"]["podIP"], "127.0.0.1");
    let uid = first["metadata"]["uid"].as_str().unwrap();
    let volumes = containerd.dir.path().join(format!("kubelet/pods/{uid}/volumes"));
    let read = |p: &str| std::fs::read_to_string(volumes.join(p)).unwrap_or_default();
    assert_eq!(read("kubernetes.io~projected/t/token").split('.').count(), 3, "a JWT");
    let id = main_status(&first)["containerID"].clone();
    let log = containerd.dir.path().join(format!("pods/default_web_{uid}/main/0.log"));
    assert!(std::fs::read_to_string(log).unwrap().ends_with("stdout F hello\n"));

    // A running pod follows updates of its ConfigMap.
    let mut map = api.get("/api/v1/namespaces/default/configmaps/m").await.unwrap();
    map["data"]["greeting"] = json!("again");
    api.put("/api/v1/namespaces/default/configmaps/m", map).await;
    for _ in 0..100 {
        if read("kubernetes.io~configmap/c/greeting") == "again" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(read("kubernetes.io~configmap/c/greeting"), "again");

    logs_and_exec(&running).await;
    port_forward(&running).await;

    // Another process adopts what runs.
    running.end().await;
    let running = kubelet(&api, &containerd).await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let adopted = api.get(&path("web")).await.unwrap();
    assert_eq!(main_status(&adopted)["containerID"], id);
    assert!(ready(&adopted), "readiness holds over the restart");
    let ready_since = |p: &serde_json::Value| {
        p["status"]["conditions"].as_array().unwrap().iter().find(|c| c["type"] == "Ready").unwrap()["lastTransitionTime"].clone()
    };
    assert_eq!(ready_since(&first), ready_since(&adopted));

    // Killed from outside, it comes back.
    let task = id.as_str().unwrap().trim_start_matches("containerd://").to_owned();
    let socket = containerd.socket.display().to_string();
    let args = ["-a", &socket, "-n", "k8s.io", "tasks", "kill", "-s", "SIGKILL", &task];
    assert!(std::process::Command::new("ctr").args(args).status().unwrap().success());
    let again = until(&api, "web", "is ready again", |p| ready(p) && main_status(p)["restartCount"] == 1).await;
    assert_ne!(main_status(&again)["containerID"], id);
    assert_eq!(main_status(&again)["lastState"]["terminated"]["exitCode"], 137);
    assert_eq!(main_status(&again)["lastState"]["terminated"]["message"], "done\n");

    // Deleted, nothing is left.
    api.delete(&path("web"), 2).await;
    let left =
        [format!("kubelet/pods/{uid}"), format!("pods/default_web_{uid}")].map(|p| containerd.dir.path().join(p));
    for _ in 0..200 {
        if api.get(&path("web")).await.is_none() && !left.iter().any(|p| p.exists()) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(api.get(&path("web")).await.is_none());
    assert!(!left.iter().any(|p| p.exists()));
    running.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_failures_and_orphans() {
    let containerd = Containerd::start().await;
    let api = Api::start().await;
    let running = kubelet(&api, &containerd).await;

    let mut job = pod("job", "echo worked > /dev/termination-log; exit 3");
    job["spec"]["restartPolicy"] = json!("Never");
    api.create(PODS, job).await;
    let mut init = pod("init", "sleep 1000");
    init["spec"]["initContainers"] = json!([{"name": "first", "image": support::containerd::IMAGE,
        "imagePullPolicy": "Never", "command": ["/bin/sh", "-c", "exit 0"]}]);
    api.create(PODS, init).await;
    let mut missing = pod("missing", "");
    missing["spec"]["containers"][0]["image"] = json!("kkub.test/none:1");
    api.create(PODS, missing).await;
    let mut sick = pod("sick", "sleep 1000");
    sick["spec"]["containers"][0]["livenessProbe"] =
        json!({"exec": {"command": ["test", "-e", "/well"]}, "periodSeconds": 1, "failureThreshold": 1});
    api.create(PODS, sick).await;
    api.create(PODS, pod("loop", "exit 1")).await;
    let mut unset = pod("unset", "sleep 1000");
    unset["spec"]["containers"][0]["envFrom"] = json!([{"secretRef": {"name": "later"}}]);
    api.create(PODS, unset).await;

    let job = until(&api, "job", "fails", |p| p["status"]["phase"] == "Failed").await;
    let ended = &main_status(&job)["state"]["terminated"];
    assert_eq!((&ended["exitCode"], &ended["message"]), (&json!(3), &json!("worked\n")));
    let init = until(&api, "init", "is ready", ready).await;
    assert_eq!(init["status"]["initContainerStatuses"][0]["ready"], true);
    let waiting = |p: &serde_json::Value, reason: &str| main_status(p)["state"]["waiting"]["reason"] == reason;
    until(&api, "missing", "has no image", |p| waiting(p, "ErrImageNeverPull")).await;
    until(&api, "loop", "crashes in a loop", |p| waiting(p, "CrashLoopBackOff")).await;
    until(&api, "sick", "is restarted", |p| main_status(p)["restartCount"].as_i64() >= Some(1)).await;
    until(&api, "unset", "waits for its secret", |p| waiting(p, "CreateContainerConfigError")).await;
    let secret = json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "later", "namespace": "default"}});
    api.create("/api/v1/namespaces/default/secrets", secret).await;
    until(&api, "unset", "runs with its secret", ready).await;
    let reasons: Vec<_> =
        api.list(support::EVENTS).await.iter().map(|e| e["reason"].as_str().unwrap().to_owned()).collect();
    for reason in ["Pulled", "Created", "Started", "Killing", "BackOff", "Unhealthy", "Failed"] {
        assert!(reasons.iter().any(|r| r == reason), "no event {reason}: {reasons:?}");
    }

    // What was deleted while nobody looked is cleaned up.
    running.end().await;
    for name in ["init", "sick", "loop", "missing", "job", "unset"] {
        api.delete(&path(name), 0).await;
    }
    let running = kubelet(&api, &containerd).await;
    let runtime = kubelet::runtime::Runtime::new(cri::connect(&containerd.socket).await.unwrap());
    for _ in 0..400 {
        if runtime.sandboxes(None).await.unwrap().is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(runtime.sandboxes(None).await.unwrap(), []);
    running.end().await;
}

/// The server: logs, and a command with input, both outputs and an exit code.
async fn logs_and_exec(running: &support::Running) {
    let log = running.get("/containerLogs/default/web/main?tailLines=1").await;
    assert!(log.starts_with("HTTP/1.1 200") && log.contains("hello\n"), "{log}");
    let none = running.get("/containerLogs/default/web/main?previous=true").await;
    assert!(none.contains("previous terminated container \"main\" in pod \"web\" not found"), "{none}");

    let script = "echo%20out%3B%20echo%20err%20%3E%262%3B%20cat%3B%20exit%207";
    let url =
        format!("ws://node/exec/default/web/main?command=sh&command=-c&command={script}&stdin=1&stdout=1&stderr=1");
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "v5.channel.k8s.io".parse().unwrap());
    let (mut socket, answer) = tokio_tungstenite::client_async(request, running.connect().await).await.unwrap();
    assert_eq!(answer.headers()["sec-websocket-protocol"], "v5.channel.k8s.io");
    for message in [&b"\0typed\n"[..], &[255, 0]] {
        socket.send(Message::Binary(message.to_vec().into())).await.unwrap();
    }
    let mut channels = [const { String::new() }; 4];
    while let Some(Ok(Message::Binary(message))) = socket.next().await {
        channels[usize::from(message[0])].push_str(&String::from_utf8_lossy(&message[1..]));
    }
    assert_eq!((channels[1].as_str(), channels[2].as_str()), ("out\ntyped\n", "err\n"));
    let status: serde_json::Value = serde_json::from_str(&channels[3]).unwrap();
    assert_eq!(status["details"]["causes"][0]["message"], "7", "{status}");
}

/// Bytes through a WebSocket with channels: each begins with the number of its port.
async fn port_forward(running: &support::Running) {
    let mut request = "ws://node/portForward/default/web?port=7000".into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "v4.channel.k8s.io".parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::client_async(request, running.connect().await).await.unwrap();
    let mut channels = [const { Vec::new() }; 2];
    while let Some(Ok(Message::Binary(message))) = socket.next().await {
        channels[usize::from(message[0])].extend_from_slice(&message[1..]);
    }
    let port = 7000_u16.to_le_bytes();
    assert_eq!(channels, [[&port[..], b"pong\n"].concat(), port.to_vec()]);
}
