//! A containerd of the test's own, with a shell image made of the machine's busybox (a static one: `busybox-static`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

pub const IMAGE: &str = "kkub.test/shell:1";

pub struct Containerd {
    process: Child,
    pub dir: tempfile::TempDir,
    pub socket: PathBuf,
}

impl Containerd {
    pub async fn start() -> Self {
        let dir = tempfile::Builder::new().prefix("kkub").tempdir_in("/run").expect("a directory below /run");
        let socket = dir.path().join("containerd.sock");
        let config = format!(
            "version = 2\nroot = \"{0}/root\"\nstate = \"{0}/state\"\n[grpc]\naddress = \"{0}/containerd.sock\"\n\
             [plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"{1}\"\nrestrict_oom_score_adj = true\n\
             disable_tcp_service = true\nstream_server_address = \"127.0.0.1\"\nstream_server_port = \"0\"\n\
             [plugins.\"io.containerd.grpc.v1.cri\".containerd]\nsnapshotter = \"native\"\n\
             [plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = \"{0}/cni\"\n",
            dir.path().display(),
            cri::pause::IMAGE
        );
        let file = dir.path().join("config.toml");
        fs::write(&file, config).unwrap();
        let log = fs::File::create(dir.path().join("containerd.log")).unwrap();
        let process = Command::new("containerd")
            .arg("--config")
            .arg(file)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("containerd is installed");
        for _ in 0..200 {
            if cri::connect(&socket).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        cri::pause::import(&socket).await.expect("the pause image is imported");
        let image = image();
        cri::images::import_from(&socket, "shell", std::io::Cursor::new(image)).await.expect("the image is imported");
        Containerd { process, dir, socket }
    }
}

impl Drop for Containerd {
    fn drop(&mut self) {
        // Shims first: they outlive containerd.
        let state = self.dir.path().join("state/io.containerd.runtime.v2.task/k8s.io");
        for bundle in fs::read_dir(&state).into_iter().flatten().flatten() {
            let id = bundle.file_name();
            let runc =
                Command::new("runc").args(["--root", "/run/containerd/runc/k8s.io", "delete", "-f"]).arg(&id).output();
            drop(runc);
            if let Ok(pid) = fs::read_to_string(bundle.path().join("shim.pid")) {
                drop(Command::new("kill").arg("-9").arg(pid.trim()).output());
            }
        }
        drop(self.process.kill());
        drop(self.process.wait());
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let prefix = self.dir.path().to_string_lossy().into_owned();
        let ours = mounts.lines().filter_map(|l| l.split(' ').nth(4)).filter(|p| p.starts_with(&prefix));
        let cgroups =
            format!("find /sys/fs/cgroup -depth -type d -path '*/kkub-{}*' -exec rmdir {{}} +", std::process::id());
        drop(Command::new("sh").arg("-c").arg(cgroups).output());
        for point in ours.collect::<Vec<_>>().into_iter().rev() {
            // It may be gone with another.
            let _ = nix::mount::umount2(Path::new(point), nix::mount::MntFlags::MNT_DETACH);
        }
    }
}

/// An image in the form of `docker save`: busybox and its links.
fn image() -> Vec<u8> {
    let busybox = fs::read("/usr/bin/busybox").or_else(|_| fs::read("/bin/busybox")).expect("busybox is installed");
    let mut layer = tar::Builder::new(Vec::new());
    let mut add = |path: &str, data: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o755);
        layer.append_data(&mut header, path, data).unwrap();
    };
    add("bin/busybox", &busybox);
    add("etc/passwd", b"root:x:0:0::/:/bin/sh\n");
    for name in ["sh", "sleep", "cat", "echo", "test", "ls", "rm", "touch", "env", "kill"] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        layer.append_link(&mut header, format!("bin/{name}"), "busybox").unwrap();
    }
    let layer = layer.into_inner().unwrap();
    let digest: String = Sha256::digest(&layer).iter().map(|b| format!("{b:02x}")).collect();
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let config = serde_json::json!({
        "architecture": arch, "os": "linux", "config": {"Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{digest}")]},
    });
    let manifest = serde_json::json!([{"Config": "config.json", "RepoTags": [IMAGE], "Layers": ["layer.tar"]}]);
    let mut archive = tar::Builder::new(Vec::new());
    for (path, data) in [
        ("layer.tar", layer),
        ("config.json", config.to_string().into_bytes()),
        ("manifest.json", manifest.to_string().into_bytes()),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, &data[..]).unwrap();
    }
    archive.into_inner().unwrap()
}
