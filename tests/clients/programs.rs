//! Programs made of client libraries: each prints a line to a check, `ok NAME` or `FAILED NAME: why`.

use std::{ffi::OsStr, process::Command};

use testkit::{Cluster, repository, run};

use crate::client::gotten;

/// How a program is run in a cluster.
pub type Program = fn(&Cluster) -> Command;

#[test]
fn client_go() {
    checks("client-go", go, 18);
}

#[test]
fn python() {
    checks("python", by_python, 9);
}

#[test]
fn javascript() {
    checks("javascript", by_node, 4);
}

#[test]
fn kube_rs() {
    checks("kube-rs", rust, 8);
}

/// A program that hangs is a failure, not a test that hangs.
fn limited(cluster: &Cluster, program: impl AsRef<OsStr>) -> Command {
    let mut command = cluster.client("timeout");
    command.arg("300").arg(program);
    command
}

pub fn go(cluster: &Cluster) -> Command {
    limited(cluster, gotten("bin/go-client"))
}

pub fn operator(cluster: &Cluster) -> Command {
    limited(cluster, gotten("bin/go-operator"))
}

pub fn by_python(cluster: &Cluster) -> Command {
    let mut program = limited(cluster, "python3");
    program.arg("-B").arg(repository().join("tests/clients/python/main.py")).env("PYTHONPATH", gotten("python"));
    program
}

pub fn by_node(cluster: &Cluster) -> Command {
    let mut program = limited(cluster, "node");
    program.arg(repository().join("tests/clients/javascript/main.js"));
    program.env("CLIENT_LIBRARIES", gotten("javascript"));
    program
}

pub fn rust(cluster: &Cluster) -> Command {
    limited(cluster, env!("CARGO_BIN_EXE_kube-client"))
}

/// Runs a program, whose `count` checks must all be well.
#[track_caller]
fn checks(name: &str, program: Program, count: usize) {
    let cluster = Cluster::start(name, 0);
    let output = run(&mut program(&cluster), "");
    let passed = output.stdout.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(output.code == 0 && passed == count, "{passed} of {count} checks are well: {output}");
}
