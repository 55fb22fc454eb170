//! What nodes may write, beyond what the node authorizer sees in the URL.

use std::collections::BTreeSet;

use api::{Status, Value, meta, tree};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls_pki_types::{CertificateSigningRequestDer, pem::PemObject as _};
use x509_parser::prelude::{FromDer as _, X509CertificationRequest};

use super::{Attributes, Operation, Plugin};
use crate::auth::{
    Question,
    node::{self, LEASES},
    node_links::{MIRROR, first_reference},
};

/// Upstream's NodeRestriction.
pub struct NodeRestriction {
    /// The node of this process: it may carry the label of control planes.
    pub own_node: String,
}

const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// Labels of the project's own domains that a kubelet may set.
const LABELS: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];

#[async_trait::async_trait]
impl Plugin for NodeRestriction {
    fn name(&self) -> &'static str {
        "NodeRestriction"
    }

    async fn validate(&self, attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
        let call = attributes.call;
        let Some(node) = node::name(&call.user) else { return Ok(()) };
        let refuse = |why: String| attributes.forbidden(object, &why);
        if node.is_empty() {
            return Err(refuse(format!("could not determine node from user {:?}", call.user.name)));
        }
        let checked = match (&*call.kind.group, &*call.kind.plural) {
            ("", "pods") => pod(attributes, node, object).await?,
            ("", "nodes") => self.node(attributes, node, object),
            ("", "persistentvolumeclaims") => claim(attributes, node, object),
            ("", "serviceaccounts") => account(attributes, node, object).await?,
            ("coordination.k8s.io", "leases") => lease(attributes, node, object),
            ("storage.k8s.io", "csinodes") if meta::name(object) != node => {
                Err("can only access CSINode with the same name as the requesting node".to_owned())
            }
            ("resource.k8s.io", "resourceslices") => slice(attributes, node, object),
            ("certificates.k8s.io", "certificatesigningrequests") => signing_request(attributes, node, object),
            ("certificates.k8s.io", "podcertificaterequests") => pod_certificate(attributes, node, object).await?,
            _ => Ok(()),
        };
        checked.map_err(refuse)
    }
}

type Checked = Result<(), String>;

fn shown(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "CREATE",
        Operation::Update => "UPDATE",
        Operation::Delete => "DELETE",
        Operation::Connect => "CONNECT",
    }
}

/// An object that a check looks at, in its stored form.
async fn look_up(attributes: &Attributes<'_>, resource: &str, name: &str) -> Result<Value, Status> {
    let call = attributes.call;
    let kind = call.kinds.by_resource("", "v1", resource).ok_or_else(Status::no_such_path)?;
    let namespace = if kind.namespaced { call.info.namespace.as_str() } else { "" };
    let found = call.server.read(kind, namespace, name).await?;
    Ok(found.ok_or_else(|| Status::not_found("", resource, name))?.tree()?)
}

async fn pod(attributes: &Attributes<'_>, node: &str, object: &Value) -> Result<Checked, Status> {
    let bound = |pod: &Value| tree::text(pod, "spec.nodeName") == node;
    Ok(match (attributes.subresource, attributes.operation) {
        ("", Operation::Create) => {
            let checked = mirror_pod(node, object);
            if checked.is_err() {
                return Ok(checked);
            }
            let uid = meta::text(&look_up(attributes, "nodes", node).await?, "uid").to_owned();
            let owner = tree::text(&object["metadata"]["ownerReferences"][0], "uid");
            if owner == uid { Ok(()) } else { Err(format!("node {node} UID mismatch: expected {owner} got {uid}")) }
        }
        ("", Operation::Delete) if bound(object) => Ok(()),
        ("", Operation::Delete) => Err(format!("node {node:?} can only delete pods with spec.nodeName set to itself")),
        ("", other) => Err(format!(
            "unexpected operation {:?}, node {node:?} can only create and delete mirror pods",
            shown(other)
        )),
        ("status", Operation::Update) => pod_status(node, attributes.old.unwrap_or(&Value::Null), object),
        ("eviction", Operation::Create) => {
            let pod = look_up(attributes, "pods", &attributes.call.info.name).await?;
            if bound(&pod) {
                Ok(())
            } else {
                Err(format!("node {node} can only evict pods with spec.nodeName set to itself"))
            }
        }
        ("status" | "eviction", other) => Err(format!("unexpected operation {:?}", shown(other))),
        (other, _) => Err(format!("unexpected pod subresource {other:?}, only 'status' and 'eviction' are allowed")),
    })
}

fn mirror_pod(node: &str, pod: &Value) -> Checked {
    if pod["metadata"]["annotations"][MIRROR].is_null() {
        return Err(format!("pod does not have {MIRROR:?} annotation, node {node:?} can only create mirror pods"));
    }
    if tree::text(pod, "spec.nodeName") != node {
        return Err(format!("node {node:?} can only create pods with spec.nodeName set to itself"));
    }
    let owner = match tree::items(pod, "metadata.ownerReferences") {
        [] => return Err(format!("node {node:?} can only create pods with an owner reference set to itself")),
        [owner] => owner,
        _ => return Err(format!("node {node:?} can only create pods with a single owner reference set to itself")),
    };
    if owner["apiVersion"] != "v1" || owner["kind"] != "Node" || owner["name"] != node {
        return Err(format!("node {node:?} can only create pods with an owner reference set to itself"));
    }
    if owner["controller"] != true {
        return Err(format!("node {node:?} can only create pods with a controller owner reference set to itself"));
    }
    if owner["blockOwnerDeletion"] == true {
        return Err(format!("node {node:?} must not set blockOwnerDeletion on an owner reference"));
    }
    match first_reference(pod) {
        Some(what) => Err(format!("node {node:?} can not create pods that reference {what}")),
        None => Ok(()),
    }
}

/// Fields of a pod's status that say which claims it has: not for nodes to change.
const CLAIM_STATUSES: [(&str, &str); 3] = [
    ("resourceClaimStatuses", "resource claim statues"),
    ("extendedResourceClaimStatus", "extended resource claim status"),
    ("nodeAllocatableResourceClaimStatuses", "node allocatable resource claim statuses"),
];

fn pod_status(node: &str, old: &Value, new: &Value) -> Checked {
    if tree::text(old, "spec.nodeName") != node {
        return Err(format!("node {node:?} can only update pod status for pods with spec.nodeName set to itself"));
    }
    if changed_labels(old, new).next().is_some() {
        return Err(format!("node {node:?} cannot update labels through pod status"));
    }
    match CLAIM_STATUSES.iter().find(|(field, _)| old["status"][*field] != new["status"][*field]) {
        Some((_, what)) => Err(format!("node {node:?} cannot update {what}")),
        None => Ok(()),
    }
}

/// Keys of labels in which two objects differ.
fn changed_labels<'a>(old: &'a Value, new: &'a Value) -> impl Iterator<Item = &'a str> {
    let labels = |object: &'a Value| object["metadata"]["labels"].as_object().into_iter().flatten();
    let keys: BTreeSet<&str> = labels(old).chain(labels(new)).map(|(key, _)| key.as_str()).collect();
    keys.into_iter().filter(|key| old["metadata"]["labels"][*key] != new["metadata"]["labels"][*key])
}

/// Whether a node may not set a label.
fn is_forbidden(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else { return false };
    let within = |parent: &str| domain == parent || domain.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'));
    if within("node-restriction.kubernetes.io") {
        return true;
    }
    let ours = within("kubernetes.io") || within("k8s.io");
    ours && !LABELS.contains(&key) && !within("kubelet.kubernetes.io") && !within("node.kubernetes.io")
}

impl NodeRestriction {
    fn node(&self, attributes: &Attributes<'_>, node: &str, object: &Value) -> Checked {
        let name = meta::name(object);
        if name != node {
            return Err(format!("node {node:?} is not allowed to modify node {name:?}"));
        }
        let old = attributes.old.filter(|_| attributes.operation == Operation::Update).unwrap_or(&Value::Null);
        if attributes.operation == Operation::Delete {
            return Ok(());
        }
        let creates = attributes.operation == Operation::Create;
        if creates && !object["spec"]["configSource"].is_null() {
            return Err(format!("node {node:?} is not allowed to create pods with a non-nil configSource"));
        }
        if !creates
            && !object["spec"]["configSource"].is_null()
            && object["spec"]["configSource"] != old["spec"]["configSource"]
        {
            return Err(format!("node {node:?} is not allowed to update configSource to a new non-nil configSource"));
        }
        if !creates && tree::items(object, "spec.taints") != tree::items(old, "spec.taints") {
            return Err(format!("node {node:?} is not allowed to modify taints"));
        }
        if !creates && tree::items(object, "metadata.ownerReferences") != tree::items(old, "metadata.ownerReferences") {
            return Err(format!("node {node:?} is not allowed to modify ownerReferences"));
        }
        let own = node == self.own_node;
        let forbidden: Vec<&str> =
            changed_labels(old, object).filter(|key| is_forbidden(key) && !(own && *key == CONTROL_PLANE)).collect();
        match (forbidden.is_empty(), creates) {
            (true, _) => Ok(()),
            (false, true) => {
                Err(format!("node {node:?} is not allowed to set the following labels: {}", forbidden.join(", ")))
            }
            (false, false) => Err(format!("is not allowed to modify labels: {}", forbidden.join(", "))),
        }
    }
}

/// What a node may write of a claim's status.
const CLAIM_FIELDS: [&str; 4] = ["capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"];

fn claim(attributes: &Attributes<'_>, node: &str, object: &Value) -> Checked {
    if attributes.subresource != "status" {
        return Err("may only update PVC status".to_owned());
    }
    let Some(old) = attributes.old.filter(|_| attributes.operation == Operation::Update) else {
        return Err(format!("unexpected operation {:?}", shown(attributes.operation)));
    };
    let rest = |claim: &Value| {
        let mut claim = claim.clone();
        let remove = |object: &mut Value, fields: &[&str]| {
            if let Some(object) = object.as_object_mut() {
                fields.iter().for_each(|field| drop(object.remove(*field)));
            }
        };
        remove(&mut claim["metadata"], &["resourceVersion", "managedFields"]);
        remove(&mut claim["status"], &CLAIM_FIELDS);
        claim
    };
    if rest(old) == rest(object) {
        return Ok(());
    }
    Err(format!("node {node:?} is not allowed to update fields other than status.quantity and status.conditions"))
}

/// A token is for a pod of the node, and for an audience that the pod names.
async fn account(attributes: &Attributes<'_>, node: &str, request: &Value) -> Result<Checked, Status> {
    if attributes.operation != Operation::Create || attributes.subresource != "token" {
        return Ok(Ok(()));
    }
    let bound = &request["spec"]["boundObjectRef"];
    if bound["apiVersion"] != "v1" || bound["kind"] != "Pod" || tree::text(bound, "name").is_empty() {
        return Ok(Err("node requested token not bound to a pod".to_owned()));
    }
    let uid = tree::text(bound, "uid");
    if uid.is_empty() {
        return Ok(Err("node requested token with a pod binding without a uid".to_owned()));
    }
    let pod = look_up(attributes, "pods", tree::text(bound, "name")).await?;
    if meta::text(&pod, "uid") != uid {
        return Ok(Err(format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
        )));
    }
    if tree::text(&pod, "spec.nodeName") != node {
        return Ok(Err("node requested token bound to a pod scheduled on a different node".to_owned()));
    }
    let audience = match tree::items(request, "spec.audiences") {
        [] => "",
        [one] => one.as_str().unwrap_or_default(),
        _ => return Ok(Err("node may only request 0 or 1 audiences".to_owned())),
    };
    if names_audience(&pod, audience) {
        return Ok(Ok(()));
    }
    let account = &attributes.call.info.name;
    if driver_names_audience(attributes, &pod, audience).await?
        || may(attributes, "request-serviceaccounts-token-audience", audience, account).await?
    {
        return Ok(Ok(()));
    }
    let user = &attributes.call.user.name;
    Ok(Err(format!("{user} is not authorized to request tokens for audience {audience:?}")))
}

fn names_audience(pod: &Value, audience: &str) -> bool {
    let volumes = tree::items(pod, "spec.volumes").iter();
    let mut tokens = volumes
        .flat_map(|volume| tree::items(volume, "projected.sources"))
        .map(|source| &source["serviceAccountToken"])
        .filter(|token| token.is_object());
    tokens.any(|token| tree::text(token, "audience") == audience)
}

/// Whether the CSI driver of one of the pod's volumes asks for tokens of the audience.
async fn driver_names_audience(attributes: &Attributes<'_>, pod: &Value, audience: &str) -> Result<bool, Status> {
    let call = attributes.call;
    for volume in tree::items(pod, "spec.volumes") {
        let mut driver = tree::text(volume, "csi.driver").to_owned();
        let claim = match tree::text(volume, "persistentVolumeClaim.claimName") {
            "" if volume["ephemeral"].is_object() => format!("{}-{}", meta::name(pod), tree::text(volume, "name")),
            claim => claim.to_owned(),
        };
        if !claim.is_empty() {
            let claim = look_up(attributes, "persistentvolumeclaims", &claim).await?;
            let name = tree::text(&claim, "spec.volumeName").to_owned();
            if name.is_empty() {
                continue;
            }
            driver = tree::text(&look_up(attributes, "persistentvolumes", &name).await?, "spec.csi.driver").to_owned();
        }
        if driver.is_empty() {
            continue;
        }
        let Some(kind) = call.kinds.by_resource("storage.k8s.io", "v1", "csidrivers") else { return Ok(false) };
        let Some(found) = call.server.read(kind, "", &driver).await? else { continue };
        let tree = found.tree()?;
        if tree::items(&tree, "spec.tokenRequests").iter().any(|request| tree::text(request, "audience") == audience) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the node was given a right by name.
async fn may(attributes: &Attributes<'_>, verb: &str, resource: &str, name: &str) -> Result<bool, Status> {
    let call = attributes.call;
    let question = Question {
        verb: verb.to_owned(),
        group: call.kind.group.to_string(),
        resource: resource.to_owned(),
        namespace: call.info.namespace.clone(),
        name: name.to_owned(),
        ..Question::default()
    };
    call.server.authorizer.allows(&call.kinds, &call.user, &question).await
}

fn lease(attributes: &Attributes<'_>, node: &str, object: &Value) -> Checked {
    if attributes.call.namespace() != LEASES {
        return Err(format!("can only access leases in the {LEASES:?} system namespace"));
    }
    if meta::name(object) != node {
        return Err("can only access node lease with the same name as the requesting node".to_owned());
    }
    Ok(())
}

fn slice(attributes: &Attributes<'_>, node: &str, object: &Value) -> Checked {
    let names = |slice: &Value| tree::text(slice, "spec.nodeName") == node;
    match attributes.operation {
        Operation::Create if !names(object) => {
            Err("can only create ResourceSlice with the same NodeName as the requesting node".to_owned())
        }
        Operation::Update if attributes.old.is_some_and(|old| !names(old)) || !names(object) => {
            Err("can only update ResourceSlice with the same NodeName as the requesting node".to_owned())
        }
        Operation::Delete if !names(object) => {
            Err("can only delete ResourceSlice with the same NodeName as the requesting node".to_owned())
        }
        _ => Ok(()),
    }
}

const SIGNERS: [&str; 2] = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

/// A node asks for certificates of kubelets in its own name only.
fn signing_request(attributes: &Attributes<'_>, node: &str, object: &Value) -> Checked {
    let signer = tree::text(object, "spec.signerName");
    if attributes.operation != Operation::Create || !attributes.subresource.is_empty() || !SIGNERS.contains(&signer) {
        return Ok(());
    }
    let pem = STANDARD.decode(tree::text(object, "spec.request")).map_err(|_| "unable to parse csr".to_owned())?;
    let der =
        CertificateSigningRequestDer::from_pem_slice(&pem).map_err(|error| format!("unable to parse csr: {error}"))?;
    let (_, request) =
        X509CertificationRequest::from_der(&der).map_err(|error| format!("unable to parse csr: {error}"))?;
    let subject = &request.certification_request_info.subject;
    let name = subject.iter_common_name().next().and_then(|name| name.as_str().ok()).unwrap_or_default();
    if name != format!("system:node:{node}") {
        return Err(format!("can only create a node CSR with CN=system:node:{node}"));
    }
    Ok(())
}

/// A certificate is for a pod of the node, as it runs.
async fn pod_certificate(attributes: &Attributes<'_>, node: &str, request: &Value) -> Result<Checked, Status> {
    if attributes.operation != Operation::Create {
        return Ok(Err(format!("unexpected operation {}", shown(attributes.operation))));
    }
    let text = |field: &str| tree::text(&request["spec"], field);
    let pod_name = format!("{}/{}", attributes.call.info.namespace, text("podName"));
    if text("nodeName") != node {
        return Ok(Err(format!(
            "PodCertificateRequest.Spec.NodeName={:?}, which is not the requesting node {node:?}",
            text("nodeName")
        )));
    }
    let uid_of = |object: &Value| meta::text(object, "uid").to_owned();
    let node_uid = uid_of(&look_up(attributes, "nodes", node).await?);
    if node_uid != text("nodeUID") {
        return Ok(Err(format!(
            "PodCertificateRequest for pod {pod_name:?} names node UID {:?}, inconsistent with the running node ({node_uid:?})",
            text("nodeUID")
        )));
    }
    let pod = look_up(attributes, "pods", text("podName")).await?;
    if uid_of(&pod) != text("podUID") {
        return Ok(Err(format!(
            "PodCertificateRequest for pod {pod_name:?} contains pod UID ({:?}) which differs from running pod {:?}",
            text("podUID"),
            uid_of(&pod)
        )));
    }
    if tree::text(&pod, "spec.nodeName") != node {
        return Ok(Err(format!("pod {pod_name:?} is not running on node {node:?} named in the PodCertificateRequest")));
    }
    if !pod["metadata"]["annotations"][MIRROR].is_null() {
        return Ok(Err(format!("pod {pod_name:?} is a mirror pod")));
    }
    let account = tree::text(&pod, "spec.serviceAccountName");
    if account != text("serviceAccountName") {
        return Ok(Err(format!(
            "PodCertificateRequest for pod {pod_name:?} contains serviceAccountName ({:?}) that differs from running pod ({account:?})",
            text("serviceAccountName")
        )));
    }
    let account_uid = uid_of(&look_up(attributes, "serviceaccounts", account).await?);
    if account_uid != text("serviceAccountUID") {
        return Ok(Err(format!(
            "PodCertificateRequest for pod {pod_name:?} names service account UID {:?}, which differs from the running service account ({account_uid:?})",
            text("serviceAccountUID")
        )));
    }
    let signer = text("signerName");
    let volumes = tree::items(&pod, "spec.volumes").iter().flat_map(|volume| tree::items(volume, "projected.sources"));
    let mounted = volumes.map(|s| tree::text(s, "podCertificate.signerName")).any(|name| name == signer);
    let munged = signer.replace('/', ":");
    if mounted || may(attributes, "request-serviceaccounts-podcertificate-signer", &munged, account).await? {
        return Ok(Ok(()));
    }
    Ok(Err(format!("pod {pod_name:?} does not mount a podCertificate projected volume for signer {signer:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn labels_that_nodes_may_set() {
        for (label, want) in [
            ("app", false),
            ("example.com/x", false),
            ("kubernetes.io/hostname", false),
            ("kubernetes.io/other", true),
            ("node-role.kubernetes.io/control-plane", true),
            ("node.kubernetes.io/anything", false),
            ("x.kubelet.kubernetes.io/anything", false),
            ("node-restriction.kubernetes.io/x", true),
            ("sub.node-restriction.kubernetes.io/x", true),
            ("x.k8s.io/y", true),
            ("notkubernetes.io/x", false),
        ] {
            assert_eq!(is_forbidden(label), want, "{label}");
        }
    }

    #[test]
    fn only_own_mirror_pods() {
        let pod = json!({"metadata": {"annotations": {MIRROR: "x"}, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "n", "controller": true}]}, "spec": {"nodeName": "n"}});
        assert_eq!(mirror_pod("n", &pod), Ok(()));
        let with = |path: &str, value: Value| {
            let mut pod = pod.clone();
            *pod.pointer_mut(path).unwrap() = value;
            mirror_pod("n", &pod).unwrap_err()
        };
        assert!(with("/metadata/annotations", json!({})).contains("can only create mirror pods"));
        assert!(with("/spec/nodeName", json!("m")).contains("spec.nodeName set to itself"));
        assert!(with("/metadata/ownerReferences", json!([])).contains("an owner reference set to itself"));
        assert!(with("/metadata/ownerReferences", json!([{}, {}])).contains("a single owner reference"));
        assert!(with("/metadata/ownerReferences/0/controller", json!(false)).contains("a controller owner reference"));
        assert!(
            with("/spec", json!({"nodeName": "n", "serviceAccountName": "x"})).ends_with("reference serviceaccounts")
        );
    }

    #[test]
    fn the_status_of_own_pods_without_labels() {
        let old = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"nodeName": "n"}});
        let mut new = old.clone();
        new["status"]["phase"] = "Running".into();
        assert_eq!(pod_status("n", &old, &new), Ok(()));
        assert!(pod_status("m", &old, &new).is_err());
        let mut claims = new.clone();
        claims["status"]["resourceClaimStatuses"] = json!([{"name": "x"}]);
        assert!(pod_status("n", &old, &claims).unwrap_err().ends_with("resource claim statues"));
        new["metadata"]["labels"]["c"] = "d".into();
        assert!(pod_status("n", &old, &new).unwrap_err().contains("labels"));
    }
}
