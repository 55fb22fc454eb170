//! Rows of workloads: apps, batch, autoscaling and policy.

use super::row::{Group, Row, SCALE_AND_STATUS, STATUS};
use crate::{strategy, table};

const ALL: &[&str] = &["all"];

pub(super) static APPS: Group = Group { group: "apps", version: "v1", package: "io.k8s.api.apps" };
pub(super) static AUTOSCALING: Group = Group { group: "autoscaling", version: "v2", package: "io.k8s.api.autoscaling" };
pub(super) static BATCH: Group = Group { group: "batch", version: "v1", package: "io.k8s.api.batch" };
pub(super) static POLICY: Group = Group { group: "policy", version: "v1", package: "io.k8s.api.policy" };

pub(super) const APPS_ROWS: &[Row] = &[
    Row::namespaced("ControllerRevision", "controllerrevisions")
        .strategy(&strategy::ControllerRevisions)
        .columns(&table::workloads::CONTROLLER_REVISION),
    Row::namespaced("DaemonSet", "daemonsets")
        .strategy(&strategy::DaemonSets)
        .columns(&table::workloads::DAEMON_SET)
        .short(&["ds"])
        .categories(ALL)
        .subs(STATUS),
    Row::namespaced("Deployment", "deployments")
        .strategy(&strategy::Deployments)
        .columns(&table::workloads::DEPLOYMENT)
        .short(&["deploy"])
        .categories(ALL)
        .subs(SCALE_AND_STATUS),
    Row::namespaced("ReplicaSet", "replicasets")
        .strategy(&strategy::ReplicaSets)
        .columns(&table::workloads::REPLICA_SET)
        .short(&["rs"])
        .categories(ALL)
        .subs(SCALE_AND_STATUS),
    Row::namespaced("StatefulSet", "statefulsets")
        .strategy(&strategy::StatefulSets)
        .columns(&table::workloads::STATEFUL_SET)
        .short(&["sts"])
        .categories(ALL)
        .subs(SCALE_AND_STATUS),
];

pub(super) const AUTOSCALING_ROWS: &[Row] = &[Row::namespaced("HorizontalPodAutoscaler", "horizontalpodautoscalers")
    .strategy(&strategy::Autoscalers::V2)
    .columns(&table::workloads::AUTOSCALER)
    .short(&["hpa"])
    .categories(ALL)
    .subs(STATUS)];

pub(super) const BATCH_ROWS: &[Row] = &[
    Row::namespaced("CronJob", "cronjobs")
        .strategy(&strategy::CronJobs)
        .columns(&table::workloads::CRON_JOB)
        .short(&["cj"])
        .categories(ALL)
        .subs(STATUS),
    Row::namespaced("Job", "jobs")
        .orphaning()
        .strategy(&strategy::Jobs)
        .columns(&table::workloads::JOB)
        .categories(ALL)
        .subs(STATUS)
        .selectable(&["status.successful"]),
];

pub(super) const POLICY_ROWS: &[Row] = &[Row::namespaced("PodDisruptionBudget", "poddisruptionbudgets")
    .based()
    .bare_finalizers()
    .strategy(&strategy::DisruptionBudgets)
    .columns(&table::workloads::DISRUPTION_BUDGET)
    .short(&["pdb"])
    .subs(STATUS)];
