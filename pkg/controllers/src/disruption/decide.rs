//! What a budget allows, decided from its pods and from the scale of what controls them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use client::{EventType, Next, runtime::controller_of, slim::Pod};
use jiff::Timestamp;
use k8s_openapi::{
    api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus},
    apimachinery::pkg::{
        apis::meta::v1::{Condition, OwnerReference, Time},
        util::intstr::IntOrString,
    },
};
use kube::ResourceExt as _;

use super::scale::Scale;
use crate::{deployment::resolve, owners::is_deleting, pods};

/// So long a pod whose eviction was granted may take until it is marked; then it counts again.
const DELETION_TIMEOUT: Duration = Duration::from_secs(120);
const ALLOWED: &str = "DisruptionAllowed";

pub struct Input {
    pub budget: Arc<PodDisruptionBudget>,
    /// What it selects.
    pub pods: Vec<Arc<Pod>>,
    /// By the uid of what controls a pod, where it is known.
    pub scales: HashMap<String, Scale>,
}

#[derive(Debug, PartialEq)]
pub enum Plan {
    /// Scales that are needed and not known. Then [`settle`], with this as the time.
    Ask {
        owners: Vec<OwnerReference>,
        now: Timestamp,
    },
    Settled(Settled),
}

#[derive(Debug, PartialEq)]
pub struct Settled {
    /// If it is not as it should be.
    pub status: Option<PodDisruptionBudgetStatus>,
    /// Told when the status is written.
    pub notes: Vec<Note>,
    pub next: Next,
}

/// An event.
#[derive(Debug, PartialEq)]
pub struct Note {
    pub about: About,
    pub type_: EventType,
    pub reason: &'static str,
    pub message: String,
}

#[derive(Debug, PartialEq)]
pub enum About {
    Budget,
    Pod(Arc<Pod>),
}

/// See the module.
pub fn decide(input: &Input, now: Timestamp) -> Plan {
    let mut owners: Vec<OwnerReference> = Vec::new();
    if needs_scale(&input.budget) {
        for owner in input.pods.iter().filter_map(|pod| controller_of(&**pod)) {
            if !input.scales.contains_key(&owner.uid) && !owners.iter().any(|known| known.uid == owner.uid) {
                owners.push(owner.clone());
            }
        }
    }
    if owners.is_empty() { Plan::Settled(settle(input, now)) } else { Plan::Ask { owners, now } }
}

/// Whether it is not enough to count the pods there are.
fn needs_scale(budget: &PodDisruptionBudget) -> bool {
    let of = |spec: &PodDisruptionBudgetSpec| {
        spec.max_unavailable.is_some() || matches!(spec.min_available, Some(IntOrString::String(_)))
    };
    budget.spec.as_ref().is_some_and(of)
}

/// The status, with all scales that can be known.
pub fn settle(input: &Input, now: Timestamp) -> Settled {
    let mut notes = Vec::new();
    if input.pods.is_empty() {
        notes.push(note(EventType::Normal, "NoPods", "No matching pods found".to_owned()));
    }
    let (status, next) = match expected(input, &mut notes) {
        Ok((expected, desired)) => status(input, expected, desired, now, &mut notes),
        Err(why) => {
            let text = format!("Failed to calculate the number of expected pods: {why}");
            notes.push(note(EventType::Warning, "CalculateExpectedPodCountFailed", text));
            (failed(&input.budget, why, now), Next::Done)
        }
    };
    let had = input.budget.status.clone().map(|mut had| {
        had.disrupted_pods = had.disrupted_pods.filter(|pods| !pods.is_empty());
        had
    });
    match had.as_ref() == Some(&status) {
        true => Settled { status: None, notes: Vec::new(), next },
        false => Settled { status: Some(status), notes, next },
    }
}

fn note(type_: EventType, reason: &'static str, message: String) -> Note {
    Note { about: About::Budget, type_, reason, message }
}

/// Pods that there should be, and how many of them healthy.
fn expected(input: &Input, notes: &mut Vec<Note>) -> Result<(i32, i32), String> {
    let Some(spec) = &input.budget.spec else { return Ok((0, 0)) };
    let count = if needs_scale(&input.budget) { scale(input, notes)? } else { count(input.pods.len()) };
    Ok(match (&spec.max_unavailable, &spec.min_available) {
        (None, None) => (0, 0),
        (None, Some(IntOrString::Int(least))) => (count, *least),
        (None, least) => (count, resolve(least.as_ref(), count, true)),
        (most, _) => (count, count.saturating_sub(resolve(most.as_ref(), count, true)).max(0)),
    })
}

fn count(pods: usize) -> i32 {
    i32::try_from(pods).unwrap_or(i32::MAX)
}

/// The sum over all that control pods of the budget.
fn scale(input: &Input, notes: &mut Vec<Note>) -> Result<i32, String> {
    let mut found: BTreeMap<&str, i32> = BTreeMap::new();
    let mut unmanaged = Vec::new();
    for pod in &input.pods {
        let Some(owner) = controller_of(&**pod) else {
            unmanaged.push(pod.name_any());
            continue;
        };
        match input.scales.get(&owner.uid) {
            Some(Scale::Of { uid, replicas }) => {
                found.insert(uid, *replicas);
            }
            Some(Scale::Failed(why)) => return Err(why.clone()),
            Some(Scale::Missing) | None => return Err(format!("found no controllers for pod {:?}", pod.name_any())),
        }
    }
    if !unmanaged.is_empty() {
        let text = format!(
            "Pods without a controller are not counted: {}. A budget for them has to give .spec.minAvailable as a number",
            unmanaged.join(", ")
        );
        notes.push(note(EventType::Warning, "UnmanagedPods", text));
    }
    Ok(found.values().fold(0, |sum, replicas| sum.saturating_add(*replicas)))
}

fn status(
    input: &Input,
    expected: i32,
    desired: i32,
    now: Timestamp,
    notes: &mut Vec<Note>,
) -> (PodDisruptionBudgetStatus, Next) {
    let budget = &*input.budget;
    let (disrupted, next) = disrupted(input, now, notes);
    let healthy = |pod: &Pod| !is_deleting(pod) && !disrupted.contains_key(&pod.name_any()) && pods::is_ready(pod);
    let healthy = count(input.pods.iter().filter(|pod| healthy(pod)).count());
    // With nothing expected nothing is allowed: the first pods may not have been counted yet.
    let allowed = if expected > 0 { healthy.saturating_sub(desired).max(0) } else { 0 };
    let mut status = PodDisruptionBudgetStatus {
        conditions: budget.status.as_ref().and_then(|status| status.conditions.clone()),
        current_healthy: Some(healthy),
        desired_healthy: Some(desired),
        disrupted_pods: Some(disrupted).filter(|pods| !pods.is_empty()),
        disruptions_allowed: Some(allowed),
        expected_pods: Some(expected),
        observed_generation: budget.metadata.generation,
    };
    let (value, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    set_condition(&mut status, value, reason, String::new(), now);
    (status, Next::at(next, now))
}

/// Pods whose eviction was granted and that are not marked yet, and when the first of them is given
/// up.
fn disrupted(input: &Input, now: Timestamp, notes: &mut Vec<Note>) -> (BTreeMap<String, Time>, Option<Timestamp>) {
    let noted = input.budget.status.as_ref().and_then(|status| status.disrupted_pods.as_ref());
    let (mut left, mut next) = (BTreeMap::new(), None);
    for pod in input.pods.iter().filter(|pod| !is_deleting(&***pod)) {
        let name = pod.name_any();
        let Some(granted) = noted.and_then(|noted| noted.get(&name)) else { continue };
        // Another pod that has the name of one that is gone.
        if pod.metadata.creation_timestamp.as_ref().is_some_and(|created| created.0 > granted.0) {
            continue;
        }
        let until = granted.0.saturating_add(DELETION_TIMEOUT).unwrap_or(Timestamp::MAX);
        if until <= now {
            let budget = format!("{}/{}", input.budget.namespace().unwrap_or_default(), input.budget.name_any());
            notes.push(Note {
                about: About::Pod(pod.clone()),
                type_: EventType::Warning,
                reason: "NotDeleted",
                message: format!("Pod was expected by PDB {budget} to be deleted but it wasn't"),
            });
            continue;
        }
        next = Some(next.map_or(until, |next: Timestamp| next.min(until)));
        left.insert(name, granted.clone());
    }
    (left, next)
}

/// Nothing is allowed while the pods cannot be counted; all else stays as it was.
fn failed(budget: &PodDisruptionBudget, why: String, now: Timestamp) -> PodDisruptionBudgetStatus {
    let mut status = budget.status.clone().unwrap_or_default();
    status.disruptions_allowed = Some(0);
    status.disrupted_pods = status.disrupted_pods.filter(|pods| !pods.is_empty());
    for number in [&mut status.current_healthy, &mut status.desired_healthy, &mut status.expected_pods] {
        number.get_or_insert(0);
    }
    set_condition(&mut status, "False", "SyncFailed", why, now);
    status
}

fn set_condition(status: &mut PodDisruptionBudgetStatus, value: &str, reason: &str, message: String, now: Timestamp) {
    let observed_generation = status.observed_generation;
    let conditions = status.conditions.get_or_insert_default();
    let had = conditions.iter().position(|condition| condition.type_ == ALLOWED);
    let since = had.map(|at| &conditions[at]).filter(|condition| condition.status == value);
    let condition = Condition {
        type_: ALLOWED.to_owned(),
        status: value.to_owned(),
        reason: reason.to_owned(),
        message,
        observed_generation,
        last_transition_time: since.map_or(Time(now), |condition| condition.last_transition_time.clone()),
    };
    match had {
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
}
