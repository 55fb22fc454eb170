//! Types of package `events_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_EVENTS_V1_EVENT: Shape = obj(EVENTS_V1_EVENT);

pub(super) const EVENT: Type = ty("io.k8s.api.events.v1.Event", &EVENT_FIELDS, 0);
static EVENT_FIELDS: [Field; 17] = [
    f("action", 6, STRING, OMIT_EMPTY),
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("deprecatedCount", 15, INT32, OMIT_EMPTY),
    f("deprecatedFirstTimestamp", 13, TIME, OMIT_EMPTY),
    f("deprecatedLastTimestamp", 14, TIME, OMIT_EMPTY),
    f("deprecatedSource", 12, obj(CORE_V1_EVENT_SOURCE), OMIT_EMPTY),
    f("eventTime", 2, MICRO_TIME, REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), 0),
    f("note", 10, STRING, OMIT_EMPTY),
    f("reason", 7, STRING, OMIT_EMPTY),
    f("regarding", 8, obj(CORE_V1_OBJECT_REFERENCE), OMIT_EMPTY),
    f("related", 9, obj(CORE_V1_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("reportingController", 4, STRING, OMIT_EMPTY),
    f("reportingInstance", 5, STRING, OMIT_EMPTY),
    f("series", 3, obj(EVENTS_V1_EVENT_SERIES), POINTER | OMIT_EMPTY),
    f("type", 11, STRING, OMIT_EMPTY),
];

pub(super) const EVENT_LIST: Type = ty("io.k8s.api.events.v1.EventList", &EVENT_LIST_FIELDS, 0);
static EVENT_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_EVENTS_V1_EVENT), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const EVENT_SERIES: Type = ty("io.k8s.api.events.v1.EventSeries", &EVENT_SERIES_FIELDS, 0);
static EVENT_SERIES_FIELDS: [Field; 2] = [
    f("count", 1, INT32, REQUIRED),
    f("lastObservedTime", 2, MICRO_TIME, REQUIRED),
];
