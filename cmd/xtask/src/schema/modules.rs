//! Fetching published Go modules through the `go` command.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result, bail};

/// The module's folder in the module cache, downloaded where missing.
pub fn download(module: &str) -> Result<PathBuf> {
    let version = if module == "k8s.io/kubernetes" { "v1" } else { "v0" };
    let module = format!("{module}@{version}.{}", super::RELEASE);
    // Outside of any Go module, so that a go.mod nearby has no say.
    let output = Command::new("go")
        .args(["mod", "download", "-json", &module])
        .current_dir(std::env::temp_dir())
        .output()
        .context("cannot run `go`: the Go toolchain must be on PATH")?;
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("go mod download {module}: {}", String::from_utf8_lossy(&output.stderr)))?;
    match answer["Dir"].as_str() {
        Some(dir) => Ok(dir.into()),
        None => bail!("go mod download {module}: {}", answer["Error"]),
    }
}
