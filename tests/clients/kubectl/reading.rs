//! What only reads: discovery, explanations, every output form, selections, watches.

use std::io::{BufRead as _, BufReader};

use crate::client::Client;

pub fn discovery(k: &Client) {
    k.says("version -o yaml", "gitVersion: v1.37.2+kinglet1");
    k.says("cluster-info", "is running at");
    k.says("api-versions", "apps/v1\n");
    let wide = k.ok("api-resources -o wide");
    let pods = wide.lines().find(|line| line.starts_with("pods ")).expect("pods are served");
    assert!(pods.contains("create,delete,deletecollection,get,list,patch,update,watch"), "{pods}");
    k.says("api-resources --api-group=apps --namespaced=true -o name", "deployments.apps\n");
    k.says("api-resources --verbs=list,create --categories=all -o name", "services\n");
    assert!(!k.ok("api-resources --namespaced=false").contains("configmaps"));

    k.says("explain pods", "KIND:       Pod\nVERSION:    v1\n");
    k.says("explain pods.spec.containers.livenessProbe.httpGet", "FIELDS:");
    k.says("explain deployment --recursive", "readinessProbe");
    k.says("explain deployments.spec --api-version=apps/v1", "minReadySeconds");
    k.says("explain svc.spec.ports", "targetPort");
    k.refuses("explain pods.spec.bogus", "field \"bogus\" does not exist");
    k.says("explain cronjob.spec.concurrencyPolicy", "FIELD: concurrencyPolicy <string>");

    for path in ["/healthz", "/livez", "/readyz", "/readyz?verbose", "/version", "/openapi/v3", "/openapi/v2", "/apis"]
    {
        assert!(!k.ok(&format!("get --raw {path}")).is_empty());
    }
    k.refuses("get --raw /nothing", "(NotFound)");
    k.refuses("get bogus", "the server doesn't have a resource type \"bogus\"");
}

/// Of objects that [`super::creating::generators`] has made.
pub fn every_output(k: &Client) {
    let file = |name: &str, text: &str| k.file(name, text);
    let (path, columns) = (file("path", "{.data.b}"), file("columns", "NAME B\n.metadata.name .data.b\n"));
    let template = file("template", "{{.data.b}}");
    for (form, printed) in [
        ("json", "\"kind\": \"ConfigMap\""),
        ("yaml", "\nkind: ConfigMap\n"),
        ("name", "configmap/settings\n"),
        ("wide", "settings   2 "),
        ("jsonpath={.data.b}", "2"),
        ("jsonpath-as-json={.data}", "\"b\": \"2\""),
        (&*format!("jsonpath-file={path}"), "2"),
        ("custom-columns=NAME:.metadata.name,B:.data.b", "NAME       B\nsettings   2\n"),
        (&*format!("custom-columns-file={columns}"), "settings   2\n"),
        ("go-template={{.data.b}}", "2"),
        (&*format!("go-template-file={template}"), "2"),
        ("template --template={{.data.b}}", "2"),
    ] {
        k.says(&format!("get configmap settings -o {form}"), printed);
    }
    assert!(!k.ok("get configmap settings -o yaml").contains("managedFields"));
    k.says("get configmap settings -o yaml --show-managed-fields", "manager: kubectl-create");
    k.says("get configmap settings --show-kind --no-headers", "configmap/settings ");
    k.says("get configmaps -o json", "\"kind\": \"List\"");
    k.says("get configmaps -o yaml", "- apiVersion: v1\n  data:");
    k.says("get configmap/settings secret/word -o name", "configmap/settings\nsecret/word\n");
    k.says("get deployment web --subresource=status -o yaml", "kind: Deployment");
    k.says("get deployment web --subresource=scale -o yaml", "kind: Scale");
    k.says("get all", "deployment.apps/web");
    k.says("get cm,deploy,svc -o name", "service/kubernetes\n");
    k.says("get --raw /api/v1/namespaces/default/configmaps/settings", "\"kind\":\"ConfigMap\"");
    k.refuses("get configmap nothing", "Error from server (NotFound): configmaps \"nothing\" not found");
    assert_eq!(k.ok("get configmap nothing --ignore-not-found"), "");
    let none = k.ask("get cronjobs -n kube-public");
    assert_eq!(none.stderr, "No resources found in kube-public namespace.\n");
}

pub fn selections(k: &Client) {
    k.ok("label configmap settings kind=a");
    k.ok("label configmap from-file kind=b");
    assert_eq!(k.ok("get configmaps -l kind=a -o name"), "configmap/settings\n");
    assert_eq!(k.ok("get configmaps -l 'kind in (a,b)' -o name"), "configmap/from-file\nconfigmap/settings\n");
    assert_eq!(k.ok("get configmaps -l kind,kind!=a -o name"), "configmap/from-file\n");
    k.says("get configmaps -L kind --sort-by=.metadata.name", "KIND\n");
    k.says("get configmaps --show-labels -l kind=b", "kind=b\n");
    assert_eq!(k.ok("get configmaps --field-selector=metadata.name=settings -o name"), "configmap/settings\n");
    k.refuses(
        "get configmaps --field-selector=data=x",
        "\"data\" is not a known field selector: only \"metadata.name\"",
    );
    // Chunks are put together again.
    assert_eq!(k.ok("get clusterroles --chunk-size=7 -o name"), k.ok("get clusterroles --chunk-size=0 -o name"));
    assert_eq!(
        k.ok("get clusterroles --chunk-size=7 --no-headers").lines().count(),
        k.ok("get clusterroles -o name").lines().count()
    );
    k.says("get configmaps -A --no-headers", "kube-system ");
    k.says("get nodes -o wide --sort-by={.metadata.creationTimestamp}", "containerd://");
    k.says("get svc -A --sort-by=.spec.clusterIP -o custom-columns=IP:.spec.clusterIP", "10.43.0.1\n");
    k.says("__complete get configmaps sett", "settings\n");
}

/// Every kind that there is an object of can be described.
pub fn descriptions(k: &Client) {
    for (what, part) in [
        ("namespace default", "No resource quota."),
        ("configmap settings", "BinaryData"),
        ("secret word", "k:  1 bytes"),
        ("serviceaccount robot", "Name:                robot"),
        ("deployment web", "StrategyType:           RollingUpdate"),
        ("job once", "Parallelism:"),
        ("cronjob often", "*/5 * * * *"),
        ("service inside", "ClusterIP"),
        ("role reader", "deployments.apps"),
        ("rolebinding reader", "ServiceAccount  robot  default"),
        ("clusterrole looker", "nodes"),
        ("clusterrolebinding looker", "looker"),
        ("quota limit -n made", "limit"),
        ("pdb cautious", "Min available:"),
        ("priorityclass high", "1000"),
        ("ingress outside", "example.org"),
        ("node server-0", "Allocated resources:"),
        ("endpointslices", "kubernetes"),
        ("lease server-0 -n kube-node-lease", "Lease Duration Seconds:  40"),
        ("pods -n kube-system", ""),
    ] {
        k.says(&format!("describe {what}"), part);
    }
    k.refuses("describe pod nothing", "pods \"nothing\" not found");
}

pub fn watching(k: &Client) {
    // A watch that never shows an event is a failure, not a test that hangs.
    let watch = "get configmaps -l watched --request-timeout=60s";
    let mut watches = [
        k.spawn(&format!("{watch} -w --output-watch-events -o custom-columns=T:.type,N:.object.metadata.name")),
        k.spawn(&format!("{watch} --watch-only --no-headers --output-watch-events")),
    ];
    // A watch begins where its list ended, and nothing was there.
    std::thread::sleep(std::time::Duration::from_millis(500));
    k.give("create -f -", "{apiVersion: v1, kind: ConfigMap, metadata: {name: seen, labels: {watched: '1'}}}");
    k.ok("label configmap seen --overwrite watched=2");
    k.ok("delete configmap seen");
    for child in &mut watches {
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let lines = lines.map(|line| line.expect("kubectl prints text")).filter(|line| line.contains("seen"));
        let events: Vec<String> = lines.take(3).collect();
        let kinds: Vec<_> = events.iter().map(|line| line.split_whitespace().next().unwrap_or_default()).collect();
        assert_eq!(kinds, ["ADDED", "MODIFIED", "DELETED"], "{events:?}");
    }
    for mut child in watches {
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
}
