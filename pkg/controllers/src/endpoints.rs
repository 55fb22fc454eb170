//! Endpoints: the older form of EndpointSlices, for those who still read it.

use std::{collections::BTreeMap, sync::Arc};

use client::{
    Controller, Informer, Next, ObjectKey, Sources,
    runtime::{ignore_exists, ignore_not_found, is_terminating},
    slim::Pod,
};
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints, Service},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, PostParams},
};

use crate::{Context, owners::is_deleting, pods, services};

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const MANAGER: &str = "endpoint-controller";
const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";
const LIMIT: usize = 1000;

pub struct EndpointsController {
    client: kube::Client,
    services: Informer<Service>,
    pods: Informer<Pod>,
    endpoints: Informer<Endpoints>,
}

pub struct Input {
    /// `None`: the Service is gone.
    pub service: Option<Arc<Service>>,
    pub pods: Vec<Arc<Pod>>,
    pub there: Option<Arc<Endpoints>>,
}

#[derive(Debug, PartialEq)]
pub enum Plan {
    Nothing,
    Create(Box<Endpoints>),
    Update(Box<Endpoints>),
    Delete,
}

impl EndpointsController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        EndpointsController {
            client: informers.client().clone(),
            services: informers.get(),
            pods: informers.get(),
            endpoints: informers.get(),
        }
    }
}

impl Controller for EndpointsController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "endpoints";

    fn sources(&self, sources: &mut Sources) {
        let of_pod = self.services.clone();
        sources
            .own(&self.services)
            .map_if(&self.pods, services::matters, move |pod| services::of_pod(&of_pod, pod))
            .own(&self.endpoints);
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let service = self.services.get(key);
        let pods = service.as_ref().map(|s| self.pods.select(|pod| services::selects(s, pod))).unwrap_or_default();
        Some(Input { service, pods, there: self.endpoints.get(key) })
    }

    fn decide(&self, input: &Input, _: Timestamp) -> Plan {
        decide(input)
    }

    async fn apply(&self, key: &ObjectKey, _: Input, plan: Plan) -> Result<Next, kube::Error> {
        let api: Api<Endpoints> = Api::namespaced(self.client.clone(), &key.namespace);
        match plan {
            Plan::Nothing => {}
            Plan::Create(endpoints) => match ignore_exists(api.create(&PostParams::default(), &endpoints).await) {
                Err(error) if !is_terminating(&error) => return Err(error),
                _ => {}
            },
            Plan::Update(endpoints) => {
                api.replace(&key.name, &PostParams::default(), &endpoints).await?;
            }
            Plan::Delete => {
                ignore_not_found(api.delete(&key.name, &DeleteParams::default()).await)?;
            }
        }
        Ok(Next::Done)
    }
}

fn decide(input: &Input) -> Plan {
    let ours = |e: &Endpoints| e.metadata.labels.as_ref().and_then(|l| l.get(MANAGED_BY)).is_some_and(|m| m == MANAGER);
    let Some(service) = &input.service else {
        // Those that somebody else keeps have no Service to go with.
        return if input.there.as_deref().is_some_and(|e| ours(e) && !is_deleting(e)) {
            Plan::Delete
        } else {
            Plan::Nothing
        };
    };
    if !services::has_endpoints(service) || is_deleting(&**service) {
        return Plan::Nothing;
    }
    let wanted = endpoints(service, &input.pods);
    let Some(there) = &input.there else { return Plan::Create(Box::new(wanted)) };
    let annotation = |e: &Endpoints| e.metadata.annotations.as_ref().and_then(|a| a.get(OVER_CAPACITY)).cloned();
    let same = there.subsets.as_deref().unwrap_or_default() == wanted.subsets.as_deref().unwrap_or_default()
        && there.metadata.labels == wanted.metadata.labels
        && annotation(there) == annotation(&wanted);
    if same {
        return Plan::Nothing;
    }
    let mut changed = (**there).clone();
    changed.subsets = wanted.subsets;
    changed.metadata.labels = wanted.metadata.labels;
    let annotations = changed.metadata.annotations.get_or_insert_default();
    annotations.remove(OVER_CAPACITY);
    annotations.extend(wanted.metadata.annotations.unwrap_or_default());
    Plan::Update(Box::new(changed))
}

/// Addresses with the same ports make a subset.
fn endpoints(service: &Service, pods: &[Arc<Pod>]) -> Endpoints {
    let publishes = service.spec.as_ref().and_then(|s| s.publish_not_ready_addresses).unwrap_or(false);
    let mut pods: Vec<_> = pods.iter().filter(|pod| pods::is_active(pod)).collect();
    pods.sort_by_key(|pod| (!pods::is_ready(pod), services::addresses(pod), pod.uid()));
    let (mut subsets, mut total) = (BTreeMap::<_, EndpointSubset>::new(), 0);
    for pod in pods {
        let Some(address) = services::addresses(pod).into_iter().next() else { continue };
        total += 1;
        if total > LIMIT {
            continue;
        }
        let ports = ports(service, pod);
        let key: Vec<_> = ports.iter().map(|p| (p.port, p.protocol.clone(), p.name.clone())).collect();
        let subset = subsets.entry(key).or_default();
        subset.ports = Some(ports).filter(|ports| !ports.is_empty());
        let entry = EndpointAddress {
            ip: address,
            hostname: services::hostname(service, pod),
            node_name: Some(pods::node_name(pod)).filter(|n| !n.is_empty()).map(str::to_owned),
            target_ref: Some(services::pod_reference(pod)),
        };
        let list =
            if publishes || pods::is_ready(pod) { &mut subset.addresses } else { &mut subset.not_ready_addresses };
        list.get_or_insert_default().push(entry);
    }
    let mut labels = service.metadata.labels.clone().unwrap_or_default();
    labels.remove(services::HEADLESS);
    if services::is_headless(service) {
        labels.insert(services::HEADLESS.to_owned(), String::new());
    }
    labels.insert(MANAGED_BY.to_owned(), MANAGER.to_owned());
    Endpoints {
        metadata: ObjectMeta {
            name: service.metadata.name.clone(),
            namespace: service.metadata.namespace.clone(),
            labels: Some(labels),
            annotations: (total > LIMIT).then(|| [(OVER_CAPACITY.to_owned(), "truncated".to_owned())].into()),
            ..ObjectMeta::default()
        },
        subsets: Some(subsets.into_values().collect::<Vec<_>>()).filter(|subsets| !subsets.is_empty()),
    }
}

fn ports(service: &Service, pod: &Pod) -> Vec<EndpointPort> {
    let ports = service.spec.iter().flat_map(|s| s.ports.iter().flatten());
    let resolved = ports.filter_map(|port| {
        Some(EndpointPort {
            name: port.name.clone().filter(|name| !name.is_empty()),
            port: services::target_port(port, pod)?,
            protocol: Some(port.protocol.clone().unwrap_or_else(|| "TCP".to_owned())),
            app_protocol: port.app_protocol.clone(),
        })
    });
    resolved.collect()
}

#[cfg(test)]
mod tests {
    use client::slim::PodStatus;
    use k8s_openapi::{
        api::core::v1::{PodCondition, ServicePort, ServiceSpec},
        apimachinery::pkg::util::intstr::IntOrString,
    };

    use super::*;

    fn service() -> Arc<Service> {
        Arc::new(Service {
            metadata: ObjectMeta { name: Some("web".to_owned()), ..ObjectMeta::default() },
            spec: Some(ServiceSpec {
                selector: Some([("app".to_owned(), "web".to_owned())].into()),
                ports: Some(vec![ServicePort {
                    port: 80,
                    target_port: Some(IntOrString::Int(8080)),
                    ..ServicePort::default()
                }]),
                ..ServiceSpec::default()
            }),
            status: None,
        })
    }

    fn pod(ip: &str, ready: bool) -> Arc<Pod> {
        let condition = PodCondition {
            type_: "Ready".to_owned(),
            status: if ready { "True" } else { "False" }.to_owned(),
            ..PodCondition::default()
        };
        let status =
            PodStatus { pod_ip: Some(ip.to_owned()), conditions: Some(Box::new([condition])), ..PodStatus::default() };
        Arc::new(Pod { status: Some(status), ..Pod::default() })
    }

    #[test]
    fn ready_and_unready_are_told_apart_and_deciding_again_changes_nothing() {
        let pods = vec![pod("10.42.0.3", false), pod("10.42.0.2", true)];
        let Plan::Create(made) = decide(&Input { service: Some(service()), pods: pods.clone(), there: None }) else {
            panic!("must be made");
        };
        let [subset] = &made.subsets.as_deref().unwrap_or_default() else { panic!("one subset") };
        assert_eq!(subset.addresses.as_ref().expect("set")[0].ip, "10.42.0.2");
        assert_eq!(subset.not_ready_addresses.as_ref().expect("set")[0].ip, "10.42.0.3");
        let again = Input { service: Some(service()), pods, there: Some(Arc::new(*made.clone())) };
        assert_eq!(decide(&again), Plan::Nothing);
        let gone = Input { service: None, pods: vec![], there: Some(Arc::new(*made)) };
        assert_eq!(decide(&gone), Plan::Delete);
    }

    #[test]
    fn endpoints_of_somebody_else_are_left_alone() {
        let theirs = Input { service: None, pods: vec![], there: Some(Arc::new(Endpoints::default())) };
        assert_eq!(decide(&theirs), Plan::Nothing);
    }
}
