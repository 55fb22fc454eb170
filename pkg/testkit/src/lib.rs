//! Clusters for black-box tests: the real binary, containerd and kubectl, in network namespaces
//! without a way out.
//!
//! ```no_run
//! let cluster = testkit::Cluster::start("demo", 1);            // a server and one agent
//! cluster.kubectl("create namespace demo");                    // fails the test if kubectl fails
//! cluster.apply("apiVersion: v1\nkind: ConfigMap\n…");         // kubectl apply -f -
//! cluster.wait("pods ready", || cluster.get("pods", "{.items[*].status.phase}") == "Running");
//! ```
//!
//! Guarantees: every machine has a network namespace, a data directory and a containerd of its
//! own, and all of it is gone when the [`Cluster`] is dropped, also after a panic. A line in a log
//! at WARN or ERROR, or of a panic, fails the test, unless [`Cluster::expect_log`] has announced
//! it. What a crashed run has left is removed by the next one.

mod cluster;
mod etcd;
mod lan;
mod machine;
mod registry;
mod run;
mod stale;

pub use cluster::Cluster;
pub use etcd::{EtcdTls, Etcds, Stopped};
pub use lan::Lan;
pub use machine::Machine;
pub use registry::Registry;
pub use run::{Output, run, tail, words};

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Polls until `done` says so; panics with `what` after `limit`. For tests alone: the product
/// does not poll.
#[track_caller]
pub fn eventually(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The binary under test: `KINGLET_BIN`, or the release build of this checkout.
pub fn binary() -> PathBuf {
    let built = || repository().join("target").join(env!("TARGET")).join("release/kinglet");
    let path = std::env::var_os("KINGLET_BIN").map_or_else(built, PathBuf::from);
    assert!(path.exists(), "{} is missing: cargo build --release, or cargo xtask test", path.display());
    path
}

/// The archive of a test image (`shell`, `nginx`) that `cargo xtask images` has built.
pub fn image(name: &str) -> PathBuf {
    let dir = repository().join("target/images");
    let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = entries
        .filter(|p| p.is_file())
        .find(|p| p.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(&format!("{name}."))));
    found.unwrap_or_else(|| panic!("no image {name} in {}: cargo xtask images", dir.display()))
}

/// The root of the checkout.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("pkg/testkit is two levels down").to_owned()
}
