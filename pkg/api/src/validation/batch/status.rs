//! Checks of a Job's status, and of how it changes. Each rule is asked only where the change touches
//! what it is about, so that an old fault does not hold up other writes.

use serde_json::Value;

use super::indexes;
use crate::{
    tree,
    validation::{FieldErrors, IMMUTABLE, resources::not_negative},
};

const CONDITIONS: &str = "status.conditions";

fn is(job: &Value, kind: &str) -> bool {
    tree::items(job, CONDITIONS).iter().any(|c| c["type"] == kind && c["status"] == "True")
}

fn finished(job: &Value) -> bool {
    is(job, "Complete") || is(job, "Failed")
}

/// Checks `status` of a Job that was `old` before.
pub fn job_status(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let status = tree::at(new, "status");
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        not_negative(errors, status, "status", field);
    }
    let mut seen = std::collections::HashSet::new();
    for part in ["succeeded", "failed"] {
        for (index, pod) in tree::texts(status, &format!("uncountedTerminatedPods.{part}")).enumerate() {
            let path = format!("status.uncountedTerminatedPods.{part}[{index}]");
            match pod {
                "" => errors.invalid(path, "", "must not be empty"),
                pod if !seen.insert(pod) => errors.duplicate(path, pod),
                _ => {}
            }
        }
    }
    pairs(errors, new, old);
    times(errors, new, old);
    counts(errors, new, old);
    lists(errors, new, old);
    lasting(errors, new, old);
}

fn changed(new: &Value, old: &Value, field: &str) -> bool {
    !tree::equal(tree::at(new, &format!("status.{field}")), tree::at(old, &format!("status.{field}")))
}

/// Conditions that exclude or need each other.
fn pairs(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let moved = |kind: &str| is(new, kind) != is(old, kind);
    let (complete, failed) = (is(new, "Complete"), is(new, "Failed"));
    let (target, criteria) = (is(new, "FailureTarget"), is(new, "SuccessCriteriaMet"));
    let rules = [
        (
            complete && failed && (moved("Complete") || moved("Failed")),
            "cannot set Complete=True and Failed=true conditions",
        ),
        (
            complete && target && (moved("Complete") || moved("FailureTarget")),
            "cannot set Complete=True and FailureTarget=true conditions",
        ),
        (
            failed && !target && (moved("Failed") || changed(new, old, "failedIndexes")),
            "cannot set Failed=True condition without the FailureTarget=true condition",
        ),
        (
            complete && !criteria && (moved("Complete") || moved("SuccessCriteriaMet")),
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
        (criteria && failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
        (criteria && target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
        (
            complete && !criteria && tree::has(new, "spec.successPolicy"),
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
    ];
    for (_, detail) in rules.into_iter().filter(|(broken, _)| *broken) {
        errors.unfit(CONDITIONS, detail);
    }
}

fn times(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const END: &str = "status.completionTime";
    const START: &str = "status.startTime";
    let (end, start) = (tree::at(new, END), tree::at(new, START));
    let complete = is(new, "Complete");
    if complete != is(old, "Complete") || changed(new, old, "completionTime") {
        if !end.is_null() && !complete {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            errors.invalid(END, end.clone(), detail);
        }
        if end.is_null() && complete {
            errors.required(END, "completionTime is required for Complete jobs");
        }
    }
    let moved = changed(new, old, "startTime") || changed(new, old, "completionTime");
    // Times of one form and zone are ordered as texts.
    if let (Some(end), Some(start)) = (end.as_str(), start.as_str())
        && moved
        && end < start
    {
        errors.invalid(END, end, "must be equal to or after `startTime`");
    }
    let suspended_empty = tree::flag(new, "spec.suspend") && tree::at(new, "spec.completions") == 0;
    let asked = finished(new) != finished(old) || changed(new, old, "startTime");
    if start.is_null() && finished(new) && asked && !suspended_empty {
        errors.required(START, "startTime is required for finished job");
    }
}

fn counts(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let ends = finished(new) != finished(old);
    let of = |field: &str| tree::int(new, &format!("status.{field}"));
    if finished(new) && (ends || changed(new, old, "active")) && of("active") > 0 {
        errors.invalid("status.active", of("active"), "active>0 is invalid for finished job");
    }
    let uncounted = tree::at(new, "status.uncountedTerminatedPods");
    if finished(new)
        && (ends || changed(new, old, "uncountedTerminatedPods"))
        && ["failed", "succeeded"].iter().any(|part| !tree::items(uncounted, part).is_empty())
    {
        errors.invalid("status.uncountedTerminatedPods", uncounted.clone(), "must be empty for finished job");
    }
    if finished(new) && (ends || changed(new, old, "terminating")) && of("terminating") > 0 {
        errors.invalid("status.terminating", of("terminating"), "terminating>0 is invalid for finished job");
    }
    if (changed(new, old, "ready") || changed(new, old, "active")) && of("ready") > of("active") {
        errors.invalid("status.ready", of("ready"), "cannot set more ready pods than active");
    }
}

fn lists(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let completions = tree::at(new, "spec.completions").as_i64();
    let done = tree::text(new, "status.completedIndexes");
    let failed = tree::at(new, "status.failedIndexes").as_str();
    let (done_moved, failed_moved) = (changed(new, old, "completedIndexes"), changed(new, old, "failedIndexes"));
    let per_index = tree::has(new, "spec.backoffLimitPerIndex");
    let parse = |errors: &mut FieldErrors, field: &str, list: &str, completions: i64| {
        if let Err(fault) = indexes::count(list, completions) {
            errors.invalid(format!("status.{field}"), list, format!("error parsing {field}: {fault}"));
        }
    };
    if let Some(completions) = completions {
        if done_moved {
            parse(errors, "completedIndexes", done, completions);
        }
        if let Some(failed) = failed.filter(|_| failed_moved && per_index) {
            parse(errors, "failedIndexes", failed, completions);
        }
    }
    if done_moved && !done.is_empty() && tree::text(new, "spec.completionMode") != "Indexed" {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.invalid("status.completedIndexes", done, detail);
    }
    if let Some(failed) = failed {
        if failed_moved && !per_index {
            let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
            errors.invalid("status.failedIndexes", failed, detail);
        }
        let both = completions.filter(|_| done_moved || failed_moved);
        if let Some(index) = both.and_then(|completions| indexes::overlap(done, failed, completions)) {
            let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
            errors.invalid("status.failedIndexes", failed, detail);
        }
    }
}

/// What may not be taken back.
fn lasting(errors: &mut FieldErrors, new: &Value, old: &Value) {
    for kind in ["Failed", "Complete", "FailureTarget"] {
        if is(old, kind) && !is(new, kind) {
            errors.unfit(CONDITIONS, format!("cannot disable the terminal {kind}=True condition"));
        }
    }
    let spec = tree::at(new, "spec");
    let elastic = tree::text(spec, "completionMode") == "Indexed"
        && tree::at(spec, "completions") == tree::at(spec, "parallelism");
    for (field, kept) in [("failed", true), ("succeeded", !elastic)] {
        let path = format!("status.{field}");
        let now = tree::int(new, &path);
        if kept && now < tree::int(old, &path) {
            errors.invalid(path, now, format!("cannot decrease the {field} counter"));
        }
    }
    let (end, had_end) = (tree::at(new, "status.completionTime"), tree::at(old, "status.completionTime"));
    if !end.is_null() && !had_end.is_null() && end != had_end {
        errors.invalid("status.completionTime", end.clone(), IMMUTABLE);
    }
    let suspended = |job: &Value, status: &str| {
        tree::items(job, CONDITIONS).iter().any(|c| c["type"] == "Suspended" && c["status"] == status)
    };
    let resumes = suspended(old, "True") && suspended(new, "False");
    let had_start = tree::has(old, "status.startTime");
    if had_start && changed(new, old, "startTime") && !resumes && !tree::flag(spec, "suspend") {
        let detail = "field is immutable for unsuspended job once set";
        errors.invalid("status.startTime", tree::at(new, "status.startTime").clone(), detail);
    }
    if is(old, "SuccessCriteriaMet") && !is(new, "SuccessCriteriaMet") {
        errors.unfit(CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition");
    }
    if is(old, "Complete") && !is(old, "SuccessCriteriaMet") && is(new, "SuccessCriteriaMet") {
        let detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        errors.unfit(CONDITIONS, detail);
    }
}
