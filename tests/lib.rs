//! What the black-box tests share: the workload of the README's tour, and ways to look at it.

use testkit::Cluster;

/// The tour's web server.
pub const WEB: &str = include_str!("tour/web.yaml");
/// A pod to try things from.
pub const SHELL: &str = include_str!("tour/shell.yaml");

/// Applies the web server and the shell, and waits until both are ready.
#[track_caller]
pub fn start_tour(cluster: &Cluster) {
    cluster.apply(WEB);
    cluster.apply(SHELL);
    cluster.kubectl("rollout status deployment/web --timeout=120s");
    cluster.kubectl("wait --for=condition=Ready pod/shell --timeout=120s");
}

/// What a command line prints in the shell pod; empty if it fails.
pub fn in_shell(cluster: &Cluster, line: &str) -> String {
    cluster.try_kubectl(&format!("exec shell -- {line}")).stdout
}

/// Number of endpoints of the Service `web` that are ready.
pub fn ready_endpoints(cluster: &Cluster) -> usize {
    let path = "{range .items[*].endpoints[?(@.conditions.ready==true)]}{.addresses[0]} {end}";
    cluster.get("endpointslices -l kubernetes.io/service-name=web", path).split_whitespace().count()
}

/// Names of the web server's pods that run and are not being deleted.
pub fn web_pods(cluster: &Cluster) -> Vec<String> {
    let listing = cluster.kubectl("get pods -l app=web --no-headers");
    let running = listing.lines().filter(|l| l.split_whitespace().nth(2) == Some("Running"));
    running.filter_map(|l| l.split_whitespace().next()).map(str::to_owned).collect()
}
