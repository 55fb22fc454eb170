//! `cargo xtask soak crds --dir DIR`: what well-known projects publish, given to a real server by kubectl.
//!
//! DIR holds manifests (`.yaml`, `.yml`, `.json`, also with `.gz`). Files with CustomResourceDefinitions come first:
//! each is applied server-side, twice (the second time changes nothing), every kind in it is explained, and it is taken
//! away again and applied client-side, where upstream's limit of annotations decides what must fail. Then they stay,
//! and the files without definitions, which are examples, are applied and read back.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context as _, Result, bail, ensure};
use api::Value;
use testkit::{Cluster, Output};

/// All annotations of an object together, as upstream.
const ANNOTATIONS: usize = 256 * 1024;
const TOO_LONG: &str = "metadata.annotations: Too long: may not be more than 262144 bytes";
/// A full apply of the largest file should take no longer.
const BUDGET: f64 = 3.0;

/// A file, unpacked.
struct Bundle {
    name: String,
    path: PathBuf,
    documents: Vec<Value>,
}

/// Runs it.
pub fn run(args: &[&str]) -> Result<()> {
    let ["--dir", dir] = args else { bail!("usage: cargo xtask soak crds --dir DIR") };
    let unpacked = tempfile::tempdir()?;
    let mut bundles = read(Path::new(dir), unpacked.path())?;
    ensure!(!bundles.is_empty(), "{dir}: no manifests");
    bundles.sort_by_key(|bundle| (bundle.definitions().next().is_none(), bundle.name.clone()));
    if std::env::var_os("KINGLET_BIN").is_none() {
        crate::check::release()?;
    }
    let cluster = Cluster::start_with("crds", 0, &[], &[]);
    // Images of their workloads are not there.
    cluster.allow_complaints();
    let mut faults = Vec::new();
    for bundle in &bundles {
        let checked = if bundle.definitions().next().is_some() {
            definitions(&cluster, bundle)
        } else {
            examples(&cluster, bundle)
        };
        match checked {
            Ok(line) => println!("{:<28} {line}", bundle.name),
            Err(error) => {
                println!("{:<28} FAILS", bundle.name);
                faults.push(format!("{}: {error:#}", bundle.name));
            }
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

fn read(dir: &Path, unpacked: &Path) -> Result<Vec<Bundle>> {
    let mut bundles = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let source = entry?.path();
        let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let plain = name.strip_suffix(".gz").unwrap_or(&name).to_owned();
        if ![".yaml", ".yml", ".json"].iter().any(|end| plain.ends_with(end)) {
            continue;
        }
        let bytes = fs::read(&source)?;
        let mut text = String::new();
        if name.ends_with(".gz") {
            flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).with_context(|| name.clone())?;
        } else {
            text = String::from_utf8(bytes).with_context(|| name.clone())?;
        }
        let path = unpacked.join(&plain);
        fs::write(&path, &text)?;
        let documents = documents(&text).with_context(|| name.clone())?;
        bundles.push(Bundle { name: plain, path, documents });
    }
    Ok(bundles)
}

/// Objects of a file, those within lists too.
fn documents(text: &str) -> Result<Vec<Value>> {
    let mut out = Vec::new();
    for document in text.split("\n---") {
        let content = document.lines().any(|line| !line.trim().is_empty() && !line.starts_with(['#', '-']));
        if !content {
            continue;
        }
        let value =
            api::decode::yaml(document.as_bytes()).map_err(|status| anyhow::anyhow!("{}", status.message))?.value;
        match value["items"].as_array() {
            Some(items) if value["kind"] == "List" => out.extend(items.iter().cloned()),
            _ => out.push(value),
        }
    }
    Ok(out)
}

impl Bundle {
    fn definitions(&self) -> impl Iterator<Item = &Value> {
        self.documents.iter().filter(|object| object["kind"] == "CustomResourceDefinition")
    }

    /// Objects that are too large to be kept in an annotation of themselves.
    fn large(&self) -> Vec<&str> {
        let large = |object: &&Value| object.to_string().len() > ANNOTATIONS - 100;
        self.documents.iter().filter(large).filter_map(|object| object["metadata"]["name"].as_str()).collect()
    }
}

fn kubectl(cluster: &Cluster, line: &str, file: &Path) -> Output {
    testkit::run(cluster.kubectl_command().args(testkit::words(line)).arg("-f").arg(file), "")
}

fn succeeded(output: Output) -> Result<String> {
    ensure!(output.code == 0, "{output}");
    Ok(output.stdout)
}

fn definitions(cluster: &Cluster, bundle: &Bundle) -> Result<String> {
    let start = Instant::now();
    succeeded(kubectl(cluster, "apply --server-side", &bundle.path))?;
    let took = start.elapsed().as_secs_f64();
    succeeded(cluster.try_kubectl("wait --for=condition=Established --timeout=10s crd --all"))?;
    let before = versions(cluster)?;
    succeeded(kubectl(cluster, "apply --server-side", &bundle.path))?;
    ensure!(versions(cluster)? == before, "applying again writes");
    let explained = explain(cluster, bundle)?;
    succeeded(kubectl(cluster, "delete --timeout=60s", &bundle.path))?;
    let refused = client_side(cluster, bundle)?;
    // For the examples.
    succeeded(kubectl(cluster, "apply --server-side --force-conflicts", &bundle.path))?;
    let over = if took > BUDGET { format!(", more than {BUDGET} s") } else { String::new() };
    Ok(format!(
        "{} objects in {took:.2} s{over}; {explained} kinds and versions explained; client-side {refused} too large",
        bundle.documents.len()
    ))
}

/// Resource versions of all definitions: their status is written once, by the server.
fn versions(cluster: &Cluster) -> Result<String> {
    succeeded(
        cluster
            .try_kubectl("get crd -o 'jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion} {end}'"),
    )
}

fn explain(cluster: &Cluster, bundle: &Bundle) -> Result<usize> {
    let mut count = 0;
    for definition in bundle.definitions() {
        let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (plural, group, kind) = (text("/spec/names/plural"), text("/spec/group"), text("/spec/names/kind"));
        for version in definition["spec"]["versions"].as_array().into_iter().flatten().filter(|v| v["served"] == true) {
            let version = version["name"].as_str().unwrap_or_default();
            let line = format!("explain {plural} --api-version={group}/{version} --recursive");
            let shown = succeeded(cluster.try_kubectl(&line))?;
            let wanted = ["GROUP:", "KIND:", "VERSION:", "FIELDS:"].iter().all(|heading| shown.contains(heading));
            ensure!(wanted && shown.contains(kind), "{line}: {shown}");
            count += 1;
        }
    }
    Ok(count)
}

/// Everything that fits an annotation is taken, and nothing else.
fn client_side(cluster: &Cluster, bundle: &Bundle) -> Result<usize> {
    let large = bundle.large();
    let output = kubectl(cluster, "apply", &bundle.path);
    let faults: Vec<&str> = output.stderr.lines().filter(|line| !line.starts_with("Warning:")).collect();
    ensure!(faults.len() == large.len(), "{} are too large, but kubectl says {}", large.join(", "), output.stderr);
    for name in &large {
        let told = faults.iter().any(|fault| fault.contains(&format!("\"{name}\"")) && fault.contains(TOO_LONG));
        ensure!(told, "{name}: {}", output.stderr);
    }
    ensure!((output.code == 0) == large.is_empty(), "{output}");
    Ok(large.len())
}

fn examples(cluster: &Cluster, bundle: &Bundle) -> Result<String> {
    let start = Instant::now();
    succeeded(kubectl(cluster, "apply --server-side", &bundle.path))?;
    let took = start.elapsed().as_secs_f64();
    let names = succeeded(kubectl(cluster, "get -o name", &bundle.path))?;
    ensure!(
        names.lines().count() == bundle.documents.len(),
        "{} of {}:\n{names}",
        names.lines().count(),
        bundle.documents.len()
    );
    // What is unknown to the schemas was dropped or is an error with strict validation.
    succeeded(kubectl(cluster, "apply --server-side --validate=strict", &bundle.path))?;
    succeeded(kubectl(cluster, "apply --dry-run=server --validate=strict", &bundle.path))?;
    succeeded(kubectl(cluster, "diff --server-side", &bundle.path)).context("what is there differs from the file")?;
    Ok(format!("{} objects in {took:.2} s", bundle.documents.len()))
}
