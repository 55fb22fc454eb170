//! Programs made of client libraries: each prints a line to a check, `ok NAME` or `FAILED NAME: why`.

use std::process::Command;

use testkit::{Cluster, repository, run};

use crate::client::gotten;

#[test]
fn client_go() {
    let cluster = Cluster::start("client-go", 0);
    checks(&mut cluster.client(gotten("bin/go-client")), 18);
}

#[test]
fn python() {
    let cluster = Cluster::start("python", 0);
    let mut program = cluster.client("python3");
    program.arg("-B").arg(repository().join("tests/clients/python/main.py")).env("PYTHONPATH", gotten("python"));
    checks(&mut program, 9);
}

#[test]
fn javascript() {
    let cluster = Cluster::start("javascript", 0);
    let mut program = cluster.client("node");
    program.arg(repository().join("tests/clients/javascript/main.js"));
    checks(program.env("CLIENT_LIBRARIES", gotten("javascript")), 4);
}

#[test]
fn kube_rs() {
    let cluster = Cluster::start("kube-rs", 0);
    checks(&mut cluster.client(env!("CARGO_BIN_EXE_kube-client")), 8);
}

/// Runs a program, whose `count` checks must all be well.
#[track_caller]
fn checks(program: &mut Command, count: usize) {
    let output = run(program, "");
    let passed = output.stdout.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(output.code == 0 && passed == count, "{passed} of {count} checks are well: {output}");
}
