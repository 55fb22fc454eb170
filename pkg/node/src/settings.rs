//! What a user may say of a node.

use std::{collections::BTreeMap, net::IpAddr};

use api::validation::names;
use k8s_openapi::api::core::v1::Taint;

use crate::{Error, address};

/// As the user set them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the node.
    pub name: Option<String>,
    /// Address of the node.
    pub ip: Option<IpAddr>,
    /// `key=value`.
    pub labels: Vec<String>,
    /// `key=value:effect`.
    pub taints: Vec<String>,
    /// A runtime that is there already.
    pub runtime_endpoint: Option<String>,
    /// Of the kubelet.
    pub kubelet_port: u16,
    /// Above the cgroups of pods.
    pub cgroup_root: String,
}

/// Name and address of a node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Of the Node object.
    pub name: String,
    /// Where other nodes reach it.
    pub ip: IpAddr,
}

fn wrong(option: &'static str, value: &dyn std::fmt::Display, message: &str) -> Error {
    Error::Option { option, value: value.to_string(), message: message.to_owned() }
}

/// The name of this node: `given`, or that of the host.
pub fn node_name(given: Option<String>) -> Result<String, Error> {
    let name = given.or_else(address::host_name).unwrap_or_default();
    match names::subdomain(&name).first() {
        Some(fault) => Err(wrong("node-name", &name, fault)),
        None => Ok(name),
    }
}

impl Settings {
    /// Fills in what the user left to us.
    pub fn resolve(&self) -> Result<Node, Error> {
        let name = node_name(self.name.clone())?;
        let ip = self.ip.unwrap_or_else(address::node_ip);
        if !address::is_own(ip) {
            return Err(wrong("node-ip", &ip, "no interface of this machine has this address"));
        }
        Ok(Node { name, ip })
    }

    /// Labels as a map.
    pub fn labels(&self) -> Result<BTreeMap<String, String>, Error> {
        let pair = |text: &String| {
            let (key, value) =
                text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| Error::Option {
                    option: "node-label",
                    value: text.clone(),
                    message: "it should look like key=value".to_owned(),
                })?;
            let faults = [names::qualified(key), names::label_value(value)].concat();
            match faults.into_iter().next() {
                Some(message) => Err(Error::Option { option: "node-label", value: text.clone(), message }),
                None => Ok((key.to_owned(), value.to_owned())),
            }
        };
        self.labels.iter().map(pair).collect()
    }

    /// Taints as the API has them.
    pub fn taints(&self) -> Result<Vec<Taint>, Error> {
        self.taints.iter().map(|text| taint(text)).collect()
    }
}

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

fn taint(text: &str) -> Result<Taint, Error> {
    let wrong = |message: String| Error::Option { option: "node-taint", value: text.to_owned(), message };
    let (pair, effect) =
        text.rsplit_once(':').ok_or_else(|| wrong("it should look like key=value:NoSchedule".to_owned()))?;
    if !EFFECTS.contains(&effect) {
        return Err(wrong(format!("the effect should be one of {}", EFFECTS.join(", "))));
    }
    let (key, value) = pair.split_once('=').map_or((pair, None), |(key, value)| (key, Some(value.to_owned())));
    Ok(Taint { key: key.to_owned(), value, effect: effect.to_owned(), time_added: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_are_read_as_kubectl_writes_them() {
        let parsed = taint("gpu=true:NoSchedule").unwrap();
        assert_eq!(
            (parsed.key.as_str(), parsed.value.as_deref(), parsed.effect.as_str()),
            ("gpu", Some("true"), "NoSchedule")
        );
        assert_eq!(taint("gpu:NoExecute").unwrap().value, None);
        assert!(taint("gpu=true").unwrap_err().to_string().contains("--node-taint"));
        assert!(taint("gpu=true:Never").unwrap_err().to_string().contains("NoSchedule"));
    }
}
