//! Checks of Jobs and CronJobs.
//!
//! Source: `pkg/apis/batch/validation`.

use serde_json::Value;

use super::{
    FieldErrors, labels, names, repeated,
    resources::not_negative,
    schedule,
    workload::{self, immutable},
};
use crate::tree;

mod indexes;
mod status;

pub use status::job_status;

/// Completions above which a Job with a limit per index has further limits.
const MANY: i64 = 100_000;
/// Those limits.
const AT_ONCE: i64 = 10_000;
const RULES: usize = 20;
const EXIT_CODES: usize = 255;
const INDEXES: usize = 64 * 1024;
const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
/// Label of the Job's name and UID, in both spellings.
const LABELS: [(&str, &str); 4] = [
    ("controller-uid", "uid"),
    ("job-name", "name"),
    ("batch.kubernetes.io/controller-uid", "uid"),
    ("batch.kubernetes.io/job-name", "name"),
];

/// Checks a Job; `old` is the one before, if any.
pub fn job(errors: &mut FieldErrors, job: &Value, old: Option<&Value>) {
    let spec = tree::at(job, "spec");
    if old.is_none() {
        generated_selector(errors, job);
    }
    job_spec(errors, "spec", spec);
    let selector = tree::at(spec, "selector");
    if selector.is_null() {
        errors.required("spec.selector", "");
    } else {
        labels::selector(errors, "spec.selector", selector);
    }
    let template_labels = tree::at(spec, "template.metadata.labels");
    if !labels::selects(selector, template_labels) {
        let detail = "`selector` does not match template `labels`";
        errors.invalid("spec.template.metadata.labels", template_labels.clone(), detail);
    }
    if let Some(old) = old {
        job_update(errors, job, old);
    }
    let completions = tree::int(spec, "completions");
    if tree::text(spec, "completionMode") == "Indexed" && completions > 0 {
        let name = tree::text(job, "metadata.name");
        let host = format!("{name}-{}", completions - 1);
        if !names::label(&host).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {host}");
            errors.invalid("metadata.name", name, detail);
        }
    }
}

/// The selector that the server makes, and the labels that it selects.
fn generated_selector(errors: &mut FieldErrors, job: &Value) {
    let selector = tree::at(job, "spec.selector");
    if tree::flag(job, "spec.manualSelector") || selector.is_null() {
        return;
    }
    let labels = tree::at(job, "spec.template.metadata.labels");
    let mut expected = serde_json::Map::new();
    for (label, field) in LABELS {
        let value = tree::text(job, &format!("metadata.{field}"));
        let path = format!("spec.template.metadata.labels[{label}]");
        match labels.get(label) {
            None => errors.required(path, format!("must be '{value}'")),
            Some(found) if found != value => errors.invalid(path, labels.clone(), format!("must be '{value}'")),
            Some(_) => {}
        }
        expected.insert(label.to_owned(), value.into());
    }
    if !labels::selects(selector, &expected.into()) {
        errors.invalid("spec.selector", selector.clone(), "`selector` not auto-generated");
    }
}

/// Checks the specification of a Job at `path`, but for its selector.
fn job_spec(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let counts = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    for field in counts {
        not_negative(errors, spec, path, field);
    }
    if tree::has(spec, "maxFailedIndexes") && !tree::has(spec, "backoffLimitPerIndex") {
        errors.required(format!("{path}.backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    if let Some(manager) = tree::at(spec, "managedBy").as_str() {
        let path = format!("{path}.managedBy");
        names::prefixed_path(errors, &path, manager);
        if manager.len() > 63 {
            errors.too_long(path, 63);
        }
    }
    completion_mode(errors, path, spec);
    if tree::has(spec, "podFailurePolicy") {
        failure_policy(errors, &format!("{path}.podFailurePolicy.rules"), spec);
    }
    if tree::has(spec, "successPolicy") {
        success_policy(errors, &format!("{path}.successPolicy"), spec);
    }
    if let Some(policy) = tree::at(spec, "podReplacementPolicy").as_str() {
        let allowed: &[&str] =
            if tree::has(spec, "podFailurePolicy") { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
        if !allowed.contains(&policy) {
            errors.not_supported(format!("{path}.podReplacementPolicy"), policy, allowed);
        }
    }
    workload::template(errors, &format!("{path}.template"), tree::at(spec, "template"));
    let at = format!("{path}.template.spec.restartPolicy");
    match tree::text(spec, "template.spec.restartPolicy") {
        "Always" | "" => errors.required(at, "valid values: \"OnFailure\", \"Never\""),
        "Never" => {}
        policy @ "OnFailure" if tree::has(spec, "podFailurePolicy") => {
            errors.invalid(at, policy, "only \"Never\" is supported when podFailurePolicy is specified");
        }
        "OnFailure" => {}
        other => errors.not_supported(at, other, &["OnFailure", "Never"]),
    }
}

fn completion_mode(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let mode = tree::at(spec, "completionMode").as_str();
    if let Some(mode) = mode.filter(|mode| !matches!(*mode, "NonIndexed" | "Indexed")) {
        errors.not_supported(format!("{path}.completionMode"), mode, &["NonIndexed", "Indexed"]);
    }
    if matches!(mode, None | Some("NonIndexed")) {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(number) = tree::at(spec, field).as_i64() {
                errors.invalid(format!("{path}.{field}"), number, "requires indexed completion mode");
            }
        }
    }
    if mode != Some("Indexed") {
        return;
    }
    let number = |field: &str| tree::at(spec, field).as_i64();
    let (completions, parallel, failed) = (number("completions"), number("parallelism"), number("maxFailedIndexes"));
    let refuse = |errors: &mut FieldErrors, field: &str, value: Option<i64>, limit: i64, suffix: &str| {
        if let Some(value) = value.filter(|value| *value > limit) {
            errors.invalid(format!("{path}.{field}"), value, format!("must be less than or equal to {limit}{suffix}"));
        }
    };
    if completions.is_none() {
        errors.required(format!("{path}.completions"), "when completion mode is Indexed");
    }
    refuse(errors, "parallelism", parallel, MANY, " when completion mode is Indexed");
    if let (Some(completions), Some(failed)) = (completions, failed)
        && failed > completions
    {
        errors.invalid(format!("{path}.maxFailedIndexes"), failed, "must be less than or equal to completions");
    }
    refuse(errors, "maxFailedIndexes", failed, MANY, "");
    if completions.is_some_and(|completions| completions > MANY) && tree::has(spec, "backoffLimitPerIndex") {
        if failed.is_none() {
            let detail = format!("must be specified when completions is above {MANY}");
            errors.required(format!("{path}.maxFailedIndexes"), detail);
        }
        let suffix = format!(" when completions are above {MANY} and used with backoff limit per index");
        refuse(errors, "parallelism", parallel, AT_ONCE, &suffix);
        refuse(errors, "maxFailedIndexes", failed, AT_ONCE, &suffix);
    }
}

/// `valid values: ["A" "B"]`
fn valid_values(values: &[&str]) -> String {
    let values: Vec<_> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("valid values: [{}]", values.join(" "))
}

fn failure_policy(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let rules = tree::items(spec, "podFailurePolicy.rules");
    if rules.len() > RULES {
        errors.too_many(path, rules.len(), RULES);
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let at = format!("{path}.action");
        match tree::text(rule, "action") {
            "" => errors.required(at, valid_values(&ACTIONS)),
            action @ "FailIndex" if !tree::has(spec, "backoffLimitPerIndex") => {
                errors.invalid(at, action, "requires the backoffLimitPerIndex to be set");
            }
            action if !ACTIONS.contains(&action) => errors.not_supported(at, action, &ACTIONS),
            _ => {}
        }
        let (codes, conditions) = (tree::at(rule, "onExitCodes"), tree::items(rule, "onPodConditions"));
        if !codes.is_null() {
            exit_codes(errors, &format!("{path}.onExitCodes"), codes, spec);
        }
        pod_conditions(errors, &format!("{path}.onPodConditions"), conditions);
        match (codes.is_null(), conditions.is_empty()) {
            (false, false) => {
                errors.unfit(path, "specifying both OnExitCodes and OnPodConditions is not supported");
            }
            (true, true) => errors.unfit(path, "specifying one of OnExitCodes and OnPodConditions is required"),
            _ => {}
        }
    }
}

fn exit_codes(errors: &mut FieldErrors, path: &str, codes: &Value, spec: &Value) {
    let operator = tree::text(codes, "operator");
    match operator {
        "" => errors.required(format!("{path}.operator"), valid_values(&["In", "NotIn"])),
        "In" | "NotIn" => {}
        other => errors.not_supported(format!("{path}.operator"), other, &["In", "NotIn"]),
    }
    let containers = ["template.spec.containers", "template.spec.initContainers"];
    let known = |name: &str| containers.iter().any(|list| tree::items(spec, list).iter().any(|c| c["name"] == name));
    if let Some(name) = tree::at(codes, "containerName").as_str().filter(|name| !known(name)) {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.invalid(format!("{path}.containerName"), name, detail);
    }
    let all = tree::at(codes, "values");
    let values: Vec<_> = tree::items(codes, "values").iter().filter_map(Value::as_i64).collect();
    let path = format!("{path}.values");
    if values.is_empty() {
        errors.invalid(path.clone(), all.clone(), "at least one value is required");
    } else if values.len() > EXIT_CODES {
        errors.too_many(path.clone(), values.len(), EXIT_CODES);
    }
    let again = repeated(&values);
    for (index, value) in values.iter().enumerate() {
        let path = format!("{path}[{index}]");
        if operator == "In" && *value == 0 {
            errors.invalid(path.clone(), 0, "must not be 0 for the In operator");
        }
        if again[index] {
            errors.duplicate(path, *value);
        }
    }
    if !values.is_sorted() {
        errors.invalid(path, all.clone(), "must be ordered");
    }
}

fn pod_conditions(errors: &mut FieldErrors, path: &str, conditions: &[Value]) {
    if conditions.len() > RULES {
        errors.too_many(path, conditions.len(), RULES);
    }
    for (index, condition) in conditions.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let kind = tree::text(condition, "type");
        errors.each(format!("{path}.type"), kind, names::qualified(kind));
        match tree::text(condition, "status") {
            "" => errors.required(format!("{path}.status"), valid_values(&STATUSES)),
            status if !STATUSES.contains(&status) => {
                errors.not_supported(format!("{path}.status"), status, &STATUSES);
            }
            _ => {}
        }
    }
}

fn success_policy(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let policy = tree::at(spec, "successPolicy");
    if tree::text(spec, "completionMode") != "Indexed" {
        return errors.invalid(path, policy.clone(), "requires indexed completion mode");
    }
    let path = format!("{path}.rules");
    let rules = tree::items(policy, "rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.required(path.clone(), detail);
    }
    if rules.len() > RULES {
        errors.too_many(path.clone(), rules.len(), RULES);
    }
    let completions = tree::int(spec, "completions");
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let (count, list) = (tree::at(rule, "succeededCount").as_i64(), tree::at(rule, "succeededIndexes").as_str());
        if count.is_none() && list.is_none() {
            errors.required(path.clone(), "at least one of succeededCount or succeededIndexes must be specified");
        }
        let mut total = None;
        if let Some(list) = list {
            let at = format!("{path}.succeededIndexes");
            if list.len() > INDEXES {
                errors.too_long(at.clone(), INDEXES);
            }
            match indexes::count(list, completions) {
                Ok(count) => total = Some(count),
                Err(fault) => {
                    total = Some(0);
                    errors.invalid(at, list, format!("error parsing succeededIndexes: {fault}"));
                }
            }
        }
        let at = format!("{path}.succeededCount");
        not_negative(errors, rule, &path, "succeededCount");
        if let Some(count) = count.filter(|count| *count > completions) {
            let detail = format!("must be less than or equal to {completions} (the number of specified completions)");
            errors.invalid(at.clone(), count, detail);
        }
        if let (Some(count), Some(total)) = (count, total)
            && count > total
        {
            let detail = format!(
                "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
            );
            errors.invalid(at, count, detail);
        }
    }
}

fn job_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const COMPLETIONS: &str = "spec.completions";
    let (now, before) = (tree::at(new, COMPLETIONS), tree::at(old, COMPLETIONS));
    if tree::text(new, "spec.completionMode") != "Indexed" {
        immutable(errors, new, old, &[COMPLETIONS]);
    } else if now != before && !now.is_null() && now != tree::at(new, "spec.parallelism") {
        errors.invalid(COMPLETIONS, now.clone(), "can only be modified in tandem with spec.parallelism");
    }
    immutable(errors, new, old, &["spec.selector"]);
    template_update(errors, new, old);
    let fixed = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];
    immutable(errors, new, old, &fixed.map(|field| format!("spec.{field}")));
}

/// The template stays, but for where and with what the pods of a suspended Job will run.
fn template_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const PATH: &str = "spec.template";
    let (now, mut before) = (tree::at(new, PATH), tree::at(old, PATH).clone());
    let suspended = tree::flag(old, "spec.suspend");
    let condition =
        |kind: &str| tree::items(old, "status.conditions").iter().any(|c| c["type"] == kind && c["status"] == "True");
    let idle = !tree::has(old, "status.startTime") || condition("Suspended");
    let mutable = suspended && idle && tree::int(old, "status.active") == 0;
    if mutable {
        for field in [
            "spec.affinity.nodeAffinity",
            "spec.nodeSelector",
            "spec.tolerations",
            "spec.schedulingGates",
            "metadata.annotations",
            "metadata.labels",
        ] {
            tree::set(&mut before, field, tree::at(now, field).clone());
        }
        for list in ["containers", "initContainers"] {
            let path = format!("spec.{list}");
            let count = tree::items(&before, &path).len();
            let containers = before["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            for (container, new) in containers.zip(tree::items(now, &path)) {
                if tree::items(now, &path).len() == count && container["name"] == new["name"] {
                    container["resources"] = new["resources"].clone();
                }
            }
        }
    }
    if !tree::equal(now, &before) {
        let (path, shown) = if suspended && mutable { ("spec.template.spec", &now["spec"]) } else { (PATH, now) };
        errors.invalid(path, shown.clone(), super::IMMUTABLE);
    }
}

/// Checks a CronJob; `old` is the one before, if any.
pub fn cron_job(errors: &mut FieldErrors, job: &Value, old: Option<&Value>) {
    let spec = tree::at(job, "spec");
    let (text, zone) = (tree::text(spec, "schedule"), tree::at(spec, "timeZone"));
    if !text.is_empty() {
        if let Some(fault) = schedule::fault(text) {
            errors.invalid("spec.schedule", text, fault);
        }
        let had_zone = old.is_some_and(|old| tree::text(old, "spec.schedule").contains("TZ"));
        match (text.contains("TZ"), had_zone) {
            (true, true) if !zone.is_null() => {
                let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
                errors.invalid("spec.schedule", text, detail);
            }
            (true, false) => {
                let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
                errors.invalid("spec.schedule", text, detail);
            }
            _ => {}
        }
    }
    not_negative(errors, spec, "spec", "startingDeadlineSeconds");
    if let Some(zone) = zone.as_str()
        && old.is_none_or(|old| tree::at(old, "spec.timeZone") != zone)
    {
        schedule::time_zone(errors, "spec.timeZone", zone);
    }
    match tree::text(spec, "concurrencyPolicy") {
        "Allow" | "Forbid" | "Replace" => {}
        "" => errors.required("spec.concurrencyPolicy", ""),
        other => errors.not_supported("spec.concurrencyPolicy", other, &["Allow", "Forbid", "Replace"]),
    }
    let template = tree::at(spec, "jobTemplate.spec");
    job_spec(errors, "spec.jobTemplate.spec", template);
    if let Some(selector) = template.get("selector").filter(|selector| !selector.is_null()) {
        errors.invalid("spec.jobTemplate.spec.selector", selector.clone(), "`selector` will be auto-generated");
    }
    if tree::flag(template, "manualSelector") {
        errors.not_supported("spec.jobTemplate.spec.manualSelector", true, &["nil", "false"]);
    }
    for field in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        not_negative(errors, spec, "spec", field);
    }
    if text.is_empty() {
        errors.required("spec.schedule", "");
    }
}
