//! What a pod or a volume refers to, and so lets its node read. Pure.

use api::{Value, tree};

/// Marks a pod that only mirrors a file on its node.
pub const MIRROR: &str = "kubernetes.io/config.mirror";

/// Names that an object refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Secrets: namespace (empty for the object's own) and name.
    pub secrets: Vec<(String, String)>,
    /// ConfigMaps in the pod's namespace.
    pub config_maps: Vec<String>,
    /// PersistentVolumeClaims: of a pod in its own namespace, of a volume the one that it is bound to.
    pub claims: Vec<(String, String)>,
    /// ResourceClaims in the pod's namespace.
    pub resource_claims: Vec<String>,
    /// The pod's service account.
    pub account: String,
}

/// What a pod refers to. A mirror pod was made by the node itself, and opens nothing.
pub fn of_pod(pod: &Value) -> Links {
    let mut links = Links::default();
    if !pod["metadata"]["annotations"][MIRROR].is_null() {
        return links;
    }
    links.account = tree::text(pod, "spec.serviceAccountName").to_owned();
    references(pod, &mut links);
    let name = tree::text(pod, "metadata.name");
    for volume in tree::items(pod, "spec.volumes") {
        let claim = match tree::text(volume, "persistentVolumeClaim.claimName") {
            "" if volume["ephemeral"].is_object() => format!("{name}-{}", tree::text(volume, "name")),
            claim => claim.to_owned(),
        };
        if !claim.is_empty() {
            links.claims.push((String::new(), claim));
        }
    }
    let direct = tree::items(pod, "spec.resourceClaims").iter();
    let made = tree::items(pod, "status.resourceClaimStatuses").iter();
    let extended = [&pod["status"]["extendedResourceClaimStatus"]];
    let claims = direct.chain(made).chain(extended).map(|claim| tree::text(claim, "resourceClaimName"));
    links.resource_claims = claims.filter(|claim| !claim.is_empty()).map(str::to_owned).collect();
    links
}

/// Whether a pod refers to any object of the API, and to what: nodes make no such pods.
pub fn first_reference(pod: &Value) -> Option<&'static str> {
    const LOCAL: [&str; 4] = ["name", "downwardAPI", "emptyDir", "hostPath"];
    const SOURCES: [(&str, &str); 7] = [
        ("configMap", "configmaps (via configmap volumes)"),
        ("secret", "secrets (via secret volumes)"),
        ("csi", "csidrivers (via CSI volumes)"),
        ("glusterfs", "endpoints (via glusterFS volumes)"),
        ("persistentVolumeClaim", "persistentvolumeclaims"),
        ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
        ("azureFile", "secrets (via azureFile volumes)"),
    ];
    const PROJECTED: [(&str, &str); 5] = [
        ("configMap", "configmaps (via projected volumes)"),
        ("secret", "secrets (via projected volumes)"),
        ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
        ("clusterTrustBundle", "clustertrustbundles"),
        ("podCertificate", "podcertificates"),
    ];
    if !tree::text(pod, "spec.serviceAccountName").is_empty() {
        return Some("serviceaccounts");
    }
    let mut links = Links::default();
    references(pod, &mut links);
    if !links.secrets.is_empty() {
        return Some("secrets");
    }
    if !links.config_maps.is_empty() {
        return Some("configmaps");
    }
    if !tree::items(pod, "spec.resourceClaims").is_empty() {
        return Some("resourceclaims");
    }
    let has = |object: &Value, table: &[(&str, &'static str)]| {
        table.iter().find(|(field, _)| !object[*field].is_null()).map(|(_, what)| *what)
    };
    for volume in tree::items(pod, "spec.volumes") {
        if volume.as_object().is_some_and(|fields| fields.keys().all(|field| LOCAL.contains(&field.as_str()))) {
            continue;
        }
        let found = has(volume, &SOURCES)
            .or_else(|| tree::items(volume, "projected.sources").iter().find_map(|source| has(source, &PROJECTED)));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Whether a pod uses any Secret.
pub fn has_secrets(pod: &Value) -> bool {
    let mut links = Links::default();
    references(pod, &mut links);
    !links.secrets.is_empty()
}

/// Secrets and ConfigMaps of a pod's containers, volumes and pulls.
fn references(pod: &Value, links: &mut Links) {
    let mut secret = |name: &str| {
        if !name.is_empty() {
            links.secrets.push((String::new(), name.to_owned()));
        }
    };
    let mut config_map = |name: &str| {
        if !name.is_empty() {
            links.config_maps.push(name.to_owned());
        }
    };
    tree::items(pod, "spec.imagePullSecrets").iter().for_each(|pull| secret(tree::text(pull, "name")));
    for list in ["spec.initContainers", "spec.containers", "spec.ephemeralContainers"] {
        for container in tree::items(pod, list) {
            for source in tree::items(container, "envFrom") {
                secret(tree::text(source, "secretRef.name"));
                config_map(tree::text(source, "configMapRef.name"));
            }
            for variable in tree::items(container, "env") {
                secret(tree::text(variable, "valueFrom.secretKeyRef.name"));
                config_map(tree::text(variable, "valueFrom.configMapKeyRef.name"));
            }
        }
    }
    for volume in tree::items(pod, "spec.volumes") {
        config_map(tree::text(volume, "configMap.name"));
        for source in tree::items(volume, "projected.sources") {
            secret(tree::text(source, "secret.name"));
            config_map(tree::text(source, "configMap.name"));
        }
        for source in volume.as_object().into_iter().flatten().map(|(_, source)| source) {
            secret_references(source).for_each(|(_, name)| secret(name));
        }
    }
}

/// The secrets that a volume's source names for its node: namespace, if it says one, and name.
fn secret_references(source: &Value) -> impl Iterator<Item = (&str, &str)> {
    let whole = |reference: &'static str| {
        (source[reference]["namespace"].as_str().unwrap_or_default(), tree::text(&source[reference], "name"))
    };
    let named = (tree::text(source, "secretNamespace"), tree::text(source, "secretName"));
    let references = ["secretRef", "nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"].map(whole);
    references.into_iter().chain([named]).filter(|(_, name)| !name.is_empty())
}

/// What a PersistentVolume refers to, once it is bound.
pub fn of_volume(volume: &Value) -> Links {
    let mut links = Links::default();
    let claim = &volume["spec"]["claimRef"];
    let (namespace, name) = (tree::text(claim, "namespace"), tree::text(claim, "name"));
    if name.is_empty() {
        return links;
    }
    links.claims.push((namespace.to_owned(), name.to_owned()));
    for source in volume["spec"].as_object().into_iter().flatten().map(|(_, source)| source) {
        for (place, name) in secret_references(source) {
            let place = if place.is_empty() { namespace } else { place };
            links.secrets.push((place.to_owned(), name.to_owned()));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_refers_to_what_it_mounts_and_reads() {
        let pod = json!({"metadata": {"name": "p"}, "spec": {
            "serviceAccountName": "sa", "imagePullSecrets": [{"name": "pull"}],
            "containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "s1"}}}, {"valueFrom": {"configMapKeyRef": {"name": "c1"}}}, {"value": "x"}]}],
            "initContainers": [{"envFrom": [{"secretRef": {"name": "s2"}}, {"configMapRef": {"name": "c2"}}]}],
            "resourceClaims": [{"name": "a", "resourceClaimName": "rc"}],
            "volumes": [
                {"name": "v1", "secret": {"secretName": "s3"}}, {"name": "v2", "configMap": {"name": "c3"}},
                {"name": "v3", "projected": {"sources": [{"secret": {"name": "s4"}}, {"configMap": {"name": "c4"}}]}},
                {"name": "v4", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "s5"}}},
                {"name": "v5", "persistentVolumeClaim": {"claimName": "pvc"}}, {"name": "v6", "ephemeral": {}},
            ]}, "status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made"}]}});
        let links = of_pod(&pod);
        let secrets: Vec<_> = links.secrets.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(secrets, ["pull", "s2", "s1", "s3", "s4", "s5"]);
        assert_eq!(links.config_maps, ["c2", "c1", "c3", "c4"]);
        let claims: Vec<_> = links.claims.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(claims, ["pvc", "p-v6"]);
        assert_eq!((links.resource_claims, links.account.as_str()), (vec!["rc".to_owned(), "made".to_owned()], "sa"));
        let mut mirror = pod;
        mirror["metadata"]["annotations"][MIRROR] = "x".into();
        assert_eq!(of_pod(&mirror), Links::default());
    }

    #[test]
    fn a_bound_volume_refers_to_its_claim_and_the_secrets_of_nodes() {
        let mut volume = json!({"spec": {"claimRef": {"namespace": "ns", "name": "pvc"}, "csi": {
            "nodeStageSecretRef": {"name": "stage", "namespace": "far"}, "nodePublishSecretRef": {"name": "publish"},
            "controllerPublishSecretRef": {"name": "hidden", "namespace": "far"}}}});
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let links = of_volume(&volume);
        assert_eq!(links.claims, [pair("ns", "pvc")]);
        assert_eq!(links.secrets, [pair("ns", "publish"), pair("far", "stage")]);
        volume["spec"]["claimRef"] = Value::Null;
        assert_eq!(of_volume(&volume), Links::default());
    }

    #[test]
    fn what_a_mirror_pod_must_not_have() {
        for (spec, want) in [
            (json!({}), None),
            (json!({"volumes": [{"name": "a", "hostPath": {}}, {"name": "b", "emptyDir": {}}]}), None),
            (json!({"volumes": [{"name": "a", "projected": {"sources": [{"downwardAPI": {}}]}}]}), None),
            (json!({"serviceAccountName": "x"}), Some("serviceaccounts")),
            (json!({"containers": [{"envFrom": [{"secretRef": {"name": "s"}}]}]}), Some("secrets")),
            (json!({"containers": [{"envFrom": [{"configMapRef": {"name": "s"}}]}]}), Some("configmaps")),
            (json!({"resourceClaims": [{}]}), Some("resourceclaims")),
            (json!({"volumes": [{"name": "a", "csi": {"driver": "d"}}]}), Some("csidrivers (via CSI volumes)")),
            (
                json!({"volumes": [{"name": "a", "projected": {"sources": [{"clusterTrustBundle": {}}]}}]}),
                Some("clustertrustbundles"),
            ),
        ] {
            assert_eq!(first_reference(&json!({"spec": spec})), want, "{spec}");
        }
    }
}
