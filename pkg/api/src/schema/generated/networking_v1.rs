//! Types of package `networking_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_NETWORKING_V1_HTTP_INGRESS_PATH: Shape = obj(NETWORKING_V1_HTTP_INGRESS_PATH);
static OF_NETWORKING_V1_INGRESS: Shape = obj(NETWORKING_V1_INGRESS);
static OF_NETWORKING_V1_INGRESS_CLASS: Shape = obj(NETWORKING_V1_INGRESS_CLASS);
static OF_NETWORKING_V1_INGRESS_LOAD_BALANCER_INGRESS: Shape = obj(NETWORKING_V1_INGRESS_LOAD_BALANCER_INGRESS);
static OF_NETWORKING_V1_INGRESS_PORT_STATUS: Shape = obj(NETWORKING_V1_INGRESS_PORT_STATUS);
static OF_NETWORKING_V1_INGRESS_RULE: Shape = obj(NETWORKING_V1_INGRESS_RULE);
static OF_NETWORKING_V1_INGRESS_TLS: Shape = obj(NETWORKING_V1_INGRESS_TLS);
static OF_NETWORKING_V1_IP_ADDRESS: Shape = obj(NETWORKING_V1_IP_ADDRESS);
static OF_NETWORKING_V1_NETWORK_POLICY: Shape = obj(NETWORKING_V1_NETWORK_POLICY);
static OF_NETWORKING_V1_NETWORK_POLICY_EGRESS_RULE: Shape = obj(NETWORKING_V1_NETWORK_POLICY_EGRESS_RULE);
static OF_NETWORKING_V1_NETWORK_POLICY_INGRESS_RULE: Shape = obj(NETWORKING_V1_NETWORK_POLICY_INGRESS_RULE);
static OF_NETWORKING_V1_NETWORK_POLICY_PEER: Shape = obj(NETWORKING_V1_NETWORK_POLICY_PEER);
static OF_NETWORKING_V1_NETWORK_POLICY_PORT: Shape = obj(NETWORKING_V1_NETWORK_POLICY_PORT);
static OF_NETWORKING_V1_SERVICE_CIDR: Shape = obj(NETWORKING_V1_SERVICE_CIDR);
static OF_STRING: Shape = STRING;

pub(super) const HTTP_INGRESS_PATH: Type = ty("io.k8s.api.networking.v1.HTTPIngressPath", &HTTP_INGRESS_PATH_FIELDS, 0);
static HTTP_INGRESS_PATH_FIELDS: [Field; 3] = [
    f("backend", 2, obj(NETWORKING_V1_INGRESS_BACKEND), REQUIRED),
    f("path", 1, STRING, OMIT_EMPTY),
    f("pathType", 3, STRING, REQUIRED | POINTER),
];

pub(super) const HTTP_INGRESS_RULE_VALUE: Type = ty("io.k8s.api.networking.v1.HTTPIngressRuleValue", &HTTP_INGRESS_RULE_VALUE_FIELDS, 0);
static HTTP_INGRESS_RULE_VALUE_FIELDS: [Field; 1] = [
    f("paths", 1, list(&OF_NETWORKING_V1_HTTP_INGRESS_PATH), REQUIRED),
];

pub(super) const IP_ADDRESS: Type = ty("io.k8s.api.networking.v1.IPAddress", &IP_ADDRESS_FIELDS, 0);
static IP_ADDRESS_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(NETWORKING_V1_IP_ADDRESS_SPEC), REQUIRED | OMIT_EMPTY),
];

pub(super) const IP_ADDRESS_LIST: Type = ty("io.k8s.api.networking.v1.IPAddressList", &IP_ADDRESS_LIST_FIELDS, 0);
static IP_ADDRESS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_NETWORKING_V1_IP_ADDRESS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const IP_ADDRESS_SPEC: Type = ty("io.k8s.api.networking.v1.IPAddressSpec", &IP_ADDRESS_SPEC_FIELDS, 0);
static IP_ADDRESS_SPEC_FIELDS: [Field; 1] = [
    f("parentRef", 1, obj(NETWORKING_V1_PARENT_REFERENCE), REQUIRED | POINTER | OMIT_EMPTY),
];

pub(super) const IP_BLOCK: Type = ty("io.k8s.api.networking.v1.IPBlock", &IP_BLOCK_FIELDS, 0);
static IP_BLOCK_FIELDS: [Field; 2] = [
    f("cidr", 1, STRING, REQUIRED),
    f("except", 2, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const INGRESS: Type = ty("io.k8s.api.networking.v1.Ingress", &INGRESS_FIELDS, 0);
static INGRESS_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(NETWORKING_V1_INGRESS_SPEC), OMIT_EMPTY),
    f("status", 3, obj(NETWORKING_V1_INGRESS_STATUS), OMIT_EMPTY),
];

pub(super) const INGRESS_BACKEND: Type = ty("io.k8s.api.networking.v1.IngressBackend", &INGRESS_BACKEND_FIELDS, 0);
static INGRESS_BACKEND_FIELDS: [Field; 2] = [
    f("resource", 3, obj(CORE_V1_TYPED_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("service", 4, obj(NETWORKING_V1_INGRESS_SERVICE_BACKEND), POINTER | OMIT_EMPTY),
];

pub(super) const INGRESS_CLASS: Type = ty("io.k8s.api.networking.v1.IngressClass", &INGRESS_CLASS_FIELDS, 0);
static INGRESS_CLASS_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(NETWORKING_V1_INGRESS_CLASS_SPEC), OMIT_EMPTY),
];

pub(super) const INGRESS_CLASS_LIST: Type = ty("io.k8s.api.networking.v1.IngressClassList", &INGRESS_CLASS_LIST_FIELDS, 0);
static INGRESS_CLASS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_NETWORKING_V1_INGRESS_CLASS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const INGRESS_CLASS_PARAMETERS_REFERENCE: Type = ty("io.k8s.api.networking.v1.IngressClassParametersReference", &INGRESS_CLASS_PARAMETERS_REFERENCE_FIELDS, 0);
static INGRESS_CLASS_PARAMETERS_REFERENCE_FIELDS: [Field; 5] = [
    f("apiGroup", 1, STRING, POINTER | OMIT_EMPTY),
    f("kind", 2, STRING, REQUIRED),
    f("name", 3, STRING, REQUIRED),
    f("namespace", 5, STRING, POINTER | OMIT_EMPTY),
    f("scope", 4, STRING, POINTER),
];

pub(super) const INGRESS_CLASS_SPEC: Type = ty("io.k8s.api.networking.v1.IngressClassSpec", &INGRESS_CLASS_SPEC_FIELDS, 0);
static INGRESS_CLASS_SPEC_FIELDS: [Field; 2] = [
    f("controller", 1, STRING, OMIT_EMPTY),
    f("parameters", 2, obj(NETWORKING_V1_INGRESS_CLASS_PARAMETERS_REFERENCE), POINTER | OMIT_EMPTY),
];

pub(super) const INGRESS_LIST: Type = ty("io.k8s.api.networking.v1.IngressList", &INGRESS_LIST_FIELDS, 0);
static INGRESS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_NETWORKING_V1_INGRESS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const INGRESS_LOAD_BALANCER_INGRESS: Type = ty("io.k8s.api.networking.v1.IngressLoadBalancerIngress", &INGRESS_LOAD_BALANCER_INGRESS_FIELDS, 0);
static INGRESS_LOAD_BALANCER_INGRESS_FIELDS: [Field; 3] = [
    f("hostname", 2, STRING, OMIT_EMPTY),
    f("ip", 1, STRING, OMIT_EMPTY),
    f("ports", 4, list(&OF_NETWORKING_V1_INGRESS_PORT_STATUS), OMIT_EMPTY),
];

pub(super) const INGRESS_LOAD_BALANCER_STATUS: Type = ty("io.k8s.api.networking.v1.IngressLoadBalancerStatus", &INGRESS_LOAD_BALANCER_STATUS_FIELDS, 0);
static INGRESS_LOAD_BALANCER_STATUS_FIELDS: [Field; 1] = [
    f("ingress", 1, list(&OF_NETWORKING_V1_INGRESS_LOAD_BALANCER_INGRESS), OMIT_EMPTY),
];

pub(super) const INGRESS_PORT_STATUS: Type = ty("io.k8s.api.networking.v1.IngressPortStatus", &INGRESS_PORT_STATUS_FIELDS, 0);
static INGRESS_PORT_STATUS_FIELDS: [Field; 3] = [
    f("error", 3, STRING, POINTER | OMIT_EMPTY),
    f("port", 1, INT32, REQUIRED),
    full(&[], "protocol", 2, STRING, REQUIRED, None, &["SCTP", "TCP", "UDP"], NO_PATCH),
];

pub(super) const INGRESS_RULE: Type = ty("io.k8s.api.networking.v1.IngressRule", &INGRESS_RULE_FIELDS, 0);
static INGRESS_RULE_FIELDS: [Field; 2] = [
    f("host", 1, STRING, OMIT_EMPTY),
    inlined(&[2], "http", 1, obj(NETWORKING_V1_HTTP_INGRESS_RULE_VALUE), POINTER | OMIT_EMPTY),
];

pub(super) const INGRESS_SERVICE_BACKEND: Type = ty("io.k8s.api.networking.v1.IngressServiceBackend", &INGRESS_SERVICE_BACKEND_FIELDS, 0);
static INGRESS_SERVICE_BACKEND_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("port", 2, obj(NETWORKING_V1_SERVICE_BACKEND_PORT), OMIT_EMPTY),
];

pub(super) const INGRESS_SPEC: Type = ty("io.k8s.api.networking.v1.IngressSpec", &INGRESS_SPEC_FIELDS, 0);
static INGRESS_SPEC_FIELDS: [Field; 4] = [
    f("defaultBackend", 1, obj(NETWORKING_V1_INGRESS_BACKEND), POINTER | OMIT_EMPTY),
    f("ingressClassName", 4, STRING, POINTER | OMIT_EMPTY),
    f("rules", 3, list(&OF_NETWORKING_V1_INGRESS_RULE), OMIT_EMPTY),
    f("tls", 2, list(&OF_NETWORKING_V1_INGRESS_TLS), OMIT_EMPTY),
];

pub(super) const INGRESS_STATUS: Type = ty("io.k8s.api.networking.v1.IngressStatus", &INGRESS_STATUS_FIELDS, 0);
static INGRESS_STATUS_FIELDS: [Field; 1] = [
    f("loadBalancer", 1, obj(NETWORKING_V1_INGRESS_LOAD_BALANCER_STATUS), OMIT_EMPTY),
];

pub(super) const INGRESS_TLS: Type = ty("io.k8s.api.networking.v1.IngressTLS", &INGRESS_TLS_FIELDS, 0);
static INGRESS_TLS_FIELDS: [Field; 2] = [
    f("hosts", 1, list(&OF_STRING), OMIT_EMPTY),
    f("secretName", 2, STRING, OMIT_EMPTY),
];

pub(super) const NETWORK_POLICY: Type = ty("io.k8s.api.networking.v1.NetworkPolicy", &NETWORK_POLICY_FIELDS, 0);
static NETWORK_POLICY_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(NETWORKING_V1_NETWORK_POLICY_SPEC), OMIT_EMPTY),
];

pub(super) const NETWORK_POLICY_EGRESS_RULE: Type = ty("io.k8s.api.networking.v1.NetworkPolicyEgressRule", &NETWORK_POLICY_EGRESS_RULE_FIELDS, 0);
static NETWORK_POLICY_EGRESS_RULE_FIELDS: [Field; 2] = [
    f("ports", 1, list(&OF_NETWORKING_V1_NETWORK_POLICY_PORT), OMIT_EMPTY),
    f("to", 2, list(&OF_NETWORKING_V1_NETWORK_POLICY_PEER), OMIT_EMPTY),
];

pub(super) const NETWORK_POLICY_INGRESS_RULE: Type = ty("io.k8s.api.networking.v1.NetworkPolicyIngressRule", &NETWORK_POLICY_INGRESS_RULE_FIELDS, 0);
static NETWORK_POLICY_INGRESS_RULE_FIELDS: [Field; 2] = [
    f("from", 2, list(&OF_NETWORKING_V1_NETWORK_POLICY_PEER), OMIT_EMPTY),
    f("ports", 1, list(&OF_NETWORKING_V1_NETWORK_POLICY_PORT), OMIT_EMPTY),
];

pub(super) const NETWORK_POLICY_LIST: Type = ty("io.k8s.api.networking.v1.NetworkPolicyList", &NETWORK_POLICY_LIST_FIELDS, 0);
static NETWORK_POLICY_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_NETWORKING_V1_NETWORK_POLICY), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const NETWORK_POLICY_PEER: Type = ty("io.k8s.api.networking.v1.NetworkPolicyPeer", &NETWORK_POLICY_PEER_FIELDS, 0);
static NETWORK_POLICY_PEER_FIELDS: [Field; 3] = [
    f("ipBlock", 3, obj(NETWORKING_V1_IP_BLOCK), POINTER | OMIT_EMPTY),
    f("namespaceSelector", 2, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("podSelector", 1, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const NETWORK_POLICY_PORT: Type = ty("io.k8s.api.networking.v1.NetworkPolicyPort", &NETWORK_POLICY_PORT_FIELDS, 0);
static NETWORK_POLICY_PORT_FIELDS: [Field; 3] = [
    f("endPort", 3, INT32, POINTER | OMIT_EMPTY),
    f("port", 2, INT_OR_STRING, POINTER | OMIT_EMPTY),
    full(&[], "protocol", 1, STRING, POINTER | OMIT_EMPTY, None, &["SCTP", "TCP", "UDP"], NO_PATCH),
];

pub(super) const NETWORK_POLICY_SPEC: Type = ty("io.k8s.api.networking.v1.NetworkPolicySpec", &NETWORK_POLICY_SPEC_FIELDS, 0);
static NETWORK_POLICY_SPEC_FIELDS: [Field; 4] = [
    f("egress", 3, list(&OF_NETWORKING_V1_NETWORK_POLICY_EGRESS_RULE), OMIT_EMPTY),
    f("ingress", 2, list(&OF_NETWORKING_V1_NETWORK_POLICY_INGRESS_RULE), OMIT_EMPTY),
    f("podSelector", 1, obj(META_V1_LABEL_SELECTOR), 0),
    full(&[], "policyTypes", 4, list(&OF_STRING), OMIT_EMPTY, None, &["Egress", "Ingress"], NO_PATCH),
];

pub(super) const PARENT_REFERENCE: Type = ty("io.k8s.api.networking.v1.ParentReference", &PARENT_REFERENCE_FIELDS, 0);
static PARENT_REFERENCE_FIELDS: [Field; 4] = [
    f("group", 1, STRING, OMIT_EMPTY),
    f("name", 4, STRING, REQUIRED | OMIT_EMPTY),
    f("namespace", 3, STRING, OMIT_EMPTY),
    f("resource", 2, STRING, REQUIRED | OMIT_EMPTY),
];

pub(super) const SERVICE_BACKEND_PORT: Type = ty("io.k8s.api.networking.v1.ServiceBackendPort", &SERVICE_BACKEND_PORT_FIELDS, ATOMIC);
static SERVICE_BACKEND_PORT_FIELDS: [Field; 2] = [
    f("name", 1, STRING, OMIT_EMPTY),
    f("number", 2, INT32, OMIT_EMPTY),
];

pub(super) const SERVICE_CIDR: Type = ty("io.k8s.api.networking.v1.ServiceCIDR", &SERVICE_CIDR_FIELDS, 0);
static SERVICE_CIDR_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(NETWORKING_V1_SERVICE_CIDR_SPEC), OMIT_EMPTY),
    f("status", 3, obj(NETWORKING_V1_SERVICE_CIDR_STATUS), OMIT_EMPTY),
];

pub(super) const SERVICE_CIDR_LIST: Type = ty("io.k8s.api.networking.v1.ServiceCIDRList", &SERVICE_CIDR_LIST_FIELDS, 0);
static SERVICE_CIDR_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_NETWORKING_V1_SERVICE_CIDR), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const SERVICE_CIDR_SPEC: Type = ty("io.k8s.api.networking.v1.ServiceCIDRSpec", &SERVICE_CIDR_SPEC_FIELDS, 0);
static SERVICE_CIDR_SPEC_FIELDS: [Field; 1] = [
    f("cidrs", 1, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const SERVICE_CIDR_STATUS: Type = ty("io.k8s.api.networking.v1.ServiceCIDRStatus", &SERVICE_CIDR_STATUS_FIELDS, 0);
static SERVICE_CIDR_STATUS_FIELDS: [Field; 1] = [
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
];
