//! `cargo xtask test`: everything that must hold before a change lands, in order of speed.
//!
//! It installs what the tests need from the distribution, so that it runs on a bare machine with
//! a Rust toolchain, Go and kubectl.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};

use crate::repository;

/// Program, and the package that brings it.
const PROGRAMS: &[(&str, &str)] = &[
    ("containerd", "containerd"),
    ("runc", "runc"),
    ("cc", "gcc"),
    ("ip", "iproute2"),
    ("nsenter", "util-linux"),
    ("protoc", "protobuf-compiler"),
    ("curl", "curl"),
    ("nft", "nftables"),
    ("zstd", "zstd"),
    ("script", "bsdutils"),
    ("etcd", "etcd-server"),
    ("busybox", "busybox-static"),
    ("pkill", "procps"),
    ("etcdctl", "etcd-client"),
    ("docker-registry", "docker-registry"),
    ("skopeo", "skopeo"),
    ("python3", "python3"),
    ("pip3", "python3-pip"),
    ("node", "nodejs"),
    ("npm", "npm"),
];

/// What our Go modules are written for. The distribution's Go is older.
const GO: (u32, u32) = (1, 26);

const CARGO_DENY: &str = "0.20.2";

type Step = (&'static str, fn() -> anyhow::Result<()>);

const STEPS: &[Step] = &[
    ("packages", packages),
    ("format", || cargo(&["fmt", "--all", "--check"])),
    ("tidy", crate::tidy::run),
    ("lints", || cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"])),
    ("dependencies", deny),
    ("golden objects", || crate::schema::run(&["--check"])),
    ("unit tests", || cargo(&["test", "--quiet", "--workspace", "--exclude", "blackbox"])),
    ("random input", || cargo(&["run", "--quiet", "--package", "fuzz", "--", "--seconds", "3"])),
    ("images", || crate::images::build().map(drop)),
    ("clients", crate::clients::prepare),
    ("release build", release),
    ("black-box tests", || cargo(&["test", "--package", "blackbox", "--", "--test-threads=2"])),
    ("conformance", || crate::conformance::run(&["--quick"])),
];

/// Runs every step, and prints how long each took.
pub fn run() -> anyhow::Result<()> {
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for (name, step) in STEPS {
        println!("== {name}");
        let start = Instant::now();
        step().with_context(|| (*name).to_owned())?;
        times.push((name, start.elapsed()));
    }
    println!("== all passed");
    for (name, time) in times {
        println!("{name:<16} {:>6.1} s", time.as_secs_f64());
    }
    Ok(())
}

/// The release binary, as users get it.
pub fn release() -> anyhow::Result<()> {
    cargo(&["build", "--quiet", "--release", "--package", "kinglet"])
}

/// This program, fast enough to put load on a server.
pub fn load_generator() -> anyhow::Result<()> {
    cargo(&["build", "--quiet", "--release", "--package", "xtask"])
}

fn cargo(args: &[&str]) -> anyhow::Result<()> {
    execute(Command::new(env!("CARGO")).args(args))
}

/// Runs a program to its end, which must be a good one; in the repository, unless it says where.
pub fn execute(command: &mut Command) -> anyhow::Result<()> {
    if command.get_current_dir().is_none() {
        command.current_dir(repository());
    }
    let status = command.status().with_context(|| format!("running {command:?}"))?;
    if status.success() { Ok(()) } else { bail!("{command:?}: {status}") }
}

/// What a program prints, which must end well.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let done = command.output().with_context(|| format!("running {command:?}"))?;
    if !done.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).exists())
}

/// Installs the packages of those programs that are not on PATH, and says what the distribution does
/// not have. The lists of packages are there then: images are made from packages.
pub fn packages() -> anyhow::Result<()> {
    ensure!(on_path("kubectl"), "kubectl is not on PATH: install one, of version 1.27 or newer");
    let way_out = format!("install Go {}.{} or newer, and put its bin folder on PATH", GO.0, GO.1);
    ensure!(on_path("go"), "go is not on PATH: {way_out}");
    let version = output(Command::new("go").arg("version"))?;
    ensure!(go_version(&version).is_some_and(|found| found >= GO), "{} is too old: {way_out}", version.trim());
    let lists = Path::new("/var/lib/apt/lists").read_dir().map_or(0, Iterator::count);
    let missing: Vec<&str> =
        PROGRAMS.iter().filter(|(program, _)| !on_path(program)).map(|(_, package)| *package).collect();
    if lists < 3 || !missing.is_empty() {
        execute(Command::new("apt-get").args(["update", "-qq"]))?;
    }
    if !missing.is_empty() {
        println!("installing {}", missing.join(" "));
        let install = ["install", "-qq", "-y", "--no-install-recommends"];
        execute(Command::new("apt-get").args(install).args(missing).env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    Ok(())
}

/// The minor release in what `go version` prints.
fn go_version(text: &str) -> Option<(u32, u32)> {
    text.split_whitespace().filter_map(|word| word.strip_prefix("go")).find_map(|release| {
        let (major, rest) = release.split_once('.')?;
        let minor = rest.split(|char: char| !char.is_ascii_digit()).next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    })
}

/// Licences, duplicates and sources of dependencies. Advisories need a network, and are checked
/// with `cargo deny check advisories` where there is one.
fn deny() -> anyhow::Result<()> {
    let tools = repository().join("target/tools");
    let program = tools.join("bin/cargo-deny");
    if !program.exists() {
        println!("building cargo-deny");
        let root = tools.to_string_lossy().into_owned();
        cargo(&["install", "--quiet", "--locked", "--root", &root, "cargo-deny", "--version", CARGO_DENY])?;
    }
    execute(Command::new(program).args(["--log-level", "warn", "check", "bans", "licenses", "sources"]))
}

#[cfg(test)]
mod tests {
    use super::go_version;

    #[test]
    fn the_release_of_go_is_read() {
        for (text, release) in [
            ("go version go1.26.8 linux/amd64\n", Some((1, 26))),
            ("go version go1.19 linux/arm64", Some((1, 19))),
            ("go version go1.27rc1 linux/amd64", Some((1, 27))),
            ("go version devel go1.28-0a1b2c Tue Dec 1 linux/amd64", Some((1, 28))),
            ("no such thing", None),
        ] {
            assert_eq!(go_version(text), release, "{text}");
        }
    }
}
