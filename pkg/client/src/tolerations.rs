//! Which taints a pod puts up with.

use k8s_openapi::api::core::v1::{Taint, Toleration};

use crate::slim::Pod;

/// The tolerations of a pod.
pub fn of(pod: &Pod) -> &[Toleration] {
    pod.spec.as_ref().and_then(|s| s.tolerations.as_deref()).unwrap_or_default()
}

/// Whether a toleration covers a taint, by the rules of the API reference (core/v1 `Toleration`): an empty effect or
/// key stands for all of them, no operator for `Equal`; `Lt` and `Gt` compare the taint's value with the toleration's
/// as whole numbers, and what is no number is not covered.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let key = toleration.key.as_deref().unwrap_or_default();
    let effect = toleration.effect.as_deref().unwrap_or_default();
    let bound = toleration.value.as_deref().unwrap_or_default();
    let value = taint.value.as_deref().unwrap_or_default();
    let numbers = || Some((value.parse::<i64>().ok()?, bound.parse::<i64>().ok()?));
    let covers_value = match toleration.operator.as_deref().unwrap_or_default() {
        "" | "Equal" => bound == value,
        "Exists" => true,
        "Lt" => numbers().is_some_and(|(value, bound)| value < bound),
        "Gt" => numbers().is_some_and(|(value, bound)| value > bound),
        _ => false,
    };
    (effect.is_empty() || effect == taint.effect) && (key.is_empty() || key == taint.key) && covers_value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_cover_taints() {
        // toleration's key, operator, value, effect; taint's key, value, effect; covered
        for (key, operator, bound, effect, taint_key, value, taint_effect, want) in [
            ("a", "Equal", "x", "NoSchedule", "a", "x", "NoSchedule", true),
            ("a", "", "x", "NoSchedule", "a", "x", "NoSchedule", true),
            ("a", "Equal", "y", "NoSchedule", "a", "x", "NoSchedule", false),
            ("b", "Equal", "x", "NoSchedule", "a", "x", "NoSchedule", false),
            ("a", "Equal", "x", "NoExecute", "a", "x", "NoSchedule", false),
            ("a", "Equal", "x", "", "a", "x", "NoExecute", true),
            ("a", "Equal", "", "", "a", "", "NoExecute", true),
            ("a", "Exists", "", "NoSchedule", "a", "x", "NoSchedule", true),
            ("b", "Exists", "", "NoSchedule", "a", "x", "NoSchedule", false),
            ("", "Exists", "", "", "a", "x", "NoSchedule", true),
            ("", "Exists", "", "NoExecute", "a", "x", "NoSchedule", false),
            ("", "Equal", "x", "", "a", "x", "NoSchedule", true),
            ("", "Equal", "", "", "a", "x", "NoSchedule", false),
            ("a", "Lt", "10", "", "a", "9", "NoSchedule", true),
            ("a", "Lt", "10", "", "a", "10", "NoSchedule", false),
            ("a", "Gt", "10", "", "a", "11", "NoSchedule", true),
            ("a", "Gt", "10", "", "a", "9", "NoSchedule", false),
            ("a", "Gt", "10", "", "a", "many", "NoSchedule", false),
            ("a", "In", "x", "", "a", "x", "NoSchedule", false),
        ] {
            let text = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
            let toleration = Toleration {
                key: text(key),
                operator: text(operator),
                value: text(bound),
                effect: text(effect),
                ..Toleration::default()
            };
            let taint = Taint {
                key: taint_key.to_owned(),
                value: text(value),
                effect: taint_effect.to_owned(),
                ..Taint::default()
            };
            assert_eq!(tolerates(&toleration, &taint), want, "{toleration:?} {taint:?}");
        }
    }
}
