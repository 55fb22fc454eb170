//! Image archives of one layer: OCI layout, or as `docker save` writes them.

use std::{fs, io::Write as _, path::Path};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Form of an archive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OCI image layout, plain tar.
    Oci,
    /// `docker save`, gzip.
    DockerGzip,
}

impl Format {
    /// Of the archive's file name.
    pub fn suffix(self) -> &'static str {
        match self {
            Format::Oci => ".oci.tar",
            Format::DockerGzip => ".docker.tar.gz",
        }
    }
}

/// Writes an archive, whole or not at all.
pub fn write(path: &Path, reference: &str, format: Format, layer: &[u8], command: &[&str]) -> anyhow::Result<()> {
    let config = json!({
        "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
        "os": "linux",
        "config": {"Cmd": command, "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
    });
    let members = match format {
        Format::Oci => oci(reference, layer, &config),
        Format::DockerGzip => docker(reference, layer, &config),
    };
    let mut tar = tar::Builder::new(Vec::new());
    for (name, data) in members {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(data.len() as u64);
        tar.append_data(&mut header, name, &data[..])?;
    }
    let mut data = tar.into_inner()?;
    if format == Format::DockerGzip {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&data)?;
        data = gzip.finish()?;
    }
    let new = path.with_extension("new");
    fs::write(&new, data)?;
    Ok(fs::rename(new, path)?)
}

type Members = Vec<(String, Vec<u8>)>;

fn oci(reference: &str, layer: &[u8], config: &Value) -> Members {
    let config = config.to_string().into_bytes();
    let part = |kind: &str, data: &[u8]| json!({"mediaType": format!("application/vnd.oci.image.{kind}"), "digest": digest(data), "size": data.len()});
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": part("config.v1+json", &config),
        "layers": [part("layer.v1.tar", layer)],
    });
    let manifest = manifest.to_string().into_bytes();
    let mut entry = part("manifest.v1+json", &manifest);
    entry["annotations"] = json!({"io.containerd.image.name": reference});
    let index = json!({"schemaVersion": 2, "manifests": [entry]});
    let blob = |data: Vec<u8>| (format!("blobs/sha256/{}", hex(&data)), data);
    vec![
        ("oci-layout".to_owned(), json!({"imageLayoutVersion": "1.0.0"}).to_string().into_bytes()),
        ("index.json".to_owned(), index.to_string().into_bytes()),
        blob(manifest),
        blob(config),
        blob(layer.to_vec()),
    ]
}

fn docker(reference: &str, layer: &[u8], config: &Value) -> Members {
    let config = config.to_string().into_bytes();
    let (config_name, layer_name) = (format!("{}.json", hex(&config)), format!("{}/layer.tar", hex(layer)));
    let short = reference.trim_start_matches("docker.io/").trim_start_matches("library/");
    let manifest = json!([{"Config": config_name, "RepoTags": [short], "Layers": [layer_name]}]);
    vec![
        (config_name, config),
        (layer_name, layer.to_vec()),
        ("manifest.json".to_owned(), manifest.to_string().into_bytes()),
    ]
}

fn digest(data: &[u8]) -> String {
    format!("sha256:{}", hex(data))
}

fn hex(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}
