//! Leader election by Lease, with client-go's meaning of the fields.
//!
//! # Guarantees
//! A leader that could not renew within `renew_deadline` stops leading by then; another one takes
//! over no earlier than `lease_duration` after the last renewal it has seen, by its own clock.
//!
//! # Assumptions
//! Clocks run at about the same rate; they need not agree.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{Api, api::PostParams};
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::runtime::describe;

/// Who competes for what.
#[derive(Clone, Debug)]
pub struct Election {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// Name of this candidate, unique among all.
    pub identity: String,
    /// After so long without renewal others may take over.
    pub lease_duration: Duration,
    /// A leader gives up if it cannot renew for so long.
    pub renew_deadline: Duration,
    /// Between two attempts.
    pub retry_period: Duration,
}

impl Election {
    /// With the usual durations: 15 s, 10 s, 2 s.
    pub fn new(namespace: &str, name: &str, identity: &str) -> Self {
        Election {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            identity: identity.to_owned(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }

    /// Competes until `stop`, then gives the lease back. The receiver tells whether this candidate
    /// leads.
    pub fn start(self, client: kube::Client, stop: CancellationToken, tasks: &TaskTracker) -> watch::Receiver<bool> {
        let (leading, receiver) = watch::channel(false);
        let api = Api::namespaced(client, &self.namespace);
        let candidate = Candidate { election: self, api, observed: None };
        tasks.spawn(candidate.run(leading, stop));
        receiver
    }
}

struct Candidate {
    election: Election,
    api: Api<Lease>,
    /// The last spec seen, and when it was first seen so.
    observed: Option<(LeaseSpec, Instant)>,
}

impl Candidate {
    async fn run(mut self, leading: watch::Sender<bool>, stop: CancellationToken) {
        let mut renewed = Instant::now();
        loop {
            let attempt = timeout(self.election.renew_deadline, self.attempt());
            let Some(outcome) = stop.run_until_cancelled(attempt).await else { break };
            let held = match outcome {
                Ok(Ok(held)) => {
                    if held {
                        renewed = Instant::now();
                    }
                    held
                }
                Ok(Err(error)) => {
                    tracing::debug!(lease = self.election.name, error = describe(&error), "lease not renewed");
                    *leading.borrow() && renewed.elapsed() < self.election.renew_deadline
                }
                Err(_) => false,
            };
            if leading.send_if_modified(|was| std::mem::replace(was, held) != held) {
                tracing::info!(lease = self.election.name, leading = held, "leadership changed");
            }
            // Renewing is what keeps the leadership: a timer on purpose.
            if stop.run_until_cancelled(tokio::time::sleep(self.election.retry_period)).await.is_none() {
                break;
            }
        }
        let led = leading.send_replace(false);
        if led && timeout(self.election.retry_period, self.release()).await.is_err() {
            tracing::debug!(lease = self.election.name, "lease not given back in time");
        }
    }

    /// Whether the lease is held afterwards.
    async fn attempt(&mut self) -> Result<bool, kube::Error> {
        let now = Timestamp::now();
        let Some(current) = self.api.get_opt(&self.election.name).await? else {
            let metadata = ObjectMeta { name: Some(self.election.name.clone()), ..ObjectMeta::default() };
            let lease = Lease { metadata, spec: Some(claim(&self.election, None, now)) };
            let made = self.api.create(&PostParams::default(), &lease).await;
            return lost_race(made);
        };
        let spec = current.spec.clone().unwrap_or_default();
        let since = match &self.observed {
            Some((seen, since)) if *seen == spec => *since,
            _ => Instant::now(),
        };
        self.observed = Some((spec.clone(), since));
        if !may_claim(&spec, &self.election.identity, since.elapsed()) {
            return Ok(false);
        }
        let lease = Lease { spec: Some(claim(&self.election, Some(&spec), now)), ..current };
        let written = self.api.replace(&self.election.name, &PostParams::default(), &lease).await;
        lost_race(written)
    }

    async fn release(&self) -> Result<(), kube::Error> {
        let Some(mut lease) = self.api.get_opt(&self.election.name).await? else { return Ok(()) };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_ref() != Some(&self.election.identity) {
            return Ok(());
        }
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        self.api.replace(&self.election.name, &PostParams::default(), &lease).await.map(|_| ())
    }
}

/// Somebody else was quicker: not an error.
fn lost_race(written: Result<Lease, kube::Error>) -> Result<bool, kube::Error> {
    match written {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether `identity` may write itself into a lease that has looked like this for `unchanged`.
fn may_claim(spec: &LeaseSpec, identity: &str, unchanged: Duration) -> bool {
    let holder = spec.holder_identity.as_deref().unwrap_or_default();
    let duration = u64::try_from(spec.lease_duration_seconds.unwrap_or(0)).unwrap_or(0);
    holder.is_empty() || holder == identity || unchanged >= Duration::from_secs(duration)
}

fn claim(election: &Election, before: Option<&LeaseSpec>, now: Timestamp) -> LeaseSpec {
    let before = before.cloned().unwrap_or_default();
    let ours = before.holder_identity.as_deref() == Some(&election.identity);
    let transitions = before.lease_transitions.unwrap_or(0);
    let first = before.acquire_time.is_none() && before.holder_identity.is_none();
    LeaseSpec {
        holder_identity: Some(election.identity.clone()),
        lease_duration_seconds: i32::try_from(election.lease_duration.as_secs()).ok(),
        acquire_time: if ours { before.acquire_time } else { Some(MicroTime(now)) },
        renew_time: Some(MicroTime(now)),
        lease_transitions: Some(if ours || first { transitions } else { transitions.saturating_add(1) }),
        ..before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_by(holder: &str) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            lease_transitions: Some(3),
            acquire_time: Some(MicroTime(Timestamp::UNIX_EPOCH)),
            ..LeaseSpec::default()
        }
    }

    #[test]
    fn a_lease_is_claimed_when_it_is_free_ours_or_expired() {
        for (holder, unchanged, expected) in [("", 0, true), ("me", 0, true), ("other", 14, false), ("other", 15, true)]
        {
            let may = may_claim(&held_by(holder), "me", Duration::from_secs(unchanged));
            assert_eq!(may, expected, "held by {holder:?}, unchanged for {unchanged} s");
        }
    }

    #[test]
    fn transitions_count_changes_of_the_holder() {
        let election = Election::new("kube-system", "test", "me");
        let now = Timestamp::from_second(100).expect("in range");
        for (before, transitions) in [(None, 0), (Some(held_by("me")), 3), (Some(held_by("other")), 4)] {
            let spec = claim(&election, before.as_ref(), now);
            assert_eq!(spec.lease_transitions, Some(transitions), "after {before:?}");
            assert_eq!(spec.renew_time, Some(MicroTime(now)));
        }
        assert_eq!(claim(&election, Some(&held_by("me")), now).acquire_time, Some(MicroTime(Timestamp::UNIX_EPOCH)));
    }
}
