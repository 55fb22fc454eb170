//! `kill -9` is a supported way to stop.

use std::{process::Stdio, time::Duration};

use blackbox::start_tour;
use testkit::Cluster;

#[test]
fn nothing_is_lost_and_nothing_restarts() {
    let mut cluster = Cluster::start("restart", 0);
    start_tour(&cluster);
    let containers = |cluster: &Cluster| {
        let ids = cluster.get("pods", "{range .items[*]}{.metadata.name} {.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}{\"\\n\"}{end}");
        assert_eq!(ids.lines().count(), 4, "{ids}");
        ids
    };
    let before = containers(&cluster);
    let address = cluster.get("service web", "{.spec.clusterIP}");

    // Services are asked all the time, from a pod's point of view: through the node's rules.
    let mut asking = cluster.server().command("sh");
    let script = format!("for i in $(seq 100); do curl -s -m 2 http://{address} || echo FAILED; sleep 0.05; done");
    let asking = asking.args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();

    // The last thing before the end is acknowledged, so it is there afterwards.
    cluster.kubectl("create configmap last --from-literal=a=1");
    cluster.server_mut().kill();
    std::thread::sleep(Duration::from_secs(1));
    cluster.server_mut().start();
    cluster.wait_ready();

    assert_eq!(cluster.get("configmap last", "{.data.a}"), "1");
    let answers = String::from_utf8(asking.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(answers, "Hello from Kinglet\n".repeat(100));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(containers(&cluster), before);

    // Nor when containerd is killed: probes that cannot be run meanwhile say nothing of the containers.
    cluster.expect_log("containerd ended");
    let config = cluster.server().dir().join("data/agent/containerd.toml");
    let killed = cluster.server().run(&format!("pkill -9 -f {}", config.display()));
    assert_eq!(killed.code, 0, "{killed}");
    cluster.server().wait_for_log("containerd ended");
    cluster.wait("containerd is back", || cluster.try_kubectl("exec shell -- true").code == 0);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(containers(&cluster), before);

    // And everything still works.
    cluster.kubectl("scale deployment/web --replicas=4");
    cluster.kubectl("rollout status deployment/web --timeout=120s");
    assert_eq!(cluster.kubectl("exec shell -- curl -s -m 5 http://web"), "Hello from Kinglet\n");
}
