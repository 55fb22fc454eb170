//! The cluster's CA, and the leaf certificates that it signs.
//!
//! The CA lives ten years, leaves one; a leaf is made anew at start when a third of its life is
//! left, or when the names it must carry have changed. Both begin a day in the past, since the
//! clocks of small machines differ.

use std::{
    net::IpAddr,
    path::Path,
    time::{Duration, SystemTime},
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PublicKeyData, SanType, SubjectPublicKeyInfo,
};
use sha2::{Digest as _, Sha256};
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

use crate::{Error, read, write_public, write_secret};

const DAY: Duration = Duration::from_secs(24 * 3600);
const CA_DAYS: u32 = 3650;
const LEAF_DAYS: u32 = 365;

/// A certificate authority.
pub struct Ca {
    certificate_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// What a leaf certificate is for.
#[derive(Clone, Debug)]
pub struct Usage {
    /// Common name: the user name of clients.
    pub common_name: String,
    /// Organizations: the groups of clients.
    pub organizations: Vec<String>,
    /// DNS names of servers.
    pub names: Vec<String>,
    /// Addresses of servers.
    pub addresses: Vec<IpAddr>,
}

impl Usage {
    /// A client certificate.
    pub fn client(user: impl Into<String>, groups: &[&str]) -> Self {
        Usage {
            common_name: user.into(),
            organizations: groups.iter().map(|g| (*g).to_owned()).collect(),
            names: Vec::new(),
            addresses: Vec::new(),
        }
    }

    /// A server certificate.
    pub fn server(common_name: impl Into<String>, names: Vec<String>, addresses: Vec<IpAddr>) -> Self {
        Usage { common_name: common_name.into(), organizations: Vec::new(), names, addresses }
    }

    fn is_server(&self) -> bool {
        !self.names.is_empty() || !self.addresses.is_empty()
    }

    fn params(&self) -> Result<CertificateParams, Error> {
        let mut params = CertificateParams::new(self.names.clone())?;
        params.subject_alt_names.extend(self.addresses.iter().map(|a| SanType::IpAddress(*a)));
        params.distinguished_name.push(DnType::CommonName, self.common_name.as_str());
        for organization in &self.organizations {
            params.distinguished_name.push(DnType::OrganizationName, organization.as_str());
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let purpose =
            if self.is_server() { ExtendedKeyUsagePurpose::ServerAuth } else { ExtendedKeyUsagePurpose::ClientAuth };
        params.extended_key_usages = vec![purpose];
        params.use_authority_key_identifier_extension = true;
        set_life(&mut params, LEAF_DAYS);
        Ok(params)
    }

    /// Whether `certificate` is of this use.
    fn matches(&self, certificate: &X509Certificate<'_>) -> bool {
        let common_name = certificate.subject().iter_common_name().filter_map(|n| n.as_str().ok());
        let organizations = certificate.subject().iter_organization().filter_map(|n| n.as_str().ok());
        let alternatives = certificate.subject_alternative_name().ok().flatten();
        let found: Vec<&GeneralName<'_>> = alternatives.iter().flat_map(|s| &s.value.general_names).collect();
        let has_name = |name: &String| found.iter().any(|g| matches!(g, GeneralName::DNSName(n) if n == name));
        let has_address = |address: &IpAddr| {
            let octets = match address {
                IpAddr::V4(v4) => v4.octets().to_vec(),
                IpAddr::V6(v6) => v6.octets().to_vec(),
            };
            found.iter().any(|g| matches!(g, GeneralName::IPAddress(bytes) if **bytes == octets[..]))
        };
        common_name.eq([self.common_name.as_str()])
            && organizations.eq(self.organizations.iter().map(String::as_str))
            && self.names.iter().all(has_name)
            && self.addresses.iter().all(has_address)
            && found.len() == self.names.len() + self.addresses.len()
    }
}

fn set_life(params: &mut CertificateParams, days: u32) {
    let now = SystemTime::now();
    params.not_before = (now - DAY).into();
    params.not_after = (now + DAY * days).into();
}

/// A private key with its certificate, as PEM.
#[derive(Clone)]
pub struct KeyAndCertificate {
    /// PKCS#8.
    pub key_pem: String,
    /// The leaf.
    pub certificate_pem: String,
}

impl Ca {
    /// Loads the CA from `NAME.crt` and `NAME.key` in `dir`, or makes it.
    pub fn load_or_create(dir: &Path, name: &str) -> Result<Self, Error> {
        let (certificate, key) = (dir.join(format!("{name}.crt")), dir.join(format!("{name}.key")));
        if certificate.exists() || key.exists() {
            // With one of them gone, a new CA would lock every agent out: that is for a person to decide.
            let (certificate_pem, key_pem) = (read(&certificate)?, read(&key)?);
            return Self::from_pem(certificate_pem, &key_pem)
                .map_err(|e| Error::malformed(format!("{} or {}", certificate.display(), key.display()), e));
        }
        let pair = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        // The time of making is in the name, so that the CAs of two clusters are told apart.
        let made = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        params.distinguished_name.push(DnType::CommonName, format!("kinglet-{name}@{made}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        set_life(&mut params, CA_DAYS);
        let pem = params.self_signed(&pair)?.pem();
        write_secret(&key, &pair.serialize_pem())?;
        write_public(&certificate, &pem)?;
        Ok(Self::from_pem(pem, &pair.serialize_pem())?)
    }

    fn from_pem(certificate_pem: String, key_pem: &str) -> Result<Self, rcgen::Error> {
        let issuer = Issuer::from_ca_cert_pem(&certificate_pem, KeyPair::from_pem(key_pem)?)?;
        Ok(Ca { certificate_pem, issuer })
    }

    /// The CA's certificate.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// Signs a public key (PEM).
    pub fn sign(&self, public_key_pem: &str, usage: &Usage) -> Result<String, Error> {
        self.sign_key(&SubjectPublicKeyInfo::from_pem(public_key_pem)?, usage)
    }

    fn sign_key(&self, key: &impl PublicKeyData, usage: &Usage) -> Result<String, Error> {
        Ok(usage.params()?.signed_by(key, &self.issuer)?.pem())
    }

    /// A leaf kept as `NAME.crt` and `NAME.key` in `dir`: loaded, or made if it is absent, of
    /// another use, of another CA, or has less than a third of its life left.
    pub fn leaf(&self, dir: &Path, name: &str, usage: &Usage) -> Result<KeyAndCertificate, Error> {
        let (certificate, key) = (dir.join(format!("{name}.crt")), dir.join(format!("{name}.key")));
        if let (Ok(certificate_pem), Ok(key_pem)) = (read(&certificate), read(&key))
            && self.is_current(&certificate_pem, usage)
        {
            return Ok(KeyAndCertificate { key_pem, certificate_pem });
        }
        let pair = KeyPair::generate()?;
        let made = KeyAndCertificate { key_pem: pair.serialize_pem(), certificate_pem: self.sign_key(&pair, usage)? };
        write_secret(&key, &made.key_pem)?;
        write_public(&certificate, &made.certificate_pem)?;
        Ok(made)
    }

    fn is_current(&self, certificate_pem: &str, usage: &Usage) -> bool {
        let (Ok(leaf), Ok(ca)) = (der(certificate_pem), der(&self.certificate_pem)) else { return false };
        let (Ok((_, leaf)), Ok((_, ca))) = (X509Certificate::from_der(&leaf), X509Certificate::from_der(&ca)) else {
            return false;
        };
        let left = leaf.validity().time_to_expiration().unwrap_or_default();
        left > DAY * (LEAF_DAYS / 3)
            && leaf.issuer() == ca.subject()
            && leaf.verify_signature(Some(ca.public_key())).is_ok()
            && usage.matches(&leaf)
    }
}

/// The key in `path`, made if absent; answers with the private and the public key as PEM.
pub fn public_key_pem(path: &Path) -> Result<(String, String), Error> {
    let pair = if path.exists() {
        KeyPair::from_pem(&read(path)?).map_err(|e| Error::malformed(path.display(), e))?
    } else {
        let pair = KeyPair::generate()?;
        write_secret(path, &pair.serialize_pem())?;
        pair
    };
    Ok((pair.serialize_pem(), pair.public_key_pem()))
}

/// The id of the machine that holds the private half of `public_key_pem`.
pub fn machine_id(public_key_pem: &str) -> Result<String, Error> {
    Ok(fingerprint(&der(public_key_pem)?)[..32].to_owned())
}

/// The same, from the certificate of that key.
pub fn machine_id_of_certificate(certificate_pem: &str) -> Result<String, Error> {
    let certificate = der(certificate_pem)?;
    let (_, certificate) = X509Certificate::from_der(&certificate).map_err(|e| Error::malformed("certificate", e))?;
    Ok(fingerprint(certificate.public_key().raw)[..32].to_owned())
}

/// Hex SHA-256 of a certificate.
pub(crate) fn fingerprint(der: &[u8]) -> String {
    Sha256::digest(der).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first certificate in `pem`.
pub(crate) fn der(pem: &str) -> Result<Vec<u8>, Error> {
    let (_, pem) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).map_err(|e| Error::malformed("certificate", e))?;
    Ok(pem.contents)
}
