//! The HTTPS transport against a real TLS server: trust, client certificates, HTTP/2, tokens.

use std::sync::Arc;

use client::{ClientIdentity, Credentials, RemoteConfig, remote};
use http::{Request, Response, header};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{RootCertStore, ServerConfig, crypto::ring, server::WebPkiClientVerifier};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

struct Authority {
    pem: String,
    der: rustls_pki_types::CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

fn authority() -> Authority {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::<String>::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).expect("a certificate");
    Authority { pem: certificate.pem(), der: certificate.der().clone(), issuer: Issuer::new(params, key) }
}

fn leaf(authority: &Authority, name: &str) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
    (params.signed_by(&key, &authority.issuer).expect("signed"), key)
}

/// Answers every request with its version, its credentials and its agent; gives its port.
async fn serve(authority: &Authority, protocols: &[&[u8]]) -> u16 {
    let (certificate, key) = leaf(authority, "127.0.0.1");
    let mut roots = RootCertStore::empty();
    roots.add(authority.der.clone()).expect("usable");
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .allow_unauthenticated()
        .build()
        .expect("a verifier");
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )
        .expect("a certificate");
    config.alpn_protocols = protocols.iter().map(|p| p.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let port = listener.local_addr().expect("bound").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let certificates = stream.get_ref().1.peer_certificates().map_or(0, <[_]>::len);
                let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| async move {
                    let header = |name| request.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or("-");
                    let answer = format!(
                        "{:?} {} {certificates} {} {}",
                        request.version(),
                        request.uri().path(),
                        header(header::AUTHORIZATION),
                        header(header::USER_AGENT),
                    );
                    Ok::<_, std::convert::Infallible>(Response::new(answer))
                });
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    port
}

async fn ask(port: u16, ca: &Authority, credentials: Credentials) -> Result<String, kube::Error> {
    let client = remote(RemoteConfig {
        server: format!("https://127.0.0.1:{port}").parse().expect("an address"),
        ca: ca.pem.clone().into_bytes(),
        credentials,
        component: "test".to_owned(),
    })
    .expect("a client");
    client.request_text(Request::get("/version").body(Vec::new()).expect("a request")).await
}

#[tokio::test]
async fn speaks_http_2_where_it_can_and_proves_who_asks() {
    let ca = authority();
    let agent = format!("kinglet/{} (test)", env!("CARGO_PKG_VERSION"));
    let both = serve(&ca, &[b"h2", b"http/1.1"]).await;
    let old = serve(&ca, &[b"http/1.1"]).await;
    let (certificate, key) = leaf(&ca, "somebody");
    let identity =
        ClientIdentity::from_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes()).expect("an identity");
    for (port, credentials, expected) in [
        (both, Credentials::None, "HTTP/2.0 /version 0 -"),
        (old, Credentials::None, "HTTP/1.1 /version 0 -"),
        (both, Credentials::Token("abc".to_owned()), "HTTP/2.0 /version 0 Bearer abc"),
        (both, Credentials::Certificate(identity), "HTTP/2.0 /version 1 -"),
    ] {
        let answer = ask(port, &ca, credentials).await.expect("an answer");
        assert_eq!(answer, format!("{expected} {agent}"));
    }
}

#[tokio::test]
async fn a_server_of_another_authority_is_not_trusted() {
    let port = serve(&authority(), &[b"h2"]).await;
    let error = ask(port, &authority(), Credentials::None).await.expect_err("must not connect");
    let text = client::runtime::describe(&error);
    assert!(text.contains("certificate"), "{text}");
}

#[test]
fn a_wrong_address_says_what_is_wrong() {
    for (server, expected) in [("http://127.0.0.1", "must begin with https://"), ("/only/a/path", "https://")] {
        let config = RemoteConfig {
            server: server.parse().expect("parses"),
            ca: Vec::new(),
            credentials: Credentials::None,
            component: "test".to_owned(),
        };
        let error = remote(config).err().expect("refused").to_string();
        assert!(error.contains(expected), "{error}");
    }
}
