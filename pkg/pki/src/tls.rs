//! TLS configurations for both ends.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};

use crate::{Error, KeyAndCertificate};

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

/// A server that knows its clients by certificates of `client_ca_pem`. `alpn`: e.g. `h2`, `http/1.1`.
pub fn server(
    leaf: &KeyAndCertificate,
    client_ca_pem: &str,
    clients: ClientCertificates,
    alpn: &[&str],
) -> Result<Arc<ServerConfig>, Error> {
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(client_ca_pem)?), provider());
    let verifier = match clients {
        ClientCertificates::Optional => verifier.allow_unauthenticated(),
        ClientCertificates::Required => verifier,
    };
    let verifier = verifier.build().map_err(|e| Error::malformed("client CA", e))?;
    let (chain, key) = parse(leaf)?;
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
        .with_root_certificates(roots(ca_pem)?);
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

fn roots(pem: &str) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        store.add(certificate.map_err(|e| Error::malformed("CA", e))?)?;
    }
    Ok(store)
}

fn parse(leaf: &KeyAndCertificate) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
    let chain = CertificateDer::pem_slice_iter(leaf.certificate_pem.as_bytes()).collect::<Result<_, _>>();
    let chain = chain.map_err(|e| Error::malformed("certificate", e))?;
    let key = PrivateKeyDer::from_pem_slice(leaf.key_pem.as_bytes()).map_err(|e| Error::malformed("private key", e))?;
    Ok((chain, key))
}
