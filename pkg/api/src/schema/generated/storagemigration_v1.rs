//! Types of package `storagemigration_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_STORAGEMIGRATION_V1_STORAGE_VERSION_MIGRATION: Shape = obj(STORAGEMIGRATION_V1_STORAGE_VERSION_MIGRATION);

pub(super) const STORAGE_VERSION_MIGRATION: Type = ty("io.k8s.api.storagemigration.v1.StorageVersionMigration", &STORAGE_VERSION_MIGRATION_FIELDS, 0);
static STORAGE_VERSION_MIGRATION_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(STORAGEMIGRATION_V1_STORAGE_VERSION_MIGRATION_SPEC), OMIT_EMPTY),
    f("status", 3, obj(STORAGEMIGRATION_V1_STORAGE_VERSION_MIGRATION_STATUS), OMIT_EMPTY),
];

pub(super) const STORAGE_VERSION_MIGRATION_LIST: Type = ty("io.k8s.api.storagemigration.v1.StorageVersionMigrationList", &STORAGE_VERSION_MIGRATION_LIST_FIELDS, 0);
static STORAGE_VERSION_MIGRATION_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_STORAGEMIGRATION_V1_STORAGE_VERSION_MIGRATION), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const STORAGE_VERSION_MIGRATION_SPEC: Type = ty("io.k8s.api.storagemigration.v1.StorageVersionMigrationSpec", &STORAGE_VERSION_MIGRATION_SPEC_FIELDS, 0);
static STORAGE_VERSION_MIGRATION_SPEC_FIELDS: [Field; 1] = [
    f("resource", 1, obj(META_V1_GROUP_RESOURCE), REQUIRED),
];

pub(super) const STORAGE_VERSION_MIGRATION_STATUS: Type = ty("io.k8s.api.storagemigration.v1.StorageVersionMigrationStatus", &STORAGE_VERSION_MIGRATION_STATUS_FIELDS, 0);
static STORAGE_VERSION_MIGRATION_STATUS_FIELDS: [Field; 2] = [
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("resourceVersion", 2, STRING, OMIT_EMPTY),
];
