//! containerd's configuration, in the layout of the version that was found. Pure: facts in, text out.

use std::path::{Path, PathBuf};

use cri::registries::quote;

/// A version of containerd: major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32);

impl Version {
    /// The oldest version with CRI v1.
    pub const OLDEST: Self = Self(1, 6);

    /// Reads the output of `containerd --version`: name, package, version, revision.
    pub fn parse(output: &str) -> Option<Self> {
        let version = output.split_whitespace().nth(2)?.trim_start_matches('v');
        let mut numbers = version.split(['.', '~', '-', '+']).map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Some(Self(major, minor)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// All that the configuration depends on.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The version that will read it.
    pub version: Version,
    /// What the node was told.
    pub config: &'a super::Config,
    /// The OCI runtime's binary.
    pub runtime: PathBuf,
    /// `overlayfs` or `native`.
    pub snapshotter: &'static str,
    /// The process may not lower OOM scores (no CAP_SYS_RESOURCE): no sandbox starts unless containerd knows.
    pub restrict_oom_score: bool,
}

/// What takes time or memory at start and serves nothing that CRI uses. Unknown names are ignored by containerd.
const DISABLED: [&str; 12] = [
    "io.containerd.snapshotter.v1.aufs",
    "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper",
    "io.containerd.snapshotter.v1.zfs",
    "io.containerd.snapshotter.v1.blockfile",
    "io.containerd.snapshotter.v1.erofs",
    "io.containerd.differ.v1.erofs",
    "io.containerd.internal.v1.opt",
    "io.containerd.internal.v1.restart",
    "io.containerd.internal.v1.tracing",
    "io.containerd.tracing.processor.v1.otlp",
    "io.containerd.nri.v1.nri",
];

/// The largest gRPC message, in bytes; the CRI client has the same limit.
const MESSAGE: usize = 16 << 20;

/// The configuration file.
pub fn render(facts: &Facts<'_>) -> String {
    let config = facts.config;
    let mut text = String::from("# Written by kinglet at every start. Changes are lost.\n");
    let disabled: Vec<String> = DISABLED.iter().map(|name| format!("  {},\n", quote(name))).collect();
    text += &format!("version = {}\n", if facts.version >= Version(2, 0) { 3 } else { 2 });
    text += &format!("root = {}\nstate = {}\n", path(&config.root), path(&config.state));
    if !facts.restrict_oom_score {
        text += "oom_score = -999\n";
    }
    text += &format!("disabled_plugins = [\n{}]\n\n", disabled.concat());
    text += &format!(
        "[grpc]\naddress = {}\nmax_recv_message_size = {MESSAGE}\nmax_send_message_size = {MESSAGE}\n\n",
        path(&config.socket)
    );
    text += "[debug]\nlevel = \"warn\"\n\n";
    if let Some(cgroup) = &config.cgroup {
        text += &format!("[cgroup]\npath = {}\n\n", quote(cgroup));
    }
    if facts.version >= Version(2, 0) { text + &version3(facts) } else { text + &version2(facts) }
}

/// One CRI plugin holds everything.
fn version2(facts: &Facts<'_>) -> String {
    let Facts { config, snapshotter, restrict_oom_score, .. } = facts;
    format!(
        r#"[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = {sandbox}
disable_tcp_service = true
stream_server_address = "127.0.0.1"
stream_server_port = "0"
enable_unprivileged_ports = true
enable_unprivileged_icmp = true
restrict_oom_score_adj = {restrict_oom_score}

[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = {snapshotter:?}
disable_snapshot_annotations = true
default_runtime_name = "runc"

{runtime}
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = {cni_bin}
conf_dir = {cni_conf}
max_conf_num = 1

[plugins."io.containerd.grpc.v1.cri".registry]
config_path = {registry}
"#,
        sandbox = quote(&config.sandbox_image),
        runtime = runtime(facts, r#"plugins."io.containerd.grpc.v1.cri".containerd"#),
        cni_bin = path(&config.cni_bin),
        cni_conf = path(&config.cni_conf),
        registry = quote(&registries(config)),
    )
}

/// Images, runtime and the stream server are three plugins.
fn version3(facts: &Facts<'_>) -> String {
    let Facts { config, snapshotter, restrict_oom_score, .. } = facts;
    let cni_bin = path(&config.cni_bin);
    let bin =
        if facts.version >= Version(2, 1) { format!("bin_dirs = [{cni_bin}]") } else { format!("bin_dir = {cni_bin}") };
    format!(
        r#"[plugins."io.containerd.cri.v1.images"]
snapshotter = {snapshotter:?}
disable_snapshot_annotations = true

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = {sandbox}

[plugins."io.containerd.cri.v1.images".registry]
config_path = {registry}

[plugins."io.containerd.cri.v1.runtime"]
enable_unprivileged_ports = true
enable_unprivileged_icmp = true
restrict_oom_score_adj = {restrict_oom_score}

[plugins."io.containerd.cri.v1.runtime".containerd]
default_runtime_name = "runc"

{runtime}
[plugins."io.containerd.cri.v1.runtime".cni]
{bin}
conf_dir = {cni_conf}
max_conf_num = 1

[plugins."io.containerd.grpc.v1.cri"]
disable_tcp_service = true
stream_server_address = "127.0.0.1"
stream_server_port = "0"
"#,
        sandbox = quote(&config.sandbox_image),
        runtime = runtime(facts, r#"plugins."io.containerd.cri.v1.runtime".containerd"#),
        cni_conf = path(&config.cni_conf),
        registry = quote(&registries(config)),
    )
}

fn runtime(facts: &Facts<'_>, table: &str) -> String {
    format!(
        r#"[{table}.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[{table}.runtimes.runc.options]
BinaryName = {binary}
SystemdCgroup = {systemd}
"#,
        binary = path(&facts.runtime),
        systemd = facts.config.systemd_cgroup,
    )
}

/// containerd takes a list, in the form of PATH.
fn registries(config: &super::Config) -> String {
    let folders: Vec<String> = config.registry_configs.iter().map(|folder| folder.display().to_string()).collect();
    folders.join(":")
}

fn path(path: &Path) -> String {
    quote(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_distributions_are_understood() {
        let table = [
            ("containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3", Some(Version(1, 6))),
            (
                "containerd github.com/containerd/containerd v1.7.13 7c3aca7a610df76212171d200ca3811ff6096eb8",
                Some(Version(1, 7)),
            ),
            ("containerd containerd.io 1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da", Some(Version(1, 7))),
            ("containerd github.com/containerd/containerd/v2 v2.1.4-k3s1 ", Some(Version(2, 1))),
            ("containerd github.com/containerd/containerd/v2 2.0.0+unknown", Some(Version(2, 0))),
            ("", None),
            ("containerd x y", None),
        ];
        for (output, want) in table {
            assert_eq!(Version::parse(output), want, "{output}");
        }
    }

    fn text(version: Version, restrict_oom_score: bool) -> String {
        let config = super::super::Config {
            socket: "/run/kinglet/a \"b\".sock".into(),
            ..super::super::Config::under(Path::new("/d"))
        };
        let runtime = PathBuf::from("/usr/sbin/runc");
        render(&Facts { version, config: &config, runtime, snapshotter: "overlayfs", restrict_oom_score })
    }

    #[test]
    fn each_version_gets_its_layout() {
        let old = text(Version(1, 6), true);
        assert!(old.contains("version = 2\n") && old.contains("sandbox_image = \"kinglet.dev/pause:1\""), "{old}");
        assert!(old.contains("restrict_oom_score_adj = true") && !old.contains("oom_score = -999"), "{old}");
        assert!(old.contains(r#"address = "/run/kinglet/a \"b\".sock""#), "{old}");
        let new = text(Version(2, 0), false);
        assert!(new.contains("version = 3\n") && new.contains("sandbox = \"kinglet.dev/pause:1\""), "{new}");
        assert!(
            new.contains("bin_dir = ") && new.contains("oom_score = -999") && !new.contains("sandbox_image"),
            "{new}"
        );
        assert!(text(Version(2, 1), false).contains("bin_dirs = ["));
    }
}
