//! Where the cluster's data is: in a database of our own, or in an etcd given by `--datastore-endpoint`.

use std::{io, path::PathBuf, sync::Arc};

use client::connect::{self, ClientIdentity, HttpsConnector};
use rustls::ClientConfig;
use store::{
    EtcdStore,
    etcd::{Address, COMPACT_EVERY, Connect, Endpoint, Plain, Settings, Stream},
};

use crate::Error;

/// An etcd instead of the database of our own.
#[derive(Clone, Debug, Default)]
pub struct Datastore {
    /// `--datastore-endpoint`; none: our own database.
    pub endpoints: Vec<String>,
    /// `--datastore-cafile`: who has signed the members' certificates.
    pub ca_file: Option<PathBuf>,
    /// `--datastore-certfile`: what we show them.
    pub cert_file: Option<PathBuf>,
    /// `--datastore-keyfile`
    pub key_file: Option<PathBuf>,
}

impl Datastore {
    /// Whether an etcd is wanted.
    pub fn is_etcd(&self) -> bool {
        !self.endpoints.is_empty()
    }

    /// Connects, and waits for etcd if it is not there yet.
    pub(crate) async fn connect(&self) -> Result<EtcdStore, Error> {
        self.check()?;
        tracing::info!(endpoints = %self.endpoints.join(","), "the datastore is an etcd");
        let settings = Settings {
            endpoints: self.endpoints.clone(),
            connector: Arc::new(Connector { files: self.clone() }),
            compact_every: COMPACT_EVERY,
        };
        EtcdStore::connect(settings).await.map_err(Error::Datastore)
    }

    /// Finds what is wrong before anything is waited for.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let endpoints = self.endpoints.iter().map(|url| Endpoint::parse(url));
        let endpoints = endpoints.collect::<Result<Vec<_>, _>>().map_err(Error::Datastore)?;
        let files = [
            ("--datastore-cafile", &self.ca_file),
            ("--datastore-certfile", &self.cert_file),
            ("--datastore-keyfile", &self.key_file),
        ];
        let given = files.iter().find(|(_, file)| file.is_some()).map(|(flag, _)| *flag);
        let https = |endpoint: &Endpoint| matches!(endpoint.address, Address::Tcp { tls: true, .. });
        match given {
            Some(flag) if endpoints.is_empty() => {
                return Err(Error::DatastoreTls(format!("{flag} is given, and --datastore-endpoint is not")));
            }
            Some(flag) if !endpoints.iter().all(https) => {
                return Err(Error::DatastoreTls(format!(
                    "{flag} is for https endpoints, and --datastore-endpoint has others"
                )));
            }
            _ => {}
        }
        if self.cert_file.is_some() != self.key_file.is_some() {
            return Err(Error::DatastoreTls(
                "--datastore-certfile and --datastore-keyfile are given together".to_owned(),
            ));
        }
        if endpoints.iter().any(https) {
            self.tls().map_err(Error::DatastoreTls)?;
        }
        Ok(())
    }

    /// Files are read anew for each connection, so that renewed certificates are used.
    fn tls(&self) -> Result<ClientConfig, String> {
        let read = |flag: &str, path: &PathBuf| {
            std::fs::read(path).map_err(|error| format!("{flag} {}: {error}", path.display()))
        };
        let Some(ca_file) = &self.ca_file else {
            return Err("--datastore-cafile is missing: it says who signs for https endpoints".to_owned());
        };
        let ca = read("--datastore-cafile", ca_file)?;
        let identity = match (&self.cert_file, &self.key_file) {
            (Some(cert_file), Some(key_file)) => {
                let (chain, key) = (read("--datastore-certfile", cert_file)?, read("--datastore-keyfile", key_file)?);
                let identity = ClientIdentity::from_pem(&chain, &key).map_err(|error| {
                    let files = format!("{} and {}", cert_file.display(), key_file.display());
                    format!("--datastore-certfile, --datastore-keyfile {files}: {}", chain_of(&error))
                })?;
                Some(identity)
            }
            _ => None,
        };
        let config = connect::tls_config(&ca, identity);
        config.map_err(|error| format!("--datastore-cafile {}: {}", ca_file.display(), chain_of(&error)))
    }
}

/// An error with its sources.
fn chain_of(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let mut texts: Vec<String> = chain.map(ToString::to_string).collect();
    texts.dedup();
    texts.join(": ")
}

/// Names by hickory, TLS by rustls.
struct Connector {
    files: Datastore,
}

#[async_trait::async_trait]
impl Connect for Connector {
    async fn connect(&self, address: &Address) -> io::Result<Box<dyn Stream>> {
        let (host, port, tls) = match address {
            Address::Unix(_) => return Plain.connect(address).await,
            Address::Tcp { host, port, tls } => (host, *port, *tls),
        };
        if !tls {
            return Ok(Box::new(connect::tcp(host, port).await.map_err(io_error)?));
        }
        let tls = self.files.tls().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Box::new(HttpsConnector::new(tls).connect(host, port).await.map_err(io_error)?))
    }
}

/// Keeps the kind: it says whether waiting helps.
fn io_error(error: connect::Error) -> io::Error {
    let kind = match &error {
        connect::Error::Connect { source, .. } | connect::Error::Handshake { source, .. } => source.kind(),
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, chain_of(&error))
}

#[cfg(test)]
mod tests;
