//! Rows of the core group.

use super::{
    Action, Subresource, Verbs,
    row::{Group, Row, SCALE_AND_STATUS, STATUS, sub},
};
use crate::{strategy, table};

pub(super) static GROUP: Group = Group { group: "", version: "v1", package: "io.k8s.api.core" };

const ALL: &[&str] = &["all"];

const NAMESPACE_SUBS: &[Subresource] = &[sub("finalize", Action::Finalize), sub("status", Action::Status)];
const NODE_SUBS: &[Subresource] = &[sub("proxy", Action::Connect), sub("status", Action::Status)];
const SERVICE_SUBS: &[Subresource] = NODE_SUBS;
const ACCOUNT_SUBS: &[Subresource] = &[sub("token", Action::Token)];
const POD_SUBS: &[Subresource] = &[
    sub("attach", Action::Connect),
    sub("binding", Action::Binding),
    sub("ephemeralcontainers", Action::EphemeralContainers),
    sub("eviction", Action::Eviction),
    sub("exec", Action::Connect),
    sub("log", Action::Connect),
    sub("portforward", Action::Connect),
    sub("proxy", Action::Connect),
    sub("resize", Action::Resize),
    sub("status", Action::Status),
];

const POD_FIELDS: &[&str] = &[
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
];

/// Fields of an Event of the core group.
pub(super) const EVENT_FIELDS: &[&str] = &[
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
];

pub(super) const ROWS: &[Row] = &[
    Row::namespaced("Binding", "bindings").verbs(Verbs::CreateOnly),
    Row::cluster("ComponentStatus", "componentstatuses")
        .deprecated("v1 ComponentStatus is deprecated in v1.19+")
        .columns(&table::cluster::COMPONENT_STATUS)
        .short(&["cs"])
        .verbs(Verbs::ReadOnly),
    Row::namespaced("ConfigMap", "configmaps")
        .strategy(&strategy::ConfigMaps)
        .columns(&table::cluster::CONFIG_MAP)
        .short(&["cm"]),
    Row::namespaced("Endpoints", "endpoints")
        .made_by_update()
        .deprecated("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
        .strategy(&strategy::Endpoints)
        .columns(&table::networking::ENDPOINTS)
        .short(&["ep"]),
    Row::namespaced("Event", "events")
        .made_by_update()
        .bare_finalizers()
        .strategy(&strategy::Events::CORE)
        .columns(&table::cluster::EVENT)
        .short(&["ev"])
        .selectable(EVENT_FIELDS)
        .relaxed(),
    Row::namespaced("LimitRange", "limitranges").made_by_update().strategy(&strategy::LimitRanges).short(&["limits"]),
    Row::cluster("Namespace", "namespaces")
        .returns_deleted()
        .strategy(&strategy::Namespaces)
        .columns(&table::cluster::NAMESPACE)
        .short(&["ns"])
        .verbs(Verbs::NoCollectionDelete)
        .subs(NAMESPACE_SUBS)
        .selectable(&["status.phase"]),
    Row::cluster("Node", "nodes")
        .strategy(&strategy::Nodes)
        .columns(&table::cluster::NODE)
        .short(&["no"])
        .subs(NODE_SUBS)
        .selectable(&["spec.unschedulable"]),
    Row::namespaced("PersistentVolumeClaim", "persistentvolumeclaims")
        .returns_deleted()
        .strategy(&strategy::Claims)
        .columns(&table::storage::CLAIM)
        .short(&["pvc"])
        .subs(STATUS),
    Row::cluster("PersistentVolume", "persistentvolumes")
        .returns_deleted()
        .strategy(&strategy::Volumes)
        .columns(&table::storage::VOLUME)
        .short(&["pv"])
        .subs(STATUS),
    Row::namespaced("Pod", "pods")
        .returns_deleted()
        .strategy(&strategy::Pods)
        .columns(&table::pods::COLUMNS)
        .short(&["po"])
        .categories(ALL)
        .subs(POD_SUBS)
        .selectable(POD_FIELDS),
    Row::namespaced("PodTemplate", "podtemplates")
        .returns_deleted()
        .strategy(&strategy::PodTemplates)
        .columns(&table::workloads::POD_TEMPLATE),
    Row::namespaced("ReplicationController", "replicationcontrollers")
        .orphaning()
        .strategy(&strategy::ReplicationControllers)
        .columns(&table::workloads::REPLICATION_CONTROLLER)
        .short(&["rc"])
        .categories(ALL)
        .subs(SCALE_AND_STATUS)
        .selectable(&["status.replicas"]),
    Row::namespaced("ResourceQuota", "resourcequotas")
        .returns_deleted()
        .strategy(&strategy::ResourceQuotas)
        .columns(&table::cluster::RESOURCE_QUOTA)
        .short(&["quota"])
        .subs(STATUS),
    Row::namespaced("Secret", "secrets")
        .strategy(&strategy::Secrets)
        .columns(&table::cluster::SECRET)
        .selectable(&["type"]),
    Row::namespaced("ServiceAccount", "serviceaccounts")
        .returns_deleted()
        .strategy(&strategy::ServiceAccounts)
        .columns(&table::cluster::SERVICE_ACCOUNT)
        .short(&["sa"])
        .subs(ACCOUNT_SUBS),
    Row::namespaced("Service", "services")
        .made_by_update()
        .returns_deleted()
        .strategy(&strategy::Services)
        .columns(&table::networking::SERVICE)
        .short(&["svc"])
        .categories(ALL)
        .subs(SERVICE_SUBS)
        .selectable(&["spec.clusterIP", "spec.type"]),
];
