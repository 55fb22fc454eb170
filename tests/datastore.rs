//! A cluster whose data is in an etcd of three members, with TLS.

use std::path::Path;

use pki::{Ca, Usage};
use testkit::{Cluster, EtcdTls, Etcds};

/// Certificates of an etcd, and the options of a server that shall use it.
fn certificates(dir: &Path) -> (EtcdTls, Vec<String>) {
    let ca = Ca::load_or_create(dir, "ca").unwrap();
    ca.leaf(dir, "member", &Usage::server("etcd", vec![], vec![[127, 0, 0, 1].into()])).unwrap();
    ca.leaf(dir, "client", &Usage::client("kinglet", &[])).unwrap();
    let file = |name: &str| dir.join(name);
    let tls = EtcdTls { ca: file("ca.crt"), certificate: file("member.crt"), key: file("member.key") };
    let option = |name: &str, file_name: &str| format!("--datastore-{name}={}", file(file_name).display());
    let options = [("cafile", "ca.crt"), ("certfile", "client.crt"), ("keyfile", "client.key")];
    (tls, options.map(|(name, file_name)| option(name, file_name)).to_vec())
}

#[test]
fn it_outlives_a_member_of_its_etcd_and_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (tls, mut options) = certificates(dir.path());
    let etcds = Etcds::new(3, dir.path()).with_tls(tls);
    options.push(format!("--datastore-endpoint={}", etcds.urls().join(",")));
    let options: Vec<&str> = options.iter().map(|option| &**option).collect();

    // The server is there first, and waits.
    let mut cluster = Cluster::launch("datastore", &["shell"], &options);
    cluster.expect_log("etcd does not answer");
    cluster.server().wait_for_log("etcd does not answer");
    let mut etcds = etcds.within(cluster.server()).start();
    cluster.wait_ready();
    assert!(cluster.server().log().contains("etcd answers again"));
    cluster.kubectl("create configmap before --from-literal=a=1");
    cluster.apply(blackbox::SHELL);
    cluster.kubectl("wait --for=condition=Ready pod/shell --timeout=120s");
    let container = |cluster: &Cluster| cluster.get("pod shell", "{.status.containerStatuses[0].containerID}");
    let before = container(&cluster);

    // The member that is asked dies. What was acknowledged is there, and everything goes on.
    etcds.kill(0);
    for n in 0..20 {
        let made = |cluster: &Cluster| {
            let made = cluster.try_kubectl(&format!("create configmap after-{n} --from-literal=a={n}"));
            // Where the outcome was unknown, it may have been made.
            made.code == 0 || made.stderr.contains("already exists")
        };
        cluster.wait("etcd takes writes", || made(&cluster));
    }
    cluster.kubectl("label configmap before seen=yes");
    assert_eq!(cluster.get("configmaps -l seen=yes", "{.items[*].metadata.name}"), "before");

    // The server ends, and finds everything again, with a member fewer. A pod is not started anew.
    cluster.server_mut().kill();
    cluster.server_mut().start();
    cluster.wait_ready();
    assert_eq!(cluster.get("configmap before", "{.data.a}"), "1");
    for n in 0..20 {
        assert_eq!(cluster.get(&format!("configmap after-{n}"), "{.data.a}"), n.to_string());
    }
    assert_eq!(container(&cluster), before);
    cluster.kubectl("delete pod shell --timeout=60s");

    // No member has the majority alone: that is told, within bounds.
    etcds.kill(1);
    let refused = cluster.try_kubectl("get configmap before --request-timeout=60s").failure();
    assert!(refused.contains("etcd at https://") || refused.contains("Too large resource version"), "{refused}");
    etcds.spawn(1);
    cluster.wait("etcd is back", || cluster.get("configmap before", "{.data.a}") == "1");
    let told = cluster.server().log().matches("etcd does not answer").count();
    assert!(told < 10, "an outage is told once, not {told} times");

    // The server first: it shall not miss its etcd.
    drop(cluster);
    drop(etcds);
}

#[test]
fn certificates_that_are_not_trusted_end_the_start_with_the_endpoint() {
    let dir = tempfile::tempdir().unwrap();
    let (tls, mut options) = certificates(dir.path());
    let etcds = Etcds::new(1, dir.path()).with_tls(tls).start();
    let endpoint = etcds.urls().swap_remove(0);
    options.retain(|option| option.starts_with("--datastore-cafile"));
    let mut command = std::process::Command::new(testkit::binary());
    command.arg("server").args(options).arg(format!("--datastore-endpoint={endpoint}"));
    for (option, place) in [("--config-dir", "etc"), ("--data-dir", "data"), ("--run-dir", "run")] {
        command.arg(option).arg(dir.path().join(place));
    }
    let told = testkit::run(&mut command, "").failure();
    assert!(told.contains(&endpoint) && told.contains("--datastore-certfile"), "{told}");
}
