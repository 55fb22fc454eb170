//! Containers of all three sorts.

use std::collections::HashSet;

use serde_json::Value;

use super::{Context, env, one_of, one_of_given, probes, security, volumes};
use crate::{
    tree,
    validation::{FieldErrors, names, repeated, resources},
};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Fields of a container that an ephemeral one may not set.
const NOT_EPHEMERAL: [&str; 8] = [
    "ports",
    "resources",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "resizePolicy",
    "restartPolicy",
];

pub(super) fn all(errors: &mut FieldErrors, path: &str, context: &Context) {
    main(errors, &format!("{path}.containers"), context);
    init(errors, &format!("{path}.initContainers"), context);
    ephemeral(errors, &format!("{path}.ephemeralContainers"), context);
}

fn main(errors: &mut FieldErrors, path: &str, context: &Context) {
    let containers = tree::items(context.spec, "containers");
    if containers.is_empty() {
        return errors.required(path, "");
    }
    let mut seen = HashSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = format!("{path}[{index}]");
        common(errors, &path, container, context);
        let name = tree::text(container, "name");
        if seen.contains(name) {
            errors.duplicate(format!("{path}.name"), name);
        }
        seen.insert(name);
        probes::lifecycle(errors, &path, container, context.grace);
        probes::probes(errors, &path, container, context.grace);
        restart_policy(errors, &path, container);
    }
    host_ports(errors, path, containers);
}

fn init(errors: &mut FieldErrors, path: &str, context: &Context) {
    let name_of = |container| tree::text(container, "name");
    let mut seen: HashSet<_> = tree::items(context.spec, "containers").iter().map(name_of).collect();
    for (index, container) in tree::items(context.spec, "initContainers").iter().enumerate() {
        let path_of_all = path;
        let path = format!("{path}[{index}]");
        common(errors, &path, container, context);
        restart_policy(errors, &path, container);
        let name = tree::text(container, "name");
        if seen.contains(name) {
            errors.duplicate(format!("{path}.name"), name);
        } else if !name.is_empty() {
            seen.insert(name);
        }
        host_ports(errors, path_of_all, std::slice::from_ref(container));
        if container["restartPolicy"] == "Always" {
            probes::lifecycle(errors, &path, container, context.grace);
            probes::probes(errors, &path, container, context.grace);
        } else {
            for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if tree::has(container, field) {
                    let detail = "may not be set for init containers without restartPolicy=Always";
                    errors.forbidden(format!("{path}.{field}"), detail);
                }
            }
            for (at, policy) in tree::items(container, "resizePolicy").iter().enumerate() {
                if policy["restartPolicy"] == "RestartContainer" {
                    let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                    errors.invalid(format!("{path}.resizePolicy[{at}].restartPolicy"), "RestartContainer", detail);
                }
            }
        }
    }
}

fn ephemeral(errors: &mut FieldErrors, path: &str, context: &Context) {
    let spec = context.spec;
    let names_of = |field| tree::items(spec, field).iter().map(|c| tree::text(c, "name"));
    let others: HashSet<_> = names_of("containers").chain(names_of("initContainers")).collect();
    let mut seen = others.clone();
    for (index, container) in tree::items(spec, "ephemeralContainers").iter().enumerate() {
        let path = format!("{path}[{index}]");
        common(errors, &path, container, context);
        let name = tree::text(container, "name");
        if seen.contains(name) {
            errors.duplicate(format!("{path}.name"), name);
        }
        seen.insert(name);
        let target = tree::text(container, "targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            errors.not_found(format!("{path}.targetContainerName"), target);
        }
        for field in NOT_EPHEMERAL {
            if !tree::equal(tree::at(container, field), &Value::Null) {
                errors.forbidden(format!("{path}.{field}"), "cannot be set for an Ephemeral Container");
            }
        }
        for (mount_index, mount) in tree::items(container, "volumeMounts").iter().enumerate() {
            for field in ["subPath", "subPathExpr"] {
                if !tree::text(mount, field).is_empty() {
                    let path = format!("{path}.volumeMounts[{mount_index}].{field}");
                    errors.forbidden(path, "cannot be set for an Ephemeral Container");
                }
            }
        }
    }
}

fn common(errors: &mut FieldErrors, path: &str, container: &Value, context: &Context) {
    match tree::text(container, "name") {
        "" => errors.required(format!("{path}.name"), ""),
        name => errors.each(format!("{path}.name"), name, names::label(name)),
    }
    if tree::text(container, "image").is_empty() {
        errors.required(format!("{path}.image"), "");
    }
    one_of(errors, path, container, "terminationMessagePolicy", &["File", "FallbackToLogsOnError"]);
    ports(errors, &format!("{path}.ports"), container);
    env::env(errors, &format!("{path}.env"), container);
    env::env_from(errors, &format!("{path}.envFrom"), container);
    volumes::mounts(errors, path, container, context);
    one_of(errors, path, container, "imagePullPolicy", &["Always", "IfNotPresent", "Never"]);
    let resources = tree::at(container, "resources");
    resources::requirements(errors, &format!("{path}.resources"), resources, &context.claims);
    resize_policy(errors, &format!("{path}.resizePolicy"), container, context);
    let host_users = tree::at(context.spec, "hostUsers").as_bool() != Some(false);
    let security = tree::at(container, "securityContext");
    security::of_container(errors, &format!("{path}.securityContext"), security, host_users);
}

fn resize_policy(errors: &mut FieldErrors, path: &str, container: &Value, context: &Context) {
    let policies = tree::items(container, "resizePolicy");
    let doubled = repeated(policies.iter().map(|policy| tree::text(policy, "resourceName")));
    for (index, policy) in policies.iter().enumerate() {
        let (resource, restart) = (tree::text(policy, "resourceName"), tree::text(policy, "restartPolicy"));
        if doubled[index] {
            errors.duplicate(format!("{path}[{index}]"), resource);
        }
        for (text, allowed) in [(resource, ["cpu", "memory"]), (restart, ["NotRequired", "RestartContainer"])] {
            match text {
                "" => errors.required(path, ""),
                text => one_of_given(errors, path, text, &allowed),
            }
        }
        if tree::text(context.spec, "restartPolicy") == "Never" && restart != "NotRequired" {
            errors.invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
        }
    }
}

fn ports(errors: &mut FieldErrors, path: &str, container: &Value) {
    let mut seen = HashSet::new();
    for (index, port) in tree::items(container, "ports").iter().enumerate() {
        let path = format!("{path}[{index}]");
        let name = tree::text(port, "name");
        if !name.is_empty() {
            let faults = names::port_name(name);
            if !faults.is_empty() {
                errors.each(format!("{path}.name"), name, faults);
            } else if seen.contains(name) {
                errors.duplicate(format!("{path}.name"), name);
            } else {
                seen.insert(name);
            }
        }
        match tree::int(port, "containerPort") {
            0 => errors.required(format!("{path}.containerPort"), ""),
            number => errors.each(format!("{path}.containerPort"), number, names::port_number(number)),
        }
        let host = tree::int(port, "hostPort");
        if host != 0 {
            errors.each(format!("{path}.hostPort"), host, names::port_number(host));
        }
        one_of(errors, &path, port, "protocol", &PROTOCOLS);
    }
}

/// A port of the host may be taken once.
fn host_ports(errors: &mut FieldErrors, path: &str, containers: &[Value]) {
    let mut taken = HashSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in tree::items(container, "ports").iter().enumerate() {
            let number = tree::int(port, "hostPort");
            if number == 0 {
                continue;
            }
            let key = format!("{}/{}/{number}", tree::text(port, "protocol"), tree::text(port, "hostIP"));
            if taken.contains(&key) {
                errors.duplicate(format!("{path}[{index}].ports[{port_index}].hostPort"), key);
            } else {
                taken.insert(key);
            }
        }
    }
}

fn restart_policy(errors: &mut FieldErrors, path: &str, container: &Value) {
    let (policy, rules) = (tree::text(container, "restartPolicy"), tree::items(container, "restartPolicyRules"));
    if policy.is_empty() && !rules.is_empty() {
        errors.required(format!("{path}.restartPolicy"), "must specify restartPolicy when restart rules are used");
    }
    one_of_given(errors, &format!("{path}.restartPolicy"), policy, &["Always", "Never", "OnFailure"]);
    if rules.len() > 20 {
        errors.too_many(format!("{path}.restartPolicyRules"), rules.len(), 20);
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("{path}.restartPolicyRules[{index}]");
        let action = tree::text(rule, "action");
        let actions = ["Restart", "RestartAllContainers"];
        if !actions.contains(&action) {
            errors.not_supported(format!("{path}.action"), action, &actions);
        }
        let codes = tree::at(rule, "exitCodes");
        if codes.is_null() {
            errors.required(format!("{path}.exitCodes"), "must be specified");
            continue;
        }
        let operator = tree::text(codes, "operator");
        if !matches!(operator, "In" | "NotIn") {
            errors.not_supported(format!("{path}.exitCodes.operator"), operator, &["In", "NotIn"]);
        }
        let count = tree::items(codes, "values").len();
        if count > 255 {
            errors.too_many(format!("{path}.exitCodes.values"), count, 255);
        }
    }
}
