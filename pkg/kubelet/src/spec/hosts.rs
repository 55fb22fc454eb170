//! `/etc/hosts` of a pod, and its host name.

use k8s_openapi::api::core::v1::Pod;

/// Clients look for this line.
const HEADER: &str = "# Kubernetes-managed hosts file.";
const HOST_HEADER: &str = "# Kubernetes-managed hosts file (host network).";

/// The longest host name that the kernel takes.
const MAX_NAME: usize = 63;

/// Host name and domain of a pod; the domain is empty where the pod has no subdomain.
pub fn names(pod: &Pod, cluster_domain: &str) -> (String, String) {
    let (meta, spec) = (&pod.metadata, pod.spec.as_ref());
    let named = |v: Option<&String>| v.filter(|v| !v.is_empty()).cloned();
    if let Some(name) = named(spec.and_then(|s| s.hostname_override.as_ref())) {
        return (name, String::new());
    }
    let name = named(spec.and_then(|s| s.hostname.as_ref())).or_else(|| meta.name.clone()).unwrap_or_default();
    let cut: String = name.chars().take(MAX_NAME).collect();
    let name = cut.trim_end_matches(['-', '.']).to_owned();
    let namespace = meta.namespace.as_deref().unwrap_or_default();
    let domain = named(spec.and_then(|s| s.subdomain.as_ref()))
        .map_or_else(String::new, |sub| format!("{sub}.{namespace}.svc.{cluster_domain}"));
    (name, domain)
}

/// The file's text. `host` is the host's own file, which pods on the host's network get.
pub fn file(pod: &Pod, cluster_domain: &str, ips: &[String], host: &str) -> String {
    let spec = pod.spec.as_ref();
    let mut text = if spec.and_then(|s| s.host_network) == Some(true) {
        format!("{HOST_HEADER}\n{host}")
    } else {
        let mut text = format!(
            "{HEADER}\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n\
             fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n"
        );
        let (name, domain) = names(pod, cluster_domain);
        for ip in ips {
            if domain.is_empty() {
                text.push_str(&format!("{ip}\t{name}\n"));
            } else {
                text.push_str(&format!("{ip}\t{name}.{domain}\t{name}\n"));
            }
        }
        text
    };
    let aliases: Vec<_> = spec.iter().flat_map(|s| s.host_aliases.iter().flatten()).collect();
    if !aliases.is_empty() {
        text.push_str("\n# Entries added by HostAliases.\n");
        for alias in aliases {
            let names: Vec<&str> = alias.hostnames.iter().flatten().map(String::as_str).collect();
            text.push_str(&format!("{}\t{}\n", alias.ip, names.join("\t")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(spec: serde_json::Value) -> Pod {
        let mut spec = spec;
        spec["containers"] = json!([]);
        serde_json::from_value(json!({"metadata": {"name": "p", "namespace": "n"}, "spec": spec})).unwrap()
    }

    #[test]
    fn names_and_aliases_stand_in_the_file() {
        let plain = file(&pod(json!({})), "d", &["10.42.0.2".into()], "");
        assert!(plain.starts_with("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"));
        assert!(plain.ends_with("10.42.0.2\tp\n"));
        let made = pod(
            json!({"hostname": "h", "subdomain": "s", "hostAliases": [{"ip": "1.2.3.4", "hostnames": ["a", "b"]}]}),
        );
        let full = file(&made, "d", &["10.42.0.2".into()], "");
        assert!(full.contains("10.42.0.2\th.s.n.svc.d\th\n"));
        assert!(full.ends_with("\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n"));
        let host = file(&pod(json!({"hostNetwork": true})), "d", &[], "127.0.0.1 x\n");
        assert_eq!(host, "# Kubernetes-managed hosts file (host network).\n127.0.0.1 x\n");
    }

    #[test]
    fn long_names_are_cut() {
        let made = pod(json!({"hostname": format!("{}-{}", "a".repeat(62), "b")}));
        assert_eq!(names(&made, "d"), ("a".repeat(62), String::new()));
    }
}
