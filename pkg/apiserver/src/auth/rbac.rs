//! RBAC over the watch cache: the index of roles and bindings follows the caches' revisions.

use std::sync::Arc;

use api::{Kinds, Status, UserInfo, Value, selector::Fields};

use super::rbac_rules::{Index, Rule};
use crate::{
    cache::{Caches, Derived},
    query::Query,
    request_info::RequestInfo,
};

/// The group that passes every check.
pub const MASTERS: &str = "system:masters";
/// The group of roles and bindings.
pub const GROUP: &str = "rbac.authorization.k8s.io";
const RESOURCES: [&str; 4] = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];

/// What someone wants to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// `get`, `list`, …; `*` for all.
    pub verb: String,
    /// API group.
    pub group: String,
    /// Resource.
    pub resource: String,
    /// Subresource; empty for none.
    pub subresource: String,
    /// Namespace; empty for the whole cluster.
    pub namespace: String,
    /// Object; empty for all.
    pub name: String,
    /// The selection of a list, watch or deletecollection.
    pub fields: Fields,
    /// A path that is no resource; then only the verb counts besides.
    pub path: Option<String>,
}

impl Question {
    /// What a request asks for.
    pub fn of(info: &RequestInfo, query: &Query) -> Self {
        if !info.resource_request {
            return Question { verb: info.verb.to_owned(), path: Some(info.path.clone()), ..Self::default() };
        }
        Question {
            verb: info.verb.to_owned(),
            group: info.group.clone(),
            resource: info.resource.clone(),
            subresource: info.subresource.clone(),
            namespace: info.namespace.clone(),
            name: info.name.clone(),
            fields: match info.verb {
                // What cannot be read selects nothing here, and is refused later.
                "list" | "watch" | "deletecollection" => {
                    query.text("fieldSelector").and_then(|text| Fields::parse(text).ok()).unwrap_or_default()
                }
                _ => Fields::default(),
            },
            path: None,
        }
    }

    /// The question as a rule, for messages.
    pub fn shown(&self) -> String {
        if let Some(path) = &self.path {
            return format!("{{NonResourceURLs:[\"{path}\"], Verbs:[\"{}\"]}}", self.verb);
        }
        let resource = match self.subresource.as_str() {
            "" => self.resource.clone(),
            sub => format!("{}/{sub}", self.resource),
        };
        let names = if self.name.is_empty() { String::new() } else { format!(", ResourceNames:[\"{}\"]", self.name) };
        format!("{{APIGroups:[\"{}\"], Resources:[\"{resource}\"]{names}, Verbs:[\"{}\"]}}", self.group, self.verb)
    }

    /// The answer to those who may not.
    pub fn refusal(&self, user: &UserInfo) -> Status {
        let name = serde_json::json!(user.name);
        if let Some(path) = &self.path {
            let mut status = Status::forbidden("", "", "", "");
            status.message = format!("forbidden: User {name} cannot {} path \"{path}\"", self.verb);
            status.details = serde_json::json!({});
            return status;
        }
        let resource = match self.subresource.as_str() {
            "" => self.resource.clone(),
            sub => format!("{}/{sub}", self.resource),
        };
        let place = match self.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let why =
            format!("User {name} cannot {} resource \"{resource}\" in API group \"{}\" {place}", self.verb, self.group);
        Status::forbidden(&self.group, &self.resource, &self.name, &why)
    }
}

/// Roles and bindings, as the caches have them.
pub struct Rbac {
    index: Derived<Index, 4>,
}

impl Rbac {
    /// Over these caches.
    pub fn new(caches: Arc<Caches>) -> Self {
        Rbac { index: Derived::new(caches, GROUP, RESOURCES) }
    }

    /// Whether roles and bindings, as the caches know them, let the user.
    pub async fn allows(&self, kinds: &Kinds, user: &UserInfo, question: &Question) -> Result<bool, Status> {
        Ok(self.current(kinds).await?.1.allows(user, question))
    }

    /// By which binding they let the user.
    pub async fn reason(&self, kinds: &Kinds, user: &UserInfo, question: &Question) -> Result<Option<String>, Status> {
        Ok(self.current(kinds).await?.1.reason(user, question))
    }

    /// Whether the rules of a ClusterRole grant it.
    pub async fn role_grants(&self, kinds: &Kinds, role: &str, question: &Question) -> Result<bool, Status> {
        Ok(self.current(kinds).await?.1.role("", role).iter().any(|rule| rule.grants(question)))
    }

    /// The rules of a user in a namespace, as `SubjectRulesReviewStatus` has them.
    pub async fn rules(
        &self,
        kinds: &Kinds,
        user: &UserInfo,
        namespace: &str,
    ) -> Result<(Vec<Value>, Vec<Value>), Status> {
        let index = self.current(kinds).await?;
        let described: Vec<(bool, Value)> = index.1.rules(user, namespace).map(Rule::describe).collect();
        let (resources, others): (Vec<_>, Vec<_>) = described.into_iter().partition(|(resource, _)| *resource);
        let values = |list: Vec<(bool, Value)>| list.into_iter().map(|(_, value)| value).collect();
        Ok((values(resources), values(others)))
    }

    /// The rules of a role, or of a ClusterRole for an empty namespace.
    pub async fn role(&self, kinds: &Kinds, namespace: &str, name: &str) -> Result<Vec<Rule>, Status> {
        Ok(self.current(kinds).await?.1.role(namespace, name).to_vec())
    }

    async fn current(&self, kinds: &Kinds) -> Result<Arc<([i64; 4], Index)>, Status> {
        // A table without RBAC kinds (tests) has no objects: nothing is granted.
        let build = |[cluster_roles, cluster_bindings, roles, bindings]: [Vec<Value>; 4]| {
            Index::build(&cluster_roles, &cluster_bindings, &roles, &bindings)
        };
        self.index.get(kinds, build).await
    }
}
