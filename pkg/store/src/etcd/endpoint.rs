//! Endpoints of etcd, and how a byte stream to one is made.

use std::{fmt, io, path::PathBuf};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
};

use crate::Error;

/// Where a member of the cluster listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `unix:///run/etcd.sock`
    Unix(PathBuf),
    /// `http://HOST:PORT` or `https://HOST:PORT`
    Tcp {
        /// A name or an address, this one without brackets.
        host: String,
        /// 2379 if none is given.
        port: u16,
        /// Whether it speaks TLS.
        tls: bool,
    },
}

/// A member as it was given, and what that means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// For messages.
    pub url: String,
    /// Where it listens.
    pub address: Address,
}

/// The port that etcd is known by.
const PORT: u16 = 2379;

impl Endpoint {
    /// Reads a URL: a scheme, a host and perhaps a port, and nothing more.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let wrong = |message: &str| Error::Endpoint { endpoint: url.to_owned(), message: message.to_owned() };
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(wrong("no scheme; wanted is https://HOST:PORT"));
        };
        let tls = match scheme {
            "unix" if rest.starts_with('/') => {
                return Ok(Endpoint { url: url.to_owned(), address: Address::Unix(rest.into()) });
            }
            "unix" => return Err(wrong("a socket has an absolute path, as in unix:///run/etcd.sock")),
            "http" => false,
            "https" => true,
            _ => return Err(wrong("unknown scheme; known are https, http and unix")),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let bracketed = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (host, port) = match bracketed {
            Some((host, "")) => (host, None),
            Some((host, rest)) => (host, Some(rest.strip_prefix(':').ok_or_else(|| wrong("not a host and a port"))?)),
            None => rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port))),
        };
        let known =
            |c: char| c.is_ascii_alphanumeric() || "-._".contains(c) || (bracketed.is_some() && ":%".contains(c));
        if host.is_empty() || !host.chars().all(known) {
            return Err(wrong("not a host and a port"));
        }
        let port = port.map_or(Ok(PORT), |port| port.parse().map_err(|_| wrong("not a port")))?;
        Ok(Endpoint { url: url.to_owned(), address: Address::Tcp { host: host.to_owned(), port, tls } })
    }

    /// What it is called in requests.
    pub(super) fn authority(&self) -> String {
        match &self.address {
            Address::Unix(_) => "localhost".to_owned(),
            Address::Tcp { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Address::Tcp { host, port, .. } => format!("{host}:{port}"),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

/// A connection's bytes.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Makes byte streams to endpoints. This crate knows neither names nor certificates, so whoever
/// assembles the server brings both.
#[async_trait::async_trait]
pub trait Connect: Send + Sync + 'static {
    /// Connects. [`io::ErrorKind::InvalidData`] stands for a peer that was reached and that is not
    /// trusted, or does not trust us: waiting does not help against it.
    async fn connect(&self, address: &Address) -> io::Result<Box<dyn Stream>>;
}

/// Unix sockets, and TCP to addresses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

#[async_trait::async_trait]
impl Connect for Plain {
    async fn connect(&self, address: &Address) -> io::Result<Box<dyn Stream>> {
        match address {
            Address::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?)),
            Address::Tcp { host, port, tls: false } => {
                let address: std::net::IpAddr =
                    host.parse().map_err(|_| io::Error::new(io::ErrorKind::Unsupported, "names are not resolved"))?;
                let stream = TcpStream::connect((address, *port)).await?;
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
            Address::Tcp { tls: true, .. } => Err(io::Error::new(io::ErrorKind::Unsupported, "TLS is not set up")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_from_urls() {
        let tcp = |host: &str, port, tls| Address::Tcp { host: host.to_owned(), port, tls };
        for (url, wanted, authority) in [
            ("https://etcd-1.example:2379", tcp("etcd-1.example", 2379, true), "etcd-1.example:2379"),
            ("http://10.0.0.1:4001/", tcp("10.0.0.1", 4001, false), "10.0.0.1:4001"),
            ("https://[fd00::1]:2380", tcp("fd00::1", 2380, true), "[fd00::1]:2380"),
            ("https://[fd00::1]", tcp("fd00::1", 2379, true), "[fd00::1]:2379"),
            ("https://etcd", tcp("etcd", 2379, true), "etcd:2379"),
            ("unix:///run/etcd.sock", Address::Unix("/run/etcd.sock".into()), "localhost"),
        ] {
            let endpoint = Endpoint::parse(url).unwrap();
            assert_eq!((&endpoint.address, &*endpoint.authority()), (&wanted, authority), "{url}");
        }
    }

    #[test]
    fn an_endpoint_that_makes_no_sense_is_named_with_what_is_wrong() {
        for (url, wanted) in [
            ("10.0.0.1:2379", "no scheme"),
            ("mysql://root@tcp(10.0.0.1)/k3s", "unknown scheme"),
            ("https://", "not a host"),
            ("https://etcd:port", "not a port"),
            ("https://user@etcd:2379", "not a host"),
            ("https://etcd:2379/path", "not a port"),
            ("https://[fd00::1]2379", "not a host"),
            ("unix://etcd.sock", "absolute path"),
        ] {
            let error = Endpoint::parse(url).unwrap_err().to_string();
            assert!(error.contains(url) && error.contains(wanted), "{error}");
        }
    }
}
