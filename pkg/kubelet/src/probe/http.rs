//! One HTTP request to an address, with or without TLS. Certificates are not verified: a probe asks whether the server
//! answers, and containers sign their own.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Uri, header};
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::check::plain;

/// The status code of a GET. A redirect is an answer like any other: it is not followed.
pub async fn get(url: &str, address: SocketAddr, headers: Vec<(String, String)>) -> Result<u16, String> {
    let uri: Uri = url.parse().map_err(|e| format!("{e}"))?;
    let stream =
        TcpStream::connect(address).await.map_err(|e| format!("dial tcp {address}: connect: {}", plain(&e)))?;
    if uri.scheme_str() != Some("https") {
        return send(stream, &uri, address, headers).await;
    }
    let connector = TlsConnector::from(tls());
    let name = ServerName::IpAddress(address.ip().into());
    let stream = connector.connect(name, stream).await.map_err(|e| e.to_string())?;
    send(stream, &uri, address, headers).await
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    uri: &Uri,
    address: SocketAddr,
    headers: Vec<(String, String)>,
) -> Result<u16, String> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| e.to_string())?;
    let mut request = Request::get(uri.path_and_query().map_or("/", |p| p.as_str()))
        .header(header::USER_AGENT, "kube-probe/1.37")
        .header(header::ACCEPT, "*/*")
        .header(header::CONNECTION, "close")
        .header(header::HOST, address.to_string())
        .body(Empty::<Bytes>::new())
        .map_err(|e| e.to_string())?;
    for (name, value) in headers {
        let name = HeaderName::try_from(name).map_err(|e| e.to_string())?;
        let value = HeaderValue::try_from(value).map_err(|e| e.to_string())?;
        request.headers_mut().insert(name, value);
    }
    let mut answer = std::pin::pin!(async { sender.send_request(request).await.map(|a| a.status().as_u16()) });
    // The connection ends with the answer: its body is of no interest.
    let answer = tokio::select! {
        answer = &mut answer => answer,
        // The answer may have come with the end.
        _ = connection => answer.await,
    };
    answer.map_err(|e| if e.is_incomplete_message() || e.is_canceled() { "EOF".into() } else { e.to_string() })
}

fn tls() -> Arc<ClientConfig> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let make = || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("the provider knows the default versions")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth();
        Arc::new(config)
    };
    CONFIG.get_or_init(make).clone()
}

#[derive(Debug)]
struct AnyCertificate(Arc<rustls::crypto::CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_request_is_answered_refused_or_cut() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            for answer in ["HTTP/1.1 302 Found\r\nlocation: /x\r\n\r\n", ""] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = vec![0; 1024];
                let read = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..read]).to_lowercase();
                assert!(request.starts_with("get /ok?a=b http/1.1\r\n") && request.contains("x-a: 1\r\n"), "{request}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let url = format!("http://{address}/ok?a=b");
        let headers = || vec![("X-A".to_owned(), "1".to_owned())];
        assert_eq!(get(&url, address, headers()).await, Ok(302));
        assert!(get(&url, address, headers()).await.is_err());
        server.await.unwrap();
        let refused = get(&url, address, headers()).await.unwrap_err();
        assert_eq!(refused, format!("dial tcp {address}: connect: connection refused"));
    }
}
