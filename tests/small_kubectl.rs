//! `kinglet kubectl`, for machines without the real one.

use blackbox::{SHELL, WEB};
use testkit::{Cluster, Output, run};

fn small(cluster: &Cluster, line: &str, input: &str) -> Output {
    run(&mut cluster.server().kinglet(&format!("kubectl {line}")), input)
}

#[test]
fn it_does_what_its_help_says() {
    let cluster = Cluster::start("small-kubectl", 0);
    let kubectl = |line: &str| small(&cluster, line, "").success();

    let help = kubectl("--help");
    for word in ["get", "apply", "delete", "describe", "logs", "exec"] {
        assert!(help.lines().any(|l| l.trim_start().starts_with(word)), "{word} is missing in\n{help}");
    }
    let applied = small(&cluster, "apply -f -", &format!("{WEB}---\n{SHELL}")).success();
    assert!(applied.contains("deployment.apps/web serverside-applied\n"), "{applied}");
    cluster.kubectl("rollout status deployment/web --timeout=120s");
    cluster.kubectl("wait --for=condition=Ready pod/shell --timeout=120s");

    // The same tables as the stock kubectl prints.
    let same = ["get pods", "get deploy,svc", "get nodes -o wide", "get pods -A", "get pod shell -o name"];
    for line in same {
        let (ours, stock) = (kubectl(line), cluster.kubectl(line));
        let columns = |text: &str| {
            text.lines()
                .map(|l| l.split_whitespace().filter(|w| !w.ends_with(['s', 'm'])).collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
        };
        assert_eq!(columns(&ours), columns(&stock), "{line}");
    }
    assert!(kubectl("get configmap web -o yaml").contains("GREETING: hello"));
    assert!(kubectl("get pod shell -o json").contains("\"kind\": \"Pod\""));
    let pod = kubectl("describe pod shell");
    assert!(pod.contains("image: kinglet.dev/shell:1") && pod.contains("Started"), "{pod}");

    assert_eq!(kubectl("exec shell -- echo hello"), "hello\n");
    assert_eq!(small(&cluster, "exec -i shell -- cat", "in and out").success(), "in and out");
    assert_eq!(small(&cluster, "exec shell -- sh -c 'exit 9'", "").code, 9);
    let pod = blackbox::web_pods(&cluster).remove(0);
    assert!(!kubectl(&format!("logs {pod} --tail=1")).is_empty());

    let missing = small(&cluster, "get pod nobody", "").failure();
    assert_eq!(missing, "error: from server (NotFound): pods \"nobody\" not found\n");
    let unknown = small(&cluster, "get unicorns", "").failure();
    assert!(unknown.contains("doesn't have a resource type \"unicorns\""), "{unknown}");
    assert_eq!(kubectl("delete deploy web"), "deployment.apps \"web\" deleted\n");
    kubectl("delete pod/shell --grace-period=0");
    cluster.wait("all pods are gone", || cluster.kubectl("get pods --no-headers").is_empty());
}
