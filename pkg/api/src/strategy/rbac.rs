//! Roles and their bindings.

use serde_json::Value;

use super::Strategy;
use crate::{
    tree,
    validation::{FieldErrors, NameRule, labels, names},
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Roles, of a namespace or of the cluster.
pub(crate) struct Roles {
    /// Whether they belong to a namespace.
    pub namespaced: bool,
}

impl Strategy for Roles {
    fn validate(&self, role: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for (index, rule) in tree::items(role, "rules").iter().enumerate() {
            self.rule(&mut errors, &format!("rules[{index}]"), rule);
        }
        const PATH: &str = "aggregationRule.clusterRoleSelectors";
        let selectors = tree::items(role, PATH);
        if tree::has(role, "aggregationRule") && selectors.is_empty() {
            errors.required(PATH, "at least one clusterRoleSelector required if aggregationRule is non-nil");
        }
        for (index, selector) in selectors.iter().enumerate() {
            labels::selector(&mut errors, &format!("{PATH}[{index}]"), selector);
        }
        errors
    }

    fn name_rule(&self) -> NameRule {
        NameRule::PathSegment
    }
}

impl Roles {
    fn rule(&self, errors: &mut FieldErrors, path: &str, rule: &Value) {
        let none = |field: &str| tree::items(rule, field).is_empty();
        if none("verbs") {
            errors.required(format!("{path}.verbs"), "verbs must contain at least one value");
        }
        if !none("nonResourceURLs") {
            let (path, urls) = (format!("{path}.nonResourceURLs"), tree::at(rule, "nonResourceURLs"));
            if self.namespaced {
                errors.invalid(path.clone(), urls.clone(), "namespaced rules cannot apply to non-resource URLs");
            }
            if !(none("apiGroups") && none("resources") && none("resourceNames")) {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                errors.invalid(path, urls.clone(), detail);
            }
            return;
        }
        if none("apiGroups") {
            errors.required(format!("{path}.apiGroups"), "resource rules must supply at least one api group");
        }
        if none("resources") {
            errors.required(format!("{path}.resources"), "resource rules must supply at least one resource");
        }
    }
}

/// Bindings, of a namespace or of the cluster.
pub(crate) struct Bindings {
    /// Whether they belong to a namespace.
    pub namespaced: bool,
}

impl Strategy for Bindings {
    fn default(&self, binding: &mut Value) {
        if tree::text(binding, "roleRef.apiGroup").is_empty() && tree::has(binding, "roleRef") {
            tree::set(binding, "roleRef.apiGroup", GROUP);
        }
        for subject in binding.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
            let person = matches!(tree::text(subject, "kind"), "User" | "Group");
            if person && tree::text(subject, "apiGroup").is_empty() {
                tree::set(subject, "apiGroup", GROUP);
            }
        }
    }

    fn validate(&self, binding: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let group = tree::text(binding, "roleRef.apiGroup");
        if group != GROUP {
            errors.not_supported("roleRef.apiGroup", group, &[GROUP]);
        }
        let kinds: &[&str] = if self.namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
        let kind = tree::text(binding, "roleRef.kind");
        if !kinds.contains(&kind) {
            errors.not_supported("roleRef.kind", kind, kinds);
        }
        match tree::text(binding, "roleRef.name") {
            "" => errors.required("roleRef.name", ""),
            name => errors.each("roleRef.name", name, names::path_segment(name, false)),
        }
        for (index, subject) in tree::items(binding, "subjects").iter().enumerate() {
            self.subject(&mut errors, &format!("subjects[{index}]"), subject);
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        errors.immutable("roleRef", new, old);
        errors
    }

    fn name_rule(&self) -> NameRule {
        NameRule::PathSegment
    }
}

impl Bindings {
    fn subject(&self, errors: &mut FieldErrors, path: &str, subject: &Value) {
        let (name, group) = (tree::text(subject, "name"), tree::text(subject, "apiGroup"));
        if name.is_empty() {
            errors.required(format!("{path}.name"), "");
        }
        match tree::text(subject, "kind") {
            "ServiceAccount" => {
                if !name.is_empty() {
                    errors.each(format!("{path}.name"), name, names::subdomain(name));
                }
                if !group.is_empty() {
                    errors.not_supported(format!("{path}.apiGroup"), group, &[""]);
                }
                if !self.namespaced && tree::text(subject, "namespace").is_empty() {
                    errors.required(format!("{path}.namespace"), "");
                }
            }
            "User" | "Group" if group != GROUP => {
                errors.not_supported(format!("{path}.apiGroup"), group, &[GROUP]);
            }
            "User" | "Group" => {}
            other => errors.not_supported(format!("{path}.kind"), other, &["ServiceAccount", "User", "Group"]),
        }
    }
}
