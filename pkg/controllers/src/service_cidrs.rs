//! ServiceCIDRs: ready as soon as they are there, and held until no address of theirs is left that
//! no other range covers.

use std::{net::IpAddr, sync::Arc, time::Duration};

use client::{Controller, Informer, Next, ObjectKey, Sources};
use jiff::Timestamp;
use k8s_openapi::{
    api::networking::v1::{IPAddress, ServiceCIDR},
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    Api, ResourceExt as _,
    api::{ListParams, Patch, PatchParams},
};
use netlink::Net;
use serde_json::json;

use crate::{Context, owners::is_deleting};

const FINALIZER: &str = "networking.k8s.io/service-cidr-finalizer";
const READY: &str = "Ready";
/// While addresses hold a range that is to go: a look at them.
const AGAIN: Duration = Duration::from_secs(5);
/// Servers may give out addresses of a range for so long after it was marked.
const GRACE: i64 = 10;

pub struct ServiceCidrController {
    client: kube::Client,
    cidrs: Informer<ServiceCIDR>,
}

pub struct Input {
    pub cidr: Arc<ServiceCIDR>,
    /// Ranges of others that stay.
    pub others: Vec<Net>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    Nothing,
    /// The finalizer is missing.
    Hold(Vec<String>),
    /// Written to the condition: ready or not.
    Tell(bool),
    /// It goes, if no address depends on it.
    Leave,
    /// As [`Plan::Leave`], after so many seconds.
    Wait(u64),
}

impl ServiceCidrController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        ServiceCidrController { client: informers.client().clone(), cidrs: informers.get() }
    }
}

fn nets(cidr: &ServiceCIDR) -> impl Iterator<Item = Net> {
    let listed = cidr.spec.iter().flat_map(|spec| spec.cidrs.iter().flatten());
    listed.filter_map(|text| text.parse().ok())
}

impl Controller for ServiceCidrController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "service-cidr-controller";
    const WORKERS: usize = 1;

    fn sources(&self, sources: &mut Sources) {
        sources.own(&self.cidrs);
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let cidr = self.cidrs.get(key)?;
        let others = self.cidrs.select(|other| other.name_any() != key.name && !is_deleting(other));
        Some(Input { cidr, others: others.iter().flat_map(|other| nets(other).collect::<Vec<_>>()).collect() })
    }

    fn decide(&self, input: &Input, now: Timestamp) -> Plan {
        decide(&input.cidr, now)
    }

    async fn apply(&self, key: &ObjectKey, input: Input, plan: Plan) -> Result<Next, kube::Error> {
        let api: Api<ServiceCIDR> = Api::all(self.client.clone());
        let params = PatchParams::default();
        match plan {
            Plan::Nothing => {}
            Plan::Hold(finalizers) => {
                let patch = json!({"metadata": {
                    "resourceVersion": input.cidr.resource_version(), "finalizers": finalizers}});
                api.patch(&key.name, &params, &Patch::Merge(patch)).await?;
            }
            Plan::Tell(ready) => self.tell(&api, &key.name, ready).await?,
            Plan::Wait(seconds) => return Ok(Next::After(Duration::from_secs(seconds))),
            Plan::Leave => {
                let addresses: Api<IPAddress> = Api::all(self.client.clone());
                let used = addresses.list_metadata(&ListParams::default()).await?;
                let used = used.items.iter().filter_map(|address| address.name_any().parse().ok());
                if holds(&input, used) {
                    if ready(&input.cidr) != Some(false) {
                        self.tell(&api, &key.name, false).await?;
                    }
                    return Ok(Next::After(AGAIN));
                }
                let left: Vec<String> =
                    input.cidr.finalizers().iter().filter(|name| *name != FINALIZER).cloned().collect();
                let patch = json!({"metadata": {"resourceVersion": input.cidr.resource_version(), "finalizers": left}});
                api.patch(&key.name, &params, &Patch::Merge(patch)).await?;
            }
        }
        Ok(Next::Done)
    }
}

impl ServiceCidrController {
    async fn tell(&self, api: &Api<ServiceCIDR>, name: &str, ready: bool) -> Result<(), kube::Error> {
        let (status, reason, message) = match ready {
            true => ("True", "", "Kubernetes Service CIDR is ready"),
            false => (
                "False",
                "Terminating",
                "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
            ),
        };
        let condition = json!({
            "type": READY, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        });
        let patch = json!({"status": {"conditions": [condition]}});
        api.patch_status(name, &PatchParams::default(), &Patch::Strategic(patch)).await.map(drop)
    }
}

fn ready(cidr: &ServiceCIDR) -> Option<bool> {
    let conditions = cidr.status.as_ref()?.conditions.as_ref()?;
    let condition: &Condition = conditions.iter().find(|c| c.type_ == READY)?;
    Some(condition.status == "True")
}

fn decide(cidr: &ServiceCIDR, now: Timestamp) -> Plan {
    let held = cidr.finalizers().iter().any(|name| name == FINALIZER);
    if let Some(marked) = &cidr.metadata.deletion_timestamp {
        // Whoever marked it may have another clock: nobody waits for longer than the grace at once.
        let left = (GRACE - now.duration_since(marked.0).as_secs()).min(GRACE);
        return match (held, u64::try_from(left)) {
            (false, _) => Plan::Nothing,
            (true, Ok(left)) if left > 0 => Plan::Wait(left),
            (true, _) => Plan::Leave,
        };
    }
    match (held, ready(cidr)) {
        (false, _) => Plan::Hold(cidr.finalizers().iter().cloned().chain([FINALIZER.to_owned()]).collect()),
        (true, Some(true)) => Plan::Nothing,
        (true, _) => Plan::Tell(true),
    }
}

/// Whether an address in use is covered by this range and by none that stays.
fn holds(input: &Input, mut used: impl Iterator<Item = IpAddr>) -> bool {
    let own: Vec<Net> = nets(&input.cidr).collect();
    let within = |nets: &[Net], ip: IpAddr| nets.iter().any(|net| net.contains(ip));
    used.any(|ip| within(&own, ip) && !within(&input.others, ip))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn cidr(metadata: Value, status: Value) -> ServiceCIDR {
        let object = json!({"metadata": metadata, "spec": {"cidrs": ["10.0.0.0/24"]}, "status": status});
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn ranges_become_ready_and_go_when_they_may() {
        let now: Timestamp = "2030-01-01T00:00:20Z".parse().unwrap();
        let held = json!([FINALIZER]);
        let ready = |status: &str| json!({"conditions": [{"type": "Ready", "status": status, "reason": "", "message": "", "lastTransitionTime": "2030-01-01T00:00:00Z"}]});
        let going =
            |at: &str, finalizers: Value| json!({"name": "a", "finalizers": finalizers, "deletionTimestamp": at});
        for (what, metadata, status, want) in [
            (
                "new",
                json!({"name": "a", "finalizers": ["x"]}),
                json!({}),
                Plan::Hold(vec!["x".into(), FINALIZER.into()]),
            ),
            ("held", json!({"name": "a", "finalizers": held}), json!({}), Plan::Tell(true)),
            ("not ready", json!({"name": "a", "finalizers": held}), ready("False"), Plan::Tell(true)),
            ("ready", json!({"name": "a", "finalizers": held}), ready("True"), Plan::Nothing),
            ("just marked", going("2030-01-01T00:00:15Z", held.clone()), json!({}), Plan::Wait(5)),
            ("marked by a clock that is ahead", going("2030-01-01T01:00:00Z", held.clone()), json!({}), Plan::Wait(10)),
            ("marked", going("2030-01-01T00:00:05Z", held.clone()), json!({}), Plan::Leave),
            ("left", going("2030-01-01T00:00:05Z", json!(["x"])), json!({}), Plan::Nothing),
        ] {
            assert_eq!(decide(&cidr(metadata, status), now), want, "{what}");
        }
    }

    #[test]
    fn addresses_hold_their_range_unless_another_covers_them() {
        let input = |others: &[&str]| Input {
            cidr: Arc::new(cidr(json!({}), json!({}))),
            others: others.iter().map(|net| net.parse().unwrap()).collect(),
        };
        for (used, others, want) in [
            (["10.0.0.7"].as_slice(), [].as_slice(), true),
            (&["10.0.0.7"], &["10.0.0.0/16"], false),
            (&["10.1.0.7", "fd00::1"], &[], false),
        ] {
            let used = used.iter().map(|ip| ip.parse().unwrap());
            assert_eq!(holds(&input(others), used), want, "{others:?}");
        }
    }
}
