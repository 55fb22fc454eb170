//! What the server counts, in the text format of Prometheus, under upstream's names.
//!
//! On the path of a request stand one lock, one hash and two additions. Labels are those of the
//! table of kinds, never what a client wrote: their number is bounded.

use std::{
    collections::HashMap,
    fmt::Write as _,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use api::{Kind, Kinds, schema::Shared};
use parking_lot::Mutex;

use crate::request_info::RequestInfo;

/// Upper bounds of the durations' classes, in seconds: upstream's.
const BUCKETS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];

/// Names of a row, which may be gone by the time they are shown.
struct Row {
    group: Shared<str>,
    version: Shared<str>,
    plural: Shared<str>,
}

/// What a request is counted as.
pub struct Labels {
    verb: &'static str,
    row: Option<Row>,
    subresource: String,
    scope: &'static str,
    dry_run: bool,
    began: Instant,
}

impl Labels {
    /// Of a request for this kind; `None` for other paths and what is not served.
    pub fn new(info: &RequestInfo, kind: Option<&Arc<Kind>>, connects: bool, applies: bool, dry_run: bool) -> Self {
        let known = kind.is_some_and(|kind| kind.subresource(&info.subresource).is_some());
        Labels {
            verb: if connects { "CONNECT" } else { shown(info.verb, applies) },
            subresource: if known { info.subresource.clone() } else { String::new() },
            scope: match (kind, info.name.is_empty(), info.namespace.is_empty()) {
                (None, ..) => "",
                (Some(_), false, _) => "resource",
                (Some(kind), true, false) if kind.namespaced => "namespace",
                _ => "cluster",
            },
            row: kind.map(|kind| Row {
                group: kind.group.clone(),
                version: kind.version.clone(),
                plural: kind.plural.clone(),
            }),
            dry_run,
            began: Instant::now(),
        }
    }

    /// Whether it changes something.
    pub fn mutates(&self) -> bool {
        !matches!(self.verb, "GET" | "LIST" | "WATCH" | "HEAD" | "CONNECT")
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.verb, self.scope, &self.subresource, self.dry_run).hash(&mut hasher);
        if let Some(row) = &self.row {
            (&*row.group, &*row.version, &*row.plural).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// As text, without braces; in the order of the labels' names, `first` before all.
    fn text(&self, first: &str) -> String {
        let empty = ("", "", "");
        let (group, version, resource) =
            self.row.as_ref().map_or(empty, |row| (&*row.group, &*row.version, &*row.plural));
        let dry_run = if self.dry_run { "All" } else { "" };
        format!(
            "{first}component=\"apiserver\",dry_run=\"{dry_run}\",group=\"{group}\",resource=\"{resource}\",\
             scope=\"{}\",subresource=\"{}\",verb=\"{}\",version=\"{version}\"",
            self.scope, self.subresource, self.verb
        )
    }
}

fn shown(verb: &str, applies: bool) -> &'static str {
    match verb {
        "get" => "GET",
        "list" => "LIST",
        "watch" => "WATCH",
        "create" | "post" => "POST",
        "update" | "put" => "PUT",
        "patch" if applies => "APPLY",
        "patch" => "PATCH",
        "delete" => "DELETE",
        "deletecollection" => "DELETECOLLECTION",
        "head" => "HEAD",
        _ => "OTHER",
    }
}

/// Requests with the same labels.
struct Series {
    labels: Labels,
    codes: Vec<(u16, u64)>,
    buckets: [u64; BUCKETS.len() + 1],
    seconds: f64,
}

impl Series {
    fn count(&mut self, code: u16, took: Duration) {
        match self.codes.iter_mut().find(|(had, _)| *had == code) {
            Some((_, count)) => *count += 1,
            None => self.codes.push((code, 1)),
        }
        let seconds = took.as_secs_f64();
        let at = BUCKETS.iter().position(|bound| seconds <= *bound).unwrap_or(BUCKETS.len());
        self.buckets[at] += 1;
        self.seconds += seconds;
    }
}

/// Counters of a server.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<HashMap<u64, Series>>,
    /// Writes to the store.
    pub writes: AtomicU64,
    /// Requests whose handling panicked.
    pub panics: AtomicU64,
    watches: Arc<AtomicI64>,
    /// Requests under way that read, and that change something.
    in_flight: [AtomicI64; 2],
}

/// A watch that is under way; over when dropped.
pub struct WatchGuard(Arc<AtomicI64>);

impl Drop for WatchGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request that is under way; over when dropped.
pub struct RequestGuard<'a>(&'a AtomicI64);

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What others know and metrics show.
pub struct Figures {
    /// Revision that the watch caches have seen.
    pub revision: i64,
    /// Group, resource and number of the objects in each cache.
    pub objects: Vec<(String, String, usize)>,
    /// Priority level: seats, in use, waiting, refused.
    pub levels: Vec<(Arc<str>, [usize; 4])>,
}

impl Metrics {
    /// Counts a request as under way.
    pub fn began(&self, labels: &Labels) -> RequestGuard<'_> {
        let counter = &self.in_flight[usize::from(labels.mutates())];
        counter.fetch_add(1, Ordering::Relaxed);
        RequestGuard(counter)
    }

    /// Counts an answer.
    pub fn answered(&self, labels: Labels, code: u16) {
        let took = labels.began.elapsed();
        let mut requests = self.requests.lock();
        let new = |labels| Series { labels, codes: Vec::new(), buckets: [0; BUCKETS.len() + 1], seconds: 0.0 };
        requests.entry(labels.hash()).or_insert_with(|| new(labels)).count(code, took);
    }

    /// Forgets what was asked of rows that the table lacks.
    pub fn keep(&self, kinds: &Kinds) {
        let there = |row: &Row| kinds.by_resource(&row.group, &row.version, &row.plural).is_some();
        self.requests.lock().retain(|_, series| series.labels.row.as_ref().is_none_or(there));
    }

    /// Counts a watch for as long as the guard lives; `None` if as many as there may be are under way.
    pub fn watch_began(&self, most: i64) -> Option<WatchGuard> {
        let before = self.watches.fetch_add(1, Ordering::Relaxed);
        let guard = WatchGuard(self.watches.clone());
        (before < most).then_some(guard)
    }

    /// All of them as text.
    pub fn text(&self, figures: &Figures) -> String {
        let mut out = String::with_capacity(16 * 1024);
        self.requests_text(&mut out);
        let load = |counter: &AtomicI64| counter.load(Ordering::Relaxed).to_string();
        let [reads, writes] = self.in_flight.each_ref().map(load);
        let kinds =
            [("{request_kind=\"readOnly\"}".to_owned(), reads), ("{request_kind=\"mutating\"}".to_owned(), writes)];
        metric(&mut out, "apiserver_current_inflight_requests", "gauge", "Requests under way, without streams.", kinds);
        let watches = [("{component=\"apiserver\",verb=\"WATCH\"}".to_owned(), load(&self.watches))];
        metric(&mut out, "apiserver_longrunning_requests", "gauge", "Watches under way.", watches);
        let objects = figures.objects.iter().map(|(group, resource, count)| {
            (format!("{{group=\"{group}\",resource=\"{resource}\"}}"), count.to_string())
        });
        metric(&mut out, "apiserver_resource_objects", "gauge", "Objects by resource.", objects);
        for (at, (name, kind, help)) in LEVELS.iter().enumerate() {
            let levels = figures.levels.iter();
            let lines =
                levels.map(|(level, figures)| (format!("{{priority_level=\"{level}\"}}"), figures[at].to_string()));
            metric(&mut out, name, kind, help, lines);
        }
        let plain = |value: String| [(String::new(), value)];
        let writes = plain(self.writes.load(Ordering::Relaxed).to_string());
        metric(&mut out, "apiserver_store_writes_total", "counter", "Transactions sent to the store.", writes);
        let panics = plain(self.panics.load(Ordering::Relaxed).to_string());
        metric(&mut out, "apiserver_panics_total", "counter", "Requests whose handling panicked.", panics);
        let revision = plain(figures.revision.to_string());
        metric(&mut out, "apiserver_cache_revision", "gauge", "Revision that the watch caches have seen.", revision);
        out
    }

    fn requests_text(&self, out: &mut String) {
        let requests = self.requests.lock();
        let mut all: Vec<(String, &Series)> =
            requests.values().map(|series| (series.labels.text(""), series)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let totals = all.iter().flat_map(|(_, series)| {
            series.codes.iter().map(|(code, count)| {
                (format!("{{{}}}", series.labels.text(&format!("code=\"{code}\","))), count.to_string())
            })
        });
        metric(out, "apiserver_request_total", "counter", "Requests by verb, resource and answer.", totals);
        let name = "apiserver_request_duration_seconds";
        let _ = writeln!(out, "# HELP {name} Time to the beginning of the answer.\n# TYPE {name} histogram");
        // Watches and streams last as long as their clients like.
        for (labels, series) in all.iter().filter(|(_, s)| !matches!(s.labels.verb, "WATCH" | "CONNECT")) {
            let mut sum = 0;
            for (at, count) in series.buckets.iter().enumerate() {
                sum += count;
                let bound = BUCKETS.get(at).map_or("+Inf".to_owned(), ToString::to_string);
                let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {sum}");
            }
            let _ = writeln!(out, "{name}_sum{{{labels}}} {}\n{name}_count{{{labels}}} {sum}", series.seconds);
        }
    }
}

/// Metrics of priority levels, in the order of [`Figures::levels`].
const LEVELS: [(&str, &str, &str); 4] = [
    ("apiserver_flowcontrol_nominal_limit_seats", "gauge", "Seats of a priority level."),
    ("apiserver_flowcontrol_current_executing_seats", "gauge", "Seats in use."),
    ("apiserver_flowcontrol_current_inqueue_requests", "gauge", "Requests that wait for a seat."),
    ("apiserver_flowcontrol_rejected_requests_total", "counter", "Requests that got no seat."),
];

fn metric(out: &mut String, name: &str, kind: &str, help: &str, lines: impl IntoIterator<Item = (String, String)>) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in lines {
        let _ = writeln!(out, "{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    #[test]
    fn requests_are_counted_by_what_they_ask_for() {
        let (metrics, kinds) = (Metrics::default(), api::kinds::builtin());
        let ask = |method: http::Method, path: &str| {
            let info = RequestInfo::parse(&method, path, &Query::default());
            Labels::new(&info, kinds.by_resource(&info.group, &info.version, &info.resource), false, false, false)
        };
        metrics.answered(ask(http::Method::GET, "/api/v1/namespaces/a/pods/x"), 200);
        metrics.answered(ask(http::Method::GET, "/api/v1/namespaces/a/pods/y"), 200);
        metrics.answered(ask(http::Method::GET, "/api/v1/namespaces/a/pods"), 200);
        metrics.answered(ask(http::Method::PUT, "/apis/apps/v1/namespaces/a/deployments/x/scale"), 409);
        metrics.answered(ask(http::Method::GET, "/apis/no.such/v1/things"), 404);
        let figures = Figures { revision: 7, objects: Vec::new(), levels: Vec::new() };
        let text = metrics.text(&figures);
        for line in [
            "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"pods\",scope=\"resource\",subresource=\"\",verb=\"GET\",version=\"v1\"} 2",
            "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"pods\",scope=\"namespace\",subresource=\"\",verb=\"LIST\",version=\"v1\"} 1",
            "apiserver_request_total{code=\"409\",component=\"apiserver\",dry_run=\"\",group=\"apps\",resource=\"deployments\",scope=\"resource\",subresource=\"scale\",verb=\"PUT\",version=\"v1\"} 1",
            "apiserver_request_total{code=\"404\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"\",scope=\"\",subresource=\"\",verb=\"LIST\",version=\"\"} 1",
            "apiserver_cache_revision 7",
        ] {
            assert!(text.lines().any(|had| had == line), "{line} in\n{text}");
        }
        assert!(text.contains("verb=\"GET\",version=\"v1\",le=\"+Inf\"} 2"), "{text}");
    }

    #[test]
    fn watches_have_a_limit() {
        let metrics = Metrics::default();
        let first = metrics.watch_began(2);
        let second = metrics.watch_began(2);
        assert!(first.is_some() && second.is_some());
        assert!(metrics.watch_began(2).is_none());
        drop(first);
        assert!(metrics.watch_began(2).is_some(), "who was refused is not counted");
    }

    #[test]
    fn series_neither_hold_rows_nor_outlive_them() {
        let (metrics, kinds) = (Metrics::default(), api::kinds::builtin());
        let row = Arc::new(Kind::clone(kinds.by_resource("", "v1", "pods").unwrap()));
        let info = RequestInfo::parse(&http::Method::GET, "/api/v1/namespaces/a/pods/x", &Query::default());
        metrics.answered(Labels::new(&info, Some(&row), false, false, false), 200);
        metrics.answered(Labels::new(&info, None, false, false, false), 404);
        assert_eq!(Arc::strong_count(&row), 1);
        metrics.keep(&kinds);
        assert_eq!(metrics.requests.lock().len(), 2);
        metrics.keep(&Kinds::new(Vec::new()));
        assert_eq!(metrics.requests.lock().len(), 1, "what was asked of no row stays");
    }
}
