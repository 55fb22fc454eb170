//! etcd's API, from the embedded store: on a Unix socket always, and on a port if the user wants it.
//!
//! Whoever may use it may do everything, past authorization and admission. So the port asks for a
//! certificate of a CA that is for nothing else, in `/etc/kinglet/etcd`; those of the cluster's CA,
//! which users and nodes have, are refused.

use std::{net::SocketAddr, sync::Arc};

use node::{Node, stages::Stages};
use pki::{
    Ca, Usage,
    tls::{self, ClientCertificates},
};
use store::{
    SqliteStore,
    face::{self, Face},
};
use tokio::net::TcpListener;

use crate::{Config, Error};

/// Serves it; ends before the store.
pub async fn serve(config: &Config, store: Arc<SqliteStore>, stages: &mut Stages) -> Result<(), Error> {
    let node = config.node.resolve()?;
    let stage = stages.next("etcd API");
    let socket = config.paths.etcd_socket();
    let mut urls = vec![format!("unix://{}", socket.display())];
    urls.extend(config.etcd_address.map(|address| format!("https://{address}")));
    let face = Face::new(face::Config {
        store,
        name: node.name.clone(),
        urls,
        scratch: config.paths.server()?,
        stop: stage.stop.clone(),
    });
    face.serve_unix(&socket, &stage.tasks).map_err(|source| Error::Socket { path: socket, source })?;
    if let Some(address) = config.etcd_address {
        let listener = TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })?;
        let tls = server_tls(config, &node, address)?;
        let accept = apiserver::accept_tls(listener, tls, stage.stop, stage.tasks.clone(), move |stream| {
            face.clone().serve(stream)
        });
        stage.tasks.spawn(accept);
        tracing::info!(%address, "etcd's API is listening");
    }
    Ok(())
}

/// Makes the CA and both ends' certificates where they are missing.
fn server_tls(config: &Config, node: &Node, address: SocketAddr) -> Result<Arc<rustls::ServerConfig>, Error> {
    let dir = config.paths.etcd();
    let ca = Ca::load_or_create(&dir, "ca")?;
    let mut addresses = vec![[127, 0, 0, 1].into(), node.ip];
    if !address.ip().is_unspecified() {
        addresses.push(address.ip());
    }
    addresses.sort();
    addresses.dedup();
    let names = vec!["localhost".to_owned(), node.name.clone()];
    let server = ca.leaf(&dir, "server", &Usage::server("etcd", names, addresses))?;
    ca.leaf(&dir, "client", &Usage::client("etcd-client", &[]))?;
    Ok(tls::server(&server, ca.certificate_pem(), ClientCertificates::Required, &["h2"])?)
}
