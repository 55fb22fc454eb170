//! The health call `grpc.health.v1.Health/Check`. Its two messages have one field each, so they are written by hand.

use std::net::SocketAddr;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{Request, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::check::plain;

/// The answer is two bytes in their frame; anything far above is none.
const ANSWER_MAX: usize = 64 << 10;
/// `SERVING` in the answer.
const SERVING: u8 = 1;

/// Whether the service says that it serves.
pub async fn check(address: SocketAddr, service: &str) -> Result<(), String> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(|e| format!("error: failed to connect service {address:?}: {}", plain(&e)))?;
    let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .map_err(|e| e.to_string())?;
    let request = Request::post(format!("http://{address}/grpc.health.v1.Health/Check"))
        .header(header::CONTENT_TYPE, "application/grpc")
        .header(header::TE, "trailers")
        .header(header::USER_AGENT, "kube-probe/1.37")
        .body(Full::new(message(service)))
        .map_err(|e| e.to_string())?;
    let mut call = std::pin::pin!(async {
        let answer = sender.send_request(request).await.map_err(|e| e.to_string())?;
        let (parts, body) = answer.into_parts();
        let body = Limited::new(body, ANSWER_MAX).collect().await.map_err(|e| e.to_string())?;
        let trailers = body.trailers().cloned().unwrap_or_default();
        let status = trailers.get("grpc-status").or(parts.headers.get("grpc-status")).cloned();
        if status.is_some_and(|s| s != "0") {
            let said = trailers.get("grpc-message").or(parts.headers.get("grpc-message"));
            let said = said.and_then(|m| m.to_str().ok()).unwrap_or("no message").to_owned();
            return Err(format!("error: health rpc failed: {said}"));
        }
        Ok(body.to_bytes())
    });
    let bytes = tokio::select! {
        answer = &mut call => answer?,
        _ = connection => call.await?,
    };
    // Five bytes of frame, then field 1 as a number; a field that is absent is 0, unknown.
    match bytes.get(5..) {
        Some([0x08, SERVING, ..]) => Ok(()),
        _ => Err(format!("service unhealthy (responded with {:?})", bytes.get(6).map_or("UNKNOWN", name))),
    }
}

fn name(status: &u8) -> &'static str {
    match status {
        2 => "NOT_SERVING",
        3 => "SERVICE_UNKNOWN",
        _ => "UNKNOWN",
    }
}

/// The request in its frame: not compressed, length, field 1 as text.
fn message(service: &str) -> Bytes {
    let mut body = BytesMut::new();
    if !service.is_empty() {
        body.put_u8(0x0a);
        let mut length = service.len();
        while length >= 0x80 {
            body.put_u8(u8::try_from(length & 0x7f).unwrap_or(0) | 0x80);
            length >>= 7;
        }
        body.put_u8(u8::try_from(length).unwrap_or(0));
        body.put_slice(service.as_bytes());
    }
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(body.len()).unwrap_or(0));
    frame.put_slice(&body);
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_framed() {
        assert_eq!(&message("")[..], [0, 0, 0, 0, 0]);
        assert_eq!(&message("ab")[..], [0, 0, 0, 0, 4, 0x0a, 2, b'a', b'b']);
        let long = message(&"x".repeat(200));
        assert_eq!(&long[..8], [0, 0, 0, 0, 203, 0x0a, 0xc8, 1]);
    }
}
