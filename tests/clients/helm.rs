//! Helm: a chart with hooks, a definition and an object of it, from install to uninstall.

use testkit::{Cluster, repository};

use crate::client::Client;

/// The whole of it, by one of the versions.
pub fn everything(name: &str) {
    let cluster = Cluster::start(name, 0);
    let helm = Client::new(&cluster, name);
    let chart = repository().join("tests/clients/helm");
    let chart = chart.display();
    let kubectl = |line: &str| cluster.kubectl(&format!("{line} -n birds"));
    let value = |path: &str| cluster.get("configmap nest -n birds", path);

    let installed = helm.ok(&format!("install nest {chart} -n birds --create-namespace --wait --timeout 120s"));
    assert!(installed.contains("STATUS: deployed") && installed.contains("nest says hello."), "{installed}");
    assert_eq!(
        value("{.data.greeting}/{.data.revision}/{.data.version}/{.data.batch}"),
        "hello/1/v1.37.2+kinglet1/true"
    );
    assert!(
        value("{.data.namespaces}").parse::<u32>().is_ok_and(|count| count >= 4),
        "the chart looks into the cluster"
    );
    assert_eq!(kubectl("get deployment nest -o jsonpath={.status.readyReplicas}"), "1");
    assert_eq!(kubectl("logs nest-post-install"), "post-install\n");
    assert!(kubectl("get pods -o name").lines().all(|pod| pod != "pod/nest-pre-install"));
    assert_eq!(cluster.get("nest nest -n birds", "{.spec.replicas}"), "1");
    let twice = helm.ask(&format!("install nest {chart} -n birds"));
    assert!(twice.failure().contains("a name that is still in use"));
    helm.says("test nest -n birds --timeout 60s", "Succeeded");

    let upgrade = format!("upgrade nest {chart} -n birds --wait --timeout 120s --set greeting=bonjour,replicas=2");
    helm.says(&upgrade, "REVISION: 2");
    assert_eq!(value("{.data.greeting}/{.data.revision}"), "bonjour/2");
    assert_eq!(cluster.get("nest nest -n birds", "{.spec.replicas}"), "2");
    cluster.try_kubectl("get secret nest-first -n birds").failure();

    // A hook that fails leaves the release as it was, and says so.
    let failed = helm.ask(&format!("upgrade nest {chart} -n birds --timeout 60s --set fail=true"));
    assert!(failed.failure().contains("pre-upgrade hooks failed"));
    assert_eq!(value("{.data.revision}"), "2");
    helm.says("history nest -n birds", "failed");

    helm.says("rollback nest 1 -n birds --wait --timeout 120s", "Rollback was a success");
    assert_eq!(value("{.data.greeting}"), "hello");
    kubectl("get secret nest-first");
    helm.says("status nest -n birds -o json", "\"status\":\"deployed\"");
    helm.says("list -A", "nest");
    helm.says("get values nest -n birds --revision 2", "greeting: bonjour");
    helm.says("get manifest nest -n birds", "kind: Nest");
    // What somebody else has changed is mended by an upgrade.
    kubectl("delete service nest");
    kubectl("scale deployment nest --replicas=0");
    let mend = format!("upgrade --install nest {chart} -n birds --wait --timeout 120s --reset-values");
    if name.contains("helm-3") {
        helm.ok(&mend);
    } else {
        // It applies at the server, and takes over from others only when it is told to.
        let conflict = helm.ask(&mend);
        assert!(conflict.failure().contains("conflict with \"kubectl\" with subresource \"scale\""));
        helm.ok(&format!("{mend} --force-conflicts"));
    }
    assert_eq!(kubectl("get service nest -o jsonpath={.spec.ports[0].port}"), "80");

    helm.says("uninstall nest -n birds --wait --timeout 60s", "uninstalled");
    assert_eq!(kubectl("get deployments,services -o name"), "");
    assert_eq!(cluster.kubectl("get crd nests.helm.kinglet.dev -o name").matches("nests").count(), 1);
    helm.refuses("status nest -n birds", "release: not found");
}
