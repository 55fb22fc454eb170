//! The store of a running cluster under etcd's own command line: on the socket, and over TLS.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use testkit::{Cluster, Output, run};

/// How etcdctl gets there.
struct Way {
    endpoint: String,
    /// Names of CA, certificate and key in the folder of settings, without their ends.
    certificates: Option<(&'static str, &'static str)>,
}

fn socket(cluster: &Cluster) -> Way {
    Way { endpoint: format!("unix://{}", cluster.server().dir().join("run/etcd.sock").display()), certificates: None }
}

fn tls(cluster: &Cluster, certificates: Option<(&'static str, &'static str)>) -> Way {
    Way { endpoint: format!("https://{}:2379", cluster.server().ip), certificates }
}

fn etcdctl(cluster: &Cluster, way: &Way, line: &str) -> Command {
    let etc = cluster.server().dir().join("etc");
    let mut command = cluster.server().command("etcdctl");
    command.args(["--dial-timeout=2s", "--command-timeout=10s", "--endpoints", &way.endpoint]);
    if let Some((ca, leaf)) = way.certificates {
        command.arg("--cacert").arg(etc.join(format!("{ca}.crt")));
        command.arg("--cert").arg(etc.join(format!("{leaf}.crt"))).arg("--key").arg(etc.join(format!("{leaf}.key")));
    } else if way.endpoint.starts_with("https") {
        command.arg("--cacert").arg(etc.join("etcd/ca.crt"));
    }
    command.args(line.split_whitespace());
    command
}

#[track_caller]
fn ask(cluster: &Cluster, way: &Way, line: &str) -> Output {
    run(&mut etcdctl(cluster, way, line), "")
}

#[track_caller]
fn ctl(cluster: &Cluster, way: &Way, line: &str) -> String {
    ask(cluster, way, line).success()
}

#[test]
fn etcdctl_works_on_the_socket_and_with_certificates_over_tls() {
    let mut cluster = Cluster::start_with("etcdctl", 0, &[], &["--etcd-address=0.0.0.0:2379"]);
    for way in [socket(&cluster), tls(&cluster, Some(("etcd/ca", "etcd/client")))] {
        everything(&cluster, &way);
    }
    let mode = fs::metadata(cluster.server().dir().join("run/etcd.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // Without a certificate, or with an administrator's of the cluster, nobody gets in.
    for stranger in [None, Some(("etcd/ca", "pki/admin"))] {
        let way = tls(&cluster, stranger);
        let refused = ask(&cluster, &way, "--command-timeout=3s get /registry --prefix --limit=1");
        assert!(refused.code != 0 && refused.stdout.is_empty(), "{refused}");
    }

    // After a crash there is a new socket in the old one's place, and the certificates are the same.
    let client = fs::read(cluster.server().dir().join("etc/etcd/client.crt")).unwrap();
    cluster.server_mut().kill();
    cluster.server_mut().start();
    cluster.wait_ready();
    assert_eq!(fs::read(cluster.server().dir().join("etc/etcd/client.crt")).unwrap(), client);
    assert_eq!(ctl(&cluster, &socket(&cluster), "get kept --print-value-only"), "1\n");
}

fn everything(cluster: &Cluster, way: &Way) {
    let ctl = |line: &str| ctl(cluster, way, line);
    // What the cluster is made of.
    assert_eq!(ctl("get /registry/namespaces/default --keys-only"), "/registry/namespaces/default\n\n");

    assert_eq!(ctl("put kept 1"), "OK\n");
    assert_eq!(ctl("put a 1"), "OK\n");
    let first = revision(&ctl("get a -w fields"));
    assert_eq!(ctl("put a 2 --prev-kv"), "OK\na\n1\n");
    assert_eq!(ctl(&format!("get a --rev={first} --print-value-only")), "1\n");
    let txn = run(&mut etcdctl(cluster, way, "txn"), "value(\"a\") = \"2\"\n\nput b 3\nget b\n\nget a\n\n");
    assert_eq!(txn.success(), "SUCCESS\n\nOK\n\nb\n3\n");

    let mut watch = etcdctl(cluster, way, &format!("watch a --rev={first} --prev-kv"));
    let mut watch = watch.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut heard = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(heard.by_ref().take(8).collect::<Vec<_>>(), ["PUT", "a", "1", "PUT", "a", "1", "a", "2"]);
    assert_eq!(ctl("del a b"), "1\n");
    assert_eq!(heard.by_ref().take(5).collect::<Vec<_>>(), ["DELETE", "a", "2", "a", ""]);
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert_eq!(ctl("del b"), "1\n");

    let granted = ctl("lease grant 300");
    let id = granted.split_whitespace().nth(1).unwrap();
    ctl(&format!("put bound 1 --lease={id}"));
    assert!(ctl(&format!("lease keep-alive --once {id}")).contains("TTL(300)"));
    assert!(ctl(&format!("lease timetolive --keys {id}")).contains("attached keys([bound])"));
    assert!(ctl(&format!("lease revoke {id}")).contains("revoked"));
    assert_eq!(ctl("get bound"), "");

    assert_eq!(ctl(&format!("compact {first}")), format!("compacted revision {first}\n"));
    let gone = ask(cluster, way, &format!("get a --rev={}", first - 1)).failure();
    assert!(gone.contains("required revision has been compacted"), "{gone}");

    assert!(ctl("endpoint status").contains("3.6.0"));
    ctl("endpoint health");
    assert_eq!(ctl("alarm list"), "");
    ctl("defrag");
    let users = ask(cluster, way, "user list").failure();
    assert!(users.contains("Auth/UserList is not served"), "{users}");
    snapshot(cluster, way);
}

/// The revision in an answer that is shown in fields.
fn revision(fields: &str) -> i64 {
    let line = fields.lines().find(|line| line.starts_with("\"ModRevision\"")).unwrap_or_else(|| panic!("{fields}"));
    line.split_whitespace().last().unwrap().parse().unwrap()
}

/// What `snapshot save` has written is the database, and etcd's digest of it.
fn snapshot(cluster: &Cluster, way: &Way) {
    let file = cluster.server().dir().join("snapshot.db");
    ctl(cluster, way, &format!("snapshot save {}", file.display()));
    let mut bytes = fs::read(&file).unwrap();
    let digest = bytes.split_off(bytes.len() - 32);
    fs::write(&file, bytes).unwrap();
    let sum = run(Command::new("sha256sum").arg(&file), "").success();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(sum.starts_with(&hex), "{sum} {hex}");
    let database = rusqlite::Connection::open(&file).unwrap();
    let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let count = "SELECT count(*) FROM log WHERE key = CAST('/registry/namespaces/default' AS BLOB)";
    assert_eq!(database.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    drop(database);
    fs::remove_file(&file).unwrap();
}
