//! The environment of a container, and `$(VAR)` in commands and arguments.
//!
//! Order of precedence, the later the stronger: service variables, `envFrom` in its order, `env`. The runtime adds what
//! the image has.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Container, EnvVar, Pod, Secret, Service};

use super::fields::{self, Facts};

/// An object that a pod refers to, in the pod's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A ConfigMap by name.
    ConfigMap(String),
    /// A Secret by name.
    Secret(String),
}

/// Objects fetched for a pod. What is missing does not exist.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    /// By name.
    pub config_maps: BTreeMap<String, std::sync::Arc<ConfigMap>>,
    /// By name.
    pub secrets: BTreeMap<String, std::sync::Arc<Secret>>,
}

impl Fetched {
    /// One key of a ConfigMap, as text.
    fn config_map_key(&self, name: &str, key: &str) -> Result<String, String> {
        let map = self.config_maps.get(name).ok_or_else(|| format!("configmap \"{name}\" not found"))?;
        let value = map.data.as_ref().and_then(|d| d.get(key));
        value.cloned().ok_or_else(|| {
            let namespace = map.metadata.namespace.as_deref().unwrap_or_default();
            format!("couldn't find key {key} in ConfigMap {namespace}/{name}")
        })
    }

    /// One key of a Secret, as text.
    fn secret_key(&self, name: &str, key: &str) -> Result<String, String> {
        let secret = self.secrets.get(name).ok_or_else(|| format!("secret \"{name}\" not found"))?;
        let value = secret.data.as_ref().and_then(|d| d.get(key));
        value.map(text).ok_or_else(|| {
            let namespace = secret.metadata.namespace.as_deref().unwrap_or_default();
            format!("couldn't find key {key} in Secret {namespace}/{name}")
        })
    }
}

fn text(bytes: &ByteString) -> String {
    String::from_utf8_lossy(&bytes.0).into_owned()
}

/// The ConfigMaps and Secrets that the environments of a pod's containers name.
pub fn sources(pod: &Pod) -> BTreeSet<Source> {
    let mut sources = BTreeSet::new();
    for (_, container) in super::containers(pod) {
        for from in container.env_from.iter().flatten() {
            sources.extend(from.config_map_ref.iter().map(|r| Source::ConfigMap(r.name.clone())));
            sources.extend(from.secret_ref.iter().map(|r| Source::Secret(r.name.clone())));
        }
        for from in container.env.iter().flatten().filter_map(|e| e.value_from.as_ref()) {
            sources.extend(from.config_map_key_ref.iter().map(|r| Source::ConfigMap(r.name.clone())));
            sources.extend(from.secret_key_ref.iter().map(|r| Source::Secret(r.name.clone())));
        }
    }
    sources
}

/// Variables in order; a later one of the same name replaces the earlier one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Env {
    order: Vec<String>,
    values: BTreeMap<String, String>,
}

impl Env {
    fn set(&mut self, name: &str, value: String) {
        if self.values.insert(name.to_owned(), value).is_none() {
            self.order.push(name.to_owned());
        }
    }

    /// One variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.order.iter().filter_map(|n| Some((n.as_str(), self.get(n)?)))
    }
}

/// The environment of `container`. `services` are those of all namespaces. An error is for the status of the container
/// (`CreateContainerConfigError`).
pub fn build(
    pod: &Pod,
    container: &Container,
    facts: &Facts,
    fetched: &Fetched,
    services: &[std::sync::Arc<Service>],
) -> Result<Env, String> {
    let links = pod.spec.as_ref().and_then(|s| s.enable_service_links) != Some(false);
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    let of_services = service_variables(namespace, links, services);
    let mut env = Env::default();
    for from in container.env_from.iter().flatten() {
        let prefix = from.prefix.as_deref().unwrap_or_default();
        if let Some(reference) = &from.config_map_ref {
            match fetched.config_maps.get(&reference.name) {
                Some(map) => {
                    for (key, value) in map.data.iter().flatten() {
                        env.set(&format!("{prefix}{key}"), value.clone());
                    }
                }
                None if reference.optional == Some(true) => {}
                None => return Err(format!("configmap \"{}\" not found", reference.name)),
            }
        }
        if let Some(reference) = &from.secret_ref {
            match fetched.secrets.get(&reference.name) {
                Some(secret) => {
                    for (key, value) in secret.data.iter().flatten() {
                        env.set(&format!("{prefix}{key}"), text(value));
                    }
                }
                None if reference.optional == Some(true) => {}
                None => return Err(format!("secret \"{}\" not found", reference.name)),
            }
        }
    }
    for variable in container.env.iter().flatten() {
        let value = match &variable.value {
            Some(value) if !value.is_empty() => {
                Some(expand(value, |name| env.get(name).or_else(|| of_services.get(name).map(String::as_str))))
            }
            _ => referenced(pod, container, facts, fetched, variable)?,
        };
        if let Some(value) = value {
            env.set(&variable.name, value);
        }
    }
    for (name, value) in of_services {
        if env.get(&name).is_none() {
            env.set(&name, value);
        }
    }
    Ok(env)
}

/// The value of a variable with `valueFrom`; `None` if it is optional and not there.
fn referenced(
    pod: &Pod,
    container: &Container,
    facts: &Facts,
    fetched: &Fetched,
    variable: &EnvVar,
) -> Result<Option<String>, String> {
    let Some(from) = &variable.value_from else { return Ok(Some(String::new())) };
    let optional = |result: Result<String, String>, optional: Option<bool>| match result {
        Err(_) if optional == Some(true) => Ok(None),
        result => result.map(Some),
    };
    if let Some(field) = &from.field_ref {
        return fields::field(pod, facts, &field.field_path).map(Some);
    }
    if let Some(resource) = &from.resource_field_ref {
        return fields::resource(pod, facts, Some(&container.name), resource).map(Some);
    }
    if let Some(key) = &from.config_map_key_ref {
        return optional(fetched.config_map_key(&key.name, &key.key), key.optional);
    }
    if let Some(key) = &from.secret_key_ref {
        return optional(fetched.secret_key(&key.name, &key.key), key.optional);
    }
    Err(format!("environment variable {} refers to a source that this node does not know", variable.name))
}

/// Replaces `$(NAME)` by the variable where there is one; `$$` stands for `$`.
pub fn expand<'a>(text: &str, lookup: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('(').and_then(|r| r.split_once(')')) {
            match lookup(name) {
                Some(value) => out.push_str(value),
                None => out.push_str(&format!("$({name})")),
            }
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

/// Variables in the form that old container links had, for the services of the pod's namespace and for the API's own.
fn service_variables(namespace: &str, links: bool, services: &[std::sync::Arc<Service>]) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    let wanted = |s: &&std::sync::Arc<Service>| {
        let (ns, name) = (s.metadata.namespace.as_deref(), s.metadata.name.as_deref());
        (ns == Some("default") && name == Some("kubernetes")) || (links && ns == Some(namespace))
    };
    // A service of the pod's own namespace wins over the API's service of the same name.
    let mut chosen: Vec<_> = services.iter().filter(wanted).collect();
    chosen.sort_by_key(|s| (s.metadata.namespace.as_deref() == Some(namespace), s.metadata.name.clone()));
    for service in chosen {
        let Some(spec) = &service.spec else { continue };
        let Some(ip) = spec.cluster_ip.as_deref().filter(|ip| !ip.is_empty() && *ip != "None") else { continue };
        let name = variable_name(service.metadata.name.as_deref().unwrap_or_default());
        let host = if ip.contains(':') { format!("[{ip}]") } else { ip.to_owned() };
        variables.insert(format!("{name}_SERVICE_HOST"), ip.to_owned());
        for (i, port) in spec.ports.iter().flatten().enumerate() {
            let protocol = port.protocol.as_deref().unwrap_or("TCP");
            if i == 0 {
                variables.insert(format!("{name}_SERVICE_PORT"), port.port.to_string());
            }
            if let Some(port_name) = port.name.as_deref().filter(|n| !n.is_empty()) {
                variables.insert(format!("{name}_SERVICE_PORT_{}", variable_name(port_name)), port.port.to_string());
            }
            let url = format!("{}://{host}:{}", protocol.to_lowercase(), port.port);
            if i == 0 {
                variables.insert(format!("{name}_PORT"), url.clone());
            }
            let prefix = format!("{name}_PORT_{}_{}", port.port, protocol.to_uppercase());
            variables.insert(format!("{prefix}_PROTO"), protocol.to_lowercase());
            variables.insert(format!("{prefix}_PORT"), port.port.to_string());
            variables.insert(format!("{prefix}_ADDR"), ip.to_owned());
            variables.insert(prefix, url);
        }
    }
    variables
}

fn variable_name(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::sync::Arc;

    #[test]
    fn references_expand() {
        let lookup = |name: &str| (name == "A").then_some("1");
        let table = [
            ("$(A)", "1"),
            ("x$(A)y$(A)", "x1y1"),
            ("$$(A)", "$(A)"),
            ("$$$(A)", "$1"),
            ("$(B)", "$(B)"),
            ("$A", "$A"),
            ("$(A", "$(A"),
            ("$", "$"),
            ("$$", "$"),
            ("", ""),
        ];
        for (text, want) in table {
            assert_eq!(expand(text, lookup), want, "{text}");
        }
    }

    fn environment(container: Value, links: bool) -> Result<Vec<String>, String> {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": "p", "namespace": "n"},
            "spec": {"containers": [container], "enableServiceLinks": links},
        }))
        .unwrap();
        let mut fetched = Fetched::default();
        let map = json!({"metadata": {"name": "m", "namespace": "n"}, "data": {"k": "from-map", "l": "2"}});
        fetched.config_maps.insert("m".into(), Arc::new(serde_json::from_value(map).unwrap()));
        let secret = json!({"metadata": {"name": "s", "namespace": "n"}, "data": {"k": "aGlkZGVu"}});
        fetched.secrets.insert("s".into(), Arc::new(serde_json::from_value(secret).unwrap()));
        let service = |ns: &str, name: &str| {
            Arc::new(
                serde_json::from_value(json!({
                    "metadata": {"namespace": ns, "name": name},
                    "spec": {"clusterIP": "10.43.0.1", "ports": [{"port": 443, "name": "https"}]},
                }))
                .unwrap(),
            )
        };
        let services = [service("default", "kubernetes"), service("n", "my-db"), service("other", "no")];
        let container = &pod.spec.as_ref().unwrap().containers[0];
        let env = build(&pod, container, &Facts::default(), &fetched, &services)?;
        Ok(env.iter().map(|(k, v)| format!("{k}={v}")).collect())
    }

    #[test]
    fn sources_are_merged_in_order() {
        let own = |container| -> Result<Vec<String>, String> {
            let mut env = environment(container, false)?;
            env.retain(|v| !v.starts_with("KUBERNETES_"));
            Ok(env)
        };
        let err = |e: &str| Err(e.to_owned());
        let table: [(Value, Result<Vec<String>, String>); 11] = [
            (
                json!({"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)$(C)"}]}),
                Ok(vec!["A=1".into(), "B=1$(C)".into()]),
            ),
            (json!({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}), Ok(vec!["A=2".into()])),
            (json!({"env": [{"name": "A"}]}), Ok(vec!["A=".into()])),
            (
                json!({"envFrom": [{"configMapRef": {"name": "m"}, "prefix": "P_"}]}),
                Ok(vec!["P_k=from-map".into(), "P_l=2".into()]),
            ),
            (
                json!({"envFrom": [{"configMapRef": {"name": "m"}}, {"secretRef": {"name": "s"}}],
                    "env": [{"name": "l", "value": "over"}]}),
                Ok(vec!["k=hidden".into(), "l=over".into()]),
            ),
            (json!({"envFrom": [{"configMapRef": {"name": "x"}}]}), err("configmap \"x\" not found")),
            (json!({"envFrom": [{"configMapRef": {"name": "x", "optional": true}}]}), Ok(vec![])),
            (
                json!({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}),
                Ok(vec!["A=hidden".into()]),
            ),
            (
                json!({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "z"}}}]}),
                err("couldn't find key z in Secret n/s"),
            ),
            (
                json!({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "z", "optional": true}}}]}),
                Ok(vec![]),
            ),
            (
                json!({"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
                Ok(vec!["A=p".into()]),
            ),
        ];
        for (mut container, want) in table {
            container["name"] = json!("c");
            assert_eq!(own(container.clone()), want, "{container}");
        }
    }

    #[test]
    fn services_become_variables() {
        let env = environment(json!({"name": "c"}), true).unwrap();
        assert!(env.contains(&"MY_DB_SERVICE_HOST=10.43.0.1".into()));
        assert!(env.contains(&"MY_DB_SERVICE_PORT_HTTPS=443".into()));
        assert!(env.contains(&"MY_DB_PORT_443_TCP=tcp://10.43.0.1:443".into()));
        assert!(env.contains(&"KUBERNETES_SERVICE_PORT=443".into()));
        assert!(!env.iter().any(|v| v.starts_with("NO_")));
        let env = environment(json!({"name": "c"}), false).unwrap();
        assert_eq!(env.len(), 8, "only the API's own: {env:?}");
    }
}
