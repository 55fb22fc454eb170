//! The Node object: registered at start, its status written when it changes and every few minutes, and the Lease that
//! says that this node lives.

pub mod lease;
pub mod machine;
pub mod report;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use client::Change;
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ContainerImage, Node, NodeSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;
use tokio::sync::Notify;

use crate::config::{Config, Context};
use crate::pods::Pods;
use crate::runtime::Error as RuntimeError;
use cri::v1 as rt;

/// The status is written this often though nothing changed: others take it as a sign of life besides the Lease.
const STATUS_PERIOD: Duration = Duration::from_secs(300);
/// While the runtime or its network is not ready, it is asked again: often in the first seconds after the start, when
/// everything comes up, then seldom. Once ready it is not asked in between.
const FAST: (u32, Duration) = (200, Duration::from_millis(50));
const SLOW: Duration = Duration::from_secs(2);

/// Why the node cannot be registered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another machine has the name.
    #[error(
        "the name {name:?} belongs to another machine (machine id {theirs}, this one has {ours}): give this machine \
         another --node-name; or, if that machine is gone or was installed anew, run \"kubectl delete node {name}\""
    )]
    NameTaken {
        /// The node's name.
        name: String,
        /// Machine id in the Node object.
        theirs: String,
        /// Machine id here.
        ours: String,
    },
    /// The API said no.
    #[error("cannot register node {name:?}")]
    Api {
        /// The node's name.
        name: String,
        /// What it said.
        source: Box<kube::Error>,
    },
}

impl Error {
    /// Trying again would end the same way.
    pub fn is_final(&self) -> bool {
        match self {
            Error::NameTaken { .. } => true,
            Error::Api { source, .. } => matches!(&**source, kube::Error::Api(status) if status.code == 422),
        }
    }
}

/// The labels that every node has.
pub fn labels(config: &Config) -> BTreeMap<String, String> {
    let mut labels = config.labels.clone();
    let arch = machine::architecture();
    for (key, value) in [
        ("kubernetes.io/hostname", config.hostname.as_str()),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", arch),
        ("beta.kubernetes.io/os", "linux"),
        ("beta.kubernetes.io/arch", arch),
    ] {
        labels.insert(key.into(), value.into());
    }
    if config.control_plane {
        labels.insert("node-role.kubernetes.io/control-plane".into(), "true".into());
    }
    labels
}

/// Makes the Node object, or takes over the one that this machine made before.
pub async fn register(ctx: &Context) -> Result<Node, Error> {
    let config = &ctx.config;
    let name = config.node_name.clone();
    let failed = |source| Error::Api { name: name.clone(), source: Box::new(source) };
    let api: Api<Node> = Api::all(ctx.client.clone());
    let wanted = Node {
        metadata: ObjectMeta { name: Some(name.clone()), labels: Some(labels(config)), ..ObjectMeta::default() },
        spec: Some(NodeSpec { taints: Some(config.taints.clone()).filter(|t| !t.is_empty()), ..NodeSpec::default() }),
        status: Some(report::fixed(ctx, "")),
    };
    match api.create(&PostParams::default(), &wanted).await {
        Ok(node) => return Ok(node),
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        Err(error) => return Err(failed(error)),
    }
    let node = api.get(&name).await.map_err(failed)?;
    if let Some(theirs) = foreign(&node, &ctx.machine.machine_id) {
        return Err(Error::NameTaken { name, theirs, ours: ctx.machine.machine_id.clone() });
    }
    let have = node.metadata.labels.clone().unwrap_or_default();
    let missing: BTreeMap<_, _> =
        labels(config).into_iter().filter(|(key, value)| have.get(key) != Some(value)).collect();
    if missing.is_empty() {
        return Ok(node);
    }
    let patch = json!({"metadata": {"labels": missing}});
    api.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.map_err(failed)
}

/// The machine id of a Node that another machine made.
fn foreign(node: &Node, ours: &str) -> Option<String> {
    let theirs = &node.status.as_ref()?.node_info.as_ref()?.machine_id;
    (!theirs.is_empty() && !ours.is_empty() && theirs != ours).then(|| theirs.clone())
}

/// What the runtime says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuntimeHealth {
    /// What is not ready, as the Ready condition tells it; empty when all is.
    pub problems: Vec<String>,
    /// Name and version, such as `containerd://1.7.2`.
    pub version: String,
}

/// Reads the runtime's status.
pub fn health(status: Result<rt::StatusResponse, RuntimeError>, version: &str) -> RuntimeHealth {
    let mut problems = Vec::new();
    match status {
        Err(error) => problems.push(format!("container runtime is down: {error}")),
        Ok(status) => {
            let conditions = status.status.unwrap_or_default().conditions;
            for (kind, what) in [
                ("RuntimeReady", "container runtime not ready"),
                ("NetworkReady", "container runtime network not ready"),
            ] {
                match conditions.iter().find(|c| c.r#type == kind) {
                    Some(c) if c.status => {}
                    Some(c) => problems.push(format!("{what}: {kind}=false reason:{} message:{}", c.reason, c.message)),
                    None => problems.push(format!("{what}: {kind} is not reported")),
                }
            }
        }
    }
    RuntimeHealth { problems, version: version.into() }
}

/// Keeps the Node's status up to date until the end. `poke` asks for a look at once.
pub async fn keep(ctx: Arc<Context>, pods: Pods, poke: Arc<Notify>) {
    let api: Api<Node> = Api::all(ctx.client.clone());
    let mut tries = 0;
    let mut last: Written = None;
    let mut ready_before = false;
    loop {
        let version = report::runtime_version(&ctx).await;
        let request = rt::StatusRequest { verbose: false };
        let status = ctx.runtime.cri.runtime.clone().status(request).await;
        let health = health(status.map(tonic::Response::into_inner).map_err(RuntimeError::from), &version);
        let ready = health.problems.is_empty();
        if ready != ready_before {
            tries = 0;
            if ready {
                pods.network_is_ready();
            }
        }
        ready_before = ready;
        // Images may be many and are of interest to the scheduler only: they are told with the periodic report.
        let images = if ready { report::images(&ctx).await } else { Vec::new() };
        let written = write(&ctx, &api, &health, images, &mut last).await;
        if let Err(error) = &written {
            tracing::info!(error = client::runtime::describe(error), "node status not written, trying again");
            if matches!(error, kube::Error::Api(status) if status.code == 404)
                && let Err(error) = register(&ctx).await
            {
                tracing::info!(error = client::runtime::describe(&error), "node not registered again");
            }
        }
        let wait = match (ready && written.is_ok(), tries < FAST.0) {
            (true, _) => STATUS_PERIOD,
            (false, true) if written.is_ok() => FAST.1,
            (false, _) => SLOW,
        };
        tries += 1;
        tokio::select! {
            () = ctx.stop.cancelled() => return,
            () = poke.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Asks for a look when somebody deletes the Node, so that it is registered again at once.
pub async fn notice_deletion(ctx: Arc<Context>, poke: Arc<Notify>) {
    let mut changes = ctx.config.informers.get::<Node>().changes();
    while let Some(Some(change)) = ctx.stop.run_until_cancelled(changes.next()).await {
        let ours = match &change {
            Change::Deleted(node) => node.metadata.name.as_ref() == Some(&ctx.config.node_name),
            Change::Resync => true,
            Change::Applied { .. } => false,
        };
        if ours {
            poke.notify_one();
        }
    }
}

/// The health that the API was told last.
type Written = Option<RuntimeHealth>;

/// Writes the status if it says something new, or is due: while all is well, whenever this is called.
async fn write(
    ctx: &Context,
    api: &Api<Node>,
    health: &RuntimeHealth,
    images: Vec<ContainerImage>,
    last: &mut Written,
) -> Result<(), kube::Error> {
    if !health.problems.is_empty() && last.as_ref().is_some_and(|told| told == health) {
        return Ok(());
    }
    let node = api.get(&ctx.config.node_name).await?;
    let status = report::status(ctx, &node, health, images, jiff::Timestamp::now());
    let patch = json!({"status": status});
    api.patch_status(&ctx.config.node_name, &PatchParams::default(), &Patch::Strategic(patch)).await?;
    *last = Some(health.clone());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_under_our_name_is_noticed() {
        let node = |id: &str| -> Node {
            serde_json::from_value(json!({"metadata": {"name": "n"}, "status": {"nodeInfo": {
                "machineID": id, "architecture": "", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
                "kubeProxyVersion": "", "kubeletVersion": "", "operatingSystem": "", "osImage": "", "systemUUID": ""}}}))
            .unwrap()
        };
        let table = [("a", "a", None), ("a", "b", Some("a")), ("", "b", None), ("a", "", None)];
        for (theirs, ours, want) in table {
            assert_eq!(foreign(&node(theirs), ours).as_deref(), want, "{theirs} {ours}");
        }
        let error = Error::NameTaken { name: "n".into(), theirs: "a".into(), ours: "b".into() };
        assert!(error.to_string().contains("kubectl delete node n"));
    }

    #[test]
    fn the_runtime_is_healthy_when_its_network_is() {
        let condition = |kind: &str, status| rt::RuntimeCondition {
            r#type: kind.into(),
            status,
            reason: "R".into(),
            message: "m".into(),
        };
        let answer = |network| {
            let conditions = vec![condition("RuntimeReady", true), condition("NetworkReady", network)];
            Ok(rt::StatusResponse { status: Some(rt::RuntimeStatus { conditions }), ..rt::StatusResponse::default() })
        };
        assert!(health(answer(true), "v").problems.is_empty());
        let want = "container runtime network not ready: NetworkReady=false reason:R message:m";
        assert_eq!(health(answer(false), "v").problems, [want]);
        let down = RuntimeError { message: "gone".into(), not_found: false, timed_out: false };
        assert_eq!(health(Err(down), "v").problems, ["container runtime is down: gone"]);
    }
}
