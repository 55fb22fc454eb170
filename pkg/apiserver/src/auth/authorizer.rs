//! The authorizers in their order: whoever first says yes is right; if none does it is no.

use std::sync::Arc;

use api::{Kinds, Status, UserInfo, Value};
use serde_json::json;

use super::{
    Question, Rbac,
    node::{self, Relations, Verdict},
    rbac::MASTERS,
    rbac_rules::Rule,
};
use crate::cache::Caches;

/// Node authorizer and RBAC.
pub struct Authorizer {
    caches: Arc<Caches>,
    rbac: Rbac,
    relations: Relations,
}

impl Authorizer {
    /// Over these caches.
    pub fn new(caches: Arc<Caches>) -> Self {
        Authorizer { rbac: Rbac::new(caches.clone()), relations: Relations::new(caches.clone()), caches }
    }

    /// Whether the user may. A refusal is given only after everything committed so far was seen.
    pub async fn allows(&self, kinds: &Kinds, user: &UserInfo, question: &Question) -> Result<bool, Status> {
        if user.in_group(MASTERS) || self.known(kinds, user, question).await? {
            return Ok(true);
        }
        self.caches.at_head().await?;
        self.known(kinds, user, question).await
    }

    /// As [`Authorizer::allows`], with the refusal as an error.
    pub async fn check(&self, kinds: &Kinds, user: &UserInfo, question: &Question) -> Result<(), Status> {
        if self.allows(kinds, user, question).await? { Ok(()) } else { Err(question.refusal(user)) }
    }

    /// Why the user may, as far as there is something to say.
    pub async fn reason(&self, kinds: &Kinds, user: &UserInfo, question: &Question) -> Result<String, Status> {
        Ok(self.rbac.reason(kinds, user, question).await?.unwrap_or_default())
    }

    async fn known(&self, kinds: &Kinds, user: &UserInfo, question: &Question) -> Result<bool, Status> {
        if let Some(name) = node::name(user).filter(|name| !name.is_empty()) {
            let allowed = match node::decide(name, question) {
                Verdict::Allow => true,
                Verdict::Deny => false,
                Verdict::Related(thing) => self.relations.hold(kinds, name, thing, question).await?,
                Verdict::Rules => self.rbac.role_grants(kinds, node::ROLE, question).await?,
            };
            if allowed {
                return Ok(true);
            }
        }
        self.rbac.allows(kinds, user, question).await
    }

    /// What a user may in a namespace, as `SubjectRulesReviewStatus` has it.
    pub async fn rules(&self, kinds: &Kinds, user: &UserInfo, namespace: &str) -> Result<Value, Status> {
        self.caches.at_head().await?;
        let (mut resources, mut others) = self.rbac.rules(kinds, user, namespace).await?;
        if user.in_group(MASTERS) {
            resources.push(json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
            others.push(json!({"verbs": ["*"], "nonResourceURLs": ["*"]}));
        }
        let mut status = json!({"resourceRules": resources, "nonResourceRules": others, "incomplete": false});
        if node::name(user).is_some() {
            status["incomplete"] = true.into();
            status["evaluationError"] = "node authorizer does not support user rule resolution".into();
        }
        Ok(status)
    }

    /// The rules of a role, or of a ClusterRole for an empty namespace, as committed by now.
    pub async fn role(&self, kinds: &Kinds, namespace: &str, name: &str) -> Result<Vec<Rule>, Status> {
        self.caches.at_head().await?;
        self.rbac.role(kinds, namespace, name).await
    }
}
