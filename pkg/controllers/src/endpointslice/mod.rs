//! EndpointSlices: the pods behind each Service, for the proxy and DNS.
//!
//! # Guarantees
//! - An endpoint stays in the slice it is in; slices are filled before new ones are made, and no
//!   slice has more than a hundred.
//! - New slices are there before old ones go, so that no endpoint is missing in between.

use std::{collections::BTreeMap, sync::Arc};

use client::{
    Controller, Expectations, Informer, Next, ObjectKey, Sources,
    runtime::{ignore_not_found, is_terminating},
    slim::Pod,
};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        core::v1::{Node, Service},
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
    owners::{controller_reference, is_controlled_by, is_deleting},
    pods, services,
};

#[cfg(test)]
mod tests;

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const ZONE: &str = "topology.kubernetes.io/zone";
const SLICE_LIMIT: usize = 100;

pub struct EndpointSliceController {
    client: kube::Client,
    services: Informer<Service>,
    pods: Informer<Pod>,
    nodes: Informer<Node>,
    slices: Informer<EndpointSlice>,
    expectations: Expectations,
}

pub struct Input {
    pub service: Arc<Service>,
    /// Those that it selects.
    pub pods: Vec<Arc<Pod>>,
    /// Those of it that are ours.
    pub slices: Vec<Arc<EndpointSlice>>,
    /// Zone by node.
    pub zones: BTreeMap<String, String>,
}

#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    pub create: Vec<EndpointSlice>,
    pub update: Vec<EndpointSlice>,
    pub delete: Vec<Arc<EndpointSlice>>,
}

impl EndpointSliceController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        EndpointSliceController {
            client: informers.client().clone(),
            services: informers.get(),
            pods: informers.get(),
            nodes: informers.get(),
            slices: informers.get(),
            expectations: Expectations::default(),
        }
    }
}

fn label<'a>(slice: &'a EndpointSlice, name: &str) -> Option<&'a str> {
    slice.metadata.labels.as_ref()?.get(name).map(String::as_str)
}

fn zone(node: &Node) -> Option<&String> {
    node.metadata.labels.as_ref()?.get(ZONE)
}

impl Controller for EndpointSliceController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "endpointslice";

    fn sources(&self, sources: &mut Sources) {
        let (of_pod, of_node) = (self.services.clone(), self.services.clone());
        sources
            .own(&self.services)
            .map_if(&self.pods, services::matters, move |pod| services::of_pod(&of_pod, pod))
            .map(&self.slices, |slice| {
                let service =
                    label(slice, services::SERVICE_NAME).filter(|_| label(slice, MANAGED_BY) == Some(MANAGER));
                let namespace = slice.namespace().unwrap_or_default();
                service.map(|name| ObjectKey::new(namespace, name)).into_iter().collect()
            })
            .map_if(
                &self.nodes,
                |old, new| zone(old) != zone(new),
                move |node| match zone(node) {
                    Some(_) => of_node.list().iter().map(|service| ObjectKey::of(&**service)).collect(),
                    None => Vec::new(),
                },
            );
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let Some(service) = self.services.get(key) else {
            // Slices of a Service that is gone go by garbage collection.
            self.expectations.forget(key);
            return None;
        };
        if !services::has_endpoints(&service) || !self.expectations.met(key, &self.slices) {
            return None;
        }
        let pods = self.pods.select(|pod| services::selects(&service, pod));
        let slices = self.slices.select(|slice| {
            slice.metadata.namespace == service.metadata.namespace
                && label(slice, services::SERVICE_NAME) == Some(&key.name)
                && label(slice, MANAGED_BY) == Some(MANAGER)
                && !is_deleting(slice)
        });
        let zones = self.nodes.list().iter().filter_map(|n| Some((n.name_any(), zone(n)?.clone()))).collect();
        Some(Input { service, pods, slices, zones })
    }

    fn decide(&self, input: &Input, _: Timestamp) -> Plan {
        decide(input)
    }

    async fn apply(&self, key: &ObjectKey, _: Input, plan: Plan) -> Result<Next, kube::Error> {
        let api: Api<EndpointSlice> = Api::namespaced(self.client.clone(), &key.namespace);
        for slice in &plan.create {
            match api.create(&PostParams::default(), slice).await {
                Ok(made) => self.expectations.wrote(key, &made),
                Err(error) if is_terminating(&error) => return Ok(Next::Done),
                Err(error) => return Err(error),
            }
        }
        for slice in &plan.update {
            let written = api.replace(&slice.name_any(), &PostParams::default(), slice).await?;
            self.expectations.wrote(key, &written);
        }
        for slice in &plan.delete {
            self.expectations.deletes(key, &**slice);
            let same = Preconditions { uid: slice.uid(), resource_version: None };
            let deleted = api.delete(&slice.name_any(), &DeleteParams::default().preconditions(same)).await;
            if let Err(error) = ignore_not_found(deleted) {
                self.expectations.undelete(key, &**slice);
                return Err(error);
            }
        }
        Ok(Next::Done)
    }
}

/// Slices hold endpoints of one address type and one set of ports.
type Group = (String, Vec<EndpointPort>);

fn address_type(address: &str) -> &'static str {
    if address.contains(':') { "IPv6" } else { "IPv4" }
}

/// The address types of a Service: its families, else that of its address.
fn address_types(service: &Service) -> Vec<&'static str> {
    let spec = service.spec.clone().unwrap_or_default();
    let families = spec.ip_families.unwrap_or_default();
    if families.is_empty() {
        return vec![address_type(spec.cluster_ip.as_deref().unwrap_or_default())];
    }
    families.iter().map(|family| if family == "IPv6" { "IPv6" } else { "IPv4" }).collect()
}

fn ports(service: &Service, pod: &Pod) -> Vec<EndpointPort> {
    let ports = service.spec.iter().flat_map(|s| s.ports.iter().flatten());
    let resolved = ports.filter_map(|port| {
        Some(EndpointPort {
            name: Some(port.name.clone().unwrap_or_default()),
            port: Some(services::target_port(port, pod)?),
            protocol: Some(port.protocol.clone().unwrap_or_else(|| "TCP".to_owned())),
            app_protocol: port.app_protocol.clone(),
        })
    });
    resolved.collect()
}

fn endpoint(input: &Input, pod: &Pod, address: &str) -> Endpoint {
    let service = &input.service;
    let publishes = service.spec.as_ref().and_then(|s| s.publish_not_ready_addresses).unwrap_or(false);
    let (serving, terminating) = (pods::is_ready(pod), is_deleting(pod));
    let node_name = Some(pods::node_name(pod)).filter(|n| !n.is_empty()).map(str::to_owned);
    Endpoint {
        addresses: vec![address.to_owned()],
        conditions: Some(EndpointConditions {
            ready: Some(publishes || serving && !terminating),
            serving: Some(serving),
            terminating: Some(terminating),
        }),
        hostname: services::hostname(service, pod),
        zone: node_name.as_ref().and_then(|node| input.zones.get(node)).cloned(),
        node_name,
        target_ref: Some(services::pod_reference(pod)),
        ..Endpoint::default()
    }
}

/// The endpoints that should be, by group and by pod.
fn wanted(input: &Input) -> Vec<(Group, BTreeMap<String, Endpoint>)> {
    let mut groups: Vec<(Group, BTreeMap<String, Endpoint>)> = Vec::new();
    let types = address_types(&input.service);
    for pod in input.pods.iter().filter(|pod| !pods::is_finished(pod)) {
        let mut seen = Vec::new();
        for address in services::addresses(pod) {
            let address_type = address_type(&address);
            if !types.contains(&address_type) || seen.contains(&address_type) {
                continue;
            }
            seen.push(address_type);
            let group = (address_type.to_owned(), ports(&input.service, pod));
            let at = groups.iter().position(|(g, _)| *g == group).unwrap_or_else(|| {
                groups.push((group, BTreeMap::new()));
                groups.len() - 1
            });
            groups[at].1.insert(pod.uid().unwrap_or_default(), endpoint(input, pod, &address));
        }
    }
    // A Service without endpoints has an empty slice: it is known, and has none.
    for address_type in types {
        if !groups.iter().any(|((t, _), _)| t == address_type) {
            groups.push(((address_type.to_owned(), Vec::new()), BTreeMap::new()));
        }
    }
    groups
}

fn slice_labels(service: &Service) -> BTreeMap<String, String> {
    let mut labels = service.metadata.labels.clone().unwrap_or_default();
    labels.remove(services::HEADLESS);
    if services::is_headless(service) {
        labels.insert(services::HEADLESS.to_owned(), String::new());
    }
    labels.insert(services::SERVICE_NAME.to_owned(), service.name_any());
    labels.insert(MANAGED_BY.to_owned(), MANAGER.to_owned());
    labels
}

fn new_slice(service: &Service, group: &Group, endpoints: Vec<Endpoint>) -> EndpointSlice {
    EndpointSlice {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", service.name_any())),
            namespace: service.metadata.namespace.clone(),
            labels: Some(slice_labels(service)),
            owner_references: Some(vec![controller_reference(service)]),
            ..ObjectMeta::default()
        },
        address_type: group.0.clone(),
        ports: Some(group.1.clone()).filter(|ports| !ports.is_empty()),
        endpoints: Some(endpoints).filter(|endpoints| !endpoints.is_empty()),
    }
}

fn decide(input: &Input) -> Plan {
    let mut plan = Plan::default();
    if is_deleting(&*input.service) {
        return plan;
    }
    let mut groups = wanted(input);
    let mut slices: Vec<_> = input.slices.clone();
    slices.sort_by_key(|slice| slice.name_any());
    for (group, missing) in &mut groups {
        let (ours, others): (Vec<_>, Vec<_>) = slices
            .into_iter()
            .partition(|slice| slice.address_type == group.0 && slice.ports.clone().unwrap_or_default() == group.1);
        slices = others;
        plan_group(input, group, std::mem::take(missing), &ours, &mut plan);
    }
    plan.delete.extend(slices);
    plan
}

fn plan_group(
    input: &Input,
    group: &Group,
    mut missing: BTreeMap<String, Endpoint>,
    slices: &[Arc<EndpointSlice>],
    plan: &mut Plan,
) {
    // What is there stays where it is, in its present form.
    let mut kept: Vec<Vec<Endpoint>> = Vec::new();
    for slice in slices {
        let uids = slice.endpoints.iter().flatten().filter_map(|e| e.target_ref.as_ref()?.uid.as_ref());
        kept.push(uids.filter_map(|uid| missing.remove(uid)).take(SLICE_LIMIT).collect());
    }
    // The fullest with room take the new ones, so that the others may become empty.
    let mut order: Vec<usize> = (0..kept.len()).filter(|at| !kept[*at].is_empty()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(kept[*at].len()));
    if order.is_empty() && !kept.is_empty() {
        order.push(0);
    }
    let mut rest = missing.into_values();
    for at in &order {
        let room = SLICE_LIMIT.saturating_sub(kept[*at].len());
        kept[*at].extend(rest.by_ref().take(room));
    }
    for (at, slice) in slices.iter().enumerate() {
        if !order.contains(&at) {
            plan.delete.push(slice.clone());
            continue;
        }
        let mut changed = (**slice).clone();
        changed.endpoints = Some(std::mem::take(&mut kept[at])).filter(|endpoints| !endpoints.is_empty());
        changed.metadata.labels = Some(slice_labels(&input.service));
        if !is_controlled_by(&changed, &*input.service) {
            changed.metadata.owner_references = Some(vec![controller_reference(&*input.service)]);
        }
        let same_endpoints =
            changed.endpoints.as_deref().unwrap_or_default() == slice.endpoints.as_deref().unwrap_or_default();
        if !same_endpoints || changed.metadata != slice.metadata {
            plan.update.push(changed);
        }
    }
    let rest: Vec<_> = rest.collect();
    rest.chunks(SLICE_LIMIT).for_each(|chunk| plan.create.push(new_slice(&input.service, group, chunk.to_vec())));
    if rest.is_empty() && order.is_empty() {
        plan.create.push(new_slice(&input.service, group, Vec::new()));
    }
}
