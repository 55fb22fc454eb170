//! What the layers copy: programs built from Go modules, data of a module, the pause program.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, ensure};

use crate::{check::output, clients, repository};

/// The module in whose folder a program is built, its package, its name here.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("suite", "k8s.io/kubernetes/test/images/agnhost", "agnhost"),
    ("suite", "k8s.io/kubernetes/test/images/nonewprivs", "nonewprivs"),
    ("suite", "k8s.io/sample-apiserver", "sample-apiserver"),
    ("images/coredns", ".", "coredns"),
];

/// Makes what is out of date in `dir`.
pub fn build(dir: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(dir)?;
    for (module, package, name) in PROGRAMS {
        clients::go(&folder(module), package, &dir.join(name), &[])?;
    }
    let link = dir.join("kubernetes");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(module_dir("k8s.io/kubernetes")?, link)?;
    let here = cri::pause::Architecture::here().context("there is no pause program for this processor")?;
    Ok(fs::write(dir.join("pause"), cri::pause::program(here))?)
}

/// The folder of a module that the suite uses.
fn module_dir(module: &str) -> anyhow::Result<PathBuf> {
    let mut go = Command::new("go");
    let dir = output(go.current_dir(folder("suite")).args(["list", "-m", "-f", "{{.Dir}}", module]))?;
    ensure!(!dir.trim().is_empty(), "the Go module {module} is not downloaded");
    Ok(PathBuf::from(dir.trim()))
}

fn folder(module: &str) -> PathBuf {
    repository().join("tests/conformance").join(module)
}
