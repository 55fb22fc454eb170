//! The stock kubectl against a server alone: every command and output form that users begin with.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::Command,
    time::Duration,
};

use blackbox::{SHELL, start_tour};
use testkit::{Cluster, eventually, run};

#[test]
fn the_commands_that_users_begin_with() {
    let cluster = Cluster::start("kubectl", 0);
    namespaces_and_labels(&cluster);
    start_tour(&cluster);
    tables_and_documents(&cluster);
    watching(&cluster);
    scaling(&cluster);
    logs(&cluster);
    commands_in_containers(&cluster);
    descriptions(&cluster);
    discovery(&cluster);
    changes_by_patch_and_apply(&cluster);
    refusals_are_those_of_upstream(&cluster);
    deletion(&cluster);
}

fn namespaces_and_labels(cluster: &Cluster) {
    assert_eq!(cluster.kubectl("create namespace demo"), "namespace/demo created\n");
    assert_eq!(cluster.kubectl("label namespace demo team=a"), "namespace/demo labeled\n");
    assert!(cluster.kubectl("get namespaces -l team=a --no-headers").starts_with("demo   Active"));
    cluster.wait("the default service account", || {
        cluster.get("serviceaccount default -n demo", "{.metadata.name}") == "default"
    });
    cluster.wait("the CA for pods", || !cluster.get("configmap kube-root-ca.crt -n demo", "{.data}").is_empty());
    cluster.kubectl("create configmap settings --from-literal=a=1 -n demo");
    cluster.kubectl("delete namespace demo --timeout=120s");
    let gone = cluster.try_kubectl("get configmap settings -n demo");
    assert!(gone.failure().contains("(NotFound)"));
}

fn tables_and_documents(cluster: &Cluster) {
    let pods = cluster.kubectl("get pods");
    assert!(pods.starts_with("NAME"), "{pods}");
    let headings =
        |text: &str| text.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(headings(&pods), "NAME READY STATUS RESTARTS AGE");
    assert_eq!(
        headings(&cluster.kubectl("get pods -o wide")),
        "NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES"
    );
    assert_eq!(headings(&cluster.kubectl("get deployments")), "NAME READY UP-TO-DATE AVAILABLE AGE");
    assert_eq!(headings(&cluster.kubectl("get services")), "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE");
    assert!(cluster.kubectl("get nodes -o wide").contains("containerd://"));
    assert!(cluster.kubectl("get pods -A").lines().count() >= 4);

    let yaml = cluster.kubectl("get deployment web -o yaml");
    for line in ["apiVersion: apps/v1", "kind: Deployment", "  replicas: 3", "      maxSurge: 25%"] {
        assert!(yaml.lines().any(|l| l.trim() == line.trim()), "{line} is missing in\n{yaml}");
    }
    assert_eq!(cluster.kubectl("get pod shell -o name"), "pod/shell\n");
    assert_eq!(cluster.get("service kubernetes", "{.spec.clusterIP}"), "10.43.0.1");
    let columns = cluster.kubectl("get pods -l app=web -o custom-columns=PHASE:.status.phase --no-headers");
    assert_eq!(columns, "Running\nRunning\nRunning\n");
    assert!(cluster.kubectl("get pods --field-selector status.phase=Running,metadata.name=shell").contains("shell"));
    assert!(cluster.kubectl("get events").contains("Scheduled"));
}

fn watching(cluster: &Cluster) {
    let mut watch = cluster.spawn_kubectl("get configmaps -w --no-headers --request-timeout=60s");
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("kube-root-ca.crt"));
    assert!(lines.next().unwrap().unwrap().contains("web"));
    cluster.kubectl("create configmap seen --from-literal=a=1");
    assert!(lines.next().unwrap().unwrap().starts_with("seen"));
    watch.kill().unwrap();
    watch.wait().unwrap();
    cluster.kubectl("delete configmap seen");
}

fn scaling(cluster: &Cluster) {
    cluster.kubectl("scale deployment/web --replicas=1");
    cluster.wait("one replica", || cluster.get("deployment web", "{.status.replicas}") == "1");
    cluster.kubectl("scale deployment/web --replicas=3");
    cluster.kubectl("rollout status deployment/web --timeout=120s");
}

fn logs(cluster: &Cluster) {
    cluster.apply(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: counter}\nspec:\n  terminationGracePeriodSeconds: 0\n  containers:\n  \
         - {name: c, image: 'kinglet.dev/shell:1', command: [sh, -c, 'i=0; while true; do echo line $i; i=$((i+1)); sleep 0.2; done']}\n",
    );
    cluster.wait("the first lines", || cluster.try_kubectl("logs counter").stdout.starts_with("line 0\nline 1\n"));
    let tail = cluster.kubectl("logs counter --tail=1");
    assert_eq!(tail.lines().count(), 1);
    assert!(cluster.kubectl("logs counter --timestamps --tail=1").starts_with("20"));

    let mut follow = cluster.spawn_kubectl("logs -f counter");
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    for n in 0..15 {
        assert_eq!(lines.next().unwrap().unwrap(), format!("line {n}"));
    }
    cluster.kubectl("delete pod counter");
    eventually("logs -f ends with the pod", Duration::from_secs(20), || follow.try_wait().unwrap().is_some());
}

fn commands_in_containers(cluster: &Cluster) {
    assert_eq!(cluster.kubectl("exec shell -- echo hello"), "hello\n");
    let failed = cluster.try_kubectl("exec shell -- sh -c 'echo oops >&2; exit 7'");
    assert_eq!(failed.code, 7);
    assert!(failed.stderr.starts_with("oops\n"), "{failed}");
    let missing = cluster.try_kubectl("exec shell -- no-such-program");
    assert!(missing.code != 0 && missing.stderr.contains("no-such-program"), "{missing}");

    // Standard input reaches the command, and its end too.
    let echoed =
        run(cluster.kubectl_command().args(["exec", "-i", "shell", "--", "cat"]), "through and through").success();
    assert_eq!(echoed, "through and through");
    // A megabyte, unharmed.
    let text = "0123456789abcdef".repeat(1 << 16);
    let echoed = run(cluster.kubectl_command().args(["exec", "-i", "shell", "--", "cat"]), &text).success();
    assert!(echoed == text, "{} bytes came back", echoed.len());

    // With a terminal: script(1) gives kubectl one.
    let kubectl = format!("{:?}", cluster.kubectl_command()).replace('"', "");
    let kubectl =
        kubectl.split_once("HOME=").map_or(kubectl.as_str(), |(_, rest)| rest.split_once(' ').map_or("", |(_, r)| r));
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &format!("{kubectl} exec -it shell -- sh"), "/dev/null"]);
    terminal.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut terminal = terminal.spawn().unwrap();
    let mut input = terminal.stdin.take().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    input.write_all(b"tty; echo $((6*7)); exit 3\n").unwrap();
    let mut output = String::new();
    terminal.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(output.contains("/dev/pts/") && output.contains("42"), "{output}");
    assert_eq!(terminal.wait().unwrap().code(), Some(3));
}

fn descriptions(cluster: &Cluster) {
    let pod = cluster.kubectl("describe pod shell");
    for part in [
        "Node:",
        "IP:",
        "Container ID:  containerd://",
        "QoS Class:",
        "Started container shell",
        "Successfully assigned",
    ] {
        assert!(pod.contains(part), "{part} is missing in\n{pod}");
    }
    let deployment = cluster.kubectl("describe deployment web");
    assert!(deployment.contains("3 desired | 3 updated | 3 total | 3 available | 0 unavailable"), "{deployment}");
    assert!(deployment.contains("ScalingReplicaSet"), "{deployment}");
    assert!(cluster.kubectl("describe service web").contains("Endpoints:"));
    assert!(cluster.kubectl("describe node").contains("Allocatable:"));
    assert!(cluster.kubectl("describe secret web").contains("password:  6 bytes"));
}

fn discovery(cluster: &Cluster) {
    let resources = cluster.kubectl("api-resources");
    for line in [
        "namespaces ns v1 false Namespace",
        "deployments deploy apps/v1 true Deployment",
        "leases coordination.k8s.io/v1 true Lease",
    ] {
        let found = resources.lines().any(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") == line);
        assert!(found, "{line} is missing in\n{resources}");
    }
    assert!(cluster.kubectl("version").contains("Server Version: v1.37.2+kinglet1"));
    assert!(cluster.kubectl("api-versions").lines().any(|l| l == "rbac.authorization.k8s.io/v1"));
    assert!(cluster.kubectl("explain deployment.spec.strategy").contains("rollingUpdate"));
    assert_eq!(cluster.kubectl("get --raw /readyz"), "ok");
    assert!(cluster.kubectl("auth can-i create pods").starts_with("yes"));
    cluster.kubectl("create clusterrolebinding viewer --clusterrole=view --user=bob");
    assert!(cluster.try_kubectl("auth can-i create pods --as=bob").stdout.starts_with("no"));
    assert!(cluster.kubectl("auth can-i list pods --as=bob").starts_with("yes"));
}

fn changes_by_patch_and_apply(cluster: &Cluster) {
    cluster.kubectl("patch configmap web --type=merge -p '{\"data\":{\"a\":\"1\"}}'");
    cluster.kubectl("patch configmap web --type=json -p '[{\"op\":\"add\",\"path\":\"/data/b\",\"value\":\"2\"}]'");
    cluster.kubectl("patch deployment web -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"nginx\",\"env\":[{\"name\":\"X\",\"value\":\"y\"}]}]}}}}'");
    let names = cluster.get("deployment web", "{.spec.template.spec.containers[0].env[*].name}");
    assert!(names.contains("X") && names.contains("GREETING"), "{names}");
    let again = cluster.apply(blackbox::WEB);
    assert!(again.contains("service/web unchanged"), "{again}");
    cluster.kubectl("annotate configmap web note=x");

    let applied = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {a: one}\n";
    let apply = |manager: &str, text: &str| {
        run(cluster.kubectl_command().args(["apply", "--server-side", "--field-manager", manager, "-f", "-"]), text)
    };
    assert_eq!(apply("first", applied).success(), "configmap/ssa serverside-applied\n");
    let conflict = apply("second", &applied.replace("one", "two")).failure();
    assert!(conflict.contains("conflict with \"first\": .data.a"), "{conflict}");
}

fn refusals_are_those_of_upstream(cluster: &Cluster) {
    let refused = |yaml: &str| run(cluster.kubectl_command().args(["create", "-f", "-"]), yaml).failure();
    let twice = refused(SHELL);
    assert!(
        twice.contains("Error from server (AlreadyExists)") && twice.contains("pods \"shell\" already exists"),
        "{twice}"
    );
    let unknown = refused("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [], bogus: 1}\n");
    assert!(unknown.contains("unknown field \"spec.bogus\""), "{unknown}");
    let invalid = refused("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: []}\n");
    assert!(invalid.contains("The Pod \"x\" is invalid: spec.containers: Required value"), "{invalid}");
    let missing = cluster.try_kubectl("get pod nobody").failure();
    assert_eq!(missing, "Error from server (NotFound): pods \"nobody\" not found\n");
    let namespace = cluster.try_kubectl("create configmap a -n nowhere").failure();
    assert!(namespace.contains("namespaces \"nowhere\" not found"), "{namespace}");
}

fn deletion(cluster: &Cluster) {
    cluster.kubectl("delete deployment web");
    cluster.wait("its pods go too", || cluster.kubectl("get pods -l app=web --no-headers").is_empty());
    cluster.kubectl("delete pod shell --grace-period=0 --force");
    cluster.kubectl("delete configmaps --all");
}
