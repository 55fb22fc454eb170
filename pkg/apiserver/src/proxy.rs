//! The `proxy` subresource: HTTP to a pod, to an endpoint of a service, or to a node's kubelet,
//! from where the server stands. Names have the form `[SCHEME:]NAME[:PORT]`.

use std::net::{IpAddr, SocketAddr};

use api::{Status, Value, tree};
use bytes::Bytes;
use http::{HeaderName, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::upgrade::OnUpgrade;
use store::KeyRange;

use crate::{
    admission,
    body::{Body, full},
    cache::Wanted,
    call::Call,
    connect::{self, Backend},
    keys,
    reply::served,
};

/// `[SCHEME:]NAME[:PORT]`.
#[derive(Debug, PartialEq, Eq)]
struct Target<'a> {
    scheme: &'a str,
    name: &'a str,
    port: &'a str,
}

impl<'a> Target<'a> {
    fn parse(text: &'a str) -> Result<Self, Status> {
        let parts: Vec<&str> = text.split(':').collect();
        let (scheme, name, port) = match parts.as_slice() {
            [name] => ("", *name, ""),
            [name, port] => ("", *name, *port),
            [scheme @ ("" | "http" | "https"), name, port] => (*scheme, *name, *port),
            _ => return Err(Status::bad_request(format!("invalid proxy request {text:?}"))),
        };
        Ok(Target { scheme, name, port })
    }
}

/// Answers a request for `proxy`.
pub async fn handle(call: &Call, method: &Method, upgrade: Option<OnUpgrade>) -> Result<Response<Body>, Status> {
    let target = Target::parse(&call.info.name)?;
    let found = call.server.read(&call.kind, call.namespace(), target.name).await?;
    let stored = found.ok_or_else(|| Status::not_found(&call.kind.group, &call.kind.plural, target.name))?;
    let object = served(&call.kind, &stored)?;
    admission::connected(call, &object).await?;
    let mut backend = match &*call.kind.plural {
        "nodes" => node(call, &object, &target)?,
        "pods" => pod(&object, &target)?,
        _ => service(call, &object, &target).await?,
    };
    if !is_proxyable(backend.address().ip()) {
        return Err(Status::bad_request("address not allowed"));
    }
    if target.scheme == "https"
        && let Backend::Plain(address) = backend
    {
        backend = Backend::Tls(address, call.server.proxy_client.clone());
    }
    let upgrading = upgrade.is_some() && call.headers.contains_key(header::UPGRADE);
    let path = path(call);
    if path.is_empty() && !upgrading && matches!(*method, Method::GET | Method::HEAD) {
        return moved(call);
    }
    let path = if path.is_empty() { "/" } else { path };
    let mut request = Request::builder().method(method).uri(with_query(call, path));
    if let Some(headers) = request.headers_mut() {
        for (name, value) in &call.headers {
            if !is_own(name, upgrading) {
                headers.append(name, value.clone());
            }
        }
        headers.entry(header::HOST).or_insert(host(&backend)?);
    }
    let request = request.body(Full::new(call.body.clone())).map_err(Status::internal)?;
    let response = connect::send(call, &backend, request).await.map_err(|mut status| {
        status.code = 503;
        status.reason = "ServiceUnavailable";
        status
    })?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return connect::switch(call, response, upgrade);
    }
    let (mut parts, body) = response.into_parts();
    let gone: Vec<HeaderName> = parts.headers.keys().filter(|name| is_own(name, false)).cloned().collect();
    for name in gone {
        parts.headers.remove(name);
    }
    Ok(Response::from_parts(parts, connect::until_stop(call, body)))
}

/// Whether an address leads to somewhere else: not to this machine, its link, or many at once.
/// What stands in objects is written by others.
fn is_proxyable(ip: IpAddr) -> bool {
    let refused = match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_link_local() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    let ip = ip.to_canonical();
    !(refused || ip.is_loopback() || ip.is_unspecified() || ip.is_multicast())
}

/// Headers that stay on their own connection, and the credentials for this server.
fn is_own(name: &HeaderName, upgrading: bool) -> bool {
    let hop = [header::CONNECTION, header::UPGRADE].contains(name) && !upgrading;
    let own = [header::TRANSFER_ENCODING, header::CONTENT_LENGTH, header::AUTHORIZATION, header::TE, header::TRAILER];
    hop || own.contains(name) || name.as_str() == "keep-alive" || name.as_str().starts_with("impersonate-")
}

fn host(backend: &Backend) -> Result<http::HeaderValue, Status> {
    http::HeaderValue::from_str(&backend.address().to_string()).map_err(Status::internal)
}

/// To the same with a slash at its end: relative links of what stands there would lead past it.
fn moved(call: &Call) -> Result<Response<Body>, Status> {
    let location = with_query(call, &format!("{}/", call.uri.path()));
    let moved = Response::builder().status(StatusCode::MOVED_PERMANENTLY).header(header::LOCATION, location);
    moved.body(full(Bytes::new())).map_err(Status::internal)
}

fn with_query(call: &Call, path: &str) -> String {
    match call.uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

/// What stands behind `/proxy` in the path as it was sent; may be nothing.
fn path(call: &Call) -> &str {
    // Group and version, the namespace if there is one, resource, name and `proxy`.
    let group = if call.info.group.is_empty() { 2 } else { 3 };
    let namespace = if call.kind.namespaced { 2 } else { 0 };
    behind(call.uri.path(), group + namespace + 3)
}

/// What stands behind so many segments of a path. Empty segments before are none, as where the request is read.
fn behind(path: &str, segments: usize) -> &str {
    let mut rest = path;
    for _ in 0..segments {
        let segment = rest.trim_start_matches('/');
        rest = segment.find('/').map_or("", |end| &segment[end..]);
    }
    rest
}

fn node(call: &Call, node: &Value, target: &Target<'_>) -> Result<Backend, Status> {
    let mut address = connect::kubelet_address(node)?;
    if !target.port.is_empty() {
        let port = target.port.parse().map_err(|_| Status::bad_request("the port of a node is a number"))?;
        if port != address.port() {
            address.set_port(port);
            return Ok(Backend::Plain(address));
        }
    }
    Ok(Backend::Tls(address, call.server.kubelet_client.clone()))
}

fn pod(pod: &Value, target: &Target<'_>) -> Result<Backend, Status> {
    let unavailable = || Status::unavailable(format!("pod {} has no address yet", target.name));
    let ip: IpAddr = tree::text(pod, "status.podIP").parse().map_err(|_| unavailable())?;
    let mut ports = tree::items(pod, "spec.containers").iter().flat_map(|c| tree::items(c, "ports"));
    let port = match target.port {
        "" => ports.next().and_then(|p| p["containerPort"].as_u64()).or(Some(80)),
        text => {
            text.parse().ok().or_else(|| ports.find(|p| p["name"] == text).and_then(|p| p["containerPort"].as_u64()))
        }
    };
    let port = port.and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or_else(|| Status::bad_request(format!("pod {} has no port {:?}", target.name, target.port)))?;
    Ok(Backend::Plain(SocketAddr::new(ip, port)))
}

/// Some ready endpoint of the service's port.
async fn service(call: &Call, service: &Value, target: &Target<'_>) -> Result<Backend, Status> {
    let ports = tree::items(service, "spec.ports");
    let wanted = |port: &&Value| match target.port {
        "" => ports.len() == 1,
        text => port["name"] == text || text.parse().is_ok_and(|number: u64| port["port"] == number),
    };
    let none = || Status::unavailable(format!("no endpoints available for service {:?}", target.name));
    let port = ports.iter().find(wanted).ok_or_else(|| {
        Status::unavailable(format!("no service port {:?} found for service {:?}", target.port, target.name))
    })?;
    let kind = call.kinds.by_resource("discovery.k8s.io", "v1", "endpointslices").ok_or_else(none)?;
    call.server.caches.at_head().await?;
    let cache = call.server.caches.of(kind).await?;
    let scope = KeyRange::prefix(keys::scope(kind, call.namespace()));
    let page = cache.list(&scope, |slice| {
        if slice.facts.label("kubernetes.io/service-name") == Some(target.name) { Wanted::Yes } else { Wanted::No }
    });
    let slices: Vec<Value> = page.objects.iter().filter_map(|slice| slice.stored.tree().ok()).collect();
    let ready = endpoints(&slices, tree::text(port, "name"));
    let ready = of_pods(call, ready).await?;
    match ready.len() {
        0 => Err(none()),
        count => Ok(Backend::Plain(ready[rand::random_range(0..count)])),
    }
}

/// The addresses that are those of the pods which they name: anybody may write endpoints.
async fn of_pods(call: &Call, endpoints: Vec<(SocketAddr, String)>) -> Result<Vec<SocketAddr>, Status> {
    let Some(pods) = call.kinds.by_resource("", "v1", "pods") else { return Ok(Vec::new()) };
    let cache = call.server.caches.of(pods).await?;
    let mut found = Vec::new();
    for (address, name) in endpoints {
        let Some(pod) = cache.get(keys::object(pods, call.namespace(), &name).as_bytes()) else { continue };
        let pod = pod.stored.tree()?;
        let listed = tree::items(&pod, "status.podIPs").iter().map(|ip| tree::text(ip, "ip"));
        let mut own = listed.chain([tree::text(&pod, "status.podIP")]).filter_map(|ip| ip.parse::<IpAddr>().ok());
        if own.any(|ip| ip == address.ip()) {
            found.push(address);
        }
    }
    Ok(found)
}

/// Ready addresses of a named port, with the name of their pod.
fn endpoints(slices: &[Value], port: &str) -> Vec<(SocketAddr, String)> {
    let mut ready = Vec::new();
    for slice in slices {
        let found = tree::items(slice, "ports").iter().find(|p| tree::text(p, "name") == port);
        let Some(number) = found.and_then(|p| u16::try_from(p["port"].as_u64()?).ok()) else { continue };
        for endpoint in tree::items(slice, "endpoints").iter().filter(|e| e["conditions"]["ready"] != false) {
            let addresses = tree::texts(endpoint, "addresses").filter_map(|ip| ip.parse::<IpAddr>().ok());
            let pod = if endpoint["targetRef"]["kind"] == "Pod" { tree::text(endpoint, "targetRef.name") } else { "" };
            if !pod.is_empty() {
                ready.extend(addresses.map(|ip| (SocketAddr::new(ip, number), pod.to_owned())));
            }
        }
    }
    ready
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_endpoints_of_the_port_are_chosen() {
        let slices = [serde_json::json!({
            "ports": [{"name": "http", "port": 8080}, {"name": "other", "port": 9}],
            "endpoints": [
                {"addresses": ["10.0.0.1"], "conditions": {"ready": true}, "targetRef": {"kind": "Pod", "name": "a"}},
                {"addresses": ["10.0.0.2"], "conditions": {"ready": false}},
                {"addresses": ["10.0.0.3"], "targetRef": {"kind": "Pod", "name": "c"}},
                {"addresses": ["10.0.0.4"]},
            ],
        })];
        let shown = |port| endpoints(&slices, port).iter().map(|(ip, pod)| format!("{ip} {pod}")).collect::<Vec<_>>();
        assert_eq!(shown("http"), ["10.0.0.1:8080 a", "10.0.0.3:8080 c"]);
        assert_eq!(shown("none"), Vec::<String>::new());
    }

    #[test]
    fn the_path_was_cut_at_names_that_look_like_it() {
        for (path, segments, want) in [
            ("/api/v1/namespaces/n/services/web/proxy/a/b/", 7, "/a/b/"),
            ("/api/v1/namespaces/n/services/web/proxy", 7, ""),
            ("/api/v1/namespaces/n/services/web/proxy/", 7, "/"),
            // Namespaces and objects may be called like a resource or a subresource.
            ("/api/v1/namespaces/services/services/proxy/proxy/x", 7, "/x"),
            ("/api/v1/namespaces/pods/pods/proxy-1/proxy/pods/x/proxy/y", 7, "/pods/x/proxy/y"),
            ("/api/v1/nodes/proxy/proxy/proxy/stats", 5, "/proxy/stats"),
            // Escapes and empty segments are passed on as they are.
            ("/api/v1//namespaces/n/pods/p%3Aweb/proxy//a%20b//c", 7, "//a%20b//c"),
            ("/api/v1", 7, ""),
        ] {
            assert_eq!(behind(path, segments), want, "{path}");
        }
    }

    #[test]
    fn the_proxy_does_not_lead_home() {
        for (ip, want) in [
            ("10.42.0.7", true),
            ("2001:db8::1", true),
            ("127.0.0.1", false),
            ("::ffff:127.0.0.1", false),
            ("169.254.169.254", false),
            ("fe80::1", false),
            ("0.0.0.0", false),
            ("224.0.0.1", false),
            ("::1", false),
        ] {
            assert_eq!(is_proxyable(ip.parse().unwrap()), want, "{ip}");
        }
    }

    #[test]
    fn names_carry_scheme_and_port() {
        let target = |text| Target::parse(text).map(|t| (t.scheme, t.name, t.port)).ok();
        assert_eq!(target("web"), Some(("", "web", "")));
        assert_eq!(target("web:80"), Some(("", "web", "80")));
        assert_eq!(target("https:web:443"), Some(("https", "web", "443")));
        assert_eq!(target(":web:"), Some(("", "web", "")));
        assert_eq!(target("ftp:web:1"), None);
        assert_eq!(target("a:b:c:d"), None);
    }
}
