//! Webhooks, admission policies and their bindings.
//!
//! Source: upstream's `pkg/apis/admissionregistration/validation`. Expressions are looked at as far
//! as that they are there; compiling them comes with their evaluation. `old` is the object before,
//! null at creation: what was wrong in it already may stay.

use serde_json::{Value, json};

use super::{FieldErrors, labels, names, repeated};
use crate::tree;

const FAILURE: [&str; 2] = ["Fail", "Ignore"];
const MATCH: [&str; 2] = ["Equivalent", "Exact"];
const REINVOCATION: [&str; 2] = ["IfNeeded", "Never"];
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
/// Nothing is left to change in a deletion.
const MUTATED: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];
const NO_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
const ALL_EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];
/// Of `AdmissionReview`, as the server understands them.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];
const CONDITIONS: usize = 64;

/// A text of a set; absent is for the caller.
fn one_of(errors: &mut FieldErrors, path: String, text: &str, known: &[&str]) {
    if !text.is_empty() && !known.contains(&text) {
        errors.not_supported(path, text, known);
    }
}

/// Checks a configuration of webhooks.
pub fn webhooks(errors: &mut FieldErrors, configuration: &Value, old: &Value) {
    let hooks = tree::items(configuration, "webhooks");
    let before = Before::of(tree::items(old, "webhooks"));
    let again = repeated(hooks.iter().map(|hook| tree::text(hook, "name")));
    for (index, hook) in hooks.iter().enumerate() {
        let path = format!("webhooks[{index}]");
        webhook(errors, &path, hook, &before);
        review_versions(errors, &format!("{path}.admissionReviewVersions"), hook, before.reviews);
        let name = tree::text(hook, "name");
        if before.names && !name.is_empty() && again[index] {
            errors.duplicate(format!("{path}.name"), name);
        }
    }
}

/// Rules that the hooks before kept: only those hold.
struct Before {
    effects: bool,
    reviews: bool,
    names: bool,
    selectors: bool,
}

impl Before {
    fn of(hooks: &[Value]) -> Self {
        let known = |hook: &Value| {
            let versions: Vec<_> = tree::texts(hook, "admissionReviewVersions").collect();
            versions.is_empty() || versions.iter().any(|version| REVIEWS.contains(version))
        };
        let right = |hook: &Value| {
            let mut errors = FieldErrors::default();
            selectors(&mut errors, "", hook);
            errors.is_empty()
        };
        Before {
            effects: hooks.iter().all(|hook| NO_EFFECTS.contains(&tree::text(hook, "sideEffects"))),
            reviews: hooks.iter().all(known),
            names: !repeated(hooks.iter().map(|hook| tree::text(hook, "name"))).contains(&true),
            selectors: hooks.iter().all(right),
        }
    }
}

fn selectors(errors: &mut FieldErrors, path: &str, object: &Value) {
    for field in ["namespaceSelector", "objectSelector"] {
        labels::selector(errors, &format!("{path}.{field}"), tree::at(object, field));
    }
}

fn webhook(errors: &mut FieldErrors, path: &str, hook: &Value, before: &Before) {
    full_name(errors, format!("{path}.name"), tree::text(hook, "name"));
    for (index, rule) in tree::items(hook, "rules").iter().enumerate() {
        rule_with_operations(errors, &format!("{path}.rules[{index}]"), rule);
    }
    one_of(errors, format!("{path}.failurePolicy"), tree::text(hook, "failurePolicy"), &FAILURE);
    one_of(errors, format!("{path}.matchPolicy"), tree::text(hook, "matchPolicy"), &MATCH);
    let effects: &[&str] = if before.effects { &NO_EFFECTS } else { &ALL_EFFECTS };
    match tree::text(hook, "sideEffects") {
        "" => {
            let detail = format!("must specify one of {}", effects.join(", "));
            errors.required(format!("{path}.sideEffects"), detail);
        }
        given => one_of(errors, format!("{path}.sideEffects"), given, effects),
    }
    if let Some(seconds) = tree::at(hook, "timeoutSeconds").as_i64().filter(|seconds| !(1..=30).contains(seconds)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        errors.invalid(format!("{path}.timeoutSeconds"), seconds, detail);
    }
    if before.selectors {
        selectors(errors, path, hook);
    }
    one_of(errors, format!("{path}.reinvocationPolicy"), tree::text(hook, "reinvocationPolicy"), &REINVOCATION);
    client_config(errors, &format!("{path}.clientConfig"), tree::at(hook, "clientConfig"));
    match_conditions(errors, &format!("{path}.matchConditions"), tree::items(hook, "matchConditions"));
}

/// At least three segments.
fn full_name(errors: &mut FieldErrors, path: String, name: &str) {
    let faults = names::subdomain(name);
    if name.is_empty() {
        errors.required(path, "");
    } else if !faults.is_empty() {
        errors.invalid(path, name, faults.join(","));
    } else if name.split('.').count() < 3 {
        errors.invalid(path, name, "should be a domain with at least three segments separated by dots");
    }
}

fn review_versions(errors: &mut FieldErrors, path: &str, hook: &Value, known: bool) {
    let versions: Vec<&str> = tree::texts(hook, "admissionReviewVersions").collect();
    if versions.is_empty() {
        return errors.required(path, format!("must specify one of {}", REVIEWS.join(", ")));
    }
    each_version(errors, path, &versions, known);
}

/// Checks versions of reviews; `known`: one at least must be known here.
pub(crate) fn each_version(errors: &mut FieldErrors, path: &str, versions: &[&str], known: bool) {
    let again = repeated(versions);
    for (index, version) in versions.iter().enumerate() {
        if again[index] {
            errors.invalid(format!("{path}[{index}]"), *version, "duplicate version");
        } else {
            errors.each(format!("{path}[{index}]"), *version, names::label_1035(version));
        }
    }
    if known && !versions.iter().any(|version| REVIEWS.contains(version)) {
        errors.invalid(path, json!(versions), format!("must include at least one of {}", REVIEWS.join(", ")));
    }
}

/// Checks where a webhook is reached: a URL or a Service.
pub fn client_config(errors: &mut FieldErrors, path: &str, config: &Value) {
    let (url, service) = (tree::at(config, "url").as_str(), tree::at(config, "service"));
    match (url, service.is_null()) {
        (None, true) | (Some(_), false) => errors.required(path, "exactly one of url or service is required"),
        (Some(url), true) => web_address(errors, &format!("{path}.url"), url),
        (None, false) => {
            let path = format!("{path}.service");
            for field in ["name", "namespace"] {
                if tree::text(service, field).is_empty() {
                    errors.required(format!("{path}.{field}"), "");
                }
            }
            service_place(errors, &path, service);
        }
    }
}

/// Checks port and path of a Service.
pub(crate) fn service_place(errors: &mut FieldErrors, path: &str, service: &Value) {
    let port = tree::int(service, "port");
    let faults = names::port_number(port);
    if !faults.is_empty() {
        let detail = format!("port is not valid: {}", faults.join(", "));
        errors.invalid(format!("{path}.port"), port, detail);
    }
    service_path(errors, &format!("{path}.path"), tree::text(service, "path"));
}

/// Checks the URL of a webhook.
pub(crate) fn web_address(errors: &mut FieldErrors, path: &str, url: &str) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    if scheme != "https" {
        errors.invalid(path, scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = rest.strip_prefix("//").map_or("", |rest| rest.split('/').next().unwrap_or_default());
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if host.is_empty() {
        errors.invalid(path, host, format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        errors.invalid(path, user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        errors.invalid(path, fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        errors.invalid(path, query, "query parameters are not permitted in the URL");
    }
}

fn service_path(errors: &mut FieldErrors, path: &str, text: &str) {
    if matches!(text, "" | "/") {
        return;
    }
    if text == "//" {
        return errors.invalid(path, text, "segment[0] may not be empty");
    }
    if !text.starts_with('/') {
        errors.invalid(path, text, "must start with a '/'");
    }
    let rest = text.strip_prefix('/').unwrap_or(text);
    for (index, step) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if step.is_empty() {
            errors.invalid(path, text, format!("segment[{index}] may not be empty"));
        } else {
            let faults = names::subdomain(step).iter().map(|fault| format!("segment[{index}]: {fault}")).collect();
            errors.each(path, text, faults);
        }
    }
}

fn rule_with_operations(errors: &mut FieldErrors, path: &str, rule: &Value) {
    let texts = |field: &str| -> Vec<&str> { tree::texts(rule, field).collect() };
    let operations = texts("operations");
    for (field, what) in [("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        let (given, path) = (texts(field), format!("{path}.{field}"));
        if given.is_empty() {
            errors.required(path.clone(), "");
        }
        if given.len() > 1 && given.contains(&"*") {
            errors.invalid(path.clone(), json!(given), format!("if '*' is present, must not specify other {what}"));
        }
        if field == "operations" {
            for (index, operation) in operations.iter().enumerate().filter(|(_, o)| !OPERATIONS.contains(o)) {
                errors.not_supported(format!("{path}[{index}]"), *operation, &OPERATIONS);
            }
        }
        if field == "apiVersions" {
            for (index, _) in given.iter().enumerate().filter(|(_, version)| version.is_empty()) {
                errors.required(format!("{path}[{index}]"), "");
            }
        }
    }
    resources(errors, &format!("{path}.resources"), &texts("resources"));
    one_of(errors, format!("{path}.scope"), tree::text(rule, "scope"), &SCOPES);
}

fn resources(errors: &mut FieldErrors, path: &str, resources: &[&str]) {
    if resources.is_empty() {
        errors.required(path, "");
    }
    // Seen so far: `x/*`, `*/x`.
    let (mut wide, mut deep) = (Vec::new(), Vec::new());
    let mut plain = false;
    for (index, resource) in resources.iter().enumerate() {
        let path = format!("{path}[{index}]");
        if resource.is_empty() {
            errors.required(path, "");
            continue;
        }
        let Some((main, sub)) = resource.split_once('/') else {
            plain = *resource != "*";
            continue;
        };
        if wide.contains(&main) {
            let detail = format!("if '{main}/*' is present, must not specify {resource}");
            errors.invalid(path.clone(), *resource, detail);
        }
        if deep.contains(&sub) {
            let detail = format!("if '*/{sub}' is present, must not specify {resource}");
            errors.invalid(path, *resource, detail);
        }
        if sub == "*" {
            wide.push(main);
        }
        if main == "*" {
            deep.push(sub);
        }
    }
    if resources.len() > 1 && resources.contains(&"*/*") {
        errors.invalid(path, json!(resources), "if '*/*' is present, must not specify other resources");
    }
    if plain && resources.contains(&"*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.invalid(path, json!(resources), detail);
    }
}

fn match_conditions(errors: &mut FieldErrors, path: &str, conditions: &[Value]) {
    if conditions.len() > CONDITIONS {
        errors.too_many(path, conditions.len(), CONDITIONS);
    }
    let again = repeated(conditions.iter().map(|condition| tree::text(condition, "name")));
    for (index, condition) in conditions.iter().enumerate() {
        let (at, name) = (format!("{path}[{index}].name"), tree::text(condition, "name"));
        expression(errors, format!("{path}[{index}].expression"), condition, "");
        if name.is_empty() {
            errors.required(at, "");
            continue;
        }
        errors.each(at.clone(), name, names::qualified(name));
        if again[index] {
            errors.duplicate(at, name);
        }
    }
}

/// An expression must be there. Whether it compiles is for the evaluator.
fn expression(errors: &mut FieldErrors, path: String, object: &Value, detail: &str) {
    if tree::text(object, "expression").trim().is_empty() {
        errors.required(path, detail);
    }
}

/// Which of the two sorts of policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Refuses.
    Validating,
    /// Changes.
    Mutating,
}

/// Checks an admission policy, status apart.
pub fn policy(errors: &mut FieldErrors, policy: &Value, sort: Sort) {
    let spec = tree::at(policy, "spec");
    match tree::text(spec, "failurePolicy") {
        "" => errors.required("spec.failurePolicy", ""),
        given => one_of(errors, "spec.failurePolicy".to_owned(), given, &FAILURE),
    }
    if tree::has(spec, "paramKind") {
        param_kind(errors, "spec.paramKind", tree::at(spec, "paramKind"));
    }
    let constraints = tree::at(spec, "matchConstraints");
    const CONSTRAINTS: &str = "spec.matchConstraints";
    if constraints.is_null() {
        errors.required(CONSTRAINTS, "");
    } else {
        match_resources(errors, CONSTRAINTS, constraints);
        if tree::items(constraints, "resourceRules").is_empty() {
            errors.required(format!("{CONSTRAINTS}.resourceRules"), "");
        }
    }
    if sort == Sort::Mutating {
        mutated_operations(errors, CONSTRAINTS, constraints);
    }
    match_conditions(errors, "spec.matchConditions", tree::items(spec, "matchConditions"));
    for (index, variable) in tree::items(spec, "variables").iter().enumerate() {
        let path = format!("spec.variables[{index}]");
        match tree::text(variable, "name") {
            name if name.trim().is_empty() => errors.required(format!("{path}.name"), "name is not specified"),
            name if !is_identifier(name) => {
                errors.invalid(format!("{path}.name"), name, "must be a valid CEL identifier");
            }
            _ => {}
        }
        expression(errors, format!("{path}.expression"), variable, "expression is not specified");
    }
    match sort {
        Sort::Validating => validations(errors, policy),
        Sort::Mutating => {
            let mutations = tree::items(spec, "mutations");
            if mutations.is_empty() {
                errors.required("spec.mutations", "mutations must contain at least one item");
            }
            for (index, one) in mutations.iter().enumerate() {
                mutation(errors, &format!("spec.mutations[{index}]"), one);
            }
            match tree::text(spec, "reinvocationPolicy") {
                "" => errors.required("spec.reinvocationPolicy", ""),
                given => one_of(errors, "spec.reinvocationPolicy".to_owned(), given, &REINVOCATION),
            }
        }
    }
}

/// Words that name no variable.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

fn is_identifier(name: &str) -> bool {
    !RESERVED.contains(&name)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|c| c == b'_' || c.is_ascii_alphanumeric())
}

fn param_kind(errors: &mut FieldErrors, path: &str, kind: &Value) {
    let (at, api_version) = (format!("{path}.apiVersion"), tree::text(kind, "apiVersion"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if api_version.is_empty() {
        errors.required(at, "");
    } else if version.contains('/') {
        errors.invalid(at, api_version, format!("unexpected GroupVersion string: {api_version}"));
    } else {
        let joined = |errors: &mut FieldErrors, text: &str, faults: Vec<String>| {
            if !faults.is_empty() {
                errors.invalid(at.clone(), text, faults.join(","));
            }
        };
        if !group.is_empty() {
            joined(errors, group, names::subdomain(group));
        }
        if version.is_empty() {
            errors.invalid(at.clone(), api_version, "version must be specified");
        } else {
            joined(errors, version, names::label_1035(version));
        }
    }
    let name = tree::text(kind, "kind");
    let faults = names::label_1035(&name.to_lowercase());
    if name.is_empty() {
        errors.required(format!("{path}.kind"), "");
    } else if !faults.is_empty() {
        let detail = format!("may have mixed case, but should otherwise match: {}", faults.join(","));
        errors.invalid(format!("{path}.kind"), name, detail);
    }
}

fn match_resources(errors: &mut FieldErrors, path: &str, constraints: &Value) {
    match tree::text(constraints, "matchPolicy") {
        "" => errors.required(format!("{path}.matchPolicy"), ""),
        given => one_of(errors, format!("{path}.matchPolicy"), given, &MATCH),
    }
    for field in ["namespaceSelector", "objectSelector"] {
        match tree::at(constraints, field) {
            Value::Null => errors.required(format!("{path}.{field}"), ""),
            selector => labels::selector(errors, &format!("{path}.{field}"), selector),
        }
    }
    for field in ["resourceRules", "excludeResourceRules"] {
        for (index, rule) in tree::items(constraints, field).iter().enumerate() {
            let path = format!("{path}.{field}[{index}]");
            let resources: Vec<&str> = tree::texts(rule, "resourceNames").collect();
            let again = repeated(&resources);
            for (index, name) in resources.iter().enumerate() {
                let path = format!("{path}.resourceNames[{index}]");
                errors.each(path.clone(), *name, names::path_segment(name, false));
                if again[index] {
                    errors.duplicate(path, *name);
                }
            }
            rule_with_operations(errors, &path, rule);
        }
    }
}

fn mutated_operations(errors: &mut FieldErrors, path: &str, constraints: &Value) {
    let rules = tree::items(constraints, "resourceRules").iter();
    for operation in rules.flat_map(|rule| tree::texts(rule, "operations")) {
        one_of(errors, format!("{path}.resourceRules.operations"), operation, &MUTATED);
    }
}

const ANNOTATIONS: usize = 20;
const ANNOTATION: usize = 5 * 1024;

fn validations(errors: &mut FieldErrors, policy: &Value) {
    let spec = tree::at(policy, "spec");
    let (validations, annotations) = (tree::items(spec, "validations"), tree::items(spec, "auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        for field in ["validations", "auditAnnotations"] {
            let detail = "validations or auditAnnotations must contain at least one item";
            errors.required(format!("spec.{field}"), detail);
        }
        return;
    }
    for (index, one) in validations.iter().enumerate() {
        validation(errors, &format!("spec.validations[{index}]"), one);
    }
    if annotations.len() > ANNOTATIONS {
        let detail = format!("must not have more than {ANNOTATIONS} auditAnnotations");
        errors.invalid("spec.auditAnnotations", annotations.to_vec(), detail);
    }
    let name = tree::text(policy, "metadata.name");
    let again = repeated(annotations.iter().map(|annotation| tree::text(annotation, "key")));
    for (index, annotation) in annotations.iter().enumerate() {
        let (path, key) = (format!("spec.auditAnnotations[{index}]"), tree::text(annotation, "key"));
        let full = format!("{name}/{key}");
        errors.each(format!("{path}.key"), full.as_str(), names::qualified(&full));
        let value = tree::text(annotation, "valueExpression").trim();
        if value.is_empty() {
            errors.required(format!("{path}.valueExpression"), "valueExpression is not specified");
        } else if value.len() > ANNOTATION {
            let detail = format!("must not exceed {ANNOTATION} bytes in length");
            errors.required(format!("{path}.valueExpression"), detail);
        }
        if again[index] {
            errors.duplicate(format!("{path}.key"), key);
        }
    }
}

fn validation(errors: &mut FieldErrors, path: &str, one: &Value) {
    expression(errors, format!("{path}.expression"), one, "expression is not specified");
    for field in ["messageExpression", "message"] {
        let text = tree::text(one, field);
        if !text.is_empty() && text.trim().is_empty() {
            errors.invalid(format!("{path}.{field}"), text, "must be non-empty if specified");
        }
    }
    let message = tree::text(one, "message");
    if message.trim().contains(['\n', '\r']) {
        errors.invalid(format!("{path}.message"), message, "must not contain line breaks");
    }
    let reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
    if let Some(reason) = tree::at(one, "reason").as_str().filter(|reason| !reasons.contains(reason)) {
        errors.not_supported(format!("{path}.reason"), reason, &reasons);
    }
}

fn mutation(errors: &mut FieldErrors, path: &str, one: &Value) {
    let kinds = [("ApplyConfiguration", "applyConfiguration"), ("JSONPatch", "jsonPatch")];
    let kind = tree::text(one, "patchType");
    if kind.is_empty() {
        return errors.required(format!("{path}.patchType"), "");
    }
    if !kinds.iter().any(|(known, _)| *known == kind) {
        return errors.not_supported(format!("{path}.patchType"), kind, &["ApplyConfiguration", "JSONPatch"]);
    }
    for (known, field) in kinds {
        match (known == kind, tree::at(one, field)) {
            (true, Value::Null) => {
                errors.required(format!("{path}.{field}"), format!("must be specified when patchType is {kind}"));
            }
            (true, patch) => expression(errors, format!("{path}.{field}.expression"), patch, ""),
            (false, Value::Null) => {}
            (false, _) => {
                let detail = format!("must not be specified when patchType is {kind}");
                errors.invalid(format!("{path}.{field}"), format!("{{{field}}}"), detail);
            }
        }
    }
}

/// Checks a binding of a policy.
pub fn binding(errors: &mut FieldErrors, binding: &Value, sort: Sort) {
    let spec = tree::at(binding, "spec");
    match tree::text(spec, "policyName") {
        "" => errors.required("spec.policyName", ""),
        name => errors.each("spec.policyName", name, names::subdomain(name)),
    }
    if tree::has(spec, "paramRef") {
        param_ref(errors, "spec.paramRef", tree::at(spec, "paramRef"));
    }
    let constraints = tree::at(spec, "matchResources");
    if !constraints.is_null() {
        match_resources(errors, "spec.matchResources", constraints);
    }
    match sort {
        Sort::Mutating => mutated_operations(errors, "spec.matchResources", constraints),
        Sort::Validating => actions(errors, "spec.validationActions", spec),
    }
}

fn actions(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let actions: Vec<&str> = tree::texts(spec, "validationActions").collect();
    let again = repeated(&actions);
    for (index, action) in actions.iter().enumerate() {
        let known = ["Audit", "Deny", "Warn"];
        if !known.contains(action) {
            errors.not_supported(format!("{path}[{index}]"), *action, &known);
        }
        if again[index] {
            errors.duplicate(format!("{path}[{index}]"), *action);
        }
    }
    if actions.contains(&"Deny") && actions.contains(&"Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the \
                      API response and headers serves no purpose)";
        errors.invalid(path, json!(actions), detail);
    }
    if actions.is_empty() {
        errors.required(path, "at least one validation action is required");
    }
}

fn param_ref(errors: &mut FieldErrors, path: &str, reference: &Value) {
    let (name, selector) = (tree::text(reference, "name"), tree::at(reference, "selector"));
    if name.is_empty() && selector.is_null() {
        errors.required(path, "one of name or selector must be specified");
    }
    if !name.is_empty() {
        errors.each(format!("{path}.name"), name, names::path_segment(name, false));
    }
    labels::selector(errors, &format!("{path}.selector"), selector);
    if !name.is_empty() && !selector.is_null() {
        for field in ["name", "selector"] {
            errors.forbidden(format!("{path}.{field}"), "name and selector are mutually exclusive");
        }
    }
    match tree::text(reference, "parameterNotFoundAction") {
        "" => errors.required(format!("{path}.parameterNotFoundAction"), ""),
        given => one_of(errors, format!("{path}.parameterNotFoundAction"), given, &["Deny", "Allow"]),
    }
}

/// Checks the status of a validating policy.
pub fn policy_status(errors: &mut FieldErrors, policy: &Value) {
    for (index, warning) in tree::items(policy, "status.typeChecking.expressionWarnings").iter().enumerate() {
        for field in ["warning", "fieldRef"] {
            if tree::text(warning, field).trim().is_empty() {
                errors.required(format!("status.typeChecking.expressionWarnings[{index}].{field}"), "");
            }
        }
    }
    super::conditions::conditions(errors, "status.conditions", tree::items(policy, "status.conditions"));
}
