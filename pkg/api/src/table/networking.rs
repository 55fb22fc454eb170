//! Columns of Services, their endpoints, Ingresses and policies.

use serde_json::Value;

use super::{age, code, format_labels, format_selector, name, some_of, text, wide};
use crate::{kinds::Column, tree};

pub(crate) static SERVICE: [Column; 7] = [
    name("Name"),
    text("Type", "spec.type", ""),
    code("Cluster-IP", |service, _| match tree::texts(service, "spec.clusterIPs").next() {
        None => "<none>".into(),
        Some(ip) => ip.into(),
    }),
    code("External-IP", |service, _| external_ip(service).into()),
    code("Port(s)", |service, _| ports(service).into()),
    age(),
    wide("Selector", |service, _| format_labels(tree::at(service, "spec.selector")).into()),
];

fn external_ip(service: &Value) -> String {
    let given = || tree::texts(service, "spec.externalIPs").map(str::to_owned);
    let listed = |all: Vec<String>, otherwise: &str| if all.is_empty() { otherwise.to_owned() } else { all.join(",") };
    match tree::text(service, "spec.type") {
        "ClusterIP" | "NodePort" => listed(given().collect(), "<none>"),
        "LoadBalancer" => listed(load_balancers(service).into_iter().chain(given()).collect(), "<pending>"),
        "ExternalName" => tree::text(service, "spec.externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// Addresses or host names of load balancers, each once, in order.
fn load_balancers(object: &Value) -> Vec<String> {
    let address = |ingress: &Value| match tree::text(ingress, "ip") {
        "" => tree::text(ingress, "hostname").to_owned(),
        ip => ip.to_owned(),
    };
    let mut all: Vec<_> = tree::items(object, "status.loadBalancer.ingress").iter().map(address).collect();
    all.retain(|a| !a.is_empty());
    all.sort_unstable();
    all.dedup();
    all
}

fn ports(service: &Value) -> String {
    let ports = tree::items(service, "spec.ports");
    if ports.is_empty() {
        return "<none>".to_owned();
    }
    let port = |port: &Value| {
        let (number, protocol) = (tree::int(port, "port"), tree::text(port, "protocol"));
        match tree::int(port, "nodePort") {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    };
    ports.iter().map(port).collect::<Vec<_>>().join(",")
}

pub(crate) static ENDPOINTS: [Column; 3] =
    [name("Name"), code("Endpoints", |endpoints, _| endpoints_text(endpoints).into()), age()];

fn endpoints_text(endpoints: &Value) -> String {
    let subsets = tree::items(endpoints, "subsets");
    if subsets.is_empty() {
        return "<none>".to_owned();
    }
    let mut all = Vec::new();
    for subset in subsets {
        let addresses = || tree::items(subset, "addresses").iter().map(|a| tree::text(a, "ip"));
        let ports = tree::items(subset, "ports");
        if ports.is_empty() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in ports {
            let port = tree::int(port, "port");
            let joined = |ip: &str| if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") };
            all.extend(addresses().map(joined));
        }
    }
    if all.is_empty() { String::new() } else { some_of(&all) }
}

pub(crate) static ENDPOINT_SLICE: [Column; 5] = [
    name("Name"),
    text("AddressType", "addressType", ""),
    code("Ports", |slice, _| {
        let port = |port: &Value| match (tree::at(port, "port").as_i64(), tree::text(port, "name")) {
            (Some(number), _) => number.to_string(),
            (None, "") => "*".to_owned(),
            (None, name) => name.to_owned(),
        };
        some_of(&tree::items(slice, "ports").iter().map(port).collect::<Vec<_>>()).into()
    }),
    code("Endpoints", |slice, _| {
        let endpoints = tree::items(slice, "endpoints").iter();
        let addresses = endpoints.flat_map(|e| tree::texts(e, "addresses").map(str::to_owned));
        some_of(&addresses.collect::<Vec<_>>()).into()
    }),
    age(),
];

pub(crate) static INGRESS: [Column; 6] = [
    name("Name"),
    text("Class", "spec.ingressClassName", "<none>"),
    code("Hosts", |ingress, _| {
        let rules = tree::items(ingress, "spec.rules");
        let hosts: Vec<_> = rules.iter().map(|r| tree::text(r, "host")).filter(|h| !h.is_empty()).take(3).collect();
        match (hosts.len(), rules.len()) {
            (0, _) => "*".into(),
            (3, rules) if rules > 3 => format!("{} + {} more...", hosts.join(","), rules - 3).into(),
            _ => hosts.join(",").into(),
        }
    }),
    code("Address", |ingress, _| load_balancers(ingress).join(",").into()),
    code("Ports", |ingress, _| if tree::items(ingress, "spec.tls").is_empty() { "80" } else { "80, 443" }.into()),
    age(),
];

pub(crate) static INGRESS_CLASS: [Column; 4] = [
    super::column_named(|class, _| {
        let default = class["metadata"]["annotations"]["ingressclass.kubernetes.io/is-default-class"] == "true";
        super::default_mark(class, default)
    }),
    text("Controller", "spec.controller", ""),
    code("Parameters", |class, _| {
        let parameters = tree::at(class, "spec.parameters");
        let (kind, name) = (tree::text(parameters, "kind"), tree::text(parameters, "name"));
        match (parameters, tree::text(parameters, "apiGroup")) {
            (Value::Null, _) => "<none>".into(),
            (_, "") => format!("{kind}/{name}").into(),
            (_, group) => format!("{kind}.{group}/{name}").into(),
        }
    }),
    age(),
];

pub(crate) static NETWORK_POLICY: [Column; 3] = [
    name("Name"),
    code("Pod-Selector", |policy, _| format_selector(tree::at(policy, "spec.podSelector")).into()),
    age(),
];

pub(crate) static SERVICE_CIDR: [Column; 3] =
    [name("Name"), code("CIDRs", |c, _| tree::texts(c, "spec.cidrs").collect::<Vec<_>>().join(",").into()), age()];

pub(crate) static IP_ADDRESS: [Column; 2] = [
    name("Name"),
    code("ParentRef", |ip, _| {
        let parent = tree::at(ip, "spec.parentRef");
        if parent.is_null() {
            return "<none>".into();
        }
        let mut text = tree::text(parent, "resource").to_lowercase();
        for (separator, field) in [('.', "group"), ('/', "namespace")] {
            let part = tree::text(parent, field);
            if !part.is_empty() {
                text.push(separator);
                text.push_str(part);
            }
        }
        format!("{text}/{}", tree::text(parent, "name")).into()
    }),
];
