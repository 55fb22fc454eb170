//! Status of a Deployment: counts, and the conditions that `kubectl rollout status` reads.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet, ReplicaSetStatus},
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::ResourceExt as _;

use super::sets::{max_unavailable, size, wanted};

pub const PROGRESSING: &str = "Progressing";
const AVAILABLE: &str = "Available";
const REPLICA_FAILURE: &str = "ReplicaFailure";
const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

pub fn condition<'a>(status: &'a DeploymentStatus, type_: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.iter().flatten().find(|c| c.type_.as_deref() == Some(type_))
}

fn remove(status: &mut DeploymentStatus, type_: &str) {
    if let Some(conditions) = &mut status.conditions {
        conditions.retain(|c| c.type_.as_deref() != Some(type_));
    }
}

/// Sets a condition. One with the same status and reason stays as it is; one with the same status
/// keeps its transition time.
pub fn set(
    status: &mut DeploymentStatus,
    type_: &str,
    value: &str,
    reason: &str,
    message: impl Into<String>,
    now: Timestamp,
) {
    let before = condition(status, type_).cloned();
    if before.as_ref().is_some_and(|c| c.status.as_deref() == Some(value) && c.reason.as_deref() == Some(reason)) {
        return;
    }
    put(status, type_, value, reason, message.into(), now, before);
}

fn put(
    status: &mut DeploymentStatus,
    type_: &str,
    value: &str,
    reason: &str,
    message: String,
    now: Timestamp,
    before: Option<DeploymentCondition>,
) {
    let since = before.filter(|c| c.status.as_deref() == Some(value)).and_then(|c| c.last_transition_time);
    remove(status, type_);
    status.conditions.get_or_insert_default().push(DeploymentCondition {
        type_: Some(type_.to_owned()),
        status: Some(value.to_owned()),
        reason: Some(reason.to_owned()),
        message: Some(message),
        last_update_time: Some(Time(now)),
        last_transition_time: since.or(Some(Time(now))),
    });
}

/// `progressDeadlineSeconds`, where there is one.
pub fn deadline(deployment: &Deployment) -> Option<Duration> {
    let seconds = deployment.spec.progress_deadline_seconds.filter(|s| *s != i32::MAX)?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// The counts, over all ReplicaSets as the API has them, and whether enough are available.
pub fn counts(
    deployment: &Deployment,
    newest: Option<&ReplicaSet>,
    old: &[ReplicaSet],
    now: Timestamp,
) -> DeploymentStatus {
    let before = deployment.status.clone().unwrap_or_default();
    let all = || newest.into_iter().chain(old);
    let sum = |count: fn(&ReplicaSetStatus) -> i32| all().filter_map(|s| s.status.as_ref()).map(count).sum::<i32>();
    let some = |n: i32| (n != 0).then_some(n);
    let available = sum(|s| s.available_replicas.unwrap_or(0));
    let mut status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: some(sum(|s| s.replicas)),
        updated_replicas: some(newest.and_then(|s| s.status.as_ref()).map_or(0, |s| s.replicas)),
        ready_replicas: some(sum(|s| s.ready_replicas.unwrap_or(0))),
        available_replicas: some(available),
        unavailable_replicas: some((all().map(size).sum::<i32>() - available).max(0)),
        terminating_replicas: Some(sum(|s| s.terminating_replicas.unwrap_or(0))),
        ..before
    };
    if available >= wanted(deployment) - max_unavailable(deployment) {
        let message = "Deployment has minimum availability.";
        set(&mut status, AVAILABLE, "True", "MinimumReplicasAvailable", message, now);
    } else {
        let message = "Deployment does not have minimum availability.";
        set(&mut status, AVAILABLE, "False", "MinimumReplicasUnavailable", message, now);
    }
    status
}

/// Whether the rollout is over and everything is as it should be.
pub fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let wanted = wanted(deployment);
    [status.updated_replicas, status.replicas, status.available_replicas].iter().all(|n| n.unwrap_or(0) == wanted)
        && status.observed_generation >= deployment.metadata.generation
}

fn is_progressing(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let before = deployment.status.clone().unwrap_or_default();
    let n = |count: Option<i32>| count.unwrap_or(0);
    let old = |s: &DeploymentStatus| n(s.replicas) - n(s.updated_replicas);
    n(status.updated_replicas) > n(before.updated_replicas)
        || old(status) < old(&before)
        || n(status.ready_replicas) > n(before.ready_replicas)
        || n(status.available_replicas) > n(before.available_replicas)
}

fn timed_out(deployment: &Deployment, status: &DeploymentStatus, now: Timestamp) -> bool {
    let (Some(deadline), Some(progress)) = (deadline(deployment), condition(status, PROGRESSING)) else {
        return false;
    };
    match progress.reason.as_deref() {
        Some(NEW_SET_AVAILABLE) => false,
        Some(TIMED_OUT) => true,
        _ => progress.last_update_time.as_ref().is_some_and(|since| now.duration_since(since.0) > to_signed(deadline)),
    }
}

fn to_signed(duration: Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(duration).unwrap_or(jiff::SignedDuration::MAX)
}

/// Adds what the rollout has come to. `status` has the counts already.
pub fn rollout(
    deployment: &Deployment,
    status: &mut DeploymentStatus,
    newest: Option<&ReplicaSet>,
    old: &[ReplicaSet],
    now: Timestamp,
) {
    let before = condition(status, PROGRESSING).cloned();
    let settled = status.replicas == status.updated_replicas
        && before.as_ref().is_some_and(|c| c.reason.as_deref() == Some(NEW_SET_AVAILABLE));
    if deadline(deployment).is_none() {
        remove(status, PROGRESSING);
    } else if !settled {
        let subject = newest.map_or_else(
            || format!("Deployment {:?}", deployment.name_any()),
            |set| format!("ReplicaSet {:?}", set.name_any()),
        );
        if is_complete(deployment, status) {
            let message = format!("{subject} has successfully progressed.");
            set(status, PROGRESSING, "True", NEW_SET_AVAILABLE, message, now);
        } else if is_progressing(deployment, status) {
            // The update time counts from here, so the condition is written even if it is the same.
            let message = format!("{subject} is progressing.");
            put(status, PROGRESSING, "True", "ReplicaSetUpdated", message, now, before);
        } else if timed_out(deployment, status, now) {
            let message = format!("{subject} has timed out progressing.");
            set(status, PROGRESSING, "False", TIMED_OUT, message, now);
        }
    }
    let failure = |set: &ReplicaSet| {
        let conditions = set.status.iter().flat_map(|s| s.conditions.iter().flatten());
        conditions
            .into_iter()
            .find(|c| c.type_.as_deref() == Some(REPLICA_FAILURE) && c.status.as_deref() == Some("True"))
            .cloned()
    };
    match newest.and_then(failure).or_else(|| old.iter().find_map(failure)) {
        Some(found) => {
            let (reason, message) = (found.reason.unwrap_or_default(), found.message.unwrap_or_default());
            set(status, REPLICA_FAILURE, "True", &reason, message, now);
        }
        None => remove(status, REPLICA_FAILURE),
    }
}

/// When a rollout that makes no progress is to be looked at again.
pub fn deadline_at(deployment: &Deployment, status: &DeploymentStatus) -> Option<Timestamp> {
    let progress = condition(status, PROGRESSING)?;
    if is_complete(deployment, status) || matches!(progress.reason.as_deref(), Some(TIMED_OUT | NEW_SET_AVAILABLE)) {
        return None;
    }
    let since = progress.last_update_time.as_ref()?.0;
    since.checked_add(deadline(deployment)? + Duration::from_secs(1)).ok()
}

/// Notes that the Deployment is paused, or is so no more.
pub fn paused(deployment: &Deployment, status: &mut DeploymentStatus, now: Timestamp) {
    if deadline(deployment).is_none() {
        return;
    }
    let before = condition(status, PROGRESSING).and_then(|c| c.reason.clone());
    if before.as_deref() == Some(TIMED_OUT) {
        return;
    }
    let pauses = deployment.spec.paused.unwrap_or(false);
    let was = before.as_deref() == Some("DeploymentPaused");
    if pauses && !was {
        set(status, PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused", now);
    } else if !pauses && was {
        set(status, PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed", now);
    }
}
