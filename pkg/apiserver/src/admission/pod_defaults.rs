//! Tolerations that every pod has, so that it outlives a short absence of its node.

use api::{Status, Value};
use serde_json::json;

use super::{Attributes, Operation, Plugin};

/// Upstream's DefaultTolerationSeconds.
pub struct DefaultTolerations;

const TAINTS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const SECONDS: i64 = 300;

#[async_trait::async_trait]
impl Plugin for DefaultTolerations {
    fn name(&self) -> &'static str {
        "DefaultTolerationSeconds"
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        if attributes.is_core("pods") && attributes.operation == Operation::Create {
            tolerate(object);
        }
        Ok(())
    }
}

fn tolerate(pod: &mut Value) {
    let tolerations = &mut pod["spec"]["tolerations"];
    if tolerations.is_null() {
        *tolerations = json!([]);
    }
    let Some(tolerations) = tolerations.as_array_mut() else { return };
    for taint in TAINTS {
        let covered = tolerations.iter().any(|t| {
            let key = t["key"].as_str().unwrap_or_default();
            let effect = t["effect"].as_str().unwrap_or_default();
            (key == taint || key.is_empty()) && (effect == "NoExecute" || effect.is_empty())
        });
        if !covered {
            tolerations.push(json!({
                "key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_are_added_once() {
        let mut pod = json!({"spec": {"tolerations": [{"key": TAINTS[0], "operator": "Exists", "effect": "NoExecute"}]}});
        tolerate(&mut pod);
        assert_eq!(pod["spec"]["tolerations"].as_array().unwrap().len(), 2);
        let again = pod.clone();
        tolerate(&mut pod);
        assert_eq!(pod, again);
        let mut all = json!({"spec": {"tolerations": [{"operator": "Exists"}]}});
        tolerate(&mut all);
        assert_eq!(all["spec"]["tolerations"].as_array().unwrap().len(), 1);
    }
}
