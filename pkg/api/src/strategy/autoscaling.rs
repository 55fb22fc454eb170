//! Autoscalers and disruption budgets.

use serde_json::Value;

use super::Strategy;
use crate::{
    kinds::autoscaling,
    tree,
    validation::{FieldErrors, autoscaling as rules, policy},
};

/// Autoscalers, in the form of either version.
pub(crate) struct Autoscalers {
    /// Whether objects are of v1, which keeps parts of v2 in annotations.
    old: bool,
}

impl Autoscalers {
    pub(crate) const V1: Autoscalers = Autoscalers { old: true };
    pub(crate) const V2: Autoscalers = Autoscalers { old: false };

    /// The object as v2 has it.
    fn v2<'a>(&self, hpa: &'a Value) -> std::borrow::Cow<'a, Value> {
        if !self.old {
            return std::borrow::Cow::Borrowed(hpa);
        }
        let mut hpa = hpa.clone();
        autoscaling::to_storage(&mut hpa);
        std::borrow::Cow::Owned(hpa)
    }
}

/// Takes these annotations from the object before.
fn keep_annotations(new: &mut Value, old: &Value, kept: [&str; 2]) {
    for name in kept {
        let before = &old["metadata"]["annotations"][name];
        if before == &new["metadata"]["annotations"][name] {
            continue;
        }
        let Some(annotations) = tree::object_mut(new, "metadata.annotations") else { return };
        match before {
            Value::Null => annotations.remove(name),
            before => annotations.insert(name.to_owned(), before.clone()),
        };
    }
}

impl Strategy for Autoscalers {
    fn prepare_for_create(&self, hpa: &mut Value) {
        if self.old {
            keep_annotations(hpa, &Value::Null, autoscaling::OF_STATUS);
        }
    }

    fn prepare_for_update(&self, new: &mut Value, old: &Value) {
        if self.old {
            keep_annotations(new, old, autoscaling::OF_STATUS);
        }
    }

    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        if self.old {
            keep_annotations(new, old, autoscaling::OF_SPEC);
        }
    }

    fn validate_create(&self, hpa: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        rules::autoscaler(&mut errors, &self.v2(hpa), None);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        rules::autoscaler(&mut errors, &self.v2(new), Some(&self.v2(old)));
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        rules::autoscaler_status(&mut errors, &self.v2(new));
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        self.v2(new).get("spec") != self.v2(old).get("spec")
    }
}

pub(crate) struct DisruptionBudgets;

impl Strategy for DisruptionBudgets {
    fn validate(&self, budget: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        policy::budget(&mut errors, budget);
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        policy::budget_status(&mut errors, new);
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }
}
