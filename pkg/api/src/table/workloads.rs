//! Columns of workloads: apps, batch, autoscaling, policy and pod templates.

use serde_json::Value;

use super::{age, age::parse, code, column, count, format_labels, format_selector, human_duration, int, name, since};
use super::{selector_text, text, wide};
use crate::{
    kinds::{Cell, Column, autoscaling},
    tree,
};

/// The pod specification within a workload.
fn pod_spec(object: &Value) -> &Value {
    ["spec.template.spec", "template.spec", "spec.jobTemplate.spec.template.spec"]
        .into_iter()
        .map(|path| tree::at(object, path))
        .find(|spec| !spec.is_null())
        .unwrap_or(&Value::Null)
}

fn of_containers(object: &Value, field: &str) -> Value {
    let all: Vec<_> = tree::items(pod_spec(object), "containers").iter().map(|c| tree::text(c, field)).collect();
    all.join(",").into()
}

const fn containers() -> Column {
    wide("Containers", |object, _| of_containers(object, "name"))
}

const fn images() -> Column {
    wide("Images", |object, _| of_containers(object, "image"))
}

const fn selector() -> Column {
    wide("Selector", |object, _| format_selector(tree::at(object, "spec.selector")).into())
}

fn of_desired(object: &Value, field: &str) -> Value {
    format!("{}/{}", tree::int(object, field), tree::int(object, "spec.replicas")).into()
}

pub(crate) static DEPLOYMENT: [Column; 8] = [
    name("Name"),
    code("Ready", |d, _| of_desired(d, "status.readyReplicas")),
    column("Up-to-date", "string", Cell::Int("status.updatedReplicas")),
    column("Available", "string", Cell::Int("status.availableReplicas")),
    age(),
    containers(),
    images(),
    wide("Selector", |d, _| selector_text(tree::at(d, "spec.selector")).into()),
];

pub(crate) static REPLICA_SET: [Column; 8] = [
    name("Name"),
    int("Desired", "spec.replicas"),
    int("Current", "status.replicas"),
    int("Ready", "status.readyReplicas"),
    age(),
    containers(),
    images(),
    selector(),
];

pub(crate) static SCALE: [Column; 4] =
    [text("Name", "metadata.name", ""), int("Desired", "spec.replicas"), int("Available", "status.replicas"), age()];

pub(crate) static REPLICATION_CONTROLLER: [Column; 8] = [
    name("Name"),
    int("Desired", "spec.replicas"),
    int("Current", "status.replicas"),
    int("Ready", "status.readyReplicas"),
    age(),
    containers(),
    images(),
    wide("Selector", |rc, _| format_labels(tree::at(rc, "spec.selector")).into()),
];

pub(crate) static DAEMON_SET: [Column; 11] = [
    name("Name"),
    int("Desired", "status.desiredNumberScheduled"),
    int("Current", "status.currentNumberScheduled"),
    int("Ready", "status.numberReady"),
    int("Up-to-date", "status.updatedNumberScheduled"),
    int("Available", "status.numberAvailable"),
    code("Node Selector", |ds, _| format_labels(tree::at(ds, "spec.template.spec.nodeSelector")).into()),
    age(),
    containers(),
    images(),
    selector(),
];

pub(crate) static STATEFUL_SET: [Column; 5] =
    [name("Name"), code("Ready", |s, _| of_desired(s, "status.readyReplicas")), age(), containers(), images()];

pub(crate) static JOB: [Column; 8] = [
    name("Name"),
    code("Status", |job, _| job_status(job).into()),
    code("Completions", |job, _| {
        let done = tree::int(job, "status.succeeded");
        match (tree::at(job, "spec.completions").as_i64(), tree::int(job, "spec.parallelism")) {
            (Some(wanted), _) => format!("{done}/{wanted}"),
            (None, parallel) if parallel > 1 => format!("{done}/1 of {parallel}"),
            _ => format!("{done}/1"),
        }
        .into()
    }),
    code("Duration", |job, now| {
        let end = parse(tree::text(job, "status.completionTime")).unwrap_or(now);
        parse(tree::text(job, "status.startTime")).map(|start| human_duration(end - start)).unwrap_or_default().into()
    }),
    age(),
    containers(),
    images(),
    selector(),
];

fn job_status(job: &Value) -> &'static str {
    let is = |kind: &str| {
        tree::items(job, "status.conditions").iter().find(|c| c["type"] == kind).is_some_and(|c| c["status"] == "True")
    };
    let deleted = tree::has(job, "metadata.deletionTimestamp");
    match () {
        () if is("Complete") => "Complete",
        () if is("Failed") => "Failed",
        () if deleted => "Terminating",
        () if is("Suspended") => "Suspended",
        () if is("FailureTarget") => "FailureTarget",
        () if is("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

pub(crate) static CRON_JOB: [Column; 10] = [
    name("Name"),
    text("Schedule", "spec.schedule", ""),
    text("Timezone", "spec.timeZone", "<none>"),
    column(
        "Suspend",
        "boolean",
        Cell::Code(|job, _| match tree::at(job, "spec.suspend").as_bool() {
            Some(true) => "True".into(),
            Some(false) => "False".into(),
            None => "<unset>".into(),
        }),
    ),
    count("Active", "status.active"),
    code("Last Schedule", |job, now| match tree::text(job, "status.lastScheduleTime") {
        "" => "<none>".into(),
        time => since(time, now).into(),
    }),
    age(),
    containers(),
    images(),
    wide("Selector", |job, _| format_selector(tree::at(job, "spec.jobTemplate.spec.selector")).into()),
];

pub(crate) static CONTROLLER_REVISION: [Column; 4] = [
    name("Name"),
    code("Controller", |revision, _| {
        let owners = tree::items(revision, "metadata.ownerReferences");
        let Some(owner) = owners.iter().find(|o| tree::flag(o, "controller")) else { return "<none>".into() };
        let kind = tree::text(owner, "kind").to_lowercase();
        let name = tree::text(owner, "name");
        match tree::text(owner, "apiVersion").split_once('/') {
            Some((group, _)) => format!("{kind}.{group}/{name}"),
            None => format!("{kind}/{name}"),
        }
        .into()
    }),
    column("Revision", "string", Cell::Int("revision")),
    age(),
];

pub(crate) static POD_TEMPLATE: [Column; 4] = [
    name("Name"),
    code("Containers", |t, _| of_containers(t, "name")),
    code("Images", |t, _| of_containers(t, "image")),
    code("Pod Labels", |t, _| format_labels(tree::at(t, "template.metadata.labels")).into()),
];

/// An integer or a text, as text.
fn either(value: &Value) -> Value {
    match value {
        Value::Null => "N/A".into(),
        Value::String(_) => value.clone(),
        other => other.to_string().into(),
    }
}

pub(crate) static DISRUPTION_BUDGET: [Column; 5] = [
    name("Name"),
    code("Min Available", |pdb, _| either(tree::at(pdb, "spec.minAvailable"))),
    code("Max Unavailable", |pdb, _| either(tree::at(pdb, "spec.maxUnavailable"))),
    int("Allowed Disruptions", "status.disruptionsAllowed"),
    age(),
];

pub(crate) static AUTOSCALER: [Column; 7] = [
    name("Name"),
    code("Reference", |hpa, _| {
        let target = tree::at(hpa, "spec.scaleTargetRef");
        format!("{}/{}", tree::text(target, "kind"), tree::text(target, "name")).into()
    }),
    code("Targets", |hpa, _| autoscaler_targets(hpa).into()),
    code("MinPods", |hpa, _| match tree::at(hpa, "spec.minReplicas").as_i64() {
        Some(least) => least.to_string().into(),
        None => "<unset>".into(),
    }),
    column("MaxPods", "string", Cell::Int("spec.maxReplicas")),
    column("Replicas", "string", Cell::Int("status.currentReplicas")),
    age(),
];

fn autoscaler_targets(hpa: &Value) -> String {
    const SHOWN: usize = 2;
    if hpa["apiVersion"] == "autoscaling/v1" {
        let mut stored = hpa.clone();
        autoscaling::to_storage(&mut stored);
        return autoscaler_targets(&stored);
    }
    let metrics = tree::items(hpa, "spec.metrics");
    let current = tree::items(hpa, "status.currentMetrics");
    let shown: Vec<_> = metrics
        .iter()
        .take(SHOWN)
        .enumerate()
        .map(|(index, metric)| autoscaler_metric(metric, current.get(index).unwrap_or(&Value::Null)))
        .collect();
    match metrics.len() {
        0 => "<none>".to_owned(),
        few if few <= SHOWN => shown.join(", "),
        many => format!("{} + {} more...", shown.join(", "), many - SHOWN),
    }
}

fn autoscaler_metric(metric: &Value, current: &Value) -> String {
    let field = match tree::text(metric, "type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let (wanted, seen) = (tree::at(metric, &format!("{field}.target")), tree::at(current, &format!("{field}.current")));
    let quantity = |of: &Value, what: &str| match tree::at(of, what) {
        Value::Null => "<unknown>".to_owned(),
        value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    };
    let percent = |of: &Value, otherwise: &str| match tree::at(of, "averageUtilization").as_i64() {
        Some(percent) => format!("{percent}%"),
        None => otherwise.to_owned(),
    };
    let average = tree::has(wanted, "averageValue");
    let values = |what: &str| format!("{}/{}", quantity(seen, what), quantity(wanted, what));
    let name = tree::text(tree::at(metric, field), "name");
    match field {
        "pods" => values("averageValue"),
        "external" | "object" if average => format!("{} (avg)", values("averageValue")),
        "external" | "object" => values("value"),
        _ if average => format!("{name}: {}", values("averageValue")),
        _ => format!("{name}: {}/{}", percent(seen, "<unknown>"), percent(wanted, "<auto>")),
    }
}
