//! Transports of a `kube::Client`: in process onto the API server's service, or HTTPS.

use api::UserInfo;
use http::Request;
use kube::client::Body;
use tower::{BoxError, Service, ServiceExt as _};

/// A client that calls the API server's service directly, as `user`. The identity travels as a
/// request extension: it passes authorization, admission and audit like any other.
pub fn in_process<S, B>(service: S, user: UserInfo) -> kube::Client
where
    S: Service<Request<Body>, Response = http::Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let service = service.map_request(move |mut request: Request<Body>| {
        request.extensions_mut().insert(user.clone());
        request
    });
    kube::Client::new(service, "default")
}
