//! Security contexts: what pod and container say together, for the runtime.

use cri::v1 as rt;
use k8s_openapi::api::core::v1::{Container, Pod, PodSecurityContext, SeccompProfile};

/// Paths that an ordinary container cannot read.
const MASKED: [&str; 12] = [
    "/proc/asound",
    "/proc/acpi",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
];

/// Paths that an ordinary container cannot write.
const READ_ONLY: [&str; 5] = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/// The user that an image names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageUser {
    /// By number.
    pub uid: Option<i64>,
    /// By name.
    pub name: String,
}

fn pod_context(pod: &Pod) -> Option<&PodSecurityContext> {
    pod.spec.as_ref()?.security_context.as_ref()
}

/// The namespaces that a pod's containers share, among themselves or with the host.
pub fn namespaces(pod: &Pod) -> rt::NamespaceOption {
    let spec = pod.spec.as_ref();
    let node = |on: Option<bool>, otherwise: rt::NamespaceMode| {
        if on == Some(true) { rt::NamespaceMode::Node as i32 } else { otherwise as i32 }
    };
    let shared = spec.and_then(|s| s.share_process_namespace) == Some(true);
    let pid = if shared { rt::NamespaceMode::Pod } else { rt::NamespaceMode::Container };
    rt::NamespaceOption {
        network: node(spec.and_then(|s| s.host_network), rt::NamespaceMode::Pod),
        pid: node(spec.and_then(|s| s.host_pid), pid),
        ipc: node(spec.and_then(|s| s.host_ipc), rt::NamespaceMode::Pod),
        ..rt::NamespaceOption::default()
    }
}

/// Groups that every process of a pod is in besides its own.
pub fn supplemental_groups(pod: &Pod) -> Vec<i64> {
    let context = pod_context(pod);
    let groups = context.and_then(|c| c.supplemental_groups.clone()).unwrap_or_default();
    context.and_then(|c| c.fs_group).into_iter().chain(groups).collect()
}

fn groups_policy(pod: &Pod) -> i32 {
    match pod_context(pod).and_then(|c| c.supplemental_groups_policy.as_deref()) {
        Some("Strict") => rt::SupplementalGroupsPolicy::Strict as i32,
        _ => rt::SupplementalGroupsPolicy::Merge as i32,
    }
}

/// A seccomp profile; without one a container is not confined. `root` holds the profiles of type `Localhost`.
fn seccomp(profile: Option<&SeccompProfile>, root: &str) -> rt::SecurityProfile {
    use rt::security_profile::ProfileType;
    let (kind, file) = match profile.map(|p| (p.type_.as_str(), p.localhost_profile.as_deref())) {
        Some(("RuntimeDefault", _)) => (ProfileType::RuntimeDefault, String::new()),
        Some(("Localhost", Some(file))) => (ProfileType::Localhost, format!("{root}/{file}")),
        _ => (ProfileType::Unconfined, String::new()),
    };
    rt::SecurityProfile { profile_type: kind as i32, localhost_ref: file }
}

/// The sandbox's context.
pub fn sandbox(pod: &Pod, seccomp_root: &str) -> rt::LinuxSandboxSecurityContext {
    let context = pod_context(pod);
    let privileged =
        super::containers(pod).any(|(_, c)| c.security_context.as_ref().and_then(|s| s.privileged) == Some(true));
    rt::LinuxSandboxSecurityContext {
        namespace_options: Some(namespaces(pod)),
        run_as_user: context.and_then(|c| c.run_as_user).map(|value| rt::Int64Value { value }),
        // The runtime refuses a group without a user.
        run_as_group: context
            .filter(|c| c.run_as_user.is_some())
            .and_then(|c| c.run_as_group)
            .map(|value| rt::Int64Value { value }),
        supplemental_groups: supplemental_groups(pod),
        supplemental_groups_policy: groups_policy(pod),
        privileged,
        seccomp: Some(if privileged {
            seccomp(None, seccomp_root)
        } else {
            // The pause process needs nothing that the default profile forbids.
            rt::SecurityProfile::default()
        }),
        ..rt::LinuxSandboxSecurityContext::default()
    }
}

/// A container's context, or why it must not be made (`CreateContainerConfigError`).
pub fn container(
    pod: &Pod,
    container: &Container,
    image: &ImageUser,
    seccomp_root: &str,
) -> Result<rt::LinuxContainerSecurityContext, String> {
    let (outer, own) = (pod_context(pod), container.security_context.as_ref());
    let user = own.and_then(|c| c.run_as_user).or(outer.and_then(|c| c.run_as_user));
    let group = own.and_then(|c| c.run_as_group).or(outer.and_then(|c| c.run_as_group));
    let non_root = own.and_then(|c| c.run_as_non_root).or(outer.and_then(|c| c.run_as_non_root)) == Some(true);
    if non_root {
        verify_non_root(pod, container, user, image)?;
    }
    let privileged = own.and_then(|c| c.privileged) == Some(true);
    let unmasked = privileged || own.and_then(|c| c.proc_mount.as_deref()) == Some("Unmasked");
    let paths = |list: &[&str]| if unmasked { Vec::new() } else { list.iter().map(|p| (*p).into()).collect() };
    let profile = own.and_then(|c| c.seccomp_profile.as_ref()).or(outer.and_then(|c| c.seccomp_profile.as_ref()));
    let capabilities = own.and_then(|c| c.capabilities.as_ref()).map(|c| rt::Capability {
        add_capabilities: c.add.clone().unwrap_or_default(),
        drop_capabilities: c.drop.clone().unwrap_or_default(),
        ..rt::Capability::default()
    });
    let by_image = user.is_none();
    Ok(rt::LinuxContainerSecurityContext {
        capabilities,
        privileged,
        namespace_options: Some(namespaces(pod)),
        run_as_user: user.or(image.uid.filter(|_| by_image)).map(|value| rt::Int64Value { value }),
        run_as_username: if by_image && image.uid.is_none() { image.name.clone() } else { String::new() },
        run_as_group: group.map(|value| rt::Int64Value { value }),
        readonly_rootfs: own.and_then(|c| c.read_only_root_filesystem) == Some(true),
        supplemental_groups: supplemental_groups(pod),
        supplemental_groups_policy: groups_policy(pod),
        no_new_privs: own.and_then(|c| c.allow_privilege_escalation) == Some(false),
        masked_paths: paths(&MASKED),
        readonly_paths: paths(&READ_ONLY),
        seccomp: Some(if privileged { seccomp(None, seccomp_root) } else { seccomp(profile, seccomp_root) }),
        ..rt::LinuxContainerSecurityContext::default()
    })
}

fn verify_non_root(pod: &Pod, container: &Container, user: Option<i64>, image: &ImageUser) -> Result<(), String> {
    let meta = &pod.metadata;
    let place = format!(
        "(pod: \"{}_{}({})\", container: {})",
        meta.name.as_deref().unwrap_or_default(),
        meta.namespace.as_deref().unwrap_or_default(),
        meta.uid.as_deref().unwrap_or_default(),
        container.name
    );
    match (user, image.uid) {
        (Some(0), _) => Err(format!("container's runAsUser breaks non-root policy {place}")),
        (Some(_), _) => Ok(()),
        (None, Some(0)) => Err(format!("container has runAsNonRoot and image will run as root {place}")),
        (None, Some(_)) => Ok(()),
        (None, None) if image.name.is_empty() => {
            Err(format!("container has runAsNonRoot and image will run as root {place}"))
        }
        (None, None) => Err(format!(
            "container has runAsNonRoot and image has non-numeric user ({}), cannot verify user is non-root {place}",
            image.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn made(outer: Value, own: Value, image: &ImageUser) -> Result<rt::LinuxContainerSecurityContext, String> {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": "p", "namespace": "n", "uid": "u"},
            "spec": {"securityContext": outer, "containers": [{"name": "c", "securityContext": own}]},
        }))
        .unwrap();
        container(&pod, &pod.spec.as_ref().unwrap().containers[0], image, "/seccomp")
    }

    #[test]
    fn containers_override_pods() {
        let image = ImageUser::default();
        let got =
            made(json!({"runAsUser": 1, "runAsGroup": 2, "fsGroup": 3, "supplementalGroups": [4]}), json!({}), &image);
        let got = got.unwrap();
        assert_eq!((got.run_as_user.unwrap().value, got.run_as_group.unwrap().value), (1, 2));
        assert_eq!(got.supplemental_groups, [3, 4]);
        let own = json!({"runAsUser": 9, "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                         "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}});
        let got = made(json!({"runAsUser": 1}), own, &image).unwrap();
        assert_eq!(got.run_as_user.unwrap().value, 9);
        assert!(got.no_new_privs && got.readonly_rootfs && !got.masked_paths.is_empty());
        assert_eq!(got.capabilities.unwrap().drop_capabilities, ["ALL"]);
        assert_eq!(got.seccomp.unwrap().profile_type, 0);
        let got = made(json!({}), json!({"privileged": true}), &image).unwrap();
        assert!(got.privileged && got.masked_paths.is_empty() && got.seccomp.unwrap().profile_type == 1);
    }

    #[test]
    fn root_is_refused_where_it_must_not_be() {
        let numbered = |uid| ImageUser { uid: Some(uid), name: String::new() };
        let named = ImageUser { uid: None, name: "www".into() };
        let table = [
            (json!({}), numbered(0), true, "image will run as root"),
            (json!({}), ImageUser::default(), true, "image will run as root"),
            (json!({}), named.clone(), true, "non-numeric user (www)"),
            (json!({}), numbered(7), false, ""),
            (json!({"runAsUser": 0}), numbered(7), true, "runAsUser breaks non-root policy"),
            (json!({"runAsUser": 5}), named, false, ""),
        ];
        for (own, image, refused, text) in table {
            let got = made(json!({"runAsNonRoot": true}), own.clone(), &image);
            assert_eq!(got.is_err(), refused, "{own} {image:?}");
            assert!(got.err().unwrap_or_default().contains(text), "{own}");
        }
    }
}
