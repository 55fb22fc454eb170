//! A thousand watchers of one kind, and a steady stream of writes: whether each gets every event, and when.

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

const WATCHERS: usize = 1000;
/// As informers of one process share a connection.
const PER_CONNECTION: usize = 50;
const WRITES: usize = 1000;
/// 100 in a second.
const INTERVAL: Duration = Duration::from_millis(10);
/// Events that have not come by then are lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes to one ConfigMap; delays from before the request to the event's line.
pub(super) async fn measure(cluster: &Cluster) -> anyhow::Result<Figure> {
    let connection = cluster.connect().await?;
    let path = format!("/api/v1/namespaces/{}/configmaps", namespace(&connection, "bench-watchers").await?);
    let object = json!({"metadata": {"name": "watched"}, "data": {"n": "0"}});
    connection.ensure(&path, &object).await?;
    let sent: Arc<Mutex<Vec<Option<Instant>>>> = Arc::new(Mutex::new(vec![None; WRITES + 1]));
    let connections = cluster.connections(WATCHERS / PER_CONNECTION).await?;
    let mut watchers: JoinSet<anyhow::Result<Vec<f32>>> = JoinSet::new();
    for number in 0..WATCHERS {
        let mut events = connections[number % connections.len()].watch(&path, false).await?;
        let sent = sent.clone();
        watchers.spawn(async move {
            let mut delays = Vec::with_capacity(WRITES);
            while delays.len() < WRITES {
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
    let mut ticks = tokio::time::interval(INTERVAL);
    let begun = Instant::now();
    for number in 1..=WRITES {
        ticks.tick().await;
        let body = json!({"data": {"n": number.to_string()}}).to_string();
        sent.lock().expect("nobody panics")[number] = Some(Instant::now());
        connection.call(Method::PATCH, &format!("{path}/watched"), body).await?;
    }
    let per_second = WRITES as f64 / begun.elapsed().as_secs_f64();
    let mut delays: Vec<f64> = Vec::with_capacity(WATCHERS * WRITES);
    let all = async {
        while let Some(done) = watchers.join_next().await {
            delays.extend(done??.into_iter().map(f64::from));
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, all).await.context("events are missing")??;
    let (p50, p99) = (median(&mut delays), quantile(&mut delays, 0.99));
    let slowest = delays.last().copied().unwrap_or_default();
    let note = format!("{} events, {per_second:.0} writes/s, p50 {p50:.1} ms, slowest {slowest:.0} ms", delays.len());
    Ok(Figure::new(p99, note))
}
