//! containerd's content store, image store and leases, as far as an import needs them.
//!
//! Everything happens in the namespace of CRI. While a lease is held, what is written or [kept](Store::keep) is not
//! collected as garbage; an abandoned lease (power cut, kill) ends by itself after a day.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use containerd_client::services::v1 as api;
use containerd_client::types::Descriptor;
use prost_types::FieldMask;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};

use super::Error;
use crate::connection::MESSAGE_LIMIT;

/// The containerd namespace that CRI works in.
const NAMESPACE: &str = "k8s.io";

/// One import's view of containerd.
pub(super) struct Store {
    channel: Channel,
    lease: Option<MetadataValue<Ascii>>,
}

fn during(action: impl Into<String>) -> impl FnOnce(Status) -> Error {
    let action = action.into();
    move |source| Error::Containerd { action, source: Box::new(source) }
}

/// A request in CRI's namespace.
pub(crate) fn request<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("containerd-namespace", MetadataValue::from_static(NAMESPACE));
    request
}

impl Store {
    pub(super) fn new(channel: Channel) -> Self {
        Self { channel, lease: None }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = request(message);
        if let Some(lease) = &self.lease {
            request.metadata_mut().insert("containerd-lease", lease.clone());
        }
        request
    }

    fn content(&self) -> api::content_client::ContentClient<Channel> {
        api::content_client::ContentClient::new(self.channel.clone())
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT)
    }

    fn images(&self) -> api::images_client::ImagesClient<Channel> {
        api::images_client::ImagesClient::new(self.channel.clone()).max_decoding_message_size(MESSAGE_LIMIT)
    }

    fn leases(&self) -> api::leases_client::LeasesClient<Channel> {
        api::leases_client::LeasesClient::new(self.channel.clone())
    }

    /// Takes a lease that holds for the requests that follow.
    pub(super) async fn lease(&mut self) -> Result<(), Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = jiff::Timestamp::now();
        let id = format!(
            "kinglet-import-{}-{}-{}",
            std::process::id(),
            now.as_nanosecond(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let until = now + jiff::SignedDuration::from_hours(24);
        let labels = HashMap::from([("containerd.io/gc.expire".to_owned(), format!("{until:.0}"))]);
        let message = api::CreateRequest { id: id.clone(), labels };
        self.leases().create(request(message)).await.map_err(during("take a lease"))?;
        self.lease = Some(id.parse().expect("digits and letters are valid in a header"));
        Ok(())
    }

    /// Gives the lease back. What no image refers to is collected then.
    pub(super) async fn release(&mut self) -> Result<(), Error> {
        let Some(lease) = self.lease.take() else { return Ok(()) };
        let id = lease.to_str().unwrap_or_default().to_owned();
        self.leases()
            .delete(request(api::DeleteRequest { id, sync: false }))
            .await
            .map_err(during("give back a lease"))?;
        Ok(())
    }

    /// The size of a blob, if it is there.
    pub(super) async fn size(&self, digest: &str) -> Result<Option<i64>, Error> {
        let message = api::InfoRequest { digest: digest.to_owned() };
        match self.content().info(self.request(message)).await {
            Ok(response) => Ok(response.into_inner().info.map(|info| info.size)),
            Err(status) if status.code() == Code::NotFound => Ok(None),
            Err(status) => Err(during(format!("look up {digest}"))(status)),
        }
    }

    /// Protects a blob that was there already until the lease ends.
    pub(super) async fn keep(&self, digest: &str) -> Result<(), Error> {
        let Some(lease) = &self.lease else { return Ok(()) };
        let resource = api::Resource { id: digest.to_owned(), r#type: "content".to_owned() };
        let message =
            api::AddResourceRequest { id: lease.to_str().unwrap_or_default().to_owned(), resource: Some(resource) };
        self.leases().add_resource(self.request(message)).await.map_err(during(format!("keep {digest}")))?;
        Ok(())
    }

    /// Removes a blob, which must be there.
    pub(super) async fn delete(&self, digest: &str) -> Result<(), Error> {
        let message = api::DeleteContentRequest { digest: digest.to_owned() };
        self.content().delete(self.request(message)).await.map_err(during(format!("delete {digest}")))?;
        Ok(())
    }

    /// The whole of a small blob; none if it is not there.
    pub(super) async fn read(&self, digest: &str, limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let message = api::ReadContentRequest { digest: digest.to_owned(), offset: 0, size: 0 };
        let mut stream = match self.content().read(self.request(message)).await {
            Ok(response) => response.into_inner(),
            Err(status) if status.code() == Code::NotFound => return Ok(None),
            Err(status) => return Err(during(format!("read {digest}"))(status)),
        };
        let mut bytes = Vec::new();
        loop {
            match stream.message().await {
                Ok(None) => return Ok(Some(bytes)),
                Ok(Some(piece)) if bytes.len() + piece.data.len() <= limit => bytes.extend(piece.data),
                Ok(Some(_)) => {
                    let status = Status::out_of_range(format!("more than {limit} bytes"));
                    return Err(during(format!("read {digest}"))(status));
                }
                Err(status) if status.code() == Code::NotFound => return Ok(None),
                Err(status) => return Err(during(format!("read {digest}"))(status)),
            }
        }
    }

    /// Begins to write a blob of `size` bytes whose digest is `expected`, if it is known beforehand.
    pub(super) async fn write(&self, expected: Option<&str>, size: i64) -> Result<Writer, Status> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let lease = self.lease.as_ref().and_then(|lease| lease.to_str().ok()).unwrap_or("kinglet-import");
        let expected = expected.unwrap_or_default().to_owned();
        let first = api::WriteContentRequest {
            action: api::WriteAction::Write as i32,
            r#ref: format!("{lease}-{}", COUNT.fetch_add(1, Ordering::Relaxed)),
            total: size,
            expected: expected.clone(),
            ..Default::default()
        };
        let (requests, stream) = mpsc::channel(1);
        requests.try_send(first).map_err(|_| Status::internal("the request stream is new and empty"))?;
        let mut responses = self.content().write(self.request(ReceiverStream::new(stream))).await?.into_inner();
        responses.message().await?;
        Ok(Writer { requests, responses, expected, offset: 0, size })
    }

    /// Writes a small blob whole and returns its digest. That it exists already is fine.
    pub(super) async fn put(&self, bytes: Vec<u8>, labels: HashMap<String, String>) -> Result<String, Error> {
        let digest = sha256(&bytes);
        let action = || format!("write {digest}");
        let size = bytes.len() as i64;
        let result = async {
            let mut writer = self.write(Some(&digest), size).await?;
            writer.piece(bytes).await?;
            writer.commit().await
        };
        match result.await {
            Ok(_) => {}
            Err(status) if status.code() == Code::AlreadyExists => self.keep(&digest).await?,
            Err(status) => return Err(during(action())(status)),
        }
        self.label(&digest, labels).await?;
        Ok(digest)
    }

    /// Adds labels to a blob.
    pub(super) async fn label(&self, digest: &str, labels: HashMap<String, String>) -> Result<(), Error> {
        if labels.is_empty() {
            return Ok(());
        }
        let paths = labels.keys().map(|key| format!("labels.{key}")).collect();
        let info = api::Info { digest: digest.to_owned(), labels, ..Default::default() };
        let message = api::UpdateRequest { info: Some(info), update_mask: Some(FieldMask { paths }) };
        self.content().update(self.request(message)).await.map_err(during(format!("label {digest}")))?;
        Ok(())
    }

    /// Creates an image, or points an existing one at `target` and adds the labels.
    pub(super) async fn name(
        &self,
        name: &str,
        target: &Descriptor,
        labels: &HashMap<String, String>,
    ) -> Result<(), Error> {
        let now = Some(SystemTime::now().into());
        let image = api::Image {
            name: name.to_owned(),
            labels: labels.clone(),
            target: Some(target.clone()),
            created_at: now,
            updated_at: now,
        };
        let message = api::CreateImageRequest { image: Some(image.clone()), ..Default::default() };
        match self.images().create(self.request(message)).await {
            Ok(_) => return Ok(()),
            Err(status) if status.code() == Code::AlreadyExists => {}
            Err(status) => return Err(during(format!("create image {name}"))(status)),
        }
        let paths = labels.keys().map(|key| format!("labels.{key}")).chain(["target".to_owned()]).collect();
        let mask = Some(FieldMask { paths });
        let message = api::UpdateImageRequest { image: Some(image), update_mask: mask, ..Default::default() };
        self.images().update(self.request(message)).await.map_err(during(format!("update image {name}")))?;
        Ok(())
    }

    /// The names and labels of all images.
    pub(super) async fn names(&self) -> Result<HashMap<String, HashMap<String, String>>, Error> {
        let response = self.images().list(self.request(api::ListImagesRequest::default())).await;
        let images = response.map_err(during("list images"))?.into_inner().images;
        Ok(images.into_iter().map(|image| (image.name, image.labels)).collect())
    }
}

/// A blob that is being written.
pub(super) struct Writer {
    requests: mpsc::Sender<api::WriteContentRequest>,
    responses: Streaming<api::WriteContentResponse>,
    expected: String,
    offset: i64,
    size: i64,
}

impl Writer {
    async fn exchange(&mut self, message: api::WriteContentRequest) -> Result<api::WriteContentResponse, Status> {
        // When the server has ended the call, the reason is in the response.
        let _ = self.requests.send(message).await;
        let response = self.responses.message().await?;
        response.ok_or_else(|| Status::unavailable("containerd ended the call early"))
    }

    /// Writes the next piece.
    pub(super) async fn piece(&mut self, data: Vec<u8>) -> Result<(), Status> {
        let length = data.len() as i64;
        let action = api::WriteAction::Write as i32;
        let message = api::WriteContentRequest { action, offset: self.offset, data, ..Default::default() };
        self.exchange(message).await?;
        self.offset += length;
        Ok(())
    }

    /// Completes the blob and returns its digest, which containerd has checked.
    pub(super) async fn commit(mut self) -> Result<String, Status> {
        let message = api::WriteContentRequest {
            action: api::WriteAction::Commit as i32,
            total: self.size,
            offset: self.offset,
            expected: self.expected.clone(),
            ..Default::default()
        };
        Ok(self.exchange(message).await?.digest)
    }
}

/// The digest of some bytes, as content stores name them.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
