//! The client against a real containerd: images, sandboxes, containers, logs, events.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
mod support;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use cri::events::{Event, Kind};
use cri::images::{self, Outcome};
use cri::v1;
use support::{BUSYBOX, Runtime};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[tokio::test(flavor = "multi_thread")]
async fn a_container_of_an_imported_image_runs_and_its_events_are_told() {
    let runtime = Runtime::with_images().await;
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let mut events = cri::events::subscribe(runtime.socket(), stop.clone(), &tasks);
    assert_eq!(events.recv().await, Some(Event::Resync));

    let sandbox = runtime.sandbox().await;
    let id = runtime.container(&sandbox, "main", &["sh", "-c", "echo out; echo err >&2; exit 7"], |_| {}).await;
    let mut seen = HashSet::new();
    let wanted = [(sandbox.0.clone(), Kind::Created), (sandbox.0.clone(), Kind::Started), (id.clone(), Kind::Created)];
    let wanted: HashSet<_> =
        wanted.into_iter().chain([(id.clone(), Kind::Started), (id.clone(), Kind::Stopped)]).collect();
    while seen != wanted {
        let event = tokio::time::timeout(Duration::from_secs(20), events.recv()).await.expect("events come");
        let Some(Event::Change(change)) = event else { panic!("{event:?}") };
        if change.id == id && change.kind == Kind::Stopped {
            // Nobody has to wait for CRI after the event.
            let status = runtime.status(&id).await;
            assert_eq!((status.state(), status.exit_code), (v1::ContainerState::ContainerExited, 7));
        }
        seen.insert((change.id, change.kind));
    }
    let log = std::fs::read_to_string(Path::new(&sandbox.1.log_directory).join("main.log")).unwrap();
    assert!(log.contains(" stdout F out\n") && log.contains(" stderr F err\n"), "{log}");

    let request = v1::StopPodSandboxRequest { pod_sandbox_id: sandbox.0.clone() };
    runtime.cri.clone().runtime.stop_pod_sandbox(request).await.unwrap();
    let stopped = async {
        loop {
            match events.recv().await {
                Some(Event::Change(change)) if change.id == sandbox.0 && change.kind == Kind::Stopped => break,
                Some(_) => {}
                None => panic!("the stream ended"),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), stopped).await.expect("the sandbox's end is told");
    let request = v1::PodSandboxStatusRequest { pod_sandbox_id: sandbox.0.clone(), verbose: false };
    let status = runtime.cri.clone().runtime.pod_sandbox_status(request).await.unwrap().into_inner().status.unwrap();
    assert_eq!(status.state(), v1::PodSandboxState::SandboxNotready);
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    runtime.clear().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_out_of_memory_kill_is_told_with_its_reason() {
    let runtime = Runtime::with_images().await;
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let mut events = cri::events::subscribe(runtime.socket(), stop.clone(), &tasks);
    let sandbox = runtime.sandbox().await;
    let id = runtime
        .container(&sandbox, "hog", &["sh", "-c", "x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done"], |config| {
            let resources = v1::LinuxContainerResources {
                memory_limit_in_bytes: 16 << 20,
                memory_swap_limit_in_bytes: 16 << 20,
                ..Default::default()
            };
            config.linux.as_mut().unwrap().resources = Some(resources);
        })
        .await;
    let mut kinds = HashSet::new();
    while !(kinds.contains(&Kind::Stopped) && kinds.contains(&Kind::OutOfMemory)) {
        let event = tokio::time::timeout(Duration::from_secs(30), events.recv()).await.expect("events come");
        if let Some(Event::Change(change)) = event
            && change.id == id
        {
            kinds.insert(change.kind);
        }
    }
    let status = runtime.status(&id).await;
    assert_eq!((status.reason.as_str(), status.exit_code), ("OOMKilled", 137));
    stop.cancel();
    runtime.clear().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_of_all_kinds_are_imported_and_the_broken_told() {
    let runtime = Runtime::start().await;
    let socket = runtime.socket();
    let bundle = runtime.path().join("images");
    let state = runtime.path().join("images.json");
    std::fs::create_dir(&bundle).unwrap();
    let plain = support::busybox();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let pause = cri::pause::archive(cri::pause::Architecture::here().unwrap()).unwrap();
    let foreign = match cri::pause::Architecture::here().unwrap() {
        cri::pause::Architecture::Amd64 => cri::pause::Architecture::Arm64,
        cri::pause::Architecture::Arm64 => cri::pause::Architecture::Amd64,
    };
    // One byte of a blob is different: tar does not notice, the digest does.
    let mut flipped = cri::pause::archive(foreign).unwrap();
    let at = flipped.windows(4).rposition(|window| window == b"\x7fELF").unwrap();
    flipped[at + 20] ^= 1;
    let files: [(&str, Vec<u8>); 7] = [
        ("a-docker.tar", plain.clone()),
        ("b-docker.tar.gz", gzip.finish().unwrap()),
        (
            "c-oci.tar.zst",
            ruzstd::encoding::compress_to_vec(pause.as_slice(), ruzstd::encoding::CompressionLevel::Fastest),
        ),
        ("d-short.tar", plain[..plain.len() / 2].to_vec()),
        ("e-flipped.tar", flipped),
        ("f-foreign.tar", cri::pause::archive(foreign).unwrap()),
        ("g-text.tar", b"not found\n".repeat(100)),
    ];
    for (name, bytes) in &files {
        std::fs::write(bundle.join(name), bytes).unwrap();
    }
    std::fs::write(bundle.join("README"), "no image").unwrap();

    let reports = images::import_dir(&socket, &bundle, &state).await.unwrap();
    let told: Vec<String> = reports
        .iter()
        .map(|report| match &report.outcome {
            Outcome::Imported(names) | Outcome::Unchanged(names) => names.join(","),
            Outcome::Failed(error) => error.to_string(),
        })
        .collect();
    assert_eq!(told[..3], [BUSYBOX, BUSYBOX, cri::pause::IMAGE]);
    let words: [&[&str]; 4] = [
        &["d-short.tar", "x/layer.tar", "ends early"],
        &["e-flipped.tar", "blobs/sha256/", "does not match its digest"],
        &["f-foreign.tar", "kinglet.dev/pause:1", "is built for linux/", "this node is linux/"],
        &["g-text.tar", "not a tar archive"],
    ];
    for (told, words) in told[3..].iter().zip(words) {
        assert!(words.iter().all(|word| told.contains(word)), "{told} lacks one of {words:?}");
    }

    let again = images::import_dir(&socket, &bundle, &state).await.unwrap();
    assert!(again[..3].iter().all(|report| matches!(report.outcome, Outcome::Unchanged(_))), "{again:?}");
    let pinned = images::pinned(&socket).await.unwrap();
    assert!([BUSYBOX, cri::pause::IMAGE].iter().all(|name| pinned.contains(*name)), "{pinned:?}");
    let listed = runtime.cri.clone().images.list_images(v1::ListImagesRequest::default()).await.unwrap().into_inner();
    let tags: HashSet<&str> = listed.images.iter().flat_map(|image| &image.repo_tags).map(String::as_str).collect();
    assert_eq!(tags, HashSet::from([BUSYBOX, cri::pause::IMAGE]));
}

/// A new archive under an old name: the name means the new image as soon as the import returns.
#[tokio::test(flavor = "multi_thread")]
async fn an_archive_replaces_the_image_of_its_name() {
    let runtime = Runtime::start().await;
    let mut ids = Vec::new();
    for content in ["one", "two", "one"] {
        let mut layer = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        layer.append_data(&mut header, "file", content.as_bytes()).unwrap();
        let archive = support::archive("app", layer.into_inner().unwrap());
        let names = images::import_from(&runtime.socket(), "app.tar", std::io::Cursor::new(archive)).await.unwrap();
        assert_eq!(names, ["docker.io/library/app:latest"]);
        let image = Some(v1::ImageSpec { image: names[0].clone(), ..Default::default() });
        let request = v1::ImageStatusRequest { image, verbose: false };
        let status = runtime.cri.clone().images.image_status(request).await.unwrap().into_inner();
        ids.push(status.image.unwrap().id);
    }
    assert_eq!(ids[0], ids[2]);
    assert_ne!(ids[0], ids[1]);
}
