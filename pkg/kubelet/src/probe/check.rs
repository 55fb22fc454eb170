//! One look at a container: a command, an HTTP request, a connection, a health call. Also runs the hooks that containers
//! have at their start and end.

use std::net::IpAddr;
use std::time::Duration;

use k8s_openapi::api::core::v1::{HTTPGetAction, LifecycleHandler, Probe};
use tokio::net::TcpStream;

use super::{Outcome, Target, grpc, http};
use crate::spec;

/// Bytes of output that are told.
const TOLD: usize = 10 << 10;

/// Runs a probe once, within `limit`.
pub async fn check(probe: &Probe, target: &Target, limit: Duration) -> Outcome {
    let outcome = if let Some(exec) = &probe.exec {
        return command(target, exec.command.as_deref().unwrap_or_default(), limit).await;
    } else if let Some(get) = &probe.http_get {
        tokio::time::timeout(limit, http_get(target, get)).await
    } else if let Some(tcp) = &probe.tcp_socket {
        let at = address(target, tcp.host.as_deref(), spec::port(&target.spec, &tcp.port));
        tokio::time::timeout(limit, connect(at)).await
    } else if let Some(call) = &probe.grpc {
        let at = address(target, None, u16::try_from(call.port).ok());
        tokio::time::timeout(limit, health(at, call.service.clone().unwrap_or_default())).await
    } else {
        return Outcome::Failure("the probe has no handler".into());
    };
    match outcome {
        Ok(Ok(())) => Outcome::Success,
        Ok(Err(message)) => Outcome::Failure(message),
        Err(_) => Outcome::Failure(late(probe, target)),
    }
}

fn late(probe: &Probe, target: &Target) -> String {
    match &probe.http_get {
        Some(get) => {
            let url = url(target, get).map_or_else(|e| e, |(url, _)| url);
            format!("Get \"{url}\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
        }
        None => "timeout: failed to connect service within the time of the probe: context deadline exceeded".into(),
    }
}

/// Runs the hook of a container. `Err` says what went wrong.
pub async fn hook(handler: &LifecycleHandler, target: &Target, limit: Duration) -> Result<(), String> {
    if let Some(exec) = &handler.exec {
        return match command(target, exec.command.as_deref().unwrap_or_default(), limit).await {
            Outcome::Success => Ok(()),
            Outcome::Failure(message) | Outcome::Unknown(message) => Err(message),
        };
    }
    if let Some(sleep) = &handler.sleep {
        let time = Duration::from_secs(u64::try_from(sleep.seconds).unwrap_or(0));
        tokio::time::sleep(time.min(limit)).await;
        return Ok(());
    }
    if let Some(get) = &handler.http_get {
        return tokio::time::timeout(limit, http_get(target, get))
            .await
            .unwrap_or_else(|_| Err("the request did not end in time".into()));
    }
    Ok(())
}

async fn command(target: &Target, command: &[String], limit: Duration) -> Outcome {
    match target.runtime.exec(&target.id, command, limit).await {
        Ok(done) if done.exit_code == 0 => Outcome::Success,
        Ok(done) => {
            let mut output = done.stdout;
            output.extend(done.stderr);
            output.truncate(TOLD);
            Outcome::Failure(String::from_utf8_lossy(&output).into_owned())
        }
        Err(error) if error.timed_out => Outcome::Failure(error.message),
        Err(error) => Outcome::Unknown(error.message),
    }
}

fn address(target: &Target, host: Option<&str>, port: Option<u16>) -> Result<(IpAddr, u16), String> {
    let port = port.ok_or("the port of the probe is not a port of the container")?;
    let host = host.filter(|h| !h.is_empty()).unwrap_or(&target.ip);
    // Probes go to addresses only: a name in `host` would be resolved by the node, which nobody expects.
    let ip = host.parse().map_err(|_| format!("host {host:?} is not an IP address"))?;
    Ok((ip, port))
}

async fn connect(at: Result<(IpAddr, u16), String>) -> Result<(), String> {
    let (ip, port) = at?;
    let socket = std::net::SocketAddr::new(ip, port);
    TcpStream::connect(socket).await.map(|_| ()).map_err(|e| format!("dial tcp {socket}: connect: {}", plain(&e)))
}

/// An I/O error as clients of Go programs know it.
pub fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "connection refused".into(),
        std::io::ErrorKind::HostUnreachable => "no route to host".into(),
        std::io::ErrorKind::NetworkUnreachable => "network is unreachable".into(),
        _ => error.to_string(),
    }
}

async fn health(at: Result<(IpAddr, u16), String>, service: String) -> Result<(), String> {
    let (ip, port) = at?;
    grpc::check(std::net::SocketAddr::new(ip, port), &service).await
}

/// The URL of a request and the address to connect to.
fn url(target: &Target, get: &HTTPGetAction) -> Result<(String, std::net::SocketAddr), String> {
    let (ip, port) = address(target, get.host.as_deref(), spec::port(&target.spec, &get.port))?;
    let scheme = get.scheme.as_deref().unwrap_or("HTTP").to_lowercase();
    let path = get.path.as_deref().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let socket = std::net::SocketAddr::new(ip, port);
    Ok((format!("{scheme}://{socket}{slash}{path}"), socket))
}

async fn http_get(target: &Target, get: &HTTPGetAction) -> Result<(), String> {
    let (url, socket) = url(target, get)?;
    let headers = get.http_headers.iter().flatten().map(|h| (h.name.clone(), h.value.clone())).collect();
    let status = http::get(&url, socket, headers).await.map_err(|e| format!("Get \"{url}\": {e}"))?;
    if (200..400).contains(&status) { Ok(()) } else { Err(format!("HTTP probe failed with statuscode: {status}")) }
}
