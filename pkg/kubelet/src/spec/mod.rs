//! From a pod's spec to what the runtime is asked for. Everything here is a pure function of the pod and of objects
//! that were fetched before.

pub mod container;
pub mod dns;
pub mod env;
pub mod fields;
pub mod hosts;
pub mod labels;
pub mod resources;
pub mod sandbox;
pub mod security;

use k8s_openapi::api::core::v1::{Container, Pod};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// The three lists of containers that a pod has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Runs to completion before the others start.
    Init,
    /// An init container with `restartPolicy: Always`: starts in order, keeps running.
    Sidecar,
    /// An ordinary container.
    Main,
}

/// Whether an init container is a sidecar.
pub fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// All containers of a pod in the order in which they start, with their roles.
pub fn containers(pod: &Pod) -> impl Iterator<Item = (Role, &Container)> {
    let spec = pod.spec.as_ref();
    let init = spec.and_then(|s| s.init_containers.as_ref()).into_iter().flatten();
    let main = spec.map(|s| &s.containers).into_iter().flatten();
    init.map(|c| (if is_sidecar(c) { Role::Sidecar } else { Role::Init }, c)).chain(main.map(|c| (Role::Main, c)))
}

/// One container of a pod by name.
pub fn container<'a>(pod: &'a Pod, name: &str) -> Option<(Role, &'a Container)> {
    containers(pod).find(|(_, c)| c.name == name)
}

/// The path by which events name a container: `spec.containers{web}`.
pub fn field_path(role: Role, name: &str) -> String {
    match role {
        Role::Main => format!("spec.containers{{{name}}}"),
        Role::Init | Role::Sidecar => format!("spec.initContainers{{{name}}}"),
    }
}

/// A port given by number, or by the name of a container port.
pub fn port(container: &Container, port: &IntOrString) -> Option<u16> {
    let number = match port {
        IntOrString::Int(number) => *number,
        IntOrString::String(name) => match name.parse() {
            Ok(number) => number,
            Err(_) => {
                let named = |p: &&k8s_openapi::api::core::v1::ContainerPort| p.name.as_deref() == Some(name);
                container.ports.iter().flatten().find(named)?.container_port
            }
        },
    };
    u16::try_from(number).ok().filter(|p| *p > 0)
}
