//! The tour by kubectl, whichever version.

use std::io::{BufRead as _, BufReader};

use testkit::run;

use super::{Step, manifest};
use crate::{client::Client, kubectl::Forward};

pub const STEPS: &[Step] = &[
    ("create", create),
    ("watch", watch),
    ("json", |k| {
        let patch = r#"[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"2"}]"#;
        k.ok(&format!("patch configmap tour --type=json -p '{patch}'"));
        assert_eq!(k.ok("get configmap tour -o jsonpath={.data}"), r#"{"a":"2"}"#);
    }),
    ("merge", |k| {
        k.ok(r#"patch configmap tour --type=merge -p '{"data":{"a":null,"b":"3"}}'"#);
        assert_eq!(k.ok("get configmap tour -o jsonpath={.data}"), r#"{"b":"3"}"#);
    }),
    ("strategic", |k| {
        k.ok(r#"patch service tour --type=strategic -p '{"spec":{"ports":[{"name":"more","port":81}]}}'"#);
        assert_eq!(k.ok("get service tour -o jsonpath={.spec.ports[*].port}"), "81 80");
    }),
    ("apply", apply),
    ("exec", |k| {
        k.ok("wait --for=condition=Available deployment/tour --timeout=60s");
        let output = k.answer("exec -i deployment/tour -- sh -c 'read line; echo $line; exit 3'", "hello\n");
        assert!(output.code == 3 && output.stdout == "hello\n", "{output}");
    }),
    ("logs", |k| {
        let log = k.ok("logs deployment/tour");
        assert!(log.lines().any(|line| line == "started"), "{log}");
    }),
    ("forward", |k| {
        let page = Forward::open(k, "deployment/tour").page(k);
        assert!(page.contains("Welcome to nginx!"), "{page}");
    }),
    ("scale", |k| {
        k.ok("scale deployment/tour --replicas=2");
        k.ok("wait --for=jsonpath={.status.readyReplicas}=2 deployment/tour --timeout=60s");
    }),
    ("rollout", |k| {
        k.ok("rollout restart deployment/tour");
        k.says("rollout status deployment/tour --timeout=60s", "successfully rolled out");
        assert_eq!(k.ok("rollout undo deployment/tour"), "deployment.apps/tour rolled back\n");
        k.ok("rollout status deployment/tour --timeout=60s");
    }),
    ("delete", |k| {
        k.ok("delete deployment/tour service/tour configmap/tour --cascade=foreground --timeout=60s");
        assert_eq!(
            k.ok("get deployments,replicasets,pods,services,configmaps -l '!none' -o name"),
            "configmap/kube-root-ca.crt\n"
        );
    }),
];

fn create(k: &Client) {
    let list = std::fs::read_to_string(manifest()).expect("a file of the test");
    let created = run(&mut k.command("create -f -"), &list).success();
    assert_eq!(created, "configmap/tour created\nservice/tour created\ndeployment.apps/tour created\n");
}

fn watch(k: &Client) {
    k.ok("create configmap watched");
    let mut watch = k.spawn("get configmap watched --watch --output-watch-events --no-headers --request-timeout=60s");
    let mut lines = BufReader::new(watch.stdout.take().expect("piped")).lines();
    let mut next = || lines.next().map_or("the watch has ended".to_owned(), |line| line.expect("text"));
    let mut seen = vec![next()];
    k.ok("label configmap watched a=b");
    seen.push(next());
    k.ok("delete configmap watched");
    seen.push(next());
    watch.kill().expect("it runs");
    watch.wait().expect("it ends");
    let events: Vec<_> = seen.iter().map(|line| line.split_whitespace().next().unwrap_or_default()).collect();
    assert_eq!(events, ["ADDED", "MODIFIED", "DELETED"], "{seen:?}");
}

fn apply(k: &Client) {
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: tour}, data: {c: '4'}}";
    k.give("apply --server-side --field-manager=tour -f -", map);
    assert_eq!(k.ok("get configmap tour -o jsonpath={.data.c}"), "4");
    let other = map.replace('4', "5");
    k.refuses_input("apply --server-side --field-manager=other -f -", &other, "conflict with \"tour\": .data.c");
}
