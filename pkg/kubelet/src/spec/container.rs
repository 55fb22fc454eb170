//! A container, as the runtime is asked for it.

use std::collections::HashMap;

use cri::v1 as rt;
use k8s_openapi::api::core::v1::{Container, Pod};

use super::env::{Env, expand};
use super::{labels, resources, sandbox, security};
use crate::pod::plan;

/// What a container is made from besides pod and spec.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// Reference of the image.
    pub image: &'a str,
    /// The user that the image names.
    pub user: &'a security::ImageUser,
    /// Its environment.
    pub env: &'a Env,
    /// Its mounts.
    pub mounts: Vec<rt::Mount>,
    /// How often it was restarted.
    pub restart_count: i32,
    /// Memory of the node, in bytes.
    pub node_memory: u64,
    /// Directory of seccomp profiles.
    pub seccomp_root: &'a str,
}

/// The path of a container's log below the pod's log directory.
pub fn log_path(name: &str, restart_count: i32) -> String {
    format!("{name}/{restart_count}.log")
}

/// The configuration of a container, or why it cannot be made.
pub fn config(pod: &Pod, container: &Container, parts: Parts<'_>) -> Result<rt::ContainerConfig, String> {
    let words = |list: &Option<Vec<String>>| -> Vec<String> {
        list.iter().flatten().map(|w| expand(w, |name| parts.env.get(name))).collect()
    };
    let attempt = u32::try_from(parts.restart_count).unwrap_or(0);
    let mut labels_of = sandbox::labels(pod);
    labels_of.retain(|k, _| k.starts_with("io.kubernetes."));
    labels_of.insert(labels::CONTAINER_NAME.into(), container.name.clone());
    let grace = pod.spec.as_ref().and_then(|s| s.termination_grace_period_seconds).unwrap_or(30);
    let path = container.termination_message_path.clone().unwrap_or_else(|| "/dev/termination-log".into());
    let policy = container.termination_message_policy.clone().unwrap_or_else(|| "File".into());
    let annotations: HashMap<String, String> = [
        (labels::HASH, plan::hash(container)),
        (labels::RESTART_COUNT, parts.restart_count.to_string()),
        (labels::MESSAGE_PATH, path),
        (labels::MESSAGE_POLICY, policy),
        (labels::POD_GRACE, grace.to_string()),
    ]
    .map(|(k, v)| (k.to_owned(), v))
    .into();
    let envs = parts.env.iter().map(|(k, v)| rt::KeyValue { key: k.to_owned(), value: v.as_bytes().to_vec() });
    Ok(rt::ContainerConfig {
        metadata: Some(rt::ContainerMetadata { name: container.name.clone(), attempt }),
        image: Some(rt::ImageSpec {
            image: parts.image.to_owned(),
            user_specified_image: container.image.clone().unwrap_or_default(),
            ..rt::ImageSpec::default()
        }),
        command: words(&container.command),
        args: words(&container.args),
        working_dir: container.working_dir.clone().unwrap_or_default(),
        envs: envs.collect(),
        mounts: parts.mounts,
        labels: labels_of,
        annotations,
        log_path: log_path(&container.name, parts.restart_count),
        stdin: container.stdin == Some(true),
        stdin_once: container.stdin_once == Some(true),
        tty: container.tty == Some(true),
        linux: Some(rt::LinuxContainerConfig {
            resources: Some(resources::linux(pod, container, parts.node_memory)),
            security_context: Some(security::container(pod, container, parts.user, parts.seccomp_root)?),
        }),
        ..rt::ContainerConfig::default()
    })
}
