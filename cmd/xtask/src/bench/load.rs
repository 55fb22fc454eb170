//! What the load generator does: `cargo xtask bench` runs these inside the server's network
//! namespace, as `xtask bench-client KUBECONFIG OPERATION`, and reads the figure as JSON.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};

use super::{
    Figure,
    connection::{Cluster, Connection},
    statistics::{median, quantile},
    watchers,
};

/// As in the budgets.
const IN_FLIGHT: usize = 32;
/// Over which requests in flight are spread.
const CONNECTIONS: usize = 4;
const CREATES: usize = 12_000;
const GETS: usize = 60_000;
const PODS: usize = 2_000;
const LISTS: usize = 20;
/// For the memory that they take.
const MANY_PODS: usize = 10_000;
const WATCHERS: usize = 50;
const WRITES: usize = 300;
/// Between two writes that watchers wait for.
const WRITE_INTERVAL: Duration = Duration::from_millis(20);
const SINGLE_PODS: usize = 10;
const REPLICAS: u64 = 20;

/// Runs an operation and prints its figure.
pub fn main(args: &[&str]) -> anyhow::Result<()> {
    let [kubeconfig, operation] = args else { bail!("usage: xtask bench-client KUBECONFIG OPERATION") };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let figure = runtime.block_on(async {
        if *operation == "ready" {
            return ready(Path::new(kubeconfig)).await;
        }
        let cluster = Cluster::from_kubeconfig(Path::new(kubeconfig))?;
        match *operation {
            "create" => create(&cluster).await,
            "get" => get(&cluster).await,
            "list" => list(&cluster).await,
            "watch" => watch(&cluster).await,
            "watchers" => watchers::measure(&cluster).await,
            "pods" => pods(&cluster).await,
            "pod" => pod(&cluster.connect().await?).await,
            "deployment" => deployment(&cluster.connect().await?).await,
            other => bail!("unknown operation {other}"),
        }
    })?;
    println!("{}", serde_json::to_string(&figure)?);
    Ok(())
}

/// Waits until a server that is just starting has a Ready node.
async fn ready(kubeconfig: &Path) -> anyhow::Result<Figure> {
    let start = Instant::now();
    loop {
        let attempt = async {
            let connection = Cluster::from_kubeconfig(kubeconfig)?.connect().await?;
            connection.watch("/api/v1/nodes", true).await?.until(|_, node| condition(node, "Ready")).await
        };
        match attempt.await {
            Ok(()) => return Ok(Figure::new(start.elapsed().as_secs_f64(), "")),
            Err(error) if start.elapsed() > Duration::from_secs(60) => {
                return Err(error.context("the node is not Ready"));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

fn condition(object: &Value, wanted: &str) -> bool {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|c| c["type"] == wanted && c["status"] == "True")
}

/// Sends `total` requests, [`IN_FLIGHT`] at a time; answers with how many there were in a second.
async fn rate<F>(cluster: &Cluster, total: usize, request: impl Fn(Connection, usize) -> F) -> anyhow::Result<f64>
where
    F: Future<Output = anyhow::Result<Bytes>> + Send + 'static,
{
    let connections = cluster.connections(CONNECTIONS).await?;
    let request = &request;
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let workers = (0..IN_FLIGHT).map(|worker| {
        let (connection, next) = (connections[worker % CONNECTIONS].clone(), &next);
        async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= total {
                    return anyhow::Ok(());
                }
                // A task of its own, so that all threads share the work.
                tokio::spawn(request(connection.clone(), number)).await??;
            }
        }
    });
    futures::future::try_join_all(workers).await?;
    Ok(total as f64 / start.elapsed().as_secs_f64())
}

/// A namespace of this run; its name.
pub(super) async fn namespace(connection: &Connection, name: &str) -> anyhow::Result<String> {
    connection.ensure("/api/v1/namespaces", &json!({"metadata": {"name": name}})).await?;
    Ok(name.to_owned())
}

fn config_map(name: &str, number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": "bench", "tier": "load"}},
        "data": {"n": number.to_string(), "text": "x".repeat(200)},
    })
}

async fn create(cluster: &Cluster) -> anyhow::Result<Figure> {
    let namespace = namespace(&cluster.connect().await?, "bench").await?;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let prefix = std::process::id();
    let per_second = rate(cluster, CREATES, |connection, number| {
        let (path, body) = (path.clone(), config_map(&format!("c{prefix}-{number}"), number).to_string());
        async move { connection.call(Method::POST, &path, body).await }
    })
    .await?;
    Ok(Figure::new(per_second, format!("{CREATES} objects")))
}

async fn get(cluster: &Cluster) -> anyhow::Result<Figure> {
    const OBJECTS: usize = 100;
    let connection = cluster.connect().await?;
    let path = format!("/api/v1/namespaces/{}/configmaps", namespace(&connection, "bench").await?);
    for number in 0..OBJECTS {
        connection.ensure(&path, &config_map(&format!("get-{number}"), number)).await?;
    }
    let per_second = rate(cluster, GETS, |connection, number| {
        let path = format!("{path}/get-{}", number % OBJECTS);
        async move { connection.call(Method::GET, &path, Bytes::new()).await }
    })
    .await?;
    Ok(Figure::new(per_second, format!("{GETS} requests")))
}

/// Pods that no scheduler and no kubelet takes.
fn resting_pod(number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("rest-{number}"), "labels": {"app": "bench"}},
        "spec": {
            "schedulerName": "nobody",
            "containers": [{
                "name": "main", "image": IMAGE, "command": ["sleep", "infinity"],
                "resources": {"requests": {"cpu": "10m"}},
            }],
        },
    })
}

/// Makes pods that rest: where they are, and how many were made in a second.
async fn rest(cluster: &Cluster, connection: &Connection, place: &str, count: usize) -> anyhow::Result<(String, f64)> {
    let path = format!("/api/v1/namespaces/{}/pods", namespace(connection, place).await?);
    with_service_account(connection, &path, &resting_pod(0)).await?;
    let per_second = rate(cluster, count - 1, |connection, number| {
        let (path, pod) = (path.clone(), resting_pod(number + 1));
        async move { connection.ensure(&path, &pod).await.map(|()| Bytes::new()) }
    })
    .await?;
    Ok((path, per_second))
}

/// Makes many pods that rest.
async fn pods(cluster: &Cluster) -> anyhow::Result<Figure> {
    let connection = cluster.connect().await?;
    let (path, per_second) = rest(cluster, &connection, "bench-many", MANY_PODS).await?;
    let size = connection.call(Method::GET, &path, Bytes::new()).await?.len();
    Ok(Figure::new(per_second, format!("{} bytes a pod in a list, made at {per_second:.0}/s", size / MANY_PODS)))
}

async fn list(cluster: &Cluster) -> anyhow::Result<Figure> {
    let connection = cluster.connect().await?;
    let (path, _) = rest(cluster, &connection, "bench-list", PODS).await?;
    // The first one is not counted: connection windows, page faults.
    let size = connection.call(Method::GET, &path, Bytes::new()).await?.len();
    let start = Instant::now();
    let mut total = 0;
    for _ in 0..LISTS {
        let mut body = connection.send(Method::GET, &path, Bytes::new()).await?.into_body();
        while let Some(frame) = http_body_util::BodyExt::frame(&mut body).await {
            total += frame?.data_ref().map_or(0, Bytes::len);
        }
    }
    let per_second = total as f64 / start.elapsed().as_secs_f64();
    Ok(Figure::new(per_second / 1e6, format!("{:.1} MB each", size as f64 / 1e6)))
}

async fn watch(cluster: &Cluster) -> anyhow::Result<Figure> {
    let load = watchers::Load {
        namespace: "bench-watch",
        watchers: WATCHERS,
        per_connection: WATCHERS / 10,
        writes: WRITES,
        interval: WRITE_INTERVAL,
    };
    let (mut delays, _) = watchers::run(cluster, &load).await?;
    Ok(Figure::new(median(&mut delays), format!("p99 {:.1} ms", quantile(&mut delays, 0.99))))
}

/// Which write an event is of, without decoding it.
pub(super) fn sequence(line: &[u8]) -> Option<usize> {
    let line = std::str::from_utf8(line).ok()?;
    let rest = &line[line.find(r#""n":""#)? + 5..];
    rest[..rest.find('"')?].parse().ok()
}

const IMAGE: &str = "kinglet.dev/shell:1";

fn pod_spec() -> Value {
    json!({
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": IMAGE, "command": ["sleep", "infinity"]}],
    })
}

/// Makes a pod in a namespace so new that its service account may be missing yet.
async fn with_service_account(connection: &Connection, path: &str, pod: &Value) -> anyhow::Result<()> {
    let start = Instant::now();
    loop {
        match connection.ensure(path, pod).await {
            Err(error) if start.elapsed() > Duration::from_secs(10) => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            Ok(()) => return Ok(()),
        }
    }
}

async fn pod(connection: &Connection) -> anyhow::Result<Figure> {
    let path = format!("/api/v1/namespaces/{}/pods", namespace(connection, "bench-pods").await?);
    let mut times = Vec::new();
    for number in 0..=SINGLE_PODS {
        let name = format!("single-{number}");
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": pod_spec()});
        let mut events = connection.watch(&format!("{path}?fieldSelector=metadata.name%3D{name}"), false).await?;
        let start = Instant::now();
        if number == 0 {
            with_service_account(connection, &path, &pod).await?;
        } else {
            connection.create(&path, &pod).await?;
        }
        events.until(|_, pod| condition(pod, "Ready")).await?;
        // The first one waits for its namespace.
        if number > 0 {
            times.push(start.elapsed().as_secs_f64());
        }
        connection.call(Method::DELETE, &format!("{path}/{name}"), Bytes::new()).await?;
        events.until(|kind, _| kind == "DELETED").await?;
    }
    let middle = median(&mut times);
    let (least, most) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
    Ok(Figure::new(middle, format!("{least:.2} to {most:.2}")))
}

async fn deployment(connection: &Connection) -> anyhow::Result<Figure> {
    let namespace = namespace(connection, "bench-pods").await?;
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments");
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let labels = json!({"app": "many"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "many"},
        "spec": {
            "replicas": REPLICAS, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec()},
        },
    });
    let mut events = connection.watch(&path, false).await?;
    let start = Instant::now();
    connection.create(&path, &deployment).await?;
    events.until(|_, object| object.pointer("/status/readyReplicas").and_then(Value::as_u64) == Some(REPLICAS)).await?;
    let seconds = start.elapsed().as_secs_f64();
    let mut gone = connection.watch(&pods, false).await?;
    let background = json!({"propagationPolicy": "Background"}).to_string();
    connection.call(Method::DELETE, &format!("{path}/many"), background).await?;
    let mut left = REPLICAS;
    let all_gone = gone.until(|kind, _| {
        left -= u64::from(kind == "DELETED");
        left == 0
    });
    tokio::time::timeout(Duration::from_secs(60), all_gone).await.context("the pods do not go away")??;
    Ok(Figure::new(seconds, format!("{:.2} s a pod", seconds / REPLICAS as f64)))
}
