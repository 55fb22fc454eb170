//! gzip for large answers.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderValue, Response, header};
use http_body::Body as _;
use http_body_util::BodyExt as _;

use crate::body::{Body, full};

/// Answers below this size are sent as they are, as upstream.
const THRESHOLD: usize = 128 * 1024;

/// Compresses an answer if it is large. One of unknown size is waited for only if it is a `list`: all
/// others are streams.
pub async fn gzip(response: Response<Body>, list: bool) -> Response<Body> {
    let (mut parts, mut body) = response.into_parts();
    let large = body.size_hint().exact().map_or(list, |size| size >= THRESHOLD as u64);
    if !large || parts.headers.contains_key(header::CONTENT_ENCODING) {
        return Response::from_parts(parts, body);
    }
    // Lists come in pieces: the size is known once enough of them are there.
    let mut pieces: Vec<Bytes> = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(piece) = frame.into_data() {
            pieces.push(piece);
        }
    }
    let size: usize = pieces.iter().map(Bytes::len).sum();
    if size < THRESHOLD {
        return Response::from_parts(parts, full(pieces.concat()));
    }
    let compressed = tokio::task::spawn_blocking(move || {
        let mut encoder = GzEncoder::new(Vec::with_capacity(size / 4), Compression::fast());
        for piece in pieces {
            encoder.write_all(&piece)?;
        }
        encoder.finish()
    });
    match compressed.await {
        Ok(Ok(bytes)) => {
            parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            parts.headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
            Response::from_parts(parts, full(bytes))
        }
        _ => {
            let status = api::Status::internal("the answer could not be compressed");
            crate::reply::error_response(&status, crate::negotiate::Encoding::Json)
        }
    }
}
