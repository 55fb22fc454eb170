//! Rows of storage and storage migration.

use super::row::{Group, Row, STATUS};
use crate::{strategy, table};

pub(super) static STORAGE: Group = Group { group: "storage.k8s.io", version: "v1", package: "io.k8s.api.storage" };
pub(super) static MIGRATION: Group =
    Group { group: "storagemigration.k8s.io", version: "v1", package: "io.k8s.api.storagemigration" };

pub(super) const STORAGE_ROWS: &[Row] = &[
    Row::cluster("CSIDriver", "csidrivers")
        .based()
        .returns_deleted()
        .strategy(&strategy::CsiDrivers)
        .columns(&table::storage::CSI_DRIVER),
    Row::cluster("CSINode", "csinodes")
        .based()
        .returns_deleted()
        .strategy(&strategy::CsiNodes)
        .columns(&table::storage::CSI_NODE)
        .subs(STATUS),
    Row::namespaced("CSIStorageCapacity", "csistoragecapacities")
        .based()
        .strategy(&strategy::Capacities)
        .columns(&table::storage::CAPACITY),
    Row::cluster("StorageClass", "storageclasses")
        .returns_deleted()
        .strategy(&strategy::StorageClasses)
        .columns(&table::storage::CLASS)
        .short(&["sc"]),
    Row::cluster("VolumeAttachment", "volumeattachments")
        .based()
        .returns_deleted()
        .strategy(&strategy::Attachments)
        .columns(&table::storage::ATTACHMENT)
        .subs(STATUS),
    Row::cluster("VolumeAttributesClass", "volumeattributesclasses")
        .returns_deleted()
        .strategy(&strategy::AttributesClasses)
        .columns(&table::storage::ATTRIBUTES_CLASS)
        .short(&["vac"]),
];

pub(super) const MIGRATION_ROWS: &[Row] = &[Row::cluster("StorageVersionMigration", "storageversionmigrations")
    .based()
    .strategy(&strategy::Migrations)
    .columns(&table::storage::MIGRATION)
    .subs(STATUS)];
