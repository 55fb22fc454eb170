//! Images: the blobs that one is made of, and archives of them: OCI layout, or as `docker save`
//! writes them.

use std::{
    borrow::Cow,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Form of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// How a container starts, unless its pod says otherwise.
#[derive(Debug)]
pub struct Start {
    pub entrypoint: &'static [&'static str],
    pub command: &'static [&'static str],
    pub user: &'static str,
}

impl Start {
    /// A command, as root.
    pub const fn command(command: &'static [&'static str]) -> Self {
        Start { entrypoint: &[], command, user: "" }
    }
}

/// A layer as an uncompressed tar, and the file with the same.
pub struct Tar {
    pub file: PathBuf,
    pub data: Vec<u8>,
}

/// An image in memory.
pub struct Image<'a> {
    pub reference: &'a str,
    /// Lowest first.
    pub layers: &'a [Tar],
    pub start: &'a Start,
}

/// SHA-256 in hexadecimal, and the data.
pub type Blob<'a> = (String, Cow<'a, [u8]>);

impl Image<'_> {
    /// The OCI manifest, and what it names: the configuration, then the layers.
    pub fn blobs(&self) -> (Blob<'_>, Vec<Blob<'_>>) {
        let blob = |data: Vec<u8>| (hex(&data), Cow::from(data));
        let part = |kind: &str, (hex, data): &Blob| json!({"mediaType": format!("application/vnd.oci.image.{kind}"), "digest": format!("sha256:{hex}"), "size": data.len()});
        let layers: Vec<Blob> = self.layers.iter().map(|layer| (hex(&layer.data), Cow::from(&layer.data))).collect();
        let config = blob(self.config(&layers).to_string().into_bytes());
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": part("config.v1+json", &config),
            "layers": layers.iter().map(|layer| part("layer.v1.tar", layer)).collect::<Vec<_>>(),
        });
        (blob(manifest.to_string().into_bytes()), [config].into_iter().chain(layers).collect())
    }

    /// The label makes images of the same files differ: a node knows an image by the digest of this.
    fn config(&self, layers: &[Blob]) -> Value {
        let layers: Vec<String> = layers.iter().map(|(hex, _)| format!("sha256:{hex}")).collect();
        json!({
            "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
            "os": "linux",
            "config": {
                "Entrypoint": self.start.entrypoint,
                "Cmd": self.start.command,
                "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
                "User": self.start.user,
                "Labels": {"org.opencontainers.image.ref.name": self.reference},
            },
            "rootfs": {"type": "layers", "diff_ids": layers},
        })
    }

    /// Writes an archive, whole or not at all.
    pub fn write(&self, path: &Path, format: Format) -> anyhow::Result<()> {
        let mut tar = tar::Builder::new(Vec::new());
        let members = match format {
            Format::Oci => self.oci(),
            Format::DockerGzip => self.docker(),
        };
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

    fn oci(&self) -> Vec<(String, Cow<'_, [u8]>)> {
        let (manifest, blobs) = self.blobs();
        let index = json!({"schemaVersion": 2, "manifests": [{
            "mediaType": MANIFEST,
            "digest": format!("sha256:{}", manifest.0),
            "size": manifest.1.len(),
            "annotations": {"io.containerd.image.name": self.reference},
        }]});
        let text = |value: Value| Cow::from(value.to_string().into_bytes());
        let blobs = [manifest].into_iter().chain(blobs).map(|(hex, data)| (format!("blobs/sha256/{hex}"), data));
        [
            ("oci-layout".to_owned(), text(json!({"imageLayoutVersion": "1.0.0"}))),
            ("index.json".to_owned(), text(index)),
        ]
        .into_iter()
        .chain(blobs)
        .collect()
    }

    fn docker(&self) -> Vec<(String, Cow<'_, [u8]>)> {
        let (_, mut blobs) = self.blobs();
        let names = [".json"].into_iter().chain(std::iter::repeat("/layer.tar"));
        for ((name, _), suffix) in blobs.iter_mut().zip(names) {
            name.push_str(suffix);
        }
        let short = self.reference.trim_start_matches("docker.io/").trim_start_matches("library/");
        let layers: Vec<&String> = blobs.iter().skip(1).map(|(name, _)| name).collect();
        let manifest = json!([{"Config": blobs[0].0, "RepoTags": [short], "Layers": layers}]);
        blobs.push(("manifest.json".to_owned(), Cow::from(manifest.to_string().into_bytes())));
        blobs
    }
}

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// SHA-256 in hexadecimal.
pub fn hex(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}
