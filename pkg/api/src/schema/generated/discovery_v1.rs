//! Types of package `discovery_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_DISCOVERY_V1_ENDPOINT: Shape = obj(DISCOVERY_V1_ENDPOINT);
static OF_DISCOVERY_V1_ENDPOINT_PORT: Shape = obj(DISCOVERY_V1_ENDPOINT_PORT);
static OF_DISCOVERY_V1_ENDPOINT_SLICE: Shape = obj(DISCOVERY_V1_ENDPOINT_SLICE);
static OF_DISCOVERY_V1_FOR_NODE: Shape = obj(DISCOVERY_V1_FOR_NODE);
static OF_DISCOVERY_V1_FOR_ZONE: Shape = obj(DISCOVERY_V1_FOR_ZONE);
static OF_STRING: Shape = STRING;

pub(super) const ENDPOINT: Type = ty("io.k8s.api.discovery.v1.Endpoint", &ENDPOINT_FIELDS, 0);
static ENDPOINT_FIELDS: [Field; 8] = [
    f("addresses", 1, set(&OF_STRING), REQUIRED),
    f("conditions", 2, obj(DISCOVERY_V1_ENDPOINT_CONDITIONS), OMIT_EMPTY),
    f("deprecatedTopology", 5, map(&OF_STRING), OMIT_EMPTY),
    f("hints", 8, obj(DISCOVERY_V1_ENDPOINT_HINTS), POINTER | OMIT_EMPTY),
    f("hostname", 3, STRING, POINTER | OMIT_EMPTY),
    f("nodeName", 6, STRING, POINTER | OMIT_EMPTY),
    f("targetRef", 4, obj(CORE_V1_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("zone", 7, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const ENDPOINT_CONDITIONS: Type = ty("io.k8s.api.discovery.v1.EndpointConditions", &ENDPOINT_CONDITIONS_FIELDS, 0);
static ENDPOINT_CONDITIONS_FIELDS: [Field; 3] = [
    f("ready", 1, BOOL, POINTER | OMIT_EMPTY),
    f("serving", 2, BOOL, POINTER | OMIT_EMPTY),
    f("terminating", 3, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const ENDPOINT_HINTS: Type = ty("io.k8s.api.discovery.v1.EndpointHints", &ENDPOINT_HINTS_FIELDS, 0);
static ENDPOINT_HINTS_FIELDS: [Field; 2] = [
    f("forNodes", 2, list(&OF_DISCOVERY_V1_FOR_NODE), OMIT_EMPTY),
    f("forZones", 1, list(&OF_DISCOVERY_V1_FOR_ZONE), OMIT_EMPTY),
];

pub(super) const ENDPOINT_PORT: Type = ty("io.k8s.api.discovery.v1.EndpointPort", &ENDPOINT_PORT_FIELDS, ATOMIC);
static ENDPOINT_PORT_FIELDS: [Field; 4] = [
    f("appProtocol", 4, STRING, POINTER | OMIT_EMPTY),
    f("name", 1, STRING, POINTER | OMIT_EMPTY),
    f("port", 3, INT32, POINTER | OMIT_EMPTY),
    full(&[], "protocol", 2, STRING, POINTER | OMIT_EMPTY, None, &["SCTP", "TCP", "UDP"], NO_PATCH),
];

pub(super) const ENDPOINT_SLICE: Type = ty("io.k8s.api.discovery.v1.EndpointSlice", &ENDPOINT_SLICE_FIELDS, 0);
static ENDPOINT_SLICE_FIELDS: [Field; 6] = [
    f("addressType", 4, STRING, REQUIRED),
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("endpoints", 2, list(&OF_DISCOVERY_V1_ENDPOINT), 0),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("ports", 3, list(&OF_DISCOVERY_V1_ENDPOINT_PORT), 0),
];

pub(super) const ENDPOINT_SLICE_LIST: Type = ty("io.k8s.api.discovery.v1.EndpointSliceList", &ENDPOINT_SLICE_LIST_FIELDS, 0);
static ENDPOINT_SLICE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_DISCOVERY_V1_ENDPOINT_SLICE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const FOR_NODE: Type = ty("io.k8s.api.discovery.v1.ForNode", &FOR_NODE_FIELDS, 0);
static FOR_NODE_FIELDS: [Field; 1] = [
    f("name", 1, STRING, REQUIRED),
];

pub(super) const FOR_ZONE: Type = ty("io.k8s.api.discovery.v1.ForZone", &FOR_ZONE_FIELDS, 0);
static FOR_ZONE_FIELDS: [Field; 1] = [
    f("name", 1, STRING, REQUIRED),
];
