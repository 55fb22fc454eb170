//! Leases, events, priority classes and runtime classes.

use serde_json::Value;

use super::Strategy;
use crate::{
    tree,
    validation::{FieldErrors, labels, names, pod, resources},
};

pub(crate) struct Leases;

impl Strategy for Leases {
    fn validate(&self, lease: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let spec = tree::at(lease, "spec");
        if let Some(seconds) = tree::at(spec, "leaseDurationSeconds").as_i64().filter(|seconds| *seconds <= 0) {
            errors.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
        }
        if let Some(count) = tree::at(spec, "leaseTransitions").as_i64().filter(|count| *count < 0) {
            errors.invalid("spec.leaseTransitions", count, "must be greater than or equal to 0");
        }
        let strategy = tree::text(spec, "strategy");
        if !tree::text(spec, "preferredHolder").is_empty() && strategy.is_empty() {
            errors.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined");
        }
        if !strategy.is_empty() && strategy != "OldestEmulationVersion" {
            if strategy.contains('/') {
                errors.each("spec.strategy", strategy, names::qualified(strategy));
            } else {
                errors.not_supported("spec.strategy.strategy", strategy, &["OldestEmulationVersion"]);
            }
        }
        errors
    }
}

pub(crate) struct RuntimeClasses;

impl Strategy for RuntimeClasses {
    fn validate(&self, class: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let fixed = serde_json::json!({"limits": tree::at(class, "overhead.podFixed")});
        resources::requirements(&mut errors, "overhead", &fixed, &std::collections::BTreeSet::new());
        const SELECTOR: &str = "scheduling.nodeSelector";
        labels::labels(&mut errors, SELECTOR, tree::at(class, SELECTOR));
        const TOLERATIONS: &str = "scheduling.tolerations";
        let tolerations = tree::items(class, TOLERATIONS);
        pod::tolerations(&mut errors, TOLERATIONS, tolerations);
        let same = |a: &Value, b: &Value| ["key", "operator", "value", "effect"].iter().all(|f| a.get(f) == b.get(f));
        for (index, toleration) in tolerations.iter().enumerate() {
            if tolerations[..index].iter().any(|other| same(other, toleration)) {
                errors.duplicate(format!("{TOLERATIONS}[{index}]"), toleration.clone());
            }
        }
        match tree::text(class, "handler") {
            "" => errors.required("handler", ""),
            handler => errors.each("handler", handler, names::label(handler)),
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if tree::text(new, "handler") != tree::text(old, "handler") {
            errors.invalid("handler", Value::Null, crate::validation::IMMUTABLE);
        }
        errors
    }
}

/// Events, in the form of either group.
pub(crate) struct Events {
    /// Field of the object that the event is about.
    pub about: &'static str,
    /// Field of the reporter.
    pub reporter: &'static str,
    /// Field of the text.
    pub text: &'static str,
    /// Whether all rules for new events hold, as in `events.k8s.io`.
    pub strict: bool,
}

impl Events {
    pub(crate) const CORE: Events =
        Events { about: "involvedObject", reporter: "reportingComponent", text: "message", strict: false };
    pub(crate) const NEW: Events =
        Events { about: "regarding", reporter: "reportingController", text: "note", strict: true };
}

impl Strategy for Events {
    fn validate(&self, event: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let namespace = tree::text(event, "metadata.namespace");
        let about = tree::text(tree::at(event, self.about), "namespace");
        let new = tree::has(event, "eventTime");
        let fits = match (new, about) {
            (_, "") => namespace == "default" || new && namespace == "kube-system",
            (false, about) => about == namespace,
            (true, _) => true,
        };
        if !fits {
            errors.invalid("involvedObject.namespace", about, "does not match event.namespace");
        }
        if new {
            self.new_event(&mut errors, event);
        }
        errors
    }

    fn validate_create(&self, event: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if !self.strict {
            return errors;
        }
        series(&mut errors, event);
        if !tree::has(event, "eventTime") {
            errors.required("eventTime", "");
        }
        let kind = tree::text(event, "type");
        if !matches!(kind, "Normal" | "Warning") {
            errors.invalid("type", "", format!("has invalid value: {kind}"));
        }
        let former = [
            ("deprecatedFirstTimestamp", "firstTimestamp"),
            ("deprecatedLastTimestamp", "lastTimestamp"),
            ("deprecatedCount", "count"),
            ("deprecatedSource", "source"),
        ];
        for (field, reported) in former {
            let value = tree::at(event, field);
            if !tree::equal(value, &Value::Null) && value != 0 {
                errors.invalid(reported, "", "needs to be unset");
            }
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if self.strict {
            if !tree::equal(tree::at(new, "series"), tree::at(old, "series")) {
                series(&mut errors, new);
            }
            // A field, and what upstream calls it in messages.
            let fixed = [
                (self.about, "involvedObject"),
                ("reason", "reason"),
                (self.text, "message"),
                ("deprecatedSource", "source"),
                ("deprecatedFirstTimestamp", "firstTimestamp"),
                ("deprecatedLastTimestamp", "lastTimestamp"),
                ("deprecatedCount", "count"),
                ("type", "type"),
                ("eventTime", "eventTime"),
                ("action", "action"),
                ("related", "related"),
                (self.reporter, "reportingController"),
                ("reportingInstance", "reportingInstance"),
            ];
            // The other version of the kind shows empty texts, which this one leaves out.
            let unset = |value: &Value| value.is_null() || *value == "";
            for (field, shown) in fixed {
                let (now, before) = (tree::at(new, field), tree::at(old, field));
                if !(tree::equal(now, before) || unset(now) && unset(before)) {
                    errors.invalid(shown, now.clone(), crate::validation::IMMUTABLE);
                }
            }
        }
        errors
    }
}

impl Events {
    fn new_event(&self, errors: &mut FieldErrors, event: &Value) {
        let reporter = tree::text(event, self.reporter);
        if reporter.is_empty() {
            errors.required(self.reporter, "");
        }
        errors.each(self.reporter, reporter, names::qualified(reporter));
        for field in ["reportingInstance", "action", "reason"] {
            let value = tree::text(event, field);
            if value.is_empty() {
                errors.required(field, "");
            }
            if value.len() > 128 {
                errors.invalid(field, "", "can have at most 128 characters");
            }
        }
        if tree::text(event, self.text).len() > 1024 {
            errors.invalid("message", "", "can have at most 1024 characters");
        }
    }
}

fn series(errors: &mut FieldErrors, event: &Value) {
    if !tree::has(event, "series") {
        return;
    }
    if tree::int(event, "series.count") < 2 {
        errors.invalid("series.count", "", "should be at least 2");
    }
    if !tree::has(event, "series.lastObservedTime") {
        errors.required("series.lastObservedTime", "");
    }
}

pub(crate) struct PriorityClasses;

/// The classes that the system has, with their values.
const SYSTEM: [(&str, i64); 2] = [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];
const HIGHEST: i64 = 1_000_000_000;

impl Strategy for PriorityClasses {
    fn default(&self, class: &mut Value) {
        if tree::text(class, "preemptionPolicy").is_empty() {
            tree::set(class, "preemptionPolicy", "PreemptLowerPriority");
        }
    }

    fn validate(&self, class: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let (name, value) = (tree::text(class, "metadata.name"), tree::int(class, "value"));
        if name.starts_with("system-") {
            let known = SYSTEM.iter().find(|(known, _)| *known == name);
            let fault = match known {
                None => Some(format!("{name} is not a known system priority class")),
                Some((_, right)) if *right != value => Some(format!("value of {name} PriorityClass must be {right}")),
                Some(_) if tree::flag(class, "globalDefault") => {
                    Some(format!("globalDefault of {name} PriorityClass must be false"))
                }
                Some(_) => None,
            };
            if let Some(fault) = fault {
                let detail = format!(
                    "priority class names with 'system-' prefix are reserved for system use only. error: {fault}"
                );
                errors.forbidden("metadata.name", detail);
            }
        } else if value > HIGHEST {
            errors.forbidden("value", format!("maximum allowed value of a user defined priority is {HIGHEST}"));
        }
        match tree::text(class, "preemptionPolicy") {
            "" | "PreemptLowerPriority" | "Never" => {}
            other => errors.not_supported("preemptionPolicy", other, &["PreemptLowerPriority", "Never"]),
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if tree::int(new, "value") != tree::int(old, "value") {
            errors.forbidden("value", "may not be changed in an update.");
        }
        errors.immutable("preemptionPolicy", new, old);
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn generation_moves(&self, _new: &Value, _old: &Value) -> bool {
        false
    }
}
