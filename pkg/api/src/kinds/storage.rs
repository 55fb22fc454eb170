//! Rows of storage and storage migration.

use super::row::{Group, Row, STATUS};

pub(super) static STORAGE: Group = Group { group: "storage.k8s.io", version: "v1", package: "io.k8s.api.storage" };
pub(super) static MIGRATION: Group =
    Group { group: "storagemigration.k8s.io", version: "v1", package: "io.k8s.api.storagemigration" };

pub(super) const STORAGE_ROWS: &[Row] = &[
    Row::cluster("CSIDriver", "csidrivers"),
    Row::cluster("CSINode", "csinodes").subs(STATUS),
    Row::namespaced("CSIStorageCapacity", "csistoragecapacities"),
    Row::cluster("StorageClass", "storageclasses").short(&["sc"]),
    Row::cluster("VolumeAttachment", "volumeattachments").subs(STATUS),
    Row::cluster("VolumeAttributesClass", "volumeattributesclasses").short(&["vac"]),
];

pub(super) const MIGRATION_ROWS: &[Row] =
    &[Row::cluster("StorageVersionMigration", "storageversionmigrations").subs(STATUS)];
