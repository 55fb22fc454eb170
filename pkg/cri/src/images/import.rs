//! One import, from the first byte of an archive to names that CRI knows.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::time::Duration;

use containerd_client::types::Descriptor as Target;
use tokio::sync::mpsc;
use tonic::Code;
use tonic::transport::Channel;

use super::archive::{self, Broken, Compression, Item};
use super::layout::{self, Blob, Descriptor, Manifest, Platform, Saved};
use super::store::{Store, Writer};
use super::{Error, MANAGED, PINNED, names};
use crate::connection::Cri;
use crate::v1;

/// The largest manifest or configuration read back.
const JSON_LIMIT: usize = 8 << 20;
/// An index may hold indexes; deeper than this it is an attack.
const DEPTH: usize = 4;

/// An image found in the archive, its blobs complete in the store.
struct Found {
    names: BTreeSet<String>,
    target: Target,
    /// Digest of the configuration: what CRI calls the image's ID.
    id: String,
    /// Whether the manifest is the builder's own, so that a registry knows it by the same digest.
    original: bool,
}

pub(super) async fn run(
    channel: Channel,
    label: &str,
    source: impl Read + Send + 'static,
) -> Result<Vec<String>, Error> {
    let mut store = Store::new(channel.clone());
    store.lease().await?;
    let result = Import { store: &store, label, machine: Platform::here() }.all(channel, source).await;
    // The lease ends by itself later if this fails, and the import's own result is what matters.
    if let Err(error) = store.release().await {
        tracing::debug!(%error, "lease of an import not given back");
    }
    result
}

struct Import<'a> {
    store: &'a Store,
    label: &'a str,
    machine: Platform,
}

/// What the archive held.
#[derive(Default)]
struct Contents {
    json: HashMap<String, Vec<u8>>,
    blobs: HashMap<String, Blob>,
    links: HashMap<String, String>,
}

impl Contents {
    /// The blob at `path`, links followed.
    fn blob(&self, path: &str) -> Option<&Blob> {
        let mut path = path.trim_start_matches("./");
        for _ in 0..8 {
            if let Some(blob) = self.blobs.get(path) {
                return Some(blob);
            }
            path = self.links.get(path)?;
        }
        None
    }
}

impl Import<'_> {
    async fn all(&self, channel: Channel, source: impl Read + Send + 'static) -> Result<Vec<String>, Error> {
        let (items, received) = mpsc::channel(2);
        let reading =
            tokio::task::spawn_blocking(move || archive::read(source, |item| items.blocking_send(item).is_ok()));
        let contents = self.contents(received).await?;
        let read = reading.await.map_err(|error| self.archive(error.to_string()))?;
        read.map_err(|Broken { member, reason }| match member {
            Some(member) => self.member(&member, reason),
            None => self.archive(reason),
        })?;
        let found = self.find(&contents).await?;
        let mut all = Vec::new();
        for image in found {
            all.extend(self.publish(image).await?);
        }
        await_cri(Cri::new(channel), &all).await?;
        Ok(all)
    }

    fn archive(&self, reason: String) -> Error {
        Error::Archive { archive: self.label.to_owned(), reason }
    }

    fn member(&self, member: &str, reason: impl Into<String>) -> Error {
        Error::Member { archive: self.label.to_owned(), member: member.to_owned(), reason: reason.into() }
    }

    /// Writes all blobs to the content store.
    async fn contents(&self, mut items: mpsc::Receiver<Item>) -> Result<Contents, Error> {
        let mut contents = Contents::default();
        let mut current: Option<Incoming> = None;
        while let Some(item) = items.recv().await {
            match item {
                Item::Json { path, bytes } => {
                    contents.json.insert(path, bytes);
                }
                Item::Link { path, target } => {
                    contents.links.insert(path, target);
                }
                Item::Begin { path, size } => current = Some(self.begin(path, size).await?),
                Item::Piece(piece) => {
                    let Some(incoming) = current.as_mut() else { continue };
                    if incoming.blob.compression == Compression::None && incoming.fresh {
                        incoming.blob.compression = Compression::of(&piece);
                    }
                    incoming.fresh = false;
                    if let Some(writer) = incoming.writer.as_mut() {
                        let result = writer.piece(piece).await;
                        result.map_err(|status| self.refused(&incoming.path, status))?;
                    }
                }
                Item::End => {
                    let Some(mut incoming) = current.take() else { continue };
                    if let Some(writer) = incoming.writer.take() {
                        incoming.blob.digest = match writer.commit().await {
                            Ok(digest) => digest,
                            Err(status) if status.code() == Code::AlreadyExists => {
                                self.existing(&incoming, &status).await?
                            }
                            Err(status) => return Err(self.refused(&incoming.path, status)),
                        };
                    }
                    contents.blobs.insert(incoming.path, incoming.blob);
                }
            }
        }
        Ok(contents)
    }

    async fn begin(&self, path: String, size: u64) -> Result<Incoming, Error> {
        let expected = path
            .strip_prefix("blobs/sha256/")
            .map(|hex| format!("sha256:{hex}"))
            .filter(|digest| names::is_digest(digest));
        let size = size as i64;
        let mut incoming = Incoming {
            path,
            blob: Blob { digest: expected.clone().unwrap_or_default(), size, compression: Compression::None },
            writer: None,
            fresh: true,
        };
        if let Some(digest) = &expected {
            match self.store.size(digest).await? {
                Some(stored) if stored == size => {
                    self.store.keep(digest).await?;
                    return Ok(incoming);
                }
                // Cut off by a power failure: containerd would take the rest for the whole for ever.
                Some(_) => self.store.delete(digest).await?,
                None => {}
            }
        }
        let writer = self.store.write(expected.as_deref(), size).await;
        incoming.writer = Some(writer.map_err(|status| self.refused(&incoming.path, status))?);
        Ok(incoming)
    }

    /// The digest of a blob that turned out at its end to be in the store: containerd names it in the message.
    async fn existing(&self, incoming: &Incoming, status: &tonic::Status) -> Result<String, Error> {
        let digest = match incoming.blob.digest.as_str() {
            "" => status.message().split(|c: char| c.is_whitespace() || c == '"').find_map(|word| {
                let word = word.trim_end_matches(':');
                names::is_digest(word).then(|| word.to_owned())
            }),
            known => Some(known.to_owned()),
        };
        let digest = digest.ok_or_else(|| self.refused(&incoming.path, status.clone()))?;
        self.store.keep(&digest).await?;
        Ok(digest)
    }

    fn refused(&self, path: &str, status: tonic::Status) -> Error {
        match status.code() {
            Code::FailedPrecondition => {
                self.member(path, "its content does not match its digest; copy the archive again")
            }
            _ => Error::Containerd { action: format!("store {path} of {}", self.label), source: Box::new(status) },
        }
    }

    async fn find(&self, contents: &Contents) -> Result<Vec<Found>, Error> {
        let parsed = |name: &str, error: serde_json::Error| self.member(name, error.to_string());
        let saved: Vec<Saved> = match contents.json.get("manifest.json") {
            Some(bytes) => serde_json::from_slice(bytes).map_err(|error| parsed("manifest.json", error))?,
            None => Vec::new(),
        };
        let mut found = Vec::new();
        if let Some(index) = contents.json.get("index.json") {
            let Manifest::Index(roots) = layout::manifest(index).map_err(|error| self.member("index.json", error))?
            else {
                return Err(self.member("index.json", "not an image index"));
            };
            for root in &roots {
                found.push(self.find_oci(root, &saved).await?);
            }
            // The same image under two names stands twice in the index.
            if found.iter().all(|image| image.names.is_empty()) && !found.is_empty() {
                return Err(self.archive("no image in it has a name; save it by name and tag, not by ID".into()));
            }
        } else if saved.is_empty() {
            return Err(
                self.archive("it has neither index.json (OCI layout) nor manifest.json (docker-archive)".into())
            );
        } else {
            for image in &saved {
                found.push(self.find_docker(image, contents).await?);
            }
        }
        Ok(found)
    }

    fn names<'n>(&self, member: &str, given: impl IntoIterator<Item = &'n str>) -> Result<BTreeSet<String>, Error> {
        given.into_iter().map(|name| names::normalise(name).map_err(|reason| self.member(member, reason))).collect()
    }

    async fn find_oci(&self, root: &Descriptor, saved: &[Saved]) -> Result<Found, Error> {
        let mut given = self.names("index.json", root.names())?;
        let label = given.first().cloned().unwrap_or_else(|| root.digest.clone());
        let (id, media_type) = self.complete(root, &label).await?;
        let tags = saved.iter().filter(|image| image.config_digest().as_deref() == Some(&id));
        if given.is_empty() {
            given = self
                .names("manifest.json", tags.flat_map(|image| image.repo_tags.iter().flatten()).map(String::as_str))?;
        }
        let target = Target { media_type, digest: root.digest.clone(), size: root.size, annotations: HashMap::new() };
        Ok(Found { names: given, target, id, original: true })
    }

    /// Checks that all blobs of an image are in the store, labels them, and returns its ID and media type.
    async fn complete(&self, root: &Descriptor, image: &str) -> Result<(String, String), Error> {
        let mut descriptor = root.clone();
        let mut media_type = None;
        for _ in 0..DEPTH {
            let path = blob_path(&descriptor.digest);
            let bytes = self.store.read(&descriptor.digest, JSON_LIMIT).await?;
            let bytes = bytes.ok_or_else(|| self.member(&path, format!("missing, but {image} needs it")))?;
            let manifest = layout::manifest(&bytes).map_err(|error| self.member(&path, error))?;
            media_type.get_or_insert_with(|| descriptor.media_type_or(&manifest));
            match manifest {
                Manifest::Index(manifests) => {
                    let chosen = layout::choose(&manifests, &self.machine);
                    let chosen = chosen.ok_or_else(|| self.foreign(image, layout::platforms(&manifests)))?;
                    let labels = HashMap::from([(gc("m.0"), chosen.digest.clone())]);
                    self.store.label(&descriptor.digest, labels).await?;
                    descriptor = chosen.clone();
                }
                Manifest::Image { config, layers } => {
                    self.check_platform(&config, image).await?;
                    for layer in &layers {
                        if self.store.size(&layer.digest).await?.is_none() {
                            return Err(
                                self.member(&blob_path(&layer.digest), format!("missing, but {image} needs it"))
                            );
                        }
                    }
                    self.store
                        .label(&descriptor.digest, children(&config.digest, layers.iter().map(|l| &l.digest)))
                        .await?;
                    return Ok((config.digest, media_type.unwrap_or_default()));
                }
            }
        }
        Err(self.member("index.json", format!("{image}: indexes are nested too deep")))
    }

    async fn check_platform(&self, config: &Descriptor, image: &str) -> Result<(), Error> {
        let path = blob_path(&config.digest);
        let bytes = self.store.read(&config.digest, JSON_LIMIT).await?;
        let bytes = bytes.ok_or_else(|| self.member(&path, format!("missing, but {image} needs it")))?;
        let built = layout::platform_of_config(&bytes).map_err(|error| self.member(&path, error))?;
        if layout::runs(&built, &self.machine) { Ok(()) } else { Err(self.foreign(image, built.to_string())) }
    }

    fn foreign(&self, image: &str, have: String) -> Error {
        let (archive, image, want) = (self.label.to_owned(), image.to_owned(), self.machine.to_string());
        Error::Platform { archive, image, have, want }
    }

    async fn find_docker(&self, image: &Saved, contents: &Contents) -> Result<Found, Error> {
        let given = self.names("manifest.json", image.repo_tags.iter().flatten().map(String::as_str))?;
        let Some(label) = given.first().cloned() else {
            return Err(self
                .member("manifest.json", format!("{} has no name; save it by name and tag, not by ID", image.config)));
        };
        let blob = |path: &str| {
            contents.blob(path).cloned().ok_or_else(|| self.member(path, format!("missing, but {label} needs it")))
        };
        let config = blob(&image.config)?;
        let layers = image.layers.iter().map(|path| blob(path)).collect::<Result<Vec<_>, _>>()?;
        let descriptor = Descriptor::of(&config);
        self.check_platform(&descriptor, &label).await?;
        let manifest = layout::docker_manifest(&config, &layers);
        let size = manifest.len() as i64;
        let labels = children(&config.digest, layers.iter().map(|layer| &layer.digest));
        let digest = self.store.put(manifest, labels).await?;
        let media_type = layout::DOCKER_MANIFEST.to_owned();
        let target = Target { media_type, digest, size, annotations: HashMap::new() };
        Ok(Found { names: given, target, id: config.digest, original: false })
    }

    /// Gives an image its names. The ID comes first: CRI expects to find it when it hears of a name.
    async fn publish(&self, image: Found) -> Result<Vec<String>, Error> {
        if image.names.is_empty() {
            return Ok(Vec::new());
        }
        let labels = [MANAGED, PINNED].map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        self.store.name(&image.id, &image.target, &labels).await?;
        let mut all = image.names.clone();
        if image.original {
            all.extend(image.names.iter().map(|name| format!("{}@{}", names::repository(name), image.target.digest)));
        }
        for name in &all {
            self.store.name(name, &image.target, &labels).await?;
        }
        Ok(image.names.into_iter().collect())
    }
}

/// A blob on its way to the store. Without a writer it is there already.
struct Incoming {
    path: String,
    blob: Blob,
    writer: Option<Writer>,
    fresh: bool,
}

fn blob_path(digest: &str) -> String {
    format!("blobs/{}", digest.replacen(':', "/", 1))
}

fn gc(what: &str) -> String {
    format!("containerd.io/gc.ref.content.{what}")
}

/// The labels by which a manifest keeps its configuration and layers.
fn children<'a>(config: &str, layers: impl IntoIterator<Item = &'a String>) -> HashMap<String, String> {
    let layers = layers.into_iter().enumerate().map(|(i, digest)| (gc(&format!("l.{i}")), digest.clone()));
    layers.chain([(gc("config"), config.to_owned())]).collect()
}

/// Waits until CRI lists all `names`: it learns of new images by containerd's events, some milliseconds later.
async fn await_cri(mut cri: Cri, names: &[String]) -> Result<(), Error> {
    for name in names {
        let mut pause = Duration::from_millis(2);
        loop {
            let image = v1::ImageSpec { image: name.clone(), ..Default::default() };
            match cri.images.image_status(v1::ImageStatusRequest { image: Some(image), verbose: false }).await {
                Ok(response) if response.get_ref().image.is_some() => break,
                Err(status) if status.code() == Code::Unimplemented => return Ok(()),
                Err(status) if pause > Duration::from_secs(3) => {
                    return Err(Error::Containerd { action: format!("look up {name}"), source: Box::new(status) });
                }
                Ok(_) if pause > Duration::from_secs(3) => return Err(Error::Unseen { name: name.clone() }),
                _ => {}
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }
    Ok(())
}
