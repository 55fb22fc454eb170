//! etcd's own command line.

use std::process::{Output, Stdio};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, Command},
};

use super::*;

fn command(served: &Served, line: &str) -> Command {
    let mut command = Command::new("etcdctl");
    command.arg("--endpoints").arg(format!("unix://{}", served.socket().display()));
    command.args(line.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    command
}

async fn run(served: &Served, line: &str, input: &str) -> Output {
    let mut child = command(served, line).spawn().expect("etcdctl is installed");
    child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
    child.wait_with_output().await.unwrap()
}

async fn ctl(served: &Served, line: &str, input: &str) -> String {
    let output = run(served, line, input).await;
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn watch(served: &Served, line: &str) -> (Child, tokio::io::Lines<BufReader<tokio::process::ChildStdout>>) {
    let mut child = command(served, line).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

#[tokio::test]
async fn etcdctl_reads_writes_and_watches() {
    let served = Served::start();
    assert_eq!(ctl(&served, "put a 1", "").await, "OK\n");
    assert_eq!(ctl(&served, "put a 2 --prev-kv", "").await, "OK\na\n1\n");
    assert_eq!(ctl(&served, "put b 3", "").await, "OK\n");
    assert_eq!(ctl(&served, "get a --rev=2 --print-value-only", "").await, "1\n");
    assert_eq!(ctl(&served, "get a z --order=DESCEND --limit=1", "").await, "b\n3\n");
    let taken = ctl(&served, "txn", "mod(\"a\") > \"2\"\n\nput c 4\nget a\n\nput c 5\n\n").await;
    assert_eq!(taken, "SUCCESS\n\nOK\n\na\n2\n");
    let (_child, mut events) = watch(&served, "watch a --prefix --rev=2 --prev-kv");
    let mut heard = Vec::new();
    while heard.len() < 8 {
        heard.push(events.next_line().await.unwrap().unwrap());
    }
    assert_eq!(heard, ["PUT", "a", "1", "PUT", "a", "1", "a", "2"]);
    assert_eq!(ctl(&served, "del --prev-kv a", "").await, "1\na\n2\n");
}

#[tokio::test]
async fn etcdctl_handles_leases_and_maintenance() {
    let served = Served::start();
    let granted = ctl(&served, "lease grant 100", "").await;
    let id = granted.split_whitespace().nth(1).unwrap().to_owned();
    assert!(granted.contains("granted with TTL(100s)"), "{granted}");
    ctl(&served, &format!("put bound 1 --lease={id}"), "").await;
    assert!(ctl(&served, &format!("lease keep-alive --once {id}"), "").await.contains("TTL(100)"));
    assert!(ctl(&served, &format!("lease timetolive --keys {id}"), "").await.contains("attached keys([bound])"));
    assert!(ctl(&served, "lease list", "").await.contains(&id));
    assert!(ctl(&served, &format!("lease revoke {id}"), "").await.contains("revoked"));
    assert_eq!(ctl(&served, "get bound", "").await, "");
    assert!(ctl(&served, &format!("lease timetolive {id}"), "").await.contains("already expired"));
    assert!(ctl(&served, "endpoint status", "").await.contains("3.6.0"));
    ctl(&served, "endpoint health", "").await;
    assert!(ctl(&served, "member list", "").await.contains("started, test"));
    assert_eq!(ctl(&served, "alarm list", "").await, "");
    ctl(&served, "defrag", "").await;
    assert_eq!(ctl(&served, "compact 2 --physical", "").await, "compacted revision 2\n");
    let again = run(&served, "compact 2", "").await;
    assert!(String::from_utf8_lossy(&again.stderr).contains("required revision has been compacted"));
    let users = run(&served, "user list", "").await;
    assert!(String::from_utf8_lossy(&users.stderr).contains("Auth/UserList is not served"));
}

#[tokio::test]
async fn etcdctl_locks_and_elects() {
    let served = Served::start();
    // Sessions, watches and transactions of etcd's own library together.
    assert_eq!(ctl(&served, "lock door -- echo held", "").await, "held\n");
    let (_first, mut elected) = watch(&served, "elect chair first");
    let key = elected.next_line().await.unwrap().unwrap();
    assert!(key.starts_with("chair/"), "{key}");
    assert_eq!(elected.next_line().await.unwrap().unwrap(), "first");
}
