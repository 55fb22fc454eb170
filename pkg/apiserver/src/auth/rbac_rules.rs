//! The pure half of RBAC: roles and bindings as an index, and the question put to it.
//!
//! Source of the rules: the API reference of `rbac.authorization.k8s.io/v1`.

use std::collections::HashMap;

use api::{UserInfo, Value, meta, selector::Labels};

use super::rbac::Question;

/// One rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    verbs: Vec<String>,
    groups: Vec<String>,
    resources: Vec<String>,
    names: Vec<String>,
    urls: Vec<String>,
}

#[derive(Clone, Debug)]
enum Subject {
    User(String),
    Group(String),
}

#[derive(Clone, Debug)]
struct Binding {
    namespace: String,
    name: String,
    subjects: Vec<Subject>,
    /// The role is a ClusterRole.
    cluster_role: bool,
    role: String,
}

/// All roles and bindings of a moment.
#[derive(Debug, Default)]
pub struct Index {
    cluster_roles: HashMap<String, Vec<Rule>>,
    roles: HashMap<(String, String), Vec<Rule>>,
    cluster_bindings: Vec<Binding>,
    bindings: HashMap<String, Vec<Binding>>,
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Rule {
    fn read(rule: &Value) -> Self {
        Rule {
            verbs: texts(&rule["verbs"]),
            groups: texts(&rule["apiGroups"]),
            resources: texts(&rule["resources"]),
            names: texts(&rule["resourceNames"]),
            urls: texts(&rule["nonResourceURLs"]),
        }
    }

    /// The rules of a role object.
    pub fn all(role: &Value) -> Vec<Self> {
        role["rules"].as_array().into_iter().flatten().map(Rule::read).collect()
    }

    /// Everything that the rule grants, one by one.
    pub fn questions(&self, namespace: &str) -> Vec<Question> {
        let mut questions = Vec::new();
        for verb in &self.verbs {
            for url in &self.urls {
                questions.push(Question { verb: verb.clone(), path: Some(url.clone()), ..Question::default() });
            }
            for (group, resource) in self.groups.iter().flat_map(|g| self.resources.iter().map(move |r| (g, r))) {
                let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
                let one = Question {
                    verb: verb.clone(),
                    group: group.clone(),
                    resource: resource.to_owned(),
                    subresource: subresource.to_owned(),
                    namespace: namespace.to_owned(),
                    ..Question::default()
                };
                if self.names.is_empty() {
                    questions.push(one);
                } else {
                    questions.extend(self.names.iter().map(|name| Question { name: name.clone(), ..one.clone() }));
                }
            }
        }
        questions
    }

    /// The rule in the form of `SubjectRulesReviewStatus`.
    pub fn describe(&self) -> (bool, Value) {
        if self.urls.is_empty() {
            let mut rule =
                serde_json::json!({"verbs": self.verbs, "apiGroups": self.groups, "resources": self.resources});
            if !self.names.is_empty() {
                rule["resourceNames"] = self.names.clone().into();
            }
            (true, rule)
        } else {
            (false, serde_json::json!({"verbs": self.verbs, "nonResourceURLs": self.urls}))
        }
    }

    /// Whether the rule grants what is asked.
    pub fn grants(&self, question: &Question) -> bool {
        let has = |list: &[String], wanted: &str| list.iter().any(|item| item == "*" || item == wanted);
        if !has(&self.verbs, &question.verb) {
            return false;
        }
        if let Some(path) = &question.path {
            return self.urls.iter().any(|url| match url.strip_suffix('*') {
                Some(prefix) => path.starts_with(prefix),
                None => url == path,
            });
        }
        let resource = self.resources.iter().any(|wanted| {
            wanted == "*"
                || match question.subresource.as_str() {
                    "" => *wanted == question.resource,
                    sub => {
                        wanted.split_once('/').is_some_and(|(r, s)| s == sub && (r == "*" || r == question.resource))
                    }
                }
        });
        resource && has(&self.groups, &question.group) && (self.names.is_empty() || self.names.contains(&question.name))
    }
}

impl Subject {
    fn read(subject: &Value, binding_namespace: &str) -> Option<Self> {
        let name = subject["name"].as_str()?;
        match subject["kind"].as_str()? {
            "User" => Some(Subject::User(name.to_owned())),
            "Group" => Some(Subject::Group(name.to_owned())),
            "ServiceAccount" => {
                let namespace = subject["namespace"].as_str().unwrap_or(binding_namespace);
                Some(Subject::User(format!("system:serviceaccount:{namespace}:{name}")))
            }
            _ => None,
        }
    }

    fn shown(&self) -> String {
        match self {
            Subject::Group(name) => format!("Group {name:?}"),
            Subject::User(name) => {
                let account = name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
                match account {
                    Some((namespace, account)) => format!("ServiceAccount \"{account}/{namespace}\""),
                    None => format!("User {name:?}"),
                }
            }
        }
    }

    fn is(&self, user: &UserInfo) -> bool {
        match self {
            Subject::User(name) => *name == user.name,
            Subject::Group(group) => user.in_group(group),
        }
    }
}

impl Binding {
    fn read(binding: &Value) -> Self {
        let namespace = meta::namespace(binding);
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        Binding {
            namespace: namespace.to_owned(),
            name: meta::name(binding).to_owned(),
            subjects: subjects.filter_map(|s| Subject::read(s, namespace)).collect(),
            cluster_role: binding["roleRef"]["kind"] == "ClusterRole",
            role: binding["roleRef"]["name"].as_str().unwrap_or_default().to_owned(),
        }
    }
}

impl Index {
    /// Reads the objects of the four kinds.
    pub fn build(cluster_roles: &[Value], cluster_bindings: &[Value], roles: &[Value], bindings: &[Value]) -> Self {
        let mut index = Index::default();
        for role in cluster_roles {
            let mut all = Rule::all(role);
            for selector in role["aggregationRule"]["clusterRoleSelectors"].as_array().into_iter().flatten() {
                let Ok(selector) = Labels::from_label_selector(selector) else { continue };
                let chosen = cluster_roles.iter().filter(|r| meta::name(r) != meta::name(role) && selector.matches(r));
                for rule in chosen.flat_map(Rule::all) {
                    if !all.contains(&rule) {
                        all.push(rule);
                    }
                }
            }
            index.cluster_roles.insert(meta::name(role).to_owned(), all);
        }
        for role in roles {
            index.roles.insert((meta::namespace(role).to_owned(), meta::name(role).to_owned()), Rule::all(role));
        }
        index.cluster_bindings = cluster_bindings.iter().map(Binding::read).collect();
        for binding in bindings {
            index.bindings.entry(meta::namespace(binding).to_owned()).or_default().push(Binding::read(binding));
        }
        index
    }

    /// The rules of a role, or of a ClusterRole for an empty namespace; none if there is no such role.
    pub fn role(&self, namespace: &str, name: &str) -> &[Rule] {
        let found = match namespace {
            "" => self.cluster_roles.get(name),
            _ => self.roles.get(&(namespace.to_owned(), name.to_owned())),
        };
        found.map_or(&[], Vec::as_slice)
    }

    /// The bindings that hold for a user, cluster-wide and (if not empty) in a namespace: the subject
    /// that the user is, and the rules of the role.
    fn held<'a>(
        &'a self,
        user: &'a UserInfo,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a Binding, &'a Subject, &'a [Rule])> {
        let local = self.bindings.get(namespace).filter(|_| !namespace.is_empty()).into_iter().flatten();
        self.cluster_bindings.iter().chain(local).filter_map(move |binding| {
            let subject = binding.subjects.iter().find(|subject| subject.is(user))?;
            let rules = match binding.cluster_role {
                true => self.cluster_roles.get(&binding.role),
                false => self.roles.get(&(binding.namespace.clone(), binding.role.clone())),
            };
            Some((binding, subject, rules?.as_slice()))
        })
    }

    /// The rules that hold for a user, cluster-wide and (if not empty) in a namespace.
    pub fn rules<'a>(&'a self, user: &'a UserInfo, namespace: &'a str) -> impl Iterator<Item = &'a Rule> {
        self.held(user, namespace).flat_map(|(_, _, rules)| rules)
    }

    /// Whether the user may.
    pub fn allows(&self, user: &UserInfo, question: &Question) -> bool {
        self.rules(user, &question.namespace).any(|rule| rule.grants(question))
    }

    /// By which binding the user may, in upstream's words.
    pub fn reason(&self, user: &UserInfo, question: &Question) -> Option<String> {
        let mut held = self.held(user, &question.namespace);
        let (binding, subject, _) = held.find(|(_, _, rules)| rules.iter().any(|rule| rule.grants(question)))?;
        let role = if binding.cluster_role { "ClusterRole" } else { "Role" };
        let place = match binding.namespace.as_str() {
            "" => format!("ClusterRoleBinding {:?}", binding.name),
            namespace => format!("RoleBinding \"{}/{namespace}\"", binding.name),
        };
        Some(format!("RBAC: allowed by {place} of {role} {:?} to {}", binding.role, subject.shown()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn index() -> Index {
        let role = |name: &str, labels: Value, rules: Value| json!({"metadata": {"name": name, "labels": labels}, "rules": rules});
        let cluster_roles = [
            role(
                "admin",
                json!({}),
                json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, {"verbs": ["*"], "nonResourceURLs": ["*"]}]),
            ),
            role(
                "view-pods",
                json!({"agg": "view"}),
                json!([{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "pods/log"]}]),
            ),
            role("scale", json!({}), json!([{"verbs": ["update"], "apiGroups": ["apps"], "resources": ["*/scale"]}])),
            role("discovery", json!({}), json!([{"verbs": ["get"], "nonResourceURLs": ["/api", "/apis/*"]}])),
            json!({"metadata": {"name": "view"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"agg": "view"}}]}}),
        ];
        let bind = |ns: &str, role_kind: &str, role: &str, subject: Value| {
            json!({"metadata": {"namespace": ns, "name": "b"},
            "roleRef": {"kind": role_kind, "name": role}, "subjects": [subject]})
        };
        let cluster_bindings = [
            bind("", "ClusterRole", "admin", json!({"kind": "User", "name": "root"})),
            bind("", "ClusterRole", "scale", json!({"kind": "Group", "name": "scalers"})),
            // No name stands for everybody; that is what the groups are for.
            bind("", "ClusterRole", "admin", json!({"kind": "User", "name": "*"})),
            bind("", "ClusterRole", "admin", json!({"kind": "Group", "name": "*"})),
            bind("", "ClusterRole", "discovery", json!({"kind": "Group", "name": "system:authenticated"})),
        ];
        let roles = [json!({"metadata": {"namespace": "a", "name": "one"},
            "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["mine"]}]})];
        let bindings = [
            bind("a", "Role", "one", json!({"kind": "ServiceAccount", "name": "sa"})),
            bind("a", "ClusterRole", "view", json!({"kind": "User", "name": "eve"})),
        ];
        Index::build(&cluster_roles, &cluster_bindings, &roles, &bindings)
    }

    #[test]
    fn rules_decide() {
        let index = index();
        let sa = "system:serviceaccount:a:sa";
        // user, groups, verb, group, resource, subresource, namespace, name, allowed
        for (user, group, verb, api_group, resource, sub, ns, name, want) in [
            ("root", "", "delete", "apps", "deployments", "", "x", "", true),
            ("root", "", "update", "apps", "deployments", "status", "x", "", true),
            ("joe", "", "get", "", "pods", "", "a", "", false),
            ("eve", "", "get", "", "pods", "", "a", "p", true),
            ("eve", "", "get", "", "pods", "log", "a", "p", true),
            ("eve", "", "get", "", "pods", "exec", "a", "p", false),
            ("eve", "", "get", "", "pods", "", "b", "p", false),
            ("eve", "", "list", "", "pods", "", "", "", false),
            ("eve", "", "create", "", "pods", "", "a", "", false),
            ("joe", "scalers", "update", "apps", "deployments", "scale", "any", "d", true),
            ("joe", "scalers", "update", "apps", "deployments", "", "any", "d", false),
            ("joe", "scalers", "update", "batch", "jobs", "scale", "any", "d", false),
            (sa, "", "get", "", "secrets", "", "a", "mine", true),
            (sa, "", "get", "", "secrets", "", "a", "other", false),
            (sa, "", "list", "", "secrets", "", "a", "", false),
        ] {
            let user = UserInfo::authenticated(user, &[group]);
            let text = str::to_owned;
            let question = Question {
                verb: text(verb),
                group: text(api_group),
                resource: text(resource),
                subresource: text(sub),
                namespace: text(ns),
                name: text(name),
                ..Question::default()
            };
            assert_eq!(index.allows(&user, &question), want, "{user:?} {question:?}");
            assert_eq!(index.reason(&user, &question).is_some(), want, "{user:?} {question:?}");
        }
        let question = Question {
            verb: "get".into(),
            resource: "secrets".into(),
            namespace: "a".into(),
            name: "mine".into(),
            ..Question::default()
        };
        assert_eq!(
            index.reason(&UserInfo::authenticated(sa, &[]), &question).unwrap(),
            "RBAC: allowed by RoleBinding \"b/a\" of Role \"one\" to ServiceAccount \"sa/a\""
        );
        for (path, want) in [("/api", true), ("/api/v1", false), ("/apis/apps/v1", true), ("/metrics", false)] {
            let question = Question { verb: "get".into(), path: Some(path.into()), ..Question::default() };
            assert_eq!(index.allows(&UserInfo::authenticated("joe", &[]), &question), want, "{path}");
            assert!(!index.allows(&UserInfo::anonymous(), &question));
        }
    }
}
