//! containerd as the node runs it: the real one, in a directory of its own. Needs root, containerd and runc.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use node::containerd::{self, Config};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A directory with a short path (sockets have 107 bytes), empty again at the end.
fn directory() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("kcri-").tempdir().unwrap()
}

fn pid(config: &Config) -> i32 {
    std::fs::read_to_string(config.state.with_extension("pid")).unwrap().parse().unwrap()
}

fn kill(pid: i32) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL).unwrap();
}

async fn answers(socket: &Path) -> bool {
    match cri::connect(socket).await {
        Ok(mut cri) => cri.runtime.version(cri::v1::VersionRequest::default()).await.is_ok(),
        Err(_) => false,
    }
}

/// Runs a sandbox on the host's network and returns its ID.
async fn sandbox(config: &Config) -> String {
    use cri::v1;
    cri::pause::import(&config.socket).await.unwrap();
    let namespaces = v1::NamespaceOption { network: v1::NamespaceMode::Node as i32, ..Default::default() };
    let security = v1::LinuxSandboxSecurityContext { namespace_options: Some(namespaces), ..Default::default() };
    let linux = v1::LinuxPodSandboxConfig { security_context: Some(security), ..Default::default() };
    let name = || format!("kcri-node-{}", std::process::id());
    let metadata = v1::PodSandboxMetadata { name: name(), uid: name(), namespace: "default".into(), attempt: 0 };
    let sandbox = v1::PodSandboxConfig { metadata: Some(metadata), linux: Some(linux), ..Default::default() };
    let request = v1::RunPodSandboxRequest { config: Some(sandbox), ..Default::default() };
    let mut cri = cri::connect(&config.socket).await.unwrap();
    cri.runtime.run_pod_sandbox(request).await.unwrap().into_inner().pod_sandbox_id
}

async fn is_ready(config: &Config, id: &str) -> bool {
    let mut cri = cri::connect(&config.socket).await.unwrap();
    let request = cri::v1::PodSandboxStatusRequest { pod_sandbox_id: id.to_owned(), verbose: false };
    let status = cri.runtime.pod_sandbox_status(request).await.unwrap().into_inner().status.unwrap();
    status.state() == cri::v1::PodSandboxState::SandboxReady
}

#[tokio::test(flavor = "multi_thread")]
async fn it_starts_is_adopted_comes_back_and_is_stopped() {
    let directory = directory();
    let config = Config::under(directory.path());
    let stop = CancellationToken::new();
    let tasks = TaskTracker::new();
    let begin = Instant::now();
    let running = containerd::start(config.clone(), stop.clone(), &tasks).await.unwrap();
    println!("containerd {} answers after {:?}", running.version, begin.elapsed());
    assert!(!running.adopted);
    let first = pid(&config);
    let pod = sandbox(&config).await;
    assert!(is_ready(&config, &pod).await);

    // It dies: it comes back.
    kill(first);
    let begin = Instant::now();
    while !answers(&config.socket).await || pid(&config) == first {
        assert!(begin.elapsed() < Duration::from_secs(30), "containerd does not come back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let second = pid(&config);
    assert!(is_ready(&config, &pod).await, "the sandbox did not outlive containerd");

    // kinglet ends: containerd stays, and the next kinglet takes it as it is.
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let running = containerd::start(config.clone(), stop.clone(), &tasks).await.unwrap();
    assert!(running.adopted);
    assert_eq!(pid(&config), second);

    // An adopted one dies: that is noticed too.
    kill(second);
    let begin = Instant::now();
    while !answers(&config.socket).await || pid(&config) == second {
        assert!(begin.elapsed() < Duration::from_secs(30), "an adopted containerd does not come back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    tasks.close();
    tasks.wait().await;

    // Its configuration changes: it is restarted.
    let third = pid(&config);
    let changed = Config { sandbox_image: "example.com/other:1".into(), ..config.clone() };
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let running = containerd::start(changed.clone(), stop.clone(), &tasks).await.unwrap();
    assert!(!running.adopted);
    assert_ne!(pid(&config), third);
    assert!(is_ready(&config, &pod).await, "the sandbox did not outlive a restart");

    stop.cancel();
    tasks.close();
    tasks.wait().await;
    containerd::stop_all(&changed).await;
    let left = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!left.contains(directory.path().to_str().unwrap()), "{left}");
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        // Processes come and go meanwhile; zombies have no command line.
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        assert!(!arguments.contains(directory.path().to_str().unwrap()) && !arguments.contains(&pod), "{arguments}");
    }
    assert!(!answers(&config.socket).await);
}

#[tokio::test]
async fn what_is_wrong_with_it_is_told() {
    let directory = directory();
    let mut config = Config::under(directory.path());
    // Not a directory that containerd can use.
    std::fs::write(directory.path().join("file"), "").unwrap();
    config.cgroup = Some("\u{0}".into());
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let error = containerd::start(config.clone(), stop.clone(), &tasks).await.unwrap_err();
    assert!(error.to_string().contains("containerd ended while starting"), "{error}");
    config.root = directory.path().join("file/root");
    let error = containerd::start(config, stop, &tasks).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot create"), "{error}");
}
