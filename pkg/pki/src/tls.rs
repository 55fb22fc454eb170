//! TLS configurations for both ends.
//!
//! Servers show their leaf and the CA, so that an agent which knows nothing but a join token can
//! check both: see [`joining`].

use std::sync::{Arc, OnceLock};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
    server::WebPkiClientVerifier,
};

use crate::{Error, KeyAndCertificate, Token, TokenError};

/// Whether a server insists on a client certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificates {
    /// Checked where one is shown.
    Optional,
    /// Without one there is no connection.
    Required,
}

/// The cryptography of every TLS connection of the process.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A server that knows its clients by certificates of `ca_pem`, which signed `leaf` too. `alpn`: e.g. `h2`, `http/1.1`.
pub fn server(
    leaf: &KeyAndCertificate,
    ca_pem: &str,
    clients: ClientCertificates,
    alpn: &[&str],
) -> Result<Arc<ServerConfig>, Error> {
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(ca_pem.as_bytes())?), provider());
    let verifier = match clients {
        ClientCertificates::Optional => verifier.allow_unauthenticated(),
        ClientCertificates::Required => verifier,
    };
    let verifier = verifier.build().map_err(|e| Error::malformed("client CA", e))?;
    let (mut chain, key) = parse(leaf)?;
    chain.extend(certificates(ca_pem.as_bytes())?);
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)?;
    config.alpn_protocols = protocols(alpn);
    Ok(Arc::new(config))
}

/// A client that trusts servers of `ca_pem`, and shows `leaf` if given.
pub fn client(leaf: Option<&KeyAndCertificate>, ca_pem: &str, alpn: &[&str]) -> Result<Arc<ClientConfig>, Error> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots(ca_pem.as_bytes())?);
    let mut config = match leaf {
        Some(leaf) => {
            let (chain, key) = parse(leaf)?;
            config.with_client_auth_cert(chain, key)?
        }
        None => config.with_no_client_auth(),
    };
    config.alpn_protocols = protocols(alpn);
    Ok(Arc::new(config))
}

fn protocols(alpn: &[&str]) -> Vec<Vec<u8>> {
    alpn.iter().map(|p| p.as_bytes().to_vec()).collect()
}

/// The authorities in `pem`.
pub fn roots(pem: &[u8]) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(pem)? {
        store.add(certificate)?;
    }
    Ok(store)
}

/// The certificates in `pem`: at least one.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|e| Error::malformed("certificate", e))?;
    if found.is_empty() { Err(Error::malformed("certificate", "there is none")) } else { Ok(found) }
}

/// A certificate chain and its private key, from PEM.
pub fn chain_and_key(
    chain: &[u8],
    key: &[u8],
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|e| Error::malformed("private key", e))?;
    Ok((certificates(chain)?, key))
}

fn parse(leaf: &KeyAndCertificate) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
    chain_and_key(leaf.certificate_pem.as_bytes(), leaf.key_pem.as_bytes())
}

/// A client that takes any certificate, for servers that nobody vouches for.
pub fn unverified() -> Result<Arc<ClientConfig>, Error> {
    Ok(Arc::new(judged_by(Trust::Anyone)?))
}

/// What a joining agent learns from the handshake.
pub type Learned = Arc<OnceLock<Result<String, TokenError>>>;

/// A client that trusts whichever CA the token names, and no other. The CA (PEM), or why the
/// server is not the token's, is in [`Learned`] after the handshake.
pub fn joining(token: &Token) -> Result<(ClientConfig, Learned), Error> {
    let learned = Learned::default();
    let config = judged_by(Trust::Token(token.clone(), learned.clone()))?;
    Ok((config, learned))
}

fn judged_by(trust: Trust) -> Result<ClientConfig, Error> {
    let judge = Judge { trust, provider: provider() };
    Ok(ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(judge))
        .with_no_client_auth())
}

/// Whom a [`Judge`] takes.
#[derive(Debug)]
enum Trust {
    /// Whoever has a leaf of the token's CA, which is in the chain that is shown.
    Token(Token, Learned),
    Anyone,
}

/// Judges servers by other means than known authorities.
#[derive(Debug)]
struct Judge {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Trust::Token(token, learned) = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        let last = chain.last().unwrap_or(leaf);
        let ca = chain.iter().find(|c| token.check_ca(c).is_ok()).unwrap_or(last);
        if let Err(error) = token.check_ca(ca) {
            let refused = rustls::Error::General(error.to_string());
            let _ = learned.set(Err(error));
            return Err(refused);
        }
        let mut roots = RootCertStore::empty();
        roots.add(ca.clone().into_owned())?;
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), self.provider.clone()).build();
        let verifier = verifier.map_err(|e| rustls::Error::General(e.to_string()))?;
        let verified = verifier.verify_server_cert(leaf, &[], name, ocsp, now)?;
        let _ = learned.set(Ok(pem(ca)));
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn pem(certificate: &CertificateDer<'_>) -> String {
    let base64 = BASE64_STANDARD.encode(certificate);
    let lines: Vec<&str> = (0..base64.len()).step_by(64).map(|at| &base64[at..base64.len().min(at + 64)]).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}
