//! Join tokens: `kinglet1.HASH.SECRET`.
//!
//! HASH is the SHA-256 of the CA certificate (64 hex digits), so that an agent knows whom it talks
//! to before it trusts anything; SECRET (32 characters) is what the server asks for.

use std::{fmt, str::FromStr};

use rand::{Rng as _, distr::Alphanumeric};

use crate::{
    Error,
    ca::{der, fingerprint},
};

const PREFIX: &str = "kinglet1";
const HASH_LENGTH: usize = 64;
const SECRET_LENGTH: usize = 32;

/// A join token.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    ca_hash: String,
    secret: String,
}

/// Why a token is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Another program's token, or none at all.
    #[error(
        "this is not a Kinglet token (it should begin with \"kinglet1.\"); copy the one in /etc/kinglet/token on the server"
    )]
    Foreign,
    /// Part of a token.
    #[error(
        "the token is truncated: its {part} has {found} characters of {wanted}; copy the whole line of /etc/kinglet/token on the server"
    )]
    Truncated {
        /// `CA hash` or `secret`.
        part: &'static str,
        /// Characters there.
        found: usize,
        /// Characters wanted.
        wanted: usize,
    },
    /// The server has another CA.
    #[error(
        "the token is for another cluster: it names the CA {expected}, but the server has {found}; copy /etc/kinglet/token from the server that --server names"
    )]
    OtherCluster {
        /// Hash in the token.
        expected: String,
        /// Hash of the server's CA.
        found: String,
    },
}

impl Token {
    /// A new token for the cluster of this CA.
    pub fn generate(ca_pem: &str) -> Result<Self, Error> {
        let secret = rand::rng().sample_iter(Alphanumeric).take(SECRET_LENGTH).map(char::from).collect();
        Ok(Token { ca_hash: fingerprint(&der(ca_pem)?), secret })
    }

    /// Proves the right to join.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Whether the token is for the cluster of this CA.
    pub fn is_for(&self, ca_pem: &str) -> Result<bool, Error> {
        Ok(self.check_ca(&der(ca_pem)?).is_ok())
    }

    /// Checks the CA certificate (DER) that a server has shown.
    pub fn check_ca(&self, ca_der: &[u8]) -> Result<(), TokenError> {
        let found = fingerprint(ca_der);
        if found == self.ca_hash {
            Ok(())
        } else {
            Err(TokenError::OtherCluster { expected: self.ca_hash.clone(), found })
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}.{}.{}", self.ca_hash, self.secret)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}.{}.…", self.ca_hash)
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let mut parts = text.trim().split('.');
        if parts.next() != Some(PREFIX) {
            return Err(TokenError::Foreign);
        }
        let mut part = |part, wanted, allowed: fn(char) -> bool| {
            let text = parts.next().unwrap_or_default();
            match text.len() {
                found if found < wanted => Err(TokenError::Truncated { part, found, wanted }),
                found if found > wanted || !text.chars().all(allowed) => Err(TokenError::Foreign),
                _ => Ok(text.to_owned()),
            }
        };
        let ca_hash = part("CA hash", HASH_LENGTH, |c| matches!(c, '0'..='9' | 'a'..='f'))?;
        let secret = part("secret", SECRET_LENGTH, |c| c.is_ascii_alphanumeric())?;
        Ok(Token { ca_hash, secret })
    }
}
