//! EndpointSlices of Services without selector: copies of the Endpoints that somebody keeps by
//! hand, since the proxy and DNS read slices alone.
//!
//! One slice to each address type and subset, with a name made from what it holds, so that a slice
//! that is there need not be searched for.

use std::{collections::BTreeMap, sync::Arc};

use client::{
    Controller, Informer, Next, ObjectKey, Sources,
    runtime::{ignore_exists, ignore_not_found, is_terminating},
};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        core::v1::{EndpointAddress, EndpointSubset, Endpoints, Service},
        discovery::v1::{Endpoint, EndpointConditions, EndpointPort, EndpointSlice},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, PostParams, Preconditions},
};

use crate::{
    Context,
    owners::{controller_reference, is_deleting},
    services,
};

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslicemirroring-controller.k8s.io";
const SKIP: &str = "endpointslice.kubernetes.io/skip-mirror";
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";
const LIMIT: usize = 1000;

pub struct MirroringController {
    client: kube::Client,
    services: Informer<Service>,
    endpoints: Informer<Endpoints>,
    slices: Informer<EndpointSlice>,
}

pub struct Input {
    pub service: Option<Arc<Service>>,
    pub endpoints: Option<Arc<Endpoints>>,
    /// Of that name, made here.
    pub slices: Vec<Arc<EndpointSlice>>,
}

#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    pub create: Vec<EndpointSlice>,
    pub update: Vec<EndpointSlice>,
    pub delete: Vec<Arc<EndpointSlice>>,
}

impl MirroringController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        MirroringController {
            client: informers.client().clone(),
            services: informers.get(),
            endpoints: informers.get(),
            slices: informers.get(),
        }
    }
}

fn label<'a>(slice: &'a EndpointSlice, name: &str) -> Option<&'a str> {
    slice.metadata.labels.as_ref()?.get(name).map(String::as_str)
}

impl Controller for MirroringController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "endpointslicemirroring";
    const WORKERS: usize = 1;

    fn sources(&self, sources: &mut Sources) {
        sources.own(&self.services).own(&self.endpoints).map(&self.slices, |slice| {
            let service = label(slice, services::SERVICE_NAME).filter(|_| label(slice, MANAGED_BY) == Some(MANAGER));
            service.map(|name| ObjectKey::new(slice.namespace().unwrap_or_default(), name)).into_iter().collect()
        });
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let slices = self.slices.select(|slice| {
            slice.metadata.namespace.as_deref() == Some(&key.namespace)
                && label(slice, services::SERVICE_NAME) == Some(&key.name)
                && label(slice, MANAGED_BY) == Some(MANAGER)
                && !is_deleting(slice)
        });
        Some(Input { service: self.services.get(key), endpoints: self.endpoints.get(key), slices })
    }

    fn decide(&self, input: &Input, _: Timestamp) -> Plan {
        decide(input)
    }

    async fn apply(&self, key: &ObjectKey, _: Input, plan: Plan) -> Result<Next, kube::Error> {
        let api: Api<EndpointSlice> = Api::namespaced(self.client.clone(), &key.namespace);
        for slice in &plan.create {
            match ignore_exists(api.create(&PostParams::default(), slice).await) {
                Err(error) if is_terminating(&error) => return Ok(Next::Done),
                other => other.map(|_| ())?,
            }
        }
        for slice in &plan.update {
            api.replace(&slice.name_any(), &PostParams::default(), slice).await?;
        }
        for slice in &plan.delete {
            let same = Preconditions { uid: slice.uid(), resource_version: None };
            ignore_not_found(api.delete(&slice.name_any(), &DeleteParams::default().preconditions(same)).await)?;
        }
        Ok(Next::Done)
    }
}

/// Whether slices are made from these Endpoints: the Service selects nothing by itself.
fn is_mirrored(service: &Service, endpoints: &Endpoints) -> bool {
    let selects = service.spec.as_ref().and_then(|s| s.selector.as_ref()).is_some_and(|s| !s.is_empty());
    let skips = endpoints.metadata.labels.as_ref().and_then(|l| l.get(SKIP)).is_some_and(|v| v == "true");
    let is_lock = endpoints.metadata.annotations.as_ref().is_some_and(|a| a.contains_key(LEADER));
    !selects && !skips && !is_lock && !is_deleting(service) && !is_deleting(endpoints)
}

fn decide(input: &Input) -> Plan {
    let mut wanted = match (&input.service, &input.endpoints) {
        (Some(service), Some(endpoints)) if is_mirrored(service, endpoints) => slices(endpoints),
        _ => BTreeMap::new(),
    };
    let mut plan = Plan::default();
    for slice in &input.slices {
        let Some(mut wanted) = wanted.remove(&slice.name_any()) else {
            plan.delete.push(slice.clone());
            continue;
        };
        let same = wanted.endpoints == slice.endpoints
            && wanted.ports == slice.ports
            && wanted.metadata.labels == slice.metadata.labels;
        if !same {
            wanted.metadata.resource_version = slice.resource_version();
            plan.update.push(wanted);
        }
    }
    plan.create.extend(wanted.into_values());
    plan
}

fn slices(endpoints: &Endpoints) -> BTreeMap<String, EndpointSlice> {
    let mut slices = BTreeMap::new();
    for (at, subset) in endpoints.subsets.iter().flatten().enumerate() {
        for address_type in ["IPv4", "IPv6"] {
            let entries = entries(subset, address_type);
            if entries.is_empty() {
                continue;
            }
            let name = format!("{}-mirror-{}-{at}", endpoints.name_any(), address_type.to_lowercase());
            let mut labels = endpoints.metadata.labels.clone().unwrap_or_default();
            labels.remove(services::HEADLESS);
            labels.insert(services::SERVICE_NAME.to_owned(), endpoints.name_any());
            labels.insert(MANAGED_BY.to_owned(), MANAGER.to_owned());
            let slice = EndpointSlice {
                metadata: ObjectMeta {
                    name: Some(name.clone()),
                    namespace: endpoints.metadata.namespace.clone(),
                    labels: Some(labels),
                    owner_references: Some(vec![controller_reference(endpoints)]),
                    ..ObjectMeta::default()
                },
                address_type: address_type.to_owned(),
                endpoints: Some(entries),
                ports: Some(ports(subset)).filter(|ports| !ports.is_empty()),
            };
            slices.insert(name, slice);
        }
    }
    slices
}

fn entries(subset: &EndpointSubset, address_type: &str) -> Vec<Endpoint> {
    let entry = |address: &EndpointAddress, ready: bool| Endpoint {
        addresses: vec![address.ip.clone()],
        conditions: Some(EndpointConditions { ready: Some(ready), ..EndpointConditions::default() }),
        hostname: address.hostname.clone().filter(|h| !h.is_empty()),
        node_name: address.node_name.clone(),
        target_ref: address.target_ref.clone(),
        ..Endpoint::default()
    };
    let ready = subset.addresses.iter().flatten().map(|a| entry(a, true));
    let not_ready = subset.not_ready_addresses.iter().flatten().map(|a| entry(a, false));
    let fits = |e: &Endpoint| e.addresses[0].contains(':') == (address_type == "IPv6");
    ready.chain(not_ready).filter(fits).take(LIMIT).collect()
}

fn ports(subset: &EndpointSubset) -> Vec<EndpointPort> {
    let port = |p: &k8s_openapi::api::core::v1::EndpointPort| EndpointPort {
        name: Some(p.name.clone().unwrap_or_default()),
        port: Some(p.port),
        protocol: Some(p.protocol.clone().unwrap_or_else(|| "TCP".to_owned())),
        app_protocol: p.app_protocol.clone(),
    };
    subset.ports.iter().flatten().map(port).collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ServiceSpec;

    use super::*;

    fn endpoints(addresses: &[&str]) -> Endpoints {
        let address = |ip: &&str| EndpointAddress { ip: (*ip).to_owned(), ..EndpointAddress::default() };
        Endpoints {
            metadata: ObjectMeta { name: Some("db".to_owned()), ..ObjectMeta::default() },
            subsets: Some(vec![EndpointSubset {
                addresses: Some(addresses.iter().map(address).collect()),
                ports: Some(vec![k8s_openapi::api::core::v1::EndpointPort { port: 5432, ..Default::default() }]),
                ..EndpointSubset::default()
            }]),
        }
    }

    fn input(selects: bool, endpoints: Option<Endpoints>, slices: Vec<EndpointSlice>) -> Input {
        let selector = selects.then(|| [("a".to_owned(), "b".to_owned())].into());
        let service = Service { spec: Some(ServiceSpec { selector, ..ServiceSpec::default() }), ..Service::default() };
        Input {
            service: Some(Arc::new(service)),
            endpoints: endpoints.map(Arc::new),
            slices: slices.into_iter().map(Arc::new).collect(),
        }
    }

    #[test]
    fn endpoints_kept_by_hand_are_copied_and_deciding_again_changes_nothing() {
        let by_hand = endpoints(&["10.0.0.9", "fd00::9"]);
        let plan = decide(&input(false, Some(by_hand.clone()), vec![]));
        let types: Vec<_> = plan.create.iter().map(|s| s.address_type.as_str()).collect();
        assert_eq!(types, ["IPv4", "IPv6"]);
        assert_eq!(decide(&input(false, Some(by_hand), plan.create.clone())), Plan::default());

        let changed = decide(&input(false, Some(endpoints(&["10.0.0.8"])), plan.create.clone()));
        assert_eq!((changed.create.len(), changed.update.len(), changed.delete.len()), (0, 1, 1));
        assert_eq!(decide(&input(false, None, plan.create)).delete.len(), 2);
    }

    #[test]
    fn endpoints_of_a_service_with_selector_are_not() {
        assert_eq!(decide(&input(true, Some(endpoints(&["10.0.0.9"])), vec![])), Plan::default());
    }
}
