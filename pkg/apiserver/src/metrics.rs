//! What the server counts, in the text format of Prometheus.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

/// Counters of a server.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    /// Writes to the store.
    pub writes: AtomicU64,
    /// Requests whose handling panicked.
    pub panics: AtomicU64,
    watches: Arc<AtomicI64>,
}

/// A watch that is under way; over when dropped.
pub struct WatchGuard(Arc<AtomicI64>);

impl Drop for WatchGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// Counts an answer.
    pub fn answered(&self, verb: &'static str, code: u16) {
        *self.requests.lock().entry((verb, code)).or_default() += 1;
    }

    /// Counts a watch for as long as the guard lives.
    pub fn watch_began(&self) -> WatchGuard {
        self.watches.fetch_add(1, Ordering::Relaxed);
        WatchGuard(self.watches.clone())
    }

    /// All of them as text.
    pub fn text(&self, in_flight: usize, revision: i64) -> String {
        let mut out = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, lines: &[(String, String)]| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in lines {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        };
        let plain = |value: String| vec![(String::new(), value)];
        let requests: Vec<_> = self
            .requests
            .lock()
            .iter()
            .map(|((verb, code), count)| {
                (format!("{{verb=\"{}\",code=\"{code}\"}}", verb.to_uppercase()), count.to_string())
            })
            .collect();
        metric("apiserver_request_total", "counter", "Requests by verb and answer.", &requests);
        let in_flight = plain(in_flight.to_string());
        metric("apiserver_current_inflight_requests", "gauge", "Requests under way, without streams.", &in_flight);
        let watches = plain(self.watches.load(Ordering::Relaxed).to_string());
        metric("apiserver_longrunning_requests", "gauge", "Watches under way.", &watches);
        let writes = plain(self.writes.load(Ordering::Relaxed).to_string());
        metric("apiserver_store_writes_total", "counter", "Transactions sent to the store.", &writes);
        let panics = plain(self.panics.load(Ordering::Relaxed).to_string());
        metric("apiserver_panics_total", "counter", "Requests whose handling panicked.", &panics);
        metric("apiserver_cache_revision", "gauge", "Revision that the watch caches have seen.", &plain(revision.to_string()));
        out
    }
}
