//! ClusterRoles with an aggregation rule get the rules of those that it selects.
//!
//! The API server reads aggregation by itself: this is what others see.

use std::sync::Arc;

use client::{Controller, Informer, Next, ObjectKey, Sources, labels};
use jiff::Timestamp;
use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::json;

use crate::Context;

const MANAGER: &str = "clusterrole-aggregation-controller";

pub struct RoleAggregationController {
    client: kube::Client,
    roles: Informer<ClusterRole>,
}

pub struct Input {
    pub role: Arc<ClusterRole>,
    /// All others, by name.
    pub others: Vec<Arc<ClusterRole>>,
}

impl RoleAggregationController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        RoleAggregationController { client: informers.client().clone(), roles: informers.get() }
    }
}

impl Controller for RoleAggregationController {
    type Input = Input;
    /// The rules that it shall have; `None` if it has them.
    type Plan = Option<Vec<PolicyRule>>;
    const NAME: &'static str = MANAGER;
    const WORKERS: usize = 1;

    fn sources(&self, sources: &mut Sources) {
        let roles = self.roles.clone();
        sources.map(&self.roles, move |_| {
            let aggregated = roles.select(|role| role.aggregation_rule.is_some());
            aggregated.iter().map(|role| ObjectKey::of(&**role)).collect()
        });
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let role = self.roles.get(key)?;
        role.aggregation_rule.as_ref()?;
        let mut others = self.roles.select(|other| other.name_any() != key.name);
        others.sort_by_key(|other| other.name_any());
        Some(Input { role, others })
    }

    fn decide(&self, input: &Input, _: Timestamp) -> Self::Plan {
        decide(input)
    }

    async fn apply(&self, key: &ObjectKey, _: Input, plan: Self::Plan) -> Result<Next, kube::Error> {
        let Some(rules) = plan else { return Ok(Next::Done) };
        let api: Api<ClusterRole> = Api::all(self.client.clone());
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": key.name}, "rules": rules,
        });
        api.patch(&key.name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(role)).await?;
        Ok(Next::Done)
    }
}

fn decide(input: &Input) -> Option<Vec<PolicyRule>> {
    let mut rules: Vec<PolicyRule> = Vec::new();
    let selectors = input.role.aggregation_rule.iter().flat_map(|rule| rule.cluster_role_selectors.iter().flatten());
    for selector in selectors {
        let chosen = input.others.iter().filter(|other| labels::matches(selector, other.metadata.labels.as_ref()));
        for rule in chosen.flat_map(|other| other.rules.iter().flatten()) {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    (input.role.rules.as_deref().unwrap_or_default() != rules).then_some(rules)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn role(value: Value) -> Arc<ClusterRole> {
        Arc::new(serde_json::from_value(value).unwrap())
    }

    #[test]
    fn rules_of_the_selected_are_taken_once() {
        let rule = |verb: &str| json!({"verbs": [verb], "apiGroups": [""], "resources": ["pods"]});
        let part = |name: &str, label: &str, verbs: &[&str]| {
            role(
                json!({"metadata": {"name": name, "labels": {"to": label}}, "rules": verbs.iter().map(|v| rule(v)).collect::<Vec<_>>()}),
            )
        };
        let whole = |rules: Value| {
            role(json!({"metadata": {"name": "view"}, "rules": rules,
                "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "view"}}]}}))
        };
        let others =
            vec![part("a", "view", &["get"]), part("b", "edit", &["update"]), part("c", "view", &["get", "list"])];
        let plan = decide(&Input { role: whole(Value::Null), others: others.clone() }).unwrap();
        assert_eq!(serde_json::to_value(&plan).unwrap(), json!([rule("get"), rule("list")]));
        // Decided again, nothing is left to do.
        let done = whole(serde_json::to_value(&plan).unwrap());
        assert_eq!(decide(&Input { role: done, others }), None);
        assert_eq!(decide(&Input { role: whole(Value::Null), others: Vec::new() }), None);
    }
}
