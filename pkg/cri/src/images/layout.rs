//! What stands in an archive's JSON: descriptors, indexes, manifests, names; and which of several platforms is ours.
//!
//! Pure: it reads bytes and decides. Blobs are fetched and written by the importer.

use serde::Deserialize;

use super::archive::Compression;
use super::names;

pub(super) const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_CONFIG: &str = "application/vnd.docker.container.image.v1+json";
const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A pointer to a blob.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    #[serde(default)]
    pub(super) media_type: String,
    pub(super) digest: String,
    #[serde(default)]
    pub(super) size: i64,
    #[serde(default)]
    annotations: std::collections::HashMap<String, String>,
    pub(super) platform: Option<Platform>,
}

/// What a manifest was built for.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub(super) struct Platform {
    #[serde(default)]
    pub(super) os: String,
    #[serde(default)]
    pub(super) architecture: String,
    #[serde(default)]
    pub(super) variant: String,
}

impl std::fmt::Display for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        if self.variant.is_empty() { Ok(()) } else { write!(f, "/{}", self.variant) }
    }
}

impl Platform {
    /// The platform of this machine, as images name it.
    pub(super) fn here() -> Self {
        let (architecture, variant) = match std::env::consts::ARCH {
            "x86_64" => ("amd64", ""),
            "aarch64" => ("arm64", "v8"),
            "arm" => ("arm", "v7"),
            "x86" => ("386", ""),
            "powerpc64" => ("ppc64le", ""),
            other => (other, ""),
        };
        Self { os: "linux".into(), architecture: architecture.into(), variant: variant.into() }
    }

    /// How well `self` runs on `machine`: none if not at all, else the lower the better.
    fn distance(&self, machine: &Self) -> Option<usize> {
        if self.os != machine.os || self.architecture != machine.architecture {
            return None;
        }
        let level = |variant: &str| variant.trim_start_matches('v').parse::<usize>().ok();
        match (level(&machine.variant), level(&self.variant)) {
            _ if self.variant == machine.variant => Some(0),
            (_, None) => Some(20),
            (Some(machine), Some(built)) => machine.checked_sub(built).map(|gap| gap + 1),
            (None, Some(built)) => Some(built + 1),
        }
    }
}

/// What a manifest blob is, whatever its descriptor called it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Manifest {
    /// Several manifests, one for each platform.
    Index(Vec<Descriptor>),
    /// One image.
    Image { config: Descriptor, layers: Vec<Descriptor> },
}

#[derive(Deserialize)]
struct AnyManifest {
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

/// Reads an index or a manifest.
pub(super) fn manifest(bytes: &[u8]) -> Result<Manifest, String> {
    let any: AnyManifest = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let manifest = match (any.manifests, any.config) {
        (Some(manifests), _) => Manifest::Index(manifests),
        (None, Some(config)) => Manifest::Image { config, layers: any.layers },
        (None, None) => return Err("neither an image index nor an image manifest".into()),
    };
    let wrong = match &manifest {
        Manifest::Index(manifests) => manifests.iter().find(|d| !names::is_digest(&d.digest)),
        Manifest::Image { config, layers } => layers.iter().chain([config]).find(|d| !names::is_digest(&d.digest)),
    };
    match wrong {
        Some(descriptor) => Err(format!("{:?} is not a sha256 digest", descriptor.digest)),
        None => Ok(manifest),
    }
}

/// The manifest for `machine` among those of an index.
pub(super) fn choose<'a>(manifests: &'a [Descriptor], machine: &Platform) -> Option<&'a Descriptor> {
    let rated = manifests.iter().filter_map(|descriptor| {
        let distance = match &descriptor.platform {
            Some(platform) => platform.distance(machine)?,
            None => 100,
        };
        Some((distance, descriptor))
    });
    rated.min_by_key(|(distance, _)| *distance).map(|(_, descriptor)| descriptor)
}

/// The platforms of an index, for an error message.
pub(super) fn platforms(manifests: &[Descriptor]) -> String {
    let all: Vec<String> = manifests.iter().filter_map(|d| d.platform.as_ref()).map(Platform::to_string).collect();
    if all.is_empty() { "no platform".into() } else { all.join(", ") }
}

/// What an image's configuration says of its platform.
pub(super) fn platform_of_config(bytes: &[u8]) -> Result<Platform, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// Whether an image of platform `built` runs on `machine`; an image that names no platform is taken at its word.
pub(super) fn runs(built: &Platform, machine: &Platform) -> bool {
    built.architecture.is_empty() || built.distance(machine).is_some()
}

impl Descriptor {
    /// Points at a blob whose kind is known from where it is used.
    pub(super) fn of(blob: &Blob) -> Self {
        let (digest, size) = (blob.digest.clone(), blob.size);
        Self { media_type: String::new(), digest, size, annotations: Default::default(), platform: None }
    }

    /// The image names that an OCI layout's index gives this image. A reference that is only a tag names nothing.
    pub(super) fn names(&self) -> Vec<&str> {
        let full = self.annotations.get("io.containerd.image.name");
        let reference =
            self.annotations.get("org.opencontainers.image.ref.name").filter(|name| name.contains([':', '/']));
        full.or(reference).map(String::as_str).into_iter().collect()
    }

    /// The media type to record: the descriptor's own, or the usual one for what it points at.
    pub(super) fn media_type_or(&self, manifest: &Manifest) -> String {
        match (self.media_type.as_str(), manifest) {
            ("", Manifest::Index(_)) => OCI_INDEX.into(),
            ("", Manifest::Image { .. }) => OCI_MANIFEST.into(),
            (given, _) => given.into(),
        }
    }
}

/// One image of a docker-archive's `manifest.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Saved {
    pub(super) config: String,
    /// `null` when an image was saved by its ID.
    pub(super) repo_tags: Option<Vec<String>>,
    #[serde(default)]
    pub(super) layers: Vec<String>,
}

impl Saved {
    /// The digest of the configuration, when the archive names the member by it (as current tools do).
    pub(super) fn config_digest(&self) -> Option<String> {
        let name = self.config.rsplit('/').next()?;
        let digest = format!("sha256:{}", name.trim_end_matches(".json"));
        names::is_digest(&digest).then_some(digest)
    }
}

/// A blob that was written to the content store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) digest: String,
    pub(super) size: i64,
    pub(super) compression: Compression,
}

/// The manifest of an image that came without one.
pub(super) fn docker_manifest(config: &Blob, layers: &[Blob]) -> Vec<u8> {
    let layers: Vec<_> = layers
        .iter()
        .map(|layer| {
            let media_type = match layer.compression {
                Compression::None => "application/vnd.docker.image.rootfs.diff.tar",
                Compression::Gzip => "application/vnd.docker.image.rootfs.diff.tar.gzip",
                Compression::Zstd => "application/vnd.oci.image.layer.v1.tar+zstd",
            };
            serde_json::json!({"mediaType": media_type, "digest": layer.digest, "size": layer.size})
        })
        .collect();
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": DOCKER_MANIFEST,
        "config": {"mediaType": DOCKER_CONFIG, "digest": config.digest, "size": config.size},
        "layers": layers,
    });
    manifest.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(text: &str) -> Platform {
        let mut parts = text.split('/').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        Platform { os: next(), architecture: next(), variant: next() }
    }

    #[test]
    fn the_nearest_platform_is_chosen() {
        let table = [
            ("linux/amd64", "linux/arm64/v8 linux/amd64 unknown/unknown", Some(1)),
            ("linux/arm64/v8", "linux/amd64 linux/arm64", Some(1)),
            ("linux/arm/v7", "linux/arm/v5 linux/arm/v6 linux/arm64/v8", Some(1)),
            ("linux/arm/v6", "linux/arm/v7 linux/amd64", None),
            ("linux/amd64", "windows/amd64", None),
            ("linux/amd64", "linux/amd64/v3 linux/amd64", Some(1)),
        ];
        for (machine, have, want) in table {
            let manifests: Vec<Descriptor> = have
                .split(' ')
                .map(|text| Descriptor {
                    media_type: String::new(),
                    digest: text.into(),
                    size: 0,
                    annotations: Default::default(),
                    platform: Some(platform(text)),
                })
                .collect();
            let got = choose(&manifests, &platform(machine)).map(|d| d.digest.as_str());
            assert_eq!(got, want.map(|i| manifests[i].digest.as_str()), "{machine} among {have}");
        }
    }

    #[test]
    fn names_are_whole_references_only() {
        let table = [
            (
                r#"{"io.containerd.image.name":"docker.io/library/a:1","org.opencontainers.image.ref.name":"1"}"#,
                vec!["docker.io/library/a:1"],
            ),
            (r#"{"org.opencontainers.image.ref.name":"quay.io/a:1"}"#, vec!["quay.io/a:1"]),
            (r#"{"org.opencontainers.image.ref.name":"latest"}"#, vec![]),
            ("{}", vec![]),
        ];
        for (annotations, want) in table {
            let text = format!(r#"{{"digest":"x","annotations":{annotations}}}"#);
            let descriptor: Descriptor = serde_json::from_str(&text).unwrap();
            assert_eq!(descriptor.names(), want);
        }
    }

    #[test]
    fn blobs_with_foreign_digests_are_refused() {
        assert!(manifest(br#"{"config":{"digest":"md5:1"},"layers":[]}"#).unwrap_err().contains("md5:1"));
        assert!(manifest(br#"{"hello":1}"#).is_err());
        assert!(manifest(b"nope").is_err());
    }
}
