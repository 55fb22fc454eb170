//! Adding nodes, and what keeps a node from joining.

use std::fs;

use testkit::{Cluster, run};

#[test]
fn a_bad_token_gets_an_error_that_says_which_kind() {
    let cluster = Cluster::start_with("tokens", 0, &[], &[]);
    let token = fs::read_to_string(cluster.server().dir().join("etc/token")).unwrap().trim().to_owned();
    let machine = cluster.server();
    let join_as = |name: &str, token: &str| {
        let line = format!(
            "agent --server https://{}:6443 --token {token} --node-name {name} --node-ip {}",
            machine.ip, machine.ip
        );
        let mut command = machine.kinglet(&line);
        for (variable, dir) in [("CONFIG", "agent-etc"), ("DATA", "agent-data"), ("RUN", "agent-run")] {
            command.env(format!("KINGLET_{variable}_DIR"), machine.dir().join(dir));
        }
        run(&mut command, "").failure()
    };
    let join = |token: &str| join_as("other", token);
    let (mut parts, last) = (token.split('.').collect::<Vec<_>>(), "0".repeat(32));
    parts[2] = &last;
    let wrong_secret = join(&parts.join("."));
    assert!(wrong_secret.contains("its secret is wrong"), "{wrong_secret}");
    let truncated = join(&token[..90]);
    assert!(truncated.contains("the token is truncated: its secret"), "{truncated}");
    let foreign = join("K10abcdef::server:123456");
    assert!(foreign.contains("not a Kinglet token"), "{foreign}");
    let hash = "0".repeat(64);
    let parts = token.split('.').collect::<Vec<_>>();
    let other_cluster = join(&[parts[0], &hash, parts[2]].join("."));
    assert!(other_cluster.contains("the token is for another cluster"), "{other_cluster}");

    // The name is taken by the server's own node.
    let taken = join_as(&machine.name, &token);
    assert!(taken.contains("belongs to another machine"), "{taken}");
}

#[test]
fn a_node_that_went_away_comes_back() {
    let mut cluster = Cluster::start_with("rejoin", 1, &[], &[]);
    cluster.agent_mut(0).kill();
    restart_agent(&mut cluster);

    // A Node that was deleted is registered again, and is still this machine's.
    cluster.kubectl(&format!("delete node {}", cluster.agent(0).name));
    cluster.wait("the node is there again", || cluster.kubectl("get nodes --no-headers").lines().count() == 2);
    cluster.wait_ready();
    cluster.agent_mut(0).stop();
    restart_agent(&mut cluster);
}

/// Starts the agent, and waits until it has renewed its lease.
fn restart_agent(cluster: &mut Cluster) {
    let lease = format!("lease {} -n kube-node-lease", cluster.agent(0).name);
    let renewed = |cluster: &Cluster| cluster.get(&lease, "{.spec.renewTime}");
    let before = renewed(cluster);
    cluster.agent_mut(0).start();
    cluster.wait("a newer lease", || renewed(cluster) > before);
    cluster.wait_ready();
}
