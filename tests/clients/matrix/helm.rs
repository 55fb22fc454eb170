//! The tour by Helm, as far as it goes: the chart of the other tests.

use testkit::repository;

use super::Step;
use crate::client::Client;

const STEPS_3: &[Step] =
    &[("create", install), ("watch", test), ("strategic", upgrade), ("rollout", rollback), ("delete", uninstall)];

const STEPS_4: &[Step] =
    &[("create", install), ("watch", test), ("apply", upgrade), ("rollout", rollback), ("delete", uninstall)];

/// Helm 3 makes strategic patches, Helm 4 applies at the server.
pub fn steps(name: &str) -> &'static [Step] {
    if name == "helm-3" { STEPS_3 } else { STEPS_4 }
}

fn install(helm: &Client) {
    helm.ok(&format!("install nest {} --create-namespace --wait --timeout 60s", chart()));
    assert_eq!(replicas(helm), "1");
}

fn test(helm: &Client) {
    helm.says("test nest --timeout 60s", "Succeeded");
}

fn upgrade(helm: &Client) {
    helm.ok(&format!("upgrade nest {} --wait --timeout 60s --set replicas=2", chart()));
    assert_eq!(replicas(helm), "2");
}

fn rollback(helm: &Client) {
    helm.says("rollback nest 1 --wait --timeout 60s", "Rollback was a success");
    assert_eq!(replicas(helm), "1");
}

fn uninstall(helm: &Client) {
    helm.says("uninstall nest --wait --timeout 60s", "uninstalled");
    assert_eq!(replicas(helm), "");
}

fn replicas(helm: &Client) -> String {
    helm.cluster.get(&format!("deployment nest -n {}", helm.namespace()), "{.status.readyReplicas}")
}

fn chart() -> String {
    repository().join("tests/clients/helm").display().to_string()
}
