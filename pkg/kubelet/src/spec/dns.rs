//! `resolv.conf` of a pod.
//!
//! Rules: <https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-dns-policy>. A pod gets at
//! most 3 name servers and 32 search domains with together 2048 characters: more than that the resolvers of C libraries
//! do not read.

use std::net::IpAddr;
use std::path::Path;

use cri::v1::DnsConfig;
use k8s_openapi::api::core::v1::Pod;

const MAX_SERVERS: usize = 3;
const MAX_SEARCHES: usize = 32;
const MAX_SEARCH_CHARS: usize = 2048;

/// Names of the cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterDns {
    /// Addresses of the cluster's DNS service.
    pub servers: Vec<IpAddr>,
    /// The cluster's domain.
    pub domain: String,
}

/// Where a host keeps its own `resolv.conf`, the more useful first: the stub of systemd-resolved at 127.0.0.53 cannot
/// be reached from a pod, the file beside it names the real servers.
const HOST_FILES: [&str; 2] = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/// The host's configuration, without servers that listen on loopback.
pub fn host() -> DnsConfig {
    let read = |path: &str| parse(&std::fs::read_to_string(Path::new(path)).unwrap_or_default());
    let first = read(HOST_FILES[0]);
    if first.servers.iter().any(|s| is_loopback(s)) {
        let second = read(HOST_FILES[1]);
        if second.servers.iter().any(|s| !is_loopback(s)) {
            return reachable(second);
        }
    }
    reachable(first)
}

fn is_loopback(server: &str) -> bool {
    server.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn reachable(mut config: DnsConfig) -> DnsConfig {
    config.servers.retain(|s| !is_loopback(s));
    config
}

/// Reads a `resolv.conf`.
pub fn parse(text: &str) -> DnsConfig {
    let mut config = DnsConfig::default();
    for line in text.lines() {
        let mut words = line.split(['#', ';']).next().unwrap_or_default().split_whitespace();
        match words.next() {
            Some("nameserver") => config.servers.extend(words.next().map(String::from)),
            // The last line counts.
            Some("search") => {
                config.searches = words.filter(|w| *w != ".").map(|w| w.trim_end_matches('.').into()).collect()
            }
            Some("options") => config.options = words.map(String::from).collect(),
            _ => {}
        }
    }
    config
}

/// The configuration of `pod` on a host with `host`.
pub fn pod(pod: &Pod, cluster: &ClusterDns, host: &DnsConfig) -> DnsConfig {
    let spec = pod.spec.as_ref();
    let host_network = spec.and_then(|s| s.host_network) == Some(true);
    let policy = match spec.and_then(|s| s.dns_policy.as_deref()).unwrap_or("ClusterFirst") {
        "ClusterFirst" if host_network => "Default",
        "ClusterFirstWithHostNet" => "ClusterFirst",
        policy => policy,
    };
    let mut config = match policy {
        "None" => DnsConfig::default(),
        "ClusterFirst" if !cluster.servers.is_empty() => {
            let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
            let domain = &cluster.domain;
            let own = [format!("{namespace}.svc.{domain}"), format!("svc.{domain}"), domain.clone()];
            DnsConfig {
                servers: cluster.servers.iter().map(ToString::to_string).collect(),
                searches: own.into_iter().chain(host.searches.iter().cloned()).collect(),
                options: vec!["ndots:5".into()],
            }
        }
        _ => host.clone(),
    };
    if let Some(extra) = spec.and_then(|s| s.dns_config.as_ref()) {
        config.servers.extend(extra.nameservers.iter().flatten().cloned());
        config.searches.extend(extra.searches.iter().flatten().cloned());
        for option in extra.options.iter().flatten() {
            let Some(name) = &option.name else { continue };
            config.options.retain(|o| o.split(':').next() != Some(name));
            config.options.push(match &option.value {
                Some(value) => format!("{name}:{value}"),
                None => name.clone(),
            });
        }
    }
    limit(config)
}

fn limit(mut config: DnsConfig) -> DnsConfig {
    let mut seen = std::collections::BTreeSet::new();
    config.servers.retain(|s| seen.insert(s.clone()));
    seen.clear();
    config.searches.retain(|s| seen.insert(s.clone()));
    config.servers.truncate(MAX_SERVERS);
    config.searches.truncate(MAX_SEARCHES);
    let mut chars = 0;
    config.searches.retain(|s| {
        chars += s.len() + 1;
        chars <= MAX_SEARCH_CHARS
    });
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn policies() {
        let cluster = ClusterDns { servers: vec!["10.43.0.10".parse().unwrap()], domain: "cluster.local".into() };
        let host = parse("# c\nsearch old\nsearch lan .\nnameserver 192.0.2.53\noptions edns0\n");
        let own = "10.43.0.10|n.svc.cluster.local svc.cluster.local cluster.local lan|ndots:5";
        let table = [
            (json!({}), own),
            (json!({"dnsPolicy": "Default"}), "192.0.2.53|lan|edns0"),
            (json!({"hostNetwork": true}), "192.0.2.53|lan|edns0"),
            (json!({"hostNetwork": true, "dnsPolicy": "ClusterFirstWithHostNet"}), own),
            (
                json!({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"], "searches": ["a", "a"],
                       "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}]}}),
                "1.1.1.1|a|ndots:2 edns0",
            ),
            (
                json!({"dnsConfig": {"options": [{"name": "ndots", "value": "2"}]}}),
                "10.43.0.10|n.svc.cluster.local svc.cluster.local cluster.local lan|ndots:2",
            ),
        ];
        for (spec, want) in table {
            let mut spec = spec;
            spec["containers"] = json!([]);
            let made: Pod = serde_json::from_value(json!({"metadata": {"namespace": "n"}, "spec": spec})).unwrap();
            let got = pod(&made, &cluster, &host);
            let got = [got.servers.join(" "), got.searches.join(" "), got.options.join(" ")].join("|");
            assert_eq!(got, want, "{spec}");
        }
    }

    #[test]
    fn a_stub_resolver_on_loopback_is_not_handed_to_pods() {
        let config = reachable(parse("nameserver 127.0.0.53\nnameserver ::1\nnameserver 192.0.2.53"));
        assert_eq!(config.servers, ["192.0.2.53"]);
    }
}
