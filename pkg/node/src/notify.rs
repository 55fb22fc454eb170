//! Telling the init system that the service is up (sd_notify(3)).

use std::{env, os::unix::net::UnixDatagram};

/// Says "ready", where somebody asked to be told.
pub fn ready() {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else { return };
    let told = UnixDatagram::unbound().and_then(|datagram| datagram.send_to(b"READY=1", &socket));
    if let Err(error) = told {
        tracing::warn!(%error, socket = %socket.display(), "the init system cannot be told that kinglet is up");
    }
}
