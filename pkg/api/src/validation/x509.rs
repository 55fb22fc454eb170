//! Certificates and signing requests, as far as validation looks into them.

use base64::Engine as _;
use x509_parser::{
    certification_request::X509CertificationRequest,
    prelude::{FromDer as _, X509Certificate},
    public_key::PublicKey,
    x509::SubjectPublicKeyInfo,
};

/// A block of a PEM text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// `CERTIFICATE`, …
    pub kind: String,
    /// Whether it has header lines.
    pub headers: bool,
    /// What it holds.
    pub der: Vec<u8>,
}

/// What a value of type `bytes` holds.
pub fn bytes(base64: &str) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD.decode(base64).ok()
}

/// The blocks of a PEM text. What is no block is passed over, as Go's decoder does.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().map(str::trim_end);
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----")) else { continue };
        let end = format!("-----END {kind}-----");
        let mut rest = lines.clone();
        let (mut headers, mut body, mut whole) = (false, String::new(), false);
        for line in rest.by_ref() {
            if line == end {
                whole = true;
            }
            // Another beginning: this one has no end. Each line is read twice at most.
            if line.starts_with("-----") {
                break;
            }
            if line.contains(':') {
                headers = true;
            } else {
                body.extend(line.chars().filter(|c| !c.is_whitespace()));
            }
        }
        if let Some(der) = bytes(&body).filter(|_| whole) {
            blocks.push(Block { kind: kind.to_owned(), headers, der });
            lines = rest;
        }
    }
    blocks
}

/// Reads a certificate.
pub fn certificate(der: &[u8]) -> Option<X509Certificate<'_>> {
    X509Certificate::from_der(der).ok().filter(|(rest, _)| rest.is_empty()).map(|(_, certificate)| certificate)
}

/// Reads a PKCS#10 request.
pub fn request(der: &[u8]) -> Option<X509CertificationRequest<'_>> {
    X509CertificationRequest::from_der(der).ok().filter(|(rest, _)| rest.is_empty()).map(|(_, request)| request)
}

/// The organizations of the subject of a request in PEM; `Err` says why it is none.
pub fn organizations(pem: &[u8]) -> Result<Vec<String>, &'static str> {
    let der = signing_request(pem)?;
    let request = request(&der).ok_or(MALFORMED)?;
    let subject = &request.certification_request_info.subject;
    Ok(subject.iter_organization().filter_map(|name| name.as_str().ok().map(str::to_owned)).collect())
}

const MALFORMED: &str = "x509: malformed certificate request";

/// The request within a PEM text.
fn signing_request(pem: &[u8]) -> Result<Vec<u8>, &'static str> {
    let text = String::from_utf8_lossy(pem);
    match blocks(&text).into_iter().next() {
        Some(block) if block.kind == "CERTIFICATE REQUEST" => Ok(block.der),
        _ => Err("PEM block type must be CERTIFICATE REQUEST"),
    }
}

/// Checks a request in PEM and its signature.
pub fn check_request(pem: &[u8]) -> Result<(), &'static str> {
    let der = signing_request(pem)?;
    let request = request(&der).ok_or(MALFORMED)?;
    request.verify_signature().map_err(|_| "x509: signature of the certificate request is not valid")
}

/// What a public key is, as far as rules for keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Ed25519.
    Ed25519,
    /// On a curve, by its name.
    Curve(&'static str),
    /// RSA, bits of the modulus.
    Rsa(usize),
    /// Anything else.
    Other,
}

/// The kind of a public key.
pub fn key(info: &SubjectPublicKeyInfo<'_>) -> Key {
    if info.algorithm.algorithm.to_id_string() == "1.3.101.112" {
        return Key::Ed25519;
    }
    match info.parsed() {
        Ok(PublicKey::RSA(rsa)) => Key::Rsa(rsa.key_size()),
        Ok(PublicKey::EC(_)) => {
            let curve = info.algorithm.parameters.as_ref().and_then(|p| p.as_oid().ok()).map(|oid| oid.to_id_string());
            match curve.as_deref() {
                Some("1.2.840.10045.3.1.7") => Key::Curve("P-256"),
                Some("1.3.132.0.34") => Key::Curve("P-384"),
                Some("1.3.132.0.35") => Key::Curve("P-521"),
                Some("1.3.132.0.33") => Key::Curve("P-224"),
                _ => Key::Other,
            }
        }
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_blocks() {
        let text = "junk\n-----BEGIN A-----\nk: v\n\nYWJj\n-----END A-----\n-----BEGIN B-----\nno end\n-----BEGIN C-----\nYQ==\n-----END C-----";
        let found: Vec<_> = blocks(text).into_iter().map(|b| (b.kind, b.headers, b.der)).collect();
        assert_eq!(found, [("A".to_owned(), true, b"abc".to_vec()), ("C".to_owned(), false, b"a".to_vec())]);
    }

    #[test]
    fn what_is_no_request() {
        assert_eq!(check_request(b""), Err("PEM block type must be CERTIFICATE REQUEST"));
        assert_eq!(
            check_request(b"-----BEGIN CERTIFICATE REQUEST-----\nYWJj\n-----END CERTIFICATE REQUEST-----"),
            Err(MALFORMED)
        );
    }
}
