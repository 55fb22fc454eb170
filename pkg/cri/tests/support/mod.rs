//! A real containerd in a directory of its own, and a small image for it. Needs root, containerd, runc, and a static
//! busybox (Debian: `busybox-static`).

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cri::v1;

/// The name of the busybox image.
pub const BUSYBOX: &str = "example.com/busybox:1";

/// A containerd that ends with the test, with all that ran in it.
pub struct Runtime {
    directory: tempfile::TempDir,
    daemon: Child,
    pub cri: cri::Cri,
}

impl Runtime {
    pub async fn start() -> Self {
        let directory = tempfile::Builder::new().prefix("kcri-").tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        let restrict = Command::new("sh").args(["-c", "grep CapEff /proc/self/status"]).output().unwrap();
        let restrict = String::from_utf8(restrict.stdout).unwrap();
        let set = u64::from_str_radix(restrict.trim().rsplit('\t').next().unwrap(), 16).unwrap();
        let config = format!(
            "version = 2\nroot = {root:?}\nstate = {state:?}\ndisabled_plugins = [\"io.containerd.internal.v1.opt\"]\n\
             [grpc]\naddress = {socket:?}\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = {pause:?}\n\
             stream_server_address = \"127.0.0.1\"\nstream_server_port = \"0\"\nrestrict_oom_score_adj = {restrict}\n",
            root = path("root"),
            state = path("state"),
            socket = path("sock"),
            pause = cri::pause::IMAGE,
            restrict = set >> 24 & 1 == 0,
        );
        std::fs::write(path("config.toml"), config).unwrap();
        let log = std::fs::File::create(path("log")).unwrap();
        let mut daemon = Command::new("containerd");
        daemon.args(["--config", &path("config.toml")]).stdin(Stdio::null());
        let daemon = daemon.stdout(log.try_clone().unwrap()).stderr(log).spawn().expect("containerd is installed");
        let socket = directory.path().join("sock");
        let begin = Instant::now();
        let cri = loop {
            if let Ok(mut cri) = cri::connect(&socket).await
                && cri.runtime.version(v1::VersionRequest::default()).await.is_ok()
            {
                break cri;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{}", std::fs::read_to_string(path("log")).unwrap());
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        Self { directory, daemon, cri }
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("sock")
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A runtime that has the pause image and busybox.
    pub async fn with_images() -> Self {
        let runtime = Self::start().await;
        cri::pause::import(&runtime.socket()).await.unwrap();
        let archive = runtime.path().join("busybox.tar");
        std::fs::write(&archive, busybox()).unwrap();
        assert_eq!(cri::images::import(&runtime.socket(), &archive).await.unwrap(), [BUSYBOX]);
        runtime
    }

    /// Runs a sandbox on the host's network.
    pub async fn sandbox(&self) -> (String, v1::PodSandboxConfig) {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let uid = format!("kcri-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let namespaces = v1::NamespaceOption { network: v1::NamespaceMode::Node as i32, ..Default::default() };
        let security = v1::LinuxSandboxSecurityContext { namespace_options: Some(namespaces), ..Default::default() };
        let linux = v1::LinuxPodSandboxConfig { security_context: Some(security), ..Default::default() };
        let metadata = v1::PodSandboxMetadata { name: uid.clone(), uid, namespace: "default".into(), attempt: 0 };
        let config = v1::PodSandboxConfig {
            metadata: Some(metadata),
            log_directory: self.path().join("logs").display().to_string(),
            linux: Some(linux),
            ..Default::default()
        };
        std::fs::create_dir_all(&config.log_directory).unwrap();
        let request = v1::RunPodSandboxRequest { config: Some(config.clone()), ..Default::default() };
        let response = self.cri.clone().runtime.run_pod_sandbox(request).await.unwrap();
        (response.into_inner().pod_sandbox_id, config)
    }

    /// Makes and starts a busybox container.
    pub async fn container(
        &self,
        sandbox: &(String, v1::PodSandboxConfig),
        name: &str,
        command: &[&str],
        adjust: impl FnOnce(&mut v1::ContainerConfig),
    ) -> String {
        let mut config = v1::ContainerConfig {
            metadata: Some(v1::ContainerMetadata { name: name.into(), attempt: 0 }),
            image: Some(v1::ImageSpec { image: BUSYBOX.into(), ..Default::default() }),
            command: command.iter().map(|word| word.to_string()).collect(),
            log_path: format!("{name}.log"),
            linux: Some(v1::LinuxContainerConfig::default()),
            ..Default::default()
        };
        adjust(&mut config);
        let (pod_sandbox_id, sandbox_config) = (sandbox.0.clone(), Some(sandbox.1.clone()));
        let request = v1::CreateContainerRequest { pod_sandbox_id, config: Some(config), sandbox_config };
        let container_id = self.cri.clone().runtime.create_container(request).await.unwrap().into_inner().container_id;
        let request = v1::StartContainerRequest { container_id: container_id.clone() };
        self.cri.clone().runtime.start_container(request).await.unwrap();
        container_id
    }

    pub async fn status(&self, container_id: &str) -> v1::ContainerStatus {
        let request = v1::ContainerStatusRequest { container_id: container_id.into(), verbose: false };
        self.cri.clone().runtime.container_status(request).await.unwrap().into_inner().status.unwrap()
    }

    /// Removes every sandbox, with its containers.
    pub async fn clear(&self) {
        let mut runtime = self.cri.clone().runtime;
        let sandboxes =
            runtime.list_pod_sandbox(v1::ListPodSandboxRequest::default()).await.unwrap().into_inner().items;
        for sandbox in sandboxes {
            runtime.stop_pod_sandbox(v1::StopPodSandboxRequest { pod_sandbox_id: sandbox.id.clone() }).await.unwrap();
            runtime.remove_pod_sandbox(v1::RemovePodSandboxRequest { pod_sandbox_id: sandbox.id }).await.unwrap();
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
        // What a failed test left: shims of this socket, their children, mounts.
        let script = r#"
            for f in /proc/[0-9]*/cmdline; do
              if cat "$f" 2>/dev/null | tr '\0' ' ' | grep -q "^[^ ]*containerd-shim-runc-v2 .*-address $1/sock"; then
                pid=${f#/proc/}; pid=${pid%/cmdline}
                for child in $(cat /proc/$pid/task/*/children); do kill -9 $child; done
                kill -9 $pid
              fi
            done
            grep " $1/" /proc/self/mountinfo | cut -d' ' -f5 | sort -r | while read m; do umount -l "$m"; done"#;
        let _ = Command::new("sh").args(["-c", script, "sh", &self.directory.path().display().to_string()]).status();
    }
}

/// A docker-archive with a root file system of busybox and its links.
pub fn busybox() -> Vec<u8> {
    let binary = std::fs::read("/bin/busybox").expect("a static busybox is installed");
    let applets = Command::new("/bin/busybox").arg("--list").output().unwrap();
    let mut layer = tar::Builder::new(Vec::new());
    append(&mut layer, "bin/busybox", 0o755, &binary);
    for applet in String::from_utf8(applets.stdout).unwrap().lines().filter(|applet| *applet != "busybox") {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        layer.append_link(&mut header, format!("bin/{applet}"), "busybox").unwrap();
    }
    archive(BUSYBOX, layer.into_inner().unwrap())
}

/// A docker-archive of one layer.
pub fn archive(name: &str, layer: Vec<u8>) -> Vec<u8> {
    use sha2::Digest;
    let digest: String = sha2::Sha256::digest(&layer).iter().map(|byte| format!("{byte:02x}")).collect();
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let config = serde_json::json!({
        "architecture": architecture, "os": "linux",
        "config": {"Env": ["PATH=/bin"], "Cmd": ["/bin/sh"]},
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{digest}")]},
    });
    let manifest = serde_json::json!([{"Config": "config.json", "RepoTags": [name], "Layers": ["x/layer.tar"]}]);
    let mut outer = tar::Builder::new(Vec::new());
    append(&mut outer, "x/layer.tar", 0o644, &layer);
    append(&mut outer, "config.json", 0o644, config.to_string().as_bytes());
    append(&mut outer, "manifest.json", 0o644, manifest.to_string().as_bytes());
    outer.into_inner().unwrap()
}

fn append(builder: &mut tar::Builder<Vec<u8>>, path: &str, mode: u32, data: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_size(data.len() as u64);
    header.set_mode(mode);
    builder.append_data(&mut header, path, data).unwrap();
}
