//! What a Deployment does next: one step of a rollout, of scaling, or of cleaning up.

use std::sync::Arc;

use client::{Next, labels, slim::Pod};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus, ReplicaSet};
use kube::ResourceExt as _;

use super::{
    sets::{
        self, annotate_newest, available, by_age, desired, is_current, is_rolling, max_surge, max_unavailable, new_set,
        note_sizes, revision, set_size, size, total_size, wanted,
    },
    status,
};
use crate::{
    owners::{Claim, claim, is_controlled_by, is_deleting},
    pods,
};

pub struct Input {
    pub deployment: Arc<Deployment>,
    /// Of the namespace, controlled by the Deployment or by nobody.
    pub sets: Vec<Arc<ReplicaSet>>,
    /// Pods of those sets; only needed to replace all at once.
    pub pods: Vec<Arc<Pod>>,
}

/// A write to a ReplicaSet.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Create(Box<ReplicaSet>),
    /// The set as it should be; `from` is its size before.
    Update {
        set: Box<ReplicaSet>,
        from: i32,
    },
    Delete(Box<ReplicaSet>),
}

pub struct Plan {
    pub claim: Claim<ReplicaSet>,
    pub actions: Vec<Action>,
    /// The revision to note in the Deployment, if it is another one.
    pub revision: Option<String>,
    pub status: DeploymentStatus,
    pub next: Next,
}

struct Rollout<'a> {
    deployment: &'a Deployment,
    newest: Option<ReplicaSet>,
    /// Oldest first.
    old: Vec<ReplicaSet>,
    actions: Vec<Action>,
    status: DeploymentStatus,
    revision: Option<String>,
    now: Timestamp,
}

pub fn decide(input: &Input, now: Timestamp) -> Plan {
    let deployment = &*input.deployment;
    let selected = |set: &ReplicaSet| {
        let selector = &deployment.spec.selector;
        !labels::is_empty(selector) && labels::matches(selector, set.metadata.labels.as_ref())
    };
    let claim = claim(deployment, &input.sets, selected);
    let mut all: Vec<ReplicaSet> = claim.owned.iter().chain(&claim.adopt).map(|set| (**set).clone()).collect();
    by_age(&mut all);
    let newest = all.iter().position(|set| is_current(set, deployment)).map(|at| all.remove(at));
    let mut status = status::counts(deployment, newest.as_ref(), &all, now);
    status::paused(deployment, &mut status, now);
    let (seen_newest, seen_old) = (newest.clone(), all.clone());
    let mut rollout = Rollout { deployment, newest, old: all, actions: Vec::new(), status, revision: None, now };
    let mut rolls = false;
    if !is_deleting(deployment) {
        let paused = deployment.spec.paused.unwrap_or(false);
        if paused || rollout.is_scaling() {
            rollout.sync_newest(false);
            rollout.scale();
            if paused {
                rollout.clean_up();
            }
        } else {
            rolls = true;
            if is_rolling(deployment) { rollout.roll() } else { rollout.recreate(&input.pods) }
        }
    }
    if rolls {
        let newest = rollout.newest.as_ref().or(seen_newest.as_ref());
        status::rollout(deployment, &mut rollout.status, newest, &seen_old, now);
    }
    if rollout.status.conditions.as_ref().is_some_and(Vec::is_empty) {
        rollout.status.conditions = None;
    }
    let next = match rolls {
        true => Next::at(status::deadline_at(deployment, &rollout.status), now),
        false => Next::Done,
    };
    Plan { claim, actions: rollout.actions, revision: rollout.revision, status: rollout.status, next }
}

impl Rollout<'_> {
    /// Whether the Deployment's size changed since its sets were scaled.
    fn is_scaling(&self) -> bool {
        let active = self.newest.iter().chain(&self.old).filter(|set| size(set) > 0);
        active.into_iter().any(|set| desired(set).is_some_and(|n| n != wanted(self.deployment)))
    }

    /// Brings the newest set up to date, or makes it if there is none and `create`.
    fn sync_newest(&mut self, create: bool) {
        let last = self.old.iter().map(revision).max().unwrap_or(0);
        let min_ready = self.deployment.spec.min_ready_seconds;
        let name = if let Some(set) = &mut self.newest {
            let mut changed = annotate_newest(set, self.deployment, last + 1, true);
            let spec = &mut set.spec;
            if spec.min_ready_seconds.unwrap_or(0) != min_ready.unwrap_or(0) {
                spec.min_ready_seconds = min_ready;
                changed = true;
            }
            if changed {
                let from = size(set);
                self.actions.push(Action::Update { set: Box::new(set.clone()), from });
            }
            let (name, revision) = (set.name_any(), revision(set));
            self.note_revision(revision);
            name
        } else if create {
            let mut set = new_set(self.deployment);
            let size = self.newest_size(&set);
            set_size(&mut set, size);
            annotate_newest(&mut set, self.deployment, last + 1, false);
            self.actions.push(Action::Create(Box::new(set.clone())));
            self.note_revision(last + 1);
            let name = set.name_any();
            self.newest = Some(set);
            if status::deadline(self.deployment).is_some() {
                let message = format!("Created new replica set {name:?}");
                status::set(&mut self.status, status::PROGRESSING, "True", "NewReplicaSetCreated", message, self.now);
            }
            return;
        } else {
            return;
        };
        let known = status::condition(&self.status, status::PROGRESSING).is_some();
        if !known && status::deadline(self.deployment).is_some() {
            let message = format!("Found new replica set {name:?}");
            status::set(&mut self.status, status::PROGRESSING, "True", "FoundNewReplicaSet", message, self.now);
        }
    }

    fn note_revision(&mut self, revision: i64) {
        let revision = revision.to_string();
        let noted = self.deployment.metadata.annotations.as_ref().and_then(|a| a.get(sets::REVISION));
        if noted != Some(&revision) {
            self.revision = Some(revision);
        }
    }

    /// The size the newest set may grow to now. `newest` may be one that is only about to be made.
    fn newest_size(&self, newest: &ReplicaSet) -> i32 {
        let wanted = wanted(self.deployment);
        if !is_rolling(self.deployment) {
            return wanted;
        }
        let room = wanted + max_surge(self.deployment) - total_size(&self.old) - size(newest);
        if room <= 0 { size(newest) } else { size(newest) + room.min(wanted - size(newest)) }
    }

    /// Plans a set's new size. Whether there is anything to write.
    fn resize(actions: &mut Vec<Action>, deployment: &Deployment, set: &mut ReplicaSet, to: i32) -> bool {
        let from = size(set);
        let noted = note_sizes(set, deployment);
        if from == to && !noted {
            return false;
        }
        set_size(set, to);
        // One write to a set, with all that changes.
        actions.retain(|a| !matches!(a, Action::Update { set: s, .. } if s.metadata.name == set.metadata.name));
        actions.push(Action::Update { set: Box::new(set.clone()), from });
        from != to
    }

    /// A step of a rolling update.
    fn roll(&mut self) {
        self.sync_newest(true);
        let Some(mut newest) = self.newest.take() else { return };
        let made = self.actions.iter().any(|a| matches!(a, Action::Create(_)));
        let to =
            if size(&newest) > wanted(self.deployment) { wanted(self.deployment) } else { self.newest_size(&newest) };
        let grown = size(&newest) != to && !made && Self::resize(&mut self.actions, self.deployment, &mut newest, to);
        self.newest = Some(newest);
        if grown || self.shrink_old() {
            return;
        }
        if !made && self.is_complete() {
            self.clean_up();
        }
    }

    /// Complete by what was there before, as the next look sees it.
    fn is_complete(&self) -> bool {
        status::is_complete(self.deployment, &self.status)
    }

    /// Takes pods from old sets: the broken ones first, then as many as availability allows.
    fn shrink_old(&mut self) -> bool {
        let (deployment, newest) = (self.deployment, self.newest.clone());
        if total_size(&self.old) == 0 {
            return false;
        }
        let min_available = wanted(deployment) - max_unavailable(deployment);
        let newest_size = newest.as_ref().map_or(0, size);
        let newest_available = newest.as_ref().map_or(0, available);
        let mut spare = total_size(&self.old) + newest_size - min_available - (newest_size - newest_available);
        if spare <= 0 {
            return false;
        }
        let mut shrunk = false;
        for set in self.old.iter_mut().filter(|set| size(set) > available(set)) {
            let count = spare.min(size(set) - available(set));
            if count > 0 {
                spare -= count;
                let to = size(set) - count;
                shrunk |= Self::resize(&mut self.actions, deployment, set, to);
            }
        }
        let mut surplus = self.old.iter().map(available).sum::<i32>() + newest_available - min_available;
        for set in &mut self.old {
            let count = surplus.min(size(set));
            if count > 0 {
                surplus -= count;
                let to = size(set) - count;
                shrunk |= Self::resize(&mut self.actions, deployment, set, to);
            }
        }
        shrunk
    }

    /// A step of replacing all at once: the old must be gone before the new come.
    fn recreate(&mut self, all_pods: &[Arc<Pod>]) {
        self.sync_newest(false);
        let mut shrunk = false;
        for set in self.old.iter_mut().filter(|set| size(set) > 0) {
            shrunk |= Self::resize(&mut self.actions, self.deployment, set, 0);
        }
        let old_runs =
            |pod: &Arc<Pod>| !pods::is_finished(pod) && self.old.iter().any(|set| is_controlled_by(&**pod, set));
        if shrunk || all_pods.iter().any(old_runs) {
            return;
        }
        if self.newest.is_none() {
            self.sync_newest(true);
            return;
        }
        if let Some(newest) = &mut self.newest {
            Self::resize(&mut self.actions, self.deployment, newest, wanted(self.deployment));
        }
        if self.is_complete() {
            self.clean_up();
        }
    }

    /// Brings the sets to the Deployment's size, in proportion if a rollout is under way.
    fn scale(&mut self) {
        let (deployment, wanted) = (self.deployment, wanted(self.deployment));
        let saturated = self
            .newest
            .as_ref()
            .is_some_and(|set| desired(set) == Some(wanted) && size(set) == wanted && available(set) == wanted);
        let has_newest = self.newest.is_some();
        let mut all: Vec<&mut ReplicaSet> = self.newest.iter_mut().chain(&mut self.old).collect();
        let active = all.iter().filter(|set| size(set) > 0).count();
        match active {
            // The newest if there is one (it comes first), else the latest of the old.
            0 => {
                let at = if has_newest { 0 } else { all.len().saturating_sub(1) };
                if let Some(set) = all.get_mut(at) {
                    Self::resize(&mut self.actions, deployment, set, wanted);
                }
            }
            1 => {
                for set in all.iter_mut().filter(|set| size(set) > 0) {
                    Self::resize(&mut self.actions, deployment, set, wanted);
                }
            }
            _ if saturated => {
                for set in self.old.iter_mut().filter(|set| size(set) > 0) {
                    Self::resize(&mut self.actions, deployment, set, 0);
                }
            }
            _ if is_rolling(deployment) => {
                all.retain(|set| size(set) > 0);
                self.scale_in_proportion();
            }
            _ => {}
        }
    }

    fn scale_in_proportion(&mut self) {
        let (deployment, wanted) = (self.deployment, wanted(self.deployment));
        let allowed = if wanted > 0 { wanted + max_surge(deployment) } else { 0 };
        let mut active: Vec<&mut ReplicaSet> =
            self.newest.iter_mut().chain(&mut self.old).filter(|set| size(set) > 0).collect();
        let to_add = allowed - active.iter().map(|set| size(set)).sum::<i32>();
        active.sort_by(|a, b| {
            let by_age = sets::created(a).cmp(&sets::created(b));
            size(b).cmp(&size(a)).then(if to_add > 0 { by_age.reverse() } else { by_age })
        });
        let mut added = 0;
        let mut sizes = Vec::new();
        for set in &active {
            let share = proportion(set, deployment, to_add, added);
            added += share;
            sizes.push(size(set) + share);
        }
        if let Some(largest) = sizes.first_mut() {
            *largest = (*largest + to_add - added).max(0);
        }
        for (set, to) in active.into_iter().zip(sizes) {
            Self::resize(&mut self.actions, deployment, set, to);
        }
    }

    /// Deletes empty sets beyond `revisionHistoryLimit`, those of the lowest revisions.
    fn clean_up(&mut self) {
        let limit = self.deployment.spec.revision_history_limit.unwrap_or(10);
        let Ok(limit) = usize::try_from(limit) else { return };
        let mut alive: Vec<_> = self.old.iter().filter(|set| !is_deleting(*set)).collect();
        let excess = alive.len().saturating_sub(limit);
        alive.sort_by_key(|set| (revision(set), sets::created(set)));
        for set in alive.into_iter().take(excess) {
            let status = set.status.clone().unwrap_or_default();
            if status.replicas == 0 && size(set) == 0 && set.metadata.generation <= status.observed_generation {
                self.actions.push(Action::Delete(Box::new(set.clone())));
            }
        }
    }
}

/// A set's share of `to_add` pods, of which `added` are given away already.
fn proportion(set: &ReplicaSet, deployment: &Deployment, to_add: i32, added: i32) -> i32 {
    if size(set) == 0 || to_add == 0 || to_add == added {
        return 0;
    }
    let share = if wanted(deployment) == 0 {
        -size(set)
    } else {
        let most = f64::from(wanted(deployment) + max_surge(deployment));
        let before = sets::max(set).filter(|n| *n > 0).or(deployment.status.as_ref().and_then(|s| s.replicas));
        let grown = f64::from(size(set)) * most / f64::from(before.unwrap_or(1).max(1));
        // Sizes are far below the range of i32.
        grown.round() as i32 - size(set)
    };
    if to_add > 0 { share.min(to_add - added) } else { share.max(to_add - added) }
}
