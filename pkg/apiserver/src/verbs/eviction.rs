//! Eviction: a deletion of a pod that its PodDisruptionBudget must allow.
//!
//! # Guarantees
//! - A budget is spent by a compare-and-swap of its status, which also notes the pod there; only then
//!   is the pod deleted. Two evictions never share one allowed disruption.
//! - [`decide`] is pure.

use api::{Kind, Status, Value, meta, selector::Labels, tree};
use serde_json::json;
use store::KeyRange;

use super::{
    create::stored_form,
    delete::{self, DeleteOptions},
    read, update,
};
use crate::{
    admission,
    cache::Wanted,
    call::Call,
    keys,
    reply::{Reply, served},
};

/// Tries to be faster than others.
const TRIES: usize = 20;
/// Pods that a budget notes as going.
const DISRUPTED: usize = 2000;
const CAUSE: &str = "DisruptionBudget";
const VIOLATES: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

/// What an eviction does.
#[derive(Clone, Debug, PartialEq)]
enum Plan {
    /// The pod goes; if it must be as it was when this was decided.
    Delete { unchanged: bool },
    /// The budget is written so first; then the pod goes.
    Spend(Box<Value>),
}

/// Decides over an eviction of a pod with the budgets that select it.
fn decide(pod: &Value, budgets: &[Value], now: &str) -> Result<Plan, Status> {
    let going = update::is_going(pod);
    match tree::text(pod, "status.phase") {
        _ if going => return Ok(Plan::Delete { unchanged: false }),
        "Succeeded" | "Failed" => return Ok(Plan::Delete { unchanged: false }),
        // It may become ready, and count, before it is deleted.
        "Pending" => return Ok(Plan::Delete { unchanged: true }),
        _ => {}
    }
    let budget = match budgets {
        [] => return Ok(Plan::Delete { unchanged: false }),
        [budget] => budget,
        _ => {
            let why =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Status { code: 500, reason: "", message: why.to_owned(), details: Value::Null });
        }
    };
    if !is_ready(pod) {
        let (healthy, desired) =
            (tree::int(budget, "status.currentHealthy"), tree::int(budget, "status.desiredHealthy"));
        let always = tree::text(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow";
        if always || (healthy >= desired && desired > 0) {
            return Ok(Plan::Delete { unchanged: true });
        }
    }
    spend(budget, meta::name(pod), now).map(|budget| Plan::Spend(Box::new(budget)))
}

fn is_ready(pod: &Value) -> bool {
    tree::items(pod, "status.conditions").iter().any(|c| c["type"] == "Ready" && c["status"] == "True")
}

/// The budget with one disruption less, and the pod noted.
fn spend(budget: &Value, pod: &str, now: &str) -> Result<Value, Status> {
    let name = meta::name(budget);
    if tree::int(budget, "status.observedGeneration") < tree::int(budget, "metadata.generation") {
        return Err(too_many(10, format!("The disruption budget {name} is still being processed by the server.")));
    }
    let forbidden = |why: &str, cause: &str| {
        let mut status = Status::forbidden("policy", "poddisruptionbudget", name, why);
        let message = format!("The disruption budget {name} does not allow evicting pods currently: {cause}");
        status.details["causes"] = json!([{"reason": CAUSE, "message": message}]);
        Err(status)
    };
    let allowed = tree::int(budget, "status.disruptionsAllowed");
    if allowed < 0 {
        return forbidden("pdb disruptions allowed is negative", "pdb disruptions allowed is negative");
    }
    if budget["status"]["disruptedPods"].as_object().is_some_and(|pods| pods.len() > DISRUPTED) {
        return forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            "too many pending evictions not confirmed by PDB controller",
        );
    }
    if allowed == 0 {
        return Err(too_many(0, refusal(budget)));
    }
    let mut budget = budget.clone();
    budget["status"]["disruptionsAllowed"] = (allowed - 1).into();
    budget["status"]["disruptedPods"][pod] = now.into();
    if allowed == 1 {
        let condition = json!({
            "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
            "observedGeneration": budget["status"]["observedGeneration"], "lastTransitionTime": now,
        });
        match budget["status"]["conditions"].as_array_mut() {
            Some(conditions) => match conditions.iter_mut().find(|c| c["type"] == "DisruptionAllowed") {
                Some(had) => *had = condition,
                None => conditions.push(condition),
            },
            None => budget["status"]["conditions"] = json!([condition]),
        }
    }
    Ok(budget)
}

/// Why a budget allows nothing.
fn refusal(budget: &Value) -> String {
    let name = meta::name(budget);
    let conditions = tree::items(budget, "status.conditions");
    let condition = conditions.iter().find(|c| c["type"] == "DisruptionAllowed" && c["status"] == "False");
    let said = condition.map(|c| (tree::text(c, "reason"), tree::text(c, "message"))).filter(|(_, m)| !m.is_empty());
    let (healthy, desired) = (tree::int(budget, "status.currentHealthy"), tree::int(budget, "status.desiredHealthy"));
    match said {
        Some(("SyncFailed", message)) => {
            format!(
                "The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}"
            )
        }
        _ if healthy <= desired => {
            format!("The disruption budget {name} needs {desired} healthy pods and has {healthy} currently")
        }
        Some((reason, message)) => {
            format!("The disruption budget {name} does not allow evicting pods currently ({reason}): {message}")
        }
        None => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}

fn too_many(seconds: u64, cause: String) -> Status {
    let mut status = Status::too_many_requests(VIOLATES);
    status.details = json!({"causes": [{"reason": CAUSE, "message": cause}]});
    if seconds > 0 {
        status.details["retryAfterSeconds"] = seconds.into();
    }
    status
}

/// Answers a create of `pods/eviction`.
pub async fn evict(call: &Call) -> Result<Reply, Status> {
    if call.info.verb != "create" {
        return Err(Status::method_not_allowed());
    }
    let validation = call.write_options(false)?.validation;
    let mut eviction = call.object_of("policy", &["v1", "v1beta1"], "Eviction", validation)?;
    if meta::name(&eviction) != call.info.name {
        return Err(Status::bad_request("name in URL does not match name in Eviction object"));
    }
    admission::created(call, "eviction", &mut eviction).await?;
    let mut options = DeleteOptions::from_tree(&eviction["deleteOptions"])?;
    options.dry_run |= DeleteOptions::dry_run_of(call)?;
    for _ in 0..TRIES {
        match try_to(call, &options).await {
            Err((step, status)) if again(step, &status, &options) => {}
            Err((_, status)) => return Err(status),
            Ok(()) => {
                let done =
                    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
                return Ok(Reply::Tree(201, done));
            }
        }
    }
    Err(Status::timeout("couldn't update PodDisruptionBudget due to conflicts"))
}

/// Where an eviction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Before anything was written.
    Decide,
    /// At the budget, which is as it was.
    Budget,
    /// At the pod, which must be as it was when this was decided. No budget is spent.
    Unchanged,
    /// At the pod. A budget may be spent.
    Delete,
}

/// Whether to decide anew: nothing was done yet, and it was not the client's own condition that failed.
fn again(step: Step, status: &Status, options: &DeleteOptions) -> bool {
    let open = match step {
        Step::Budget => true,
        Step::Unchanged => options.resource_version.is_none(),
        Step::Decide | Step::Delete => false,
    };
    open && status.code == 409
}

/// Evicts the pod as it is now.
async fn try_to(call: &Call, options: &DeleteOptions) -> Result<(), (Step, Status)> {
    let at = |step: Step| move |status: Status| (step, status);
    let pod = read::current(call).await.and_then(|stored| served(&call.kind, &stored)).map_err(at(Step::Decide))?;
    delete::check_preconditions(&call.kind, &pod, options).map_err(at(Step::Decide))?;
    let plan = match budgets(call, &pod).await.map_err(at(Step::Decide))? {
        None => Plan::Delete { unchanged: false },
        Some((kind, budgets)) => match decide(&pod, &budgets, &call.timestamp()).map_err(at(Step::Decide))? {
            Plan::Spend(budget) if !options.dry_run => {
                write(call, &kind, &budget).await.map_err(at(Step::Budget))?;
                Plan::Delete { unchanged: false }
            }
            plan => plan,
        },
    };
    let mut options = options.clone();
    let mut step = Step::Delete;
    if plan == (Plan::Delete { unchanged: true }) {
        step = Step::Unchanged;
        options.resource_version.get_or_insert_with(|| meta::text(&pod, "resourceVersion").to_owned());
    }
    let done = remove(call, pod, options).await;
    done.map_err(at(step))
}

/// Deletes the pod, with a note why.
async fn remove(call: &Call, mut pod: Value, mut options: DeleteOptions) -> Result<(), Status> {
    if options.dry_run {
        return delete::one(call, &call.info.name, &options).await.map(drop);
    }
    // The budget is spent: others who write the pod do not stop this, unless it must be unchanged.
    for _ in 0..TRIES {
        match mark(call, &pod, &options).await {
            Ok(version) if options.resource_version.is_some() => {
                options.resource_version = Some(version);
                break;
            }
            Ok(_) => break,
            Err(status) if status.code == 409 && options.resource_version.is_none() => {
                pod = served(&call.kind, &read::current(call).await?)?;
            }
            Err(status) => return Err(status),
        }
    }
    delete::one(call, &call.info.name, &options).await.map(drop)
}

/// The budgets that select a pod, and their kind.
async fn budgets(call: &Call, pod: &Value) -> Result<Option<(std::sync::Arc<Kind>, Vec<Value>)>, Status> {
    let Some(kind) = call.kinds.by_resource("policy", "v1", "poddisruptionbudgets") else { return Ok(None) };
    call.server.caches.at_head().await?;
    let cache = call.server.caches.of(kind).await?;
    let page = cache.list(&KeyRange::prefix(keys::scope(kind, call.namespace())), |_| Wanted::Yes);
    let mut found = Vec::new();
    for object in &page.objects {
        let budget = object.stored.tree()?;
        // A budget with a selector that cannot be read selects nothing.
        if Labels::from_label_selector(&budget["spec"]["selector"]).is_ok_and(|labels| labels.matches(pod)) {
            found.push(budget);
        }
    }
    Ok(Some((kind.clone(), found)))
}

/// Writes an object if it still is as it was read.
async fn write(call: &Call, kind: &Kind, object: &Value) -> Result<String, Status> {
    let (name, version) = (meta::name(object), meta::text(object, "resourceVersion"));
    let expected = version.parse().map_err(Status::internal)?;
    let written = call.server.write(kind, object, expected).await?;
    let conflict = || Status::conflict(&kind.group, &kind.plural, name, "the object has been modified");
    Ok(written.ok_or_else(conflict)?.revision.to_string())
}

/// Notes on the pod why it goes; answers with its new resource version.
async fn mark(call: &Call, pod: &Value, options: &DeleteOptions) -> Result<String, Status> {
    delete::check_preconditions(&call.kind, pod, options)?;
    let condition = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastProbeTime": null, "lastTransitionTime": call.timestamp(),
    });
    let mut pod = pod.clone();
    if !pod["status"]["conditions"].is_array() {
        pod["status"]["conditions"] = json!([]);
    }
    if let Some(conditions) = pod["status"]["conditions"].as_array_mut() {
        match conditions.iter_mut().find(|c| c["type"] == "DisruptionTarget") {
            Some(had) if had["reason"] == condition["reason"] => {
                return Ok(meta::text(&pod, "resourceVersion").to_owned());
            }
            Some(had) => *had = condition,
            None => conditions.push(condition),
        }
    }
    write(call, &call.kind, &stored_form(call, pod)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(phase: &str, ready: &str) -> Value {
        json!({"metadata": {"name": "p"}, "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}})
    }

    fn budget(status: Value) -> Value {
        json!({"metadata": {"name": "b", "generation": 2}, "spec": {}, "status": status})
    }

    #[test]
    fn a_budget_was_spent_again_when_the_deletion_met_a_conflict() {
        let conflict = || Status::conflict("", "pods", "p", "changed");
        let (free, own) = (
            DeleteOptions::default(),
            DeleteOptions { resource_version: Some("7".to_owned()), ..DeleteOptions::default() },
        );
        for (step, options, want) in [
            (Step::Decide, &free, false),
            (Step::Budget, &free, true),
            (Step::Budget, &own, true),
            (Step::Unchanged, &free, true),
            (Step::Unchanged, &own, false),
            (Step::Delete, &free, false),
            (Step::Delete, &own, false),
        ] {
            assert_eq!(again(step, &conflict(), options), want, "{step:?} {options:?}");
            assert!(!again(step, &Status::too_many_requests("no"), options), "{step:?}");
        }
    }

    #[test]
    fn budgets_decide() {
        let ok = json!({"observedGeneration": 2, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2});
        let none = json!({"observedGeneration": 2, "disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2});
        let (kept, free) = (Plan::Delete { unchanged: true }, Plan::Delete { unchanged: false });
        let run = |pod: &Value, budgets: &[Value]| decide(pod, budgets, "t").map_err(|status| (status.code, status));
        assert_eq!(run(&pod("Running", "True"), &[]).unwrap(), free);
        assert_eq!(run(&pod("Pending", "False"), &[budget(none.clone())]).unwrap(), kept);
        assert_eq!(run(&pod("Failed", "False"), &[budget(none.clone())]).unwrap(), free);
        // Not ready: free if the budget is healthy, or says so.
        assert_eq!(run(&pod("Running", "False"), &[budget(none.clone())]).unwrap(), kept);
        let sick = json!({"observedGeneration": 2, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 2});
        let mut always = budget(sick.clone());
        assert_eq!(run(&pod("Running", "False"), &[always.clone()]).unwrap_err().0, 429);
        always["spec"]["unhealthyPodEvictionPolicy"] = "AlwaysAllow".into();
        assert_eq!(run(&pod("Running", "False"), &[always]).unwrap(), kept);
        let Plan::Spend(spent) = run(&pod("Running", "True"), &[budget(ok.clone())]).unwrap() else {
            panic!("it is spent")
        };
        assert_eq!(spent["status"]["disruptionsAllowed"], 0);
        assert_eq!(spent["status"]["disruptedPods"], json!({"p": "t"}));
        assert_eq!(spent["status"]["conditions"][0]["reason"], "InsufficientPods");
        let (code, status) = run(&pod("Running", "True"), &[budget(none)]).unwrap_err();
        assert_eq!((code, status.message.as_str()), (429, VIOLATES));
        let cause = &status.details["causes"][0];
        assert_eq!(cause["reason"], "DisruptionBudget");
        assert_eq!(cause["message"], "The disruption budget b needs 2 healthy pods and has 2 currently");
        assert_eq!(run(&pod("Running", "True"), &[budget(ok.clone()), budget(ok)]).unwrap_err().0, 500);
        let (_, behind) = run(&pod("Running", "True"), &[budget(json!({}))]).unwrap_err();
        assert_eq!(behind.details["retryAfterSeconds"], 10);
        let negative = budget(json!({"observedGeneration": 2, "disruptionsAllowed": -1}));
        assert_eq!(run(&pod("Running", "True"), &[negative]).unwrap_err().0, 403);
    }
}
