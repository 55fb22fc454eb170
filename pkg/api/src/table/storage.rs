//! Columns of volumes, classes and drivers.

use serde_json::Value;

use super::{age, code, count, flag, name, text, wide};
use crate::{kinds::Column, tree};

fn access_modes(modes: &Value) -> Value {
    const SHORT: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let has = |mode: &str| modes.as_array().is_some_and(|all| all.iter().any(|m| m == mode));
    SHORT.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short).collect::<Vec<_>>().join(",").into()
}

fn class(object: &Value) -> Value {
    match object["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"].as_str() {
        Some(class) => class.into(),
        None => tree::text(object, "spec.storageClassName").into(),
    }
}

fn phase(object: &Value) -> Value {
    if tree::has(object, "metadata.deletionTimestamp") {
        return "Terminating".into();
    }
    tree::text(object, "status.phase").into()
}

fn mode(object: &Value, _: i64) -> Value {
    match tree::text(object, "spec.volumeMode") {
        "" => "<unset>".into(),
        mode => mode.into(),
    }
}

pub(crate) static VOLUME: [Column; 11] = [
    name("Name"),
    text("Capacity", "spec.capacity.storage", "0"),
    code("Access Modes", |pv, _| access_modes(tree::at(pv, "spec.accessModes"))),
    text("Reclaim Policy", "spec.persistentVolumeReclaimPolicy", ""),
    code("Status", |pv, _| phase(pv)),
    code("Claim", |pv, _| match tree::at(pv, "spec.claimRef") {
        Value::Null => "".into(),
        claim => format!("{}/{}", tree::text(claim, "namespace"), tree::text(claim, "name")).into(),
    }),
    code("StorageClass", |pv, _| class(pv)),
    text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    text("Reason", "status.reason", ""),
    age(),
    wide("VolumeMode", mode),
];

pub(crate) static CLAIM: [Column; 9] = [
    name("Name"),
    code("Status", |pvc, _| phase(pvc)),
    text("Volume", "spec.volumeName", ""),
    code("Capacity", |pvc, _| match (tree::text(pvc, "spec.volumeName"), tree::text(pvc, "status.capacity.storage")) {
        ("", _) => "".into(),
        (_, "") => "0".into(),
        (_, capacity) => capacity.into(),
    }),
    code("Access Modes", |pvc, _| match tree::text(pvc, "spec.volumeName") {
        "" => "".into(),
        _ => access_modes(tree::at(pvc, "status.accessModes")),
    }),
    code("StorageClass", |pvc, _| class(pvc)),
    text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    age(),
    wide("VolumeMode", mode),
];

pub(crate) static CLASS: [Column; 6] = [
    super::column_named(|class, _| {
        let annotations = &class["metadata"]["annotations"];
        let marks = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
        super::default_mark(class, marks.iter().any(|mark| annotations[mark] == "true"))
    }),
    text("Provisioner", "provisioner", ""),
    text("ReclaimPolicy", "reclaimPolicy", "Delete"),
    text("VolumeBindingMode", "volumeBindingMode", "Immediate"),
    super::column("AllowVolumeExpansion", "string", crate::kinds::Cell::Flag("allowVolumeExpansion", false)),
    age(),
];

pub(crate) static ATTRIBUTES_CLASS: [Column; 3] = [name("Name"), text("DriverName", "driverName", ""), age()];

pub(crate) static ATTACHMENT: [Column; 6] = [
    name("Name"),
    text("Attacher", "spec.attacher", ""),
    text("PV", "spec.source.persistentVolumeName", ""),
    text("Node", "spec.nodeName", ""),
    flag("Attached", "status.attached", false),
    age(),
];

pub(crate) static CSI_NODE: [Column; 3] = [name("Name"), count("Drivers", "spec.drivers"), age()];

pub(crate) static CSI_DRIVER: [Column; 8] = [
    name("Name"),
    flag("AttachRequired", "spec.attachRequired", true),
    flag("PodInfoOnMount", "spec.podInfoOnMount", false),
    flag("StorageCapacity", "spec.storageCapacity", false),
    code("TokenRequests", |driver, _| match tree::at(driver, "spec.tokenRequests").as_array() {
        Some(all) => all.iter().map(|t| tree::text(t, "audience")).collect::<Vec<_>>().join(",").into(),
        None => "<unset>".into(),
    }),
    flag("RequiresRepublish", "spec.requiresRepublish", false),
    code("Modes", |driver, _| {
        let modes: Vec<_> = tree::texts(driver, "spec.volumeLifecycleModes").collect();
        if modes.is_empty() { "<none>".into() } else { modes.join(",").into() }
    }),
    age(),
];

pub(crate) static CAPACITY: [Column; 3] =
    [name("Name"), text("StorageClassName", "storageClassName", ""), text("Capacity", "capacity", "<unset>")];

pub(crate) static MIGRATION: [Column; 3] = [
    name("Name"),
    code("Resource", |migration, _| {
        let resource = tree::at(migration, "spec.resource");
        match tree::text(resource, "group") {
            "" => tree::text(resource, "resource").into(),
            group => format!("{}.{group}", tree::text(resource, "resource")).into(),
        }
    }),
    code("Status", |migration, _| {
        let conditions = tree::items(migration, "status.conditions").iter().filter(|c| c["status"] == "True");
        let known = |kind: &&str| matches!(*kind, "Running" | "Failed" | "Succeeded");
        conditions.map(|c| tree::text(c, "type")).filter(known).last().unwrap_or("Unknown").into()
    }),
];
