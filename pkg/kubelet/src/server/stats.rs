//! What pods use: `/stats/summary`, and the same as metrics. Made on demand from the runtime's numbers; nothing is
//! sampled while nobody asks.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Json};
use cri::v1 as rt;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Answer, Shared};
use crate::spec::labels;

async fn containers(shared: &Shared) -> Result<Vec<rt::ContainerStats>, Answer> {
    let request = rt::ListContainerStatsRequest::default();
    let answer = shared.runtime().cri.runtime.clone().list_container_stats(request).await;
    let failed = |s: tonic::Status| Answer(StatusCode::INTERNAL_SERVER_ERROR, s.message().to_owned());
    Ok(answer.map_err(failed)?.into_inner().stats)
}

fn time(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).unwrap_or_default()
}

fn cpu(stats: &rt::ContainerStats) -> Option<(i64, u64)> {
    let cpu = stats.cpu.as_ref()?;
    Some((cpu.timestamp, cpu.usage_core_nano_seconds.as_ref()?.value))
}

fn memory(stats: &rt::ContainerStats) -> Option<(i64, u64)> {
    let memory = stats.memory.as_ref()?;
    Some((memory.timestamp, memory.working_set_bytes.as_ref()?.value))
}

/// `/stats/summary`.
pub async fn summary(State(shared): State<Shared>) -> Result<Json<Value>, Answer> {
    let stats = containers(&shared).await?;
    let mut pods: std::collections::BTreeMap<String, Value> = std::collections::BTreeMap::new();
    for one in &stats {
        let Some(attributes) = &one.attributes else { continue };
        let label = |key: &str| attributes.labels.get(key).cloned().unwrap_or_default();
        let pod = pods.entry(label(labels::POD_UID)).or_insert_with(|| {
            json!({"podRef": {"name": label(labels::POD_NAME), "namespace": label(labels::POD_NAMESPACE),
                   "uid": label(labels::POD_UID)}, "containers": []})
        });
        let mut container = json!({"name": label(labels::CONTAINER_NAME)});
        if let Some((at, value)) = cpu(one) {
            container["cpu"] = json!({"time": time(at), "usageCoreNanoSeconds": value});
        }
        if let Some((at, value)) = memory(one) {
            container["memory"] = json!({"time": time(at), "workingSetBytes": value});
        }
        if let Some(containers) = pod["containers"].as_array_mut() {
            containers.push(container);
        }
    }
    let node = json!({"nodeName": shared.ctx.config.node_name});
    Ok(Json(json!({"node": node, "pods": pods.into_values().collect::<Vec<_>>()})))
}

/// `/metrics/resource`: what containers use, in the text format of Prometheus.
pub async fn resource(State(shared): State<Shared>) -> Result<impl IntoResponse, Answer> {
    let stats = containers(&shared).await?;
    let mut text = String::new();
    type Read = fn(&rt::ContainerStats) -> Option<(i64, f64)>;
    let families: [(&str, &str, Read); 2] = [
        ("container_cpu_usage_seconds_total", "counter", |s| cpu(s).map(|(t, v)| (t, v as f64 / 1e9))),
        ("container_memory_working_set_bytes", "gauge", |s| memory(s).map(|(t, v)| (t, v as f64))),
    ];
    for (name, kind, read) in families {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# TYPE {name} {kind}");
        for one in &stats {
            let (Some(attributes), Some((at, value))) = (&one.attributes, read(one)) else { continue };
            let label = |key: &str| attributes.labels.get(key).cloned().unwrap_or_default();
            let _ = writeln!(
                text,
                "{name}{{container=\"{}\",namespace=\"{}\",pod=\"{}\"}} {value} {}",
                label(labels::CONTAINER_NAME),
                label(labels::POD_NAMESPACE),
                label(labels::POD_NAME),
                at / 1_000_000
            );
        }
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text))
}

/// `/metrics`: of the kubelet itself.
pub async fn metrics(State(shared): State<Shared>) -> impl IntoResponse {
    let pods = shared.pods.list().len();
    let node = &shared.ctx.config.node_name;
    let text = format!(
        "# TYPE kubelet_node_name gauge\nkubelet_node_name{{node=\"{node}\"}} 1\n\
         # TYPE kubelet_active_pods gauge\nkubelet_active_pods{{static=\"\"}} {pods}\n"
    );
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}
