//! Nobody grants what they do not hold: writes of roles need their rules (or the verb `escalate`),
//! writes of bindings the rules of the role (or the verb `bind`).
//!
//! Source: the RBAC reference, "Privilege escalation prevention and bootstrapping".

use api::{Status, Value, meta, tree};
use serde_json::json;

use super::{Attributes, Operation, Plugin, same_metadata};
use crate::auth::{
    Question,
    rbac::{GROUP, MASTERS},
    rbac_rules::Rule,
};

/// The check; see the module.
pub struct Escalation;

#[async_trait::async_trait]
impl Plugin for Escalation {
    fn name(&self) -> &'static str {
        "RBACEscalation"
    }

    async fn validate(&self, attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
        let call = attributes.call;
        let writes = matches!(attributes.operation, Operation::Create | Operation::Update);
        if &*call.kind.group != GROUP || !writes || call.user.in_group(MASTERS) {
            return Ok(());
        }
        let same = |field: &str| attributes.old.is_some_and(|old| old[field] == object[field]);
        match &*call.kind.plural {
            // Labels count: they add the rules to other roles, by aggregation.
            "roles" | "clusterroles"
                if !(same("rules")
                    && same("aggregationRule")
                    && attributes.old.is_some_and(|old| same_metadata(old, object))) =>
            {
                role(attributes, object).await
            }
            "rolebindings" | "clusterrolebindings" if !(same("subjects") && same("roleRef")) => {
                binding(attributes, object).await
            }
            _ => Ok(()),
        }
    }
}

async fn role(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    let call = attributes.call;
    if may(attributes, "escalate", &call.kind.plural, meta::name(object)).await? {
        return Ok(());
    }
    let mut wanted = Rule::all(object);
    if [Some(object), attributes.old].into_iter().flatten().any(|role| !role["aggregationRule"].is_null()) {
        // What it will hold is not known: it takes everything.
        wanted.extend(Rule::all(&json!({"rules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, {"verbs": ["*"], "nonResourceURLs": ["*"]},
        ]})));
    }
    held(attributes, &wanted, meta::name(object)).await
}

async fn binding(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    let call = attributes.call;
    let cluster = tree::text(object, "roleRef.kind") == "ClusterRole";
    let (plural, namespace) = if cluster { ("clusterroles", "") } else { ("roles", call.namespace()) };
    let name = tree::text(object, "roleRef.name");
    if may(attributes, "bind", plural, name).await? {
        return Ok(());
    }
    let kind = call.kinds.by_resource(GROUP, "v1", plural).ok_or_else(Status::no_such_path)?;
    call.server.read(kind, namespace, name).await?.ok_or_else(|| Status::not_found(GROUP, plural, name))?;
    let rules = call.server.authorizer.role(&call.kinds, namespace, name).await?;
    held(attributes, &rules, meta::name(object)).await
}

async fn may(attributes: &Attributes<'_>, verb: &str, plural: &str, name: &str) -> Result<bool, Status> {
    let call = attributes.call;
    let question = Question {
        verb: verb.to_owned(),
        group: GROUP.to_owned(),
        resource: plural.to_owned(),
        namespace: call.namespace().to_owned(),
        name: name.to_owned(),
        ..Question::default()
    };
    call.server.authorizer.allows(&call.kinds, &call.user, &question).await
}

/// Refuses what the user does not hold.
async fn held(attributes: &Attributes<'_>, wanted: &[Rule], name: &str) -> Result<(), Status> {
    let call = attributes.call;
    let mut missing = Vec::new();
    for question in wanted.iter().flat_map(|rule| rule.questions(call.namespace())) {
        if !call.server.authorizer.allows(&call.kinds, &call.user, &question).await? {
            missing.push(question.shown());
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let why = format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        json!(call.user.name),
        json!(call.user.groups),
        missing.join("\n")
    );
    Err(Status::forbidden(&call.kind.group, &call.kind.plural, name, &why))
}
