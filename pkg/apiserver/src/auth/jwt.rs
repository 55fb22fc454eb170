//! Service account tokens: JSON Web Tokens signed with the cluster's key, ES256 or RS256.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::{
    rand::SystemRandom,
    rsa,
    signature::{self, EcdsaKeyPair, KeyPair as _, RsaKeyPair, UnparsedPublicKey},
};
use rustls_pki_types::{PrivatePkcs8KeyDer, pem::PemObject as _};
use serde_json::{Value, json};

/// A key that cannot sign tokens.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No PKCS#8 key in the text.
    #[error("the service account key is not a PKCS#8 private key in PEM: {0}")]
    Pem(String),
    /// Neither P-256 nor RSA.
    #[error("the service account key is neither a P-256 nor an RSA key of 2048 bits or more")]
    Unsupported,
}

enum Key {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
}

/// Signs and verifies tokens.
pub struct Signer {
    key: Key,
    id: String,
    /// `iss` of the tokens.
    pub issuer: String,
    random: SystemRandom,
}

impl Signer {
    /// A signer from a PKCS#8 key in PEM.
    pub fn new(pem: &str, issuer: impl Into<String>) -> Result<Self, KeyError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|error| KeyError::Pem(error.to_string()))?;
        let der = der.secret_pkcs8_der();
        let random = SystemRandom::new();
        let ecdsa = EcdsaKeyPair::from_pkcs8(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, der, &random);
        let key = match ecdsa {
            Ok(key) => Key::Es256(key),
            Err(_) => Key::Rs256(RsaKeyPair::from_pkcs8(der).map_err(|_| KeyError::Unsupported)?),
        };
        let public = match &key {
            Key::Es256(key) => key.public_key().as_ref(),
            Key::Rs256(key) => key.public_key().as_ref(),
        };
        let id = BASE64.encode(ring::digest::digest(&ring::digest::SHA256, public));
        Ok(Signer { key, id, issuer: issuer.into(), random })
    }

    fn algorithm(&self) -> &'static str {
        match self.key {
            Key::Es256(_) => "ES256",
            Key::Rs256(_) => "RS256",
        }
    }

    /// A token with these claims.
    pub fn sign(&self, claims: &Value) -> Result<String, ring::error::Unspecified> {
        let header = json!({"alg": self.algorithm(), "kid": self.id});
        let mut token = format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()));
        let signature = match &self.key {
            Key::Es256(key) => key.sign(&self.random, token.as_bytes())?.as_ref().to_vec(),
            Key::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&signature::RSA_PKCS1_SHA256, &self.random, token.as_bytes(), &mut signature)?;
                signature
            }
        };
        token.push('.');
        token.push_str(&BASE64.encode(signature));
        Ok(token)
    }

    /// The claims of a token of ours that is valid at `now` (seconds); `Err` says why it is not.
    pub fn verify(&self, token: &str, now: i64) -> Result<Value, &'static str> {
        let (signed, signature) = token.rsplit_once('.').ok_or("not a token")?;
        let (header, claims) = signed.split_once('.').ok_or("not a token")?;
        let json = |part: &str| -> Result<Value, &'static str> {
            let bytes = BASE64.decode(part).map_err(|_| "not base64url")?;
            serde_json::from_slice(&bytes).map_err(|_| "not JSON")
        };
        if json(header)?["alg"] != self.algorithm() {
            return Err("signed with another algorithm");
        }
        let signature = BASE64.decode(signature).map_err(|_| "not base64url")?;
        let verified = match &self.key {
            Key::Es256(key) => UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, key.public_key().as_ref())
                .verify(signed.as_bytes(), &signature),
            Key::Rs256(key) => UnparsedPublicKey::new(&signature::RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref())
                .verify(signed.as_bytes(), &signature),
        };
        verified.map_err(|_| "signed with another key")?;
        let claims = json(claims)?;
        if claims["iss"] != self.issuer.as_str() {
            return Err("of another issuer");
        }
        if claims["exp"].as_i64().is_none_or(|end| end <= now) {
            return Err("expired");
        }
        if claims["nbf"].as_i64().is_some_and(|start| start > now + LEEWAY) {
            return Err("not yet valid");
        }
        Ok(claims)
    }

    /// The JSON Web Key Set that verifies the tokens.
    pub fn key_set(&self) -> Value {
        let mut key = json!({"use": "sig", "kid": self.id, "alg": self.algorithm()});
        match &self.key {
            Key::Es256(pair) => {
                // Uncompressed point: 0x04, x, y.
                let point = pair.public_key().as_ref();
                key["kty"] = "EC".into();
                key["crv"] = "P-256".into();
                key["x"] = BASE64.encode(&point[1..33]).into();
                key["y"] = BASE64.encode(&point[33..65]).into();
            }
            Key::Rs256(pair) => {
                let public: rsa::PublicKeyComponents<Vec<u8>> = rsa::PublicKeyComponents::from(pair.public());
                key["kty"] = "RSA".into();
                key["n"] = BASE64.encode(&public.n).into();
                key["e"] = BASE64.encode(&public.e).into();
            }
        }
        json!({"keys": [key]})
    }

    /// The OpenID discovery document.
    pub fn discovery(&self, server: &str) -> Value {
        json!({
            "issuer": self.issuer,
            "jwks_uri": format!("https://{server}/openid/v1/jwks"),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self.algorithm()],
        })
    }
}

/// Seconds by which clocks may differ.
const LEEWAY: i64 = 60;

#[cfg(test)]
pub(crate) fn test_key() -> String {
    use base64::engine::general_purpose::STANDARD;
    let random = SystemRandom::new();
    let der = EcdsaKeyPair::generate_pkcs8(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_and_valid_tokens_pass() {
        let signer = Signer::new(&test_key(), "https://kubernetes.default.svc").unwrap();
        let other = Signer::new(&test_key(), "https://kubernetes.default.svc").unwrap();
        let claims = json!({"iss": "https://kubernetes.default.svc", "sub": "x", "exp": 1000, "nbf": 100});
        let token = signer.sign(&claims).unwrap();
        assert_eq!(signer.verify(&token, 500).unwrap(), claims);
        assert_eq!(signer.verify(&token, 1000), Err("expired"));
        assert_eq!(signer.verify(&token, 20), Err("not yet valid"));
        assert_eq!(other.verify(&token, 500), Err("signed with another key"));
        assert_eq!(signer.verify("a.b", 500), Err("not a token"));
        let foreign = signer.sign(&json!({"iss": "else", "exp": 1000})).unwrap();
        assert_eq!(signer.verify(&foreign, 500), Err("of another issuer"));
        let none = format!("{}.{}.", BASE64.encode(r#"{"alg":"none"}"#), BASE64.encode(claims.to_string()));
        assert_eq!(signer.verify(&none, 500), Err("signed with another algorithm"));
        assert_eq!(signer.key_set()["keys"][0]["kty"], "EC");
        assert!(Signer::new("nonsense", "x").is_err());
    }
}
