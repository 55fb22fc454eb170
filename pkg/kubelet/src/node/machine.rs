//! The machine: what it has and how it is called.

use std::collections::BTreeMap;
use std::fs;

use k8s_openapi::api::core::v1::NodeSystemInfo;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// Facts about the machine, read once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Processors that this process may use.
    pub cpus: usize,
    /// Memory in bytes.
    pub memory: u64,
    /// Size of the file system of the kubelet's directory, in bytes.
    pub disk: u64,
    /// `/etc/machine-id`.
    pub machine_id: String,
    /// Changes at each boot.
    pub boot_id: String,
    /// Of the firmware; the machine id where there is none.
    pub system_uuid: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Name of the distribution.
    pub os_image: String,
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

impl Machine {
    /// Reads the facts. `root_dir` is the kubelet's directory.
    pub fn read(root_dir: &std::path::Path) -> Self {
        let machine_id = read("/etc/machine-id");
        let uuid = read("/sys/class/dmi/id/product_uuid").to_lowercase();
        let disk =
            nix::sys::statvfs::statvfs(root_dir).map(|s| s.blocks().saturating_mul(s.fragment_size())).unwrap_or(0);
        Machine {
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory(&read("/proc/meminfo")),
            disk,
            system_uuid: if uuid.is_empty() { machine_id.clone() } else { uuid },
            machine_id,
            boot_id: read("/proc/sys/kernel/random/boot_id"),
            kernel: read("/proc/sys/kernel/osrelease"),
            os_image: os_image(&read("/etc/os-release")),
        }
    }

    /// What the node has.
    pub fn capacity(&self, max_pods: u32) -> BTreeMap<String, Quantity> {
        let disk = if self.disk > 0 { Some(("ephemeral-storage", format!("{}Ki", self.disk / 1024))) } else { None };
        let fixed = [
            ("cpu", self.cpus.to_string()),
            ("memory", format!("{}Ki", self.memory / 1024)),
            ("pods", max_pods.to_string()),
            ("hugepages-1Gi", "0".to_owned()),
            ("hugepages-2Mi", "0".to_owned()),
        ];
        fixed.into_iter().chain(disk).map(|(k, v)| (k.to_owned(), Quantity(v))).collect()
    }

    /// As the Node object shows it.
    pub fn info(&self, version: &str, runtime: &str) -> NodeSystemInfo {
        NodeSystemInfo {
            architecture: architecture().into(),
            boot_id: self.boot_id.clone(),
            container_runtime_version: runtime.into(),
            kernel_version: self.kernel.clone(),
            kube_proxy_version: String::new(),
            kubelet_version: version.into(),
            machine_id: self.machine_id.clone(),
            operating_system: "linux".into(),
            os_image: self.os_image.clone(),
            system_uuid: self.system_uuid.clone(),
            ..NodeSystemInfo::default()
        }
    }
}

/// The architecture as Kubernetes spells it.
pub fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    }
}

fn memory(meminfo: &str) -> u64 {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"));
    let kib: u64 = line.and_then(|l| l.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(0);
    kib * 1024
}

fn os_image(os_release: &str) -> String {
    let line = os_release.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="));
    line.map_or("Linux", |l| l.trim_matches('"')).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_system_are_understood() {
        assert_eq!(memory("MemTotal:       24689752 kB\nMemFree: 1 kB"), 24_689_752 * 1024);
        assert_eq!(
            os_image("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\""),
            "Debian GNU/Linux 12 (bookworm)"
        );
        assert_eq!(os_image(""), "Linux");
        let machine = Machine::read(std::path::Path::new("/"));
        assert!(machine.cpus > 0 && machine.memory > 0 && machine.disk > 0 && !machine.kernel.is_empty());
        let capacity = machine.capacity(110);
        assert_eq!(capacity["pods"].0, "110");
    }
}
