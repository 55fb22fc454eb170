//! Watchers of one kind and a steady stream of writes: whether each gets every event, in order, and when.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use http::Method;
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    Figure,
    connection::Cluster,
    load::{namespace, sequence},
    statistics::{median, quantile},
};

/// Events that have not come by then are lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many watch, and what is written.
pub(super) struct Load {
    /// Where the ConfigMap is.
    pub namespace: &'static str,
    pub watchers: usize,
    /// Informers of one process share a connection.
    pub per_connection: usize,
    pub writes: usize,
    /// Between writes.
    pub interval: Duration,
}

/// A thousand watchers, and 100 writes in a second.
pub(super) async fn measure(cluster: &Cluster) -> anyhow::Result<Figure> {
    let interval = Duration::from_millis(10);
    let load = Load { namespace: "bench-watchers", watchers: 1000, per_connection: 50, writes: 1000, interval };
    let (mut delays, per_second) = run(cluster, &load).await?;
    let (p50, p99) = (median(&mut delays), quantile(&mut delays, 0.99));
    let slowest = delays.last().copied().unwrap_or_default();
    let note = format!("{} events, {per_second:.0} writes/s, p50 {p50:.1} ms, slowest {slowest:.0} ms", delays.len());
    Ok(Figure::new(p99, note))
}

/// Writes to one ConfigMap; delays in ms, from before the request to the event's line, and writes in a second.
pub(super) async fn run(cluster: &Cluster, load: &Load) -> anyhow::Result<(Vec<f64>, f64)> {
    let writes = load.writes;
    let connection = cluster.connect().await?;
    let path = format!("/api/v1/namespaces/{}/configmaps", namespace(&connection, load.namespace).await?);
    let object = json!({"metadata": {"name": "watched"}, "data": {"n": "0"}});
    connection.ensure(&path, &object).await?;
    let sent: Arc<Mutex<Vec<Option<Instant>>>> = Arc::new(Mutex::new(vec![None; writes + 1]));
    let connections = cluster.connections(load.watchers / load.per_connection).await?;
    let mut watchers: JoinSet<anyhow::Result<Vec<f32>>> = JoinSet::new();
    for number in 0..load.watchers {
        let mut events = connections[number % connections.len()].watch(&path, false).await?;
        let sent = sent.clone();
        watchers.spawn(async move {
            let mut delays = Vec::with_capacity(writes);
            while delays.len() < writes {
                let line = events.line().await?;
                let now = Instant::now();
                let number = sequence(&line).context("an event of another object")?;
                ensure!(number == delays.len() + 1, "event {number} after {}", delays.len());
                let start = sent.lock().expect("nobody panics").get(number).copied().flatten();
                delays.push((now - start.context("an event before its write")?).as_secs_f32() * 1e3);
            }
            Ok(delays)
        });
    }
    let mut ticks = tokio::time::interval(load.interval);
    let begun = Instant::now();
    for number in 1..=writes {
        ticks.tick().await;
        let body = json!({"data": {"n": number.to_string()}}).to_string();
        sent.lock().expect("nobody panics")[number] = Some(Instant::now());
        connection.call(Method::PATCH, &format!("{path}/watched"), body).await?;
    }
    let per_second = writes as f64 / begun.elapsed().as_secs_f64();
    let mut delays: Vec<f64> = Vec::with_capacity(load.watchers * writes);
    let all = async {
        while let Some(done) = watchers.join_next().await {
            delays.extend(done??.into_iter().map(f64::from));
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, all).await.context("events are missing")??;
    Ok((delays, per_second))
}
