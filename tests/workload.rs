//! The main job: a web server in three replicas, on a server and an agent.

use blackbox::{WEB, in_shell, ready_endpoints, start_tour, web_pods};
use testkit::Cluster;

#[test]
fn a_deployment_lives_through_its_days() {
    let cluster = Cluster::start("workload", 1);
    start_tour(&cluster);
    the_pods_have_what_they_asked_for(&cluster);
    the_service_answers_by_name_and_by_address(&cluster);
    every_node_runs_its_share(&cluster);
    a_host_port_leads_to_its_pod(&cluster);
    a_killed_pod_comes_back(&cluster);
    a_failing_probe_restarts_the_container(&cluster);
    a_pod_that_is_not_ready_leaves_the_service(&cluster);
    a_rolling_update_and_a_rollback(&cluster);
    deleting_everything_leaves_nothing(&cluster);
}

fn the_pods_have_what_they_asked_for(cluster: &Cluster) {
    let in_web = |line: &str| cluster.kubectl(&format!("exec deploy/web -- {line}"));
    assert_eq!(in_web("cat /usr/share/nginx/html/index.html"), "Hello from Kinglet\n");
    assert_eq!(in_web("cat /etc/secret/password"), "s3cret");
    let environment = in_web("env");
    for line in ["GREETING=hello", "PASSWORD=s3cret", "KUBERNETES_SERVICE_HOST=10.43.0.1"] {
        assert!(environment.lines().any(|l| l == line), "{line} is missing in\n{environment}");
    }
    let memory =
        in_web("sh -c 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max'");
    assert_eq!(memory.trim(), (64 << 20).to_string());
}

fn the_service_answers_by_name_and_by_address(cluster: &Cluster) {
    let address = cluster.get("service web", "{.spec.clusterIP}");
    for host in ["web", "web.default", "web.default.svc.cluster.local", &address] {
        cluster.wait(&format!("http://{host}"), || {
            in_shell(cluster, &format!("curl -s -m 5 http://{host}")) == "Hello from Kinglet\n"
        });
    }
    assert_eq!(in_shell(cluster, "dig +short web.default.svc.cluster.local").trim(), address);
    assert_eq!(in_shell(cluster, "dig +short +tcp kubernetes.default.svc.cluster.local").trim(), "10.43.0.1");
}

fn a_host_port_leads_to_its_pod(cluster: &Cluster) {
    cluster.apply(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: host-port}\nspec:\n  terminationGracePeriodSeconds: 0\n  containers:\n  \
         - {name: c, image: 'nginx:1.25', ports: [{containerPort: 80, hostPort: 8088}]}\n",
    );
    cluster.kubectl("wait --for=condition=Ready pod/host-port --timeout=120s");
    let node = cluster.get("pod host-port", "{.status.hostIP}");
    for machine in [cluster.server(), cluster.agent(0)] {
        let answer = machine.run(&format!("curl -s -m 5 http://{node}:8088")).stdout;
        assert!(answer.contains("Welcome to nginx"), "from {}: {answer}", machine.name);
    }
    cluster.kubectl("delete pod host-port");
}

fn every_node_runs_its_share(cluster: &Cluster) {
    let nodes = cluster.get("pods -l app=web", "{.items[*].spec.nodeName}");
    for machine in [cluster.server(), cluster.agent(0)] {
        assert!(nodes.contains(&machine.name), "{} has no pod: {nodes}", machine.name);
        // From each node, through its own rules.
        let address = cluster.get("service web", "{.spec.clusterIP}");
        for _ in 0..6 {
            assert_eq!(machine.run(&format!("curl -s -m 5 http://{address}")).stdout, "Hello from Kinglet\n");
        }
    }
}

fn a_killed_pod_comes_back(cluster: &Cluster) {
    let before = web_pods(cluster);
    cluster.kubectl(&format!("delete pod {} --wait=false", before[0]));
    cluster.wait("another pod takes the place", || {
        let now = web_pods(cluster);
        now.len() == 3 && !now.contains(&before[0])
    });
    cluster.kubectl("rollout status deployment/web --timeout=120s");
}

fn a_failing_probe_restarts_the_container(cluster: &Cluster) {
    let pod = &web_pods(cluster)[0];
    assert_eq!(cluster.get(&format!("pod {pod}"), "{.status.containerStatuses[0].restartCount}"), "0");
    cluster.kubectl(&format!("exec {pod} -- touch /tmp/broken"));
    cluster
        .wait("a restart", || cluster.get(&format!("pod {pod}"), "{.status.containerStatuses[0].restartCount}") == "1");
    cluster.wait("the restarted container is ready", || ready_endpoints(cluster) == 3);
    let events = cluster.kubectl(&format!("describe pod {pod}"));
    assert!(events.contains("Liveness probe failed"), "{events}");
}

fn a_pod_that_is_not_ready_leaves_the_service(cluster: &Cluster) {
    // Without the page the readiness probe fails, and the pod goes on running.
    cluster.kubectl("patch configmap web --type=merge -p '{\"data\":{\"index.html\":null,\"other\":\"x\"}}'");
    let pod = &web_pods(cluster)[0];
    cluster.kubectl(&format!("exec {pod} -- nginx -s quit"));
    cluster.wait("the pod leaves the service", || ready_endpoints(cluster) < 3);
    cluster.apply(WEB);
    cluster.wait("all pods are back", || ready_endpoints(cluster) == 3);
}

fn a_rolling_update_and_a_rollback(cluster: &Cluster) {
    cluster.kubectl("set env deployment/web GREETING=bonjour");
    let status = cluster.kubectl("rollout status deployment/web --timeout=120s");
    assert!(status.contains("successfully rolled out"), "{status}");
    assert!(cluster.kubectl("exec deploy/web -- env").contains("GREETING=bonjour"));
    assert_eq!(cluster.kubectl("get replicasets -l app=web --no-headers").lines().count(), 2);

    cluster.kubectl("rollout undo deployment/web");
    cluster.kubectl("rollout status deployment/web --timeout=120s");
    cluster.wait("the old pods are gone", || web_pods(cluster).len() == 3);
    assert!(cluster.kubectl("exec deploy/web -- env").contains("GREETING=hello"));
    let history = cluster.kubectl("rollout history deployment/web");
    assert!(history.lines().any(|l| l.starts_with('3')), "{history}");
}

fn deleting_everything_leaves_nothing(cluster: &Cluster) {
    cluster.kubectl("delete deployment,service,configmap,secret web");
    cluster.kubectl("delete pod shell");
    cluster.wait("all pods are gone", || cluster.kubectl("get pods --no-headers").is_empty());
    cluster.wait("the endpoints are gone", || {
        cluster.kubectl("get endpointslices -l kubernetes.io/service-name=web --no-headers").is_empty()
    });
    assert!(cluster.kubectl("get replicasets --no-headers").is_empty());
}
