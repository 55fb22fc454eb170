//! Fields of pod specifications that upstream has behind gates which are off in v1.37: a client may
//! send them, and they are not kept.

use serde_json::Value;

use crate::tree;

/// Fields of the specification itself.
const OF_SPEC: [&str; 2] = ["schedulingGroup", "evictionResponders"];
/// Fields of each container.
const OF_CONTAINER: [&str; 7] = [
    "lifecycle.stopSignal",
    "livenessProbe.httpGet.protocol",
    "readinessProbe.httpGet.protocol",
    "startupProbe.httpGet.protocol",
    "livenessProbe.grpc.mode",
    "readinessProbe.grpc.mode",
    "startupProbe.grpc.mode",
];
/// Fields of each volume.
const OF_VOLUME: [&str; 5] = [
    "emptyDir.mode",
    "secret.defaultUser",
    "configMap.defaultUser",
    "downwardAPI.defaultUser",
    "projected.defaultUser",
];

/// Drops them from the pod specification at `path`.
pub(super) fn drop_disabled(object: &mut Value, path: &str) {
    let Some(spec) = path.split('.').try_fold(object, |at, step| at.get_mut(step)) else { return };
    for field in OF_SPEC {
        tree::remove(spec, field);
    }
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in each(spec, list) {
            for field in OF_CONTAINER {
                tree::remove(container, field);
            }
            for mount in each(container, "volumeMounts") {
                tree::remove(mount, "bindMountOptions");
            }
        }
    }
    for volume in each(spec, "volumes") {
        for field in OF_VOLUME {
            tree::remove(volume, field);
        }
        for kind in ["secret", "configMap", "downwardAPI"] {
            if let Some(source) = volume.get_mut(kind) {
                each(source, "items").for_each(drop_user);
            }
        }
        let sources = volume.get_mut("projected").into_iter().flat_map(|projected| each(projected, "sources"));
        for part in sources.filter_map(Value::as_object_mut).flat_map(serde_json::Map::values_mut) {
            drop_user(part);
            each(part, "items").for_each(drop_user);
        }
    }
}

fn drop_user(of: &mut Value) {
    tree::remove(of, "user");
}

fn each<'a>(object: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dropped() {
        let mut object = json!({"spec": {
            "schedulingGroup": {}, "containers": [{"name": "c", "lifecycle": {"stopSignal": "SIGUSR1", "preStop": {}},
                "volumeMounts": [{"name": "v", "bindMountOptions": ["noexec"]}]}],
            "volumes": [{"name": "v", "emptyDir": {"mode": 1}}, {"name": "p", "projected": {"sources": [
                {"serviceAccountToken": {"user": 1, "path": "t"}}, {"secret": {"items": [{"key": "k", "user": 1}]}}]}}],
        }});
        drop_disabled(&mut object, "spec");
        drop_disabled(&mut object, "spec.template.spec");
        assert_eq!(
            object,
            json!({"spec": {
                "containers": [{"name": "c", "lifecycle": {"preStop": {}}, "volumeMounts": [{"name": "v"}]}],
                "volumes": [{"name": "v", "emptyDir": {}}, {"name": "p", "projected": {"sources": [
                    {"serviceAccountToken": {"path": "t"}}, {"secret": {"items": [{"key": "k"}]}}]}}],
            }})
        );
    }
}
