//! Adding nodes, and what keeps a node from joining.

use std::fs;

use testkit::{Cluster, run};

#[test]
fn a_bad_token_gets_an_error_that_says_which_kind() {
    let cluster = Cluster::start_with("tokens", 0, &[], &[]);
    let token = fs::read_to_string(cluster.server().dir().join("etc/token")).unwrap().trim().to_owned();
    let machine = cluster.server();
    let join = |token: &str| {
        let line = format!(
            "agent --server https://{}:6443 --token {token} --node-name other --node-ip {}",
            machine.ip, machine.ip
        );
        let mut command = machine.kinglet(&line);
        command.env("KINGLET_CONFIG_DIR", machine.dir().join("agent-etc"));
        command.env("KINGLET_DATA_DIR", machine.dir().join("agent-data"));
        run(&mut command, "").failure()
    };
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
    let line = format!(
        "agent --server https://{}:6443 --token {token} --node-name {} --node-ip {}",
        machine.ip, machine.name, machine.ip
    );
    let mut command = machine.kinglet(&line);
    command.env("KINGLET_CONFIG_DIR", machine.dir().join("agent-etc"));
    command.env("KINGLET_DATA_DIR", machine.dir().join("agent-data"));
    let taken = run(&mut command, "").failure();
    assert!(taken.contains("belongs to another machine"), "{taken}");
}

#[test]
fn a_node_that_went_away_comes_back() {
    let mut cluster = Cluster::start_with("rejoin", 1, &[], &[]);
    cluster.agent_mut(0).kill();
    cluster.agent_mut(0).start();
    cluster.wait_ready();
    assert_eq!(cluster.kubectl("get nodes --no-headers").lines().count(), 2);
}
