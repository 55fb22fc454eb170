//! FlowSchemas and priority levels as a table, and the question put to it. Pure.

use std::sync::Arc;

use api::{UserInfo, Value, meta, tree};

use super::Limits;
use crate::auth::Question;

/// Whom a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    User(String),
    Group(String),
    /// Namespace and name.
    Account(String, String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ResourceRule {
    verbs: Vec<String>,
    groups: Vec<String>,
    resources: Vec<String>,
    namespaces: Vec<String>,
    cluster: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PathRule {
    verbs: Vec<String>,
    paths: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rule {
    subjects: Vec<Subject>,
    resources: Vec<ResourceRule>,
    paths: Vec<PathRule>,
}

/// What tells the flows of a schema apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distinguisher {
    None,
    User,
    Namespace,
}

/// A FlowSchema.
#[derive(Debug)]
pub struct Schema {
    pub name: String,
    pub uid: String,
    /// Name of its priority level.
    pub level: Arc<str>,
    pub level_uid: String,
    precedence: i64,
    distinguisher: Distinguisher,
    rules: Vec<Rule>,
}

/// All schemas in order of precedence, and the limits of their levels.
#[derive(Debug)]
pub struct Table {
    schemas: Vec<Arc<Schema>>,
    last: Arc<Schema>,
    levels: Vec<(Arc<str>, Limits)>,
}

const EXEMPT: &str = "exempt";
/// The level and the schema of what no other schema matches; always there.
pub const CATCH_ALL: &str = "catch-all";

fn texts(value: &Value, field: &str) -> Vec<String> {
    tree::texts(value, field).map(str::to_owned).collect()
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == "*" || item == wanted)
}

impl Subject {
    fn read(subject: &Value) -> Option<Self> {
        let text = |path: &str| tree::text(subject, path).to_owned();
        match tree::text(subject, "kind") {
            "User" => Some(Subject::User(text("user.name"))),
            "Group" => Some(Subject::Group(text("group.name"))),
            "ServiceAccount" => Some(Subject::Account(text("serviceAccount.namespace"), text("serviceAccount.name"))),
            _ => None,
        }
    }

    fn is(&self, user: &UserInfo) -> bool {
        match self {
            Subject::User(name) => name == "*" || *name == user.name,
            Subject::Group(name) => name == "*" || user.in_group(name),
            Subject::Account(namespace, name) => {
                let account = user.name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
                account.is_some_and(|(n, a)| n == namespace && (name == "*" || a == name))
            }
        }
    }
}

impl Rule {
    fn read(rule: &Value) -> Self {
        let resources = tree::items(rule, "resourceRules").iter().map(|rule| ResourceRule {
            verbs: texts(rule, "verbs"),
            groups: texts(rule, "apiGroups"),
            resources: texts(rule, "resources"),
            namespaces: texts(rule, "namespaces"),
            cluster: rule["clusterScope"] == true,
        });
        let paths = tree::items(rule, "nonResourceRules")
            .iter()
            .map(|rule| PathRule { verbs: texts(rule, "verbs"), paths: texts(rule, "nonResourceURLs") });
        Rule {
            subjects: tree::items(rule, "subjects").iter().filter_map(Subject::read).collect(),
            resources: resources.collect(),
            paths: paths.collect(),
        }
    }

    fn matches(&self, user: &UserInfo, question: &Question) -> bool {
        if !self.subjects.iter().any(|subject| subject.is(user)) {
            return false;
        }
        if let Some(path) = &question.path {
            let fits = |wanted: &String| match wanted.strip_suffix('*') {
                Some(prefix) if wanted == "*" || prefix.ends_with('/') => path.starts_with(prefix),
                _ => wanted == path,
            };
            return self.paths.iter().any(|rule| has(&rule.verbs, &question.verb) && rule.paths.iter().any(fits));
        }
        let named = |wanted: &String| match wanted.split_once('/') {
            _ if wanted == "*" => true,
            Some((resource, sub)) => resource == question.resource && sub == question.subresource,
            None => question.subresource.is_empty() && *wanted == question.resource,
        };
        self.resources.iter().any(|rule| {
            let place = match question.namespace.as_str() {
                "" => rule.cluster,
                namespace => has(&rule.namespaces, namespace),
            };
            place
                && has(&rule.verbs, &question.verb)
                && has(&rule.groups, &question.group)
                && rule.resources.iter().any(named)
        })
    }
}

impl Schema {
    fn read(schema: &Value, level_uid: &str) -> Self {
        Schema {
            name: meta::name(schema).to_owned(),
            uid: meta::text(schema, "uid").to_owned(),
            level: tree::text(schema, "spec.priorityLevelConfiguration.name").into(),
            level_uid: level_uid.to_owned(),
            precedence: schema["spec"]["matchingPrecedence"].as_i64().unwrap_or(1000),
            distinguisher: match tree::text(schema, "spec.distinguisherMethod.type") {
                "ByUser" => Distinguisher::User,
                "ByNamespace" => Distinguisher::Namespace,
                _ => Distinguisher::None,
            },
            rules: tree::items(schema, "spec.rules").iter().map(Rule::read).collect(),
        }
    }

    /// One that always is there, should nobody have written it.
    fn mandatory(name: &str, precedence: i64, groups: &[&str]) -> Self {
        let all = || vec!["*".to_owned()];
        let resources =
            ResourceRule { verbs: all(), groups: all(), resources: all(), namespaces: all(), cluster: true };
        let rule = Rule {
            subjects: groups.iter().map(|group| Subject::Group((*group).to_owned())).collect(),
            resources: vec![resources],
            paths: vec![PathRule { verbs: all(), paths: all() }],
        };
        Schema {
            name: name.to_owned(),
            uid: String::new(),
            level: name.into(),
            level_uid: String::new(),
            precedence,
            distinguisher: Distinguisher::User,
            rules: vec![rule],
        }
    }

    /// The flow of a request.
    pub fn flow(&self, user: &UserInfo, question: &Question) -> String {
        let part = match self.distinguisher {
            Distinguisher::None => "",
            Distinguisher::User => user.name.as_str(),
            Distinguisher::Namespace => question.namespace.as_str(),
        };
        format!("{}/{part}", self.name)
    }
}

impl Default for Table {
    fn default() -> Self {
        Table::build(&[], &[])
    }
}

impl Table {
    /// From the objects. A schema whose level is not there is left out.
    pub fn build(schemas: &[Value], levels: &[Value]) -> Self {
        let mut limits: Vec<(Arc<str>, Limits)> =
            levels.iter().map(|level| (meta::name(level).into(), Limits::read(level))).collect();
        let mandatory = [(EXEMPT, Limits::exempt()), (CATCH_ALL, Limits { shares: 5, ..Limits::default() })];
        for (name, level) in mandatory {
            if limits.iter().all(|(had, _)| **had != *name) {
                limits.push((name.into(), level));
            }
        }
        let uid = |schema: &Value| {
            let name = tree::text(schema, "spec.priorityLevelConfiguration.name");
            let known = limits.iter().any(|(level, _)| **level == *name);
            let object = levels.iter().find(|level| meta::name(level) == name);
            known.then(|| object.map_or("", |level| meta::text(level, "uid")))
        };
        let mut table: Vec<Arc<Schema>> =
            schemas.iter().filter_map(|schema| Some(Arc::new(Schema::read(schema, uid(schema)?)))).collect();
        let mut mandatory = |schema: Schema| match table.iter().find(|had| had.name == schema.name) {
            Some(had) => had.clone(),
            None => {
                let schema = Arc::new(schema);
                table.push(schema.clone());
                schema
            }
        };
        mandatory(Schema::mandatory(EXEMPT, 1, &["system:masters"]));
        let everybody = [UserInfo::AUTHENTICATED, "system:unauthenticated"];
        let last = mandatory(Schema::mandatory(CATCH_ALL, 10_000, &everybody));
        table.sort_by(|a, b| (a.precedence, &a.name).cmp(&(b.precedence, &b.name)));
        Table { schemas: table, last, levels: limits }
    }

    /// The first schema that matches.
    pub fn classify(&self, user: &UserInfo, question: &Question) -> &Arc<Schema> {
        let matches = |schema: &&Arc<Schema>| schema.rules.iter().any(|rule| rule.matches(user, question));
        self.schemas.iter().find(matches).unwrap_or(&self.last)
    }

    /// The levels.
    pub fn limits(&self) -> &[(Arc<str>, Limits)] {
        &self.levels
    }
}
