//! Devices: when a taint was added is written down where nobody says so, and anew when its effect
//! changes.

use api::{Status, Value, tree};

use super::{Attributes, Plugin};

/// See the module. Upstream does this in defaulting and in its strategy, which have clocks.
pub struct TaintTimes;

#[async_trait::async_trait]
impl Plugin for TaintTimes {
    fn name(&self) -> &'static str {
        "DeviceTaintTimes"
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        let call = attributes.call;
        if &*call.kind.group != "resource.k8s.io" || !attributes.subresource.is_empty() {
            return Ok(());
        }
        let now = call.timestamp();
        match &*call.kind.plural {
            "devicetaintrules" => {
                let old = attributes.old.map(|old| tree::at(old, "spec.taint"));
                if let Some(taint) = object.pointer_mut("/spec/taint").filter(|taint| taint.is_object()) {
                    let other = old
                        .is_some_and(|old| old["effect"] != taint["effect"] && old["timeAdded"] == taint["timeAdded"]);
                    if other || taint["timeAdded"].is_null() {
                        taint["timeAdded"] = now.into();
                    }
                }
            }
            "resourceslices" => {
                let devices = object.pointer_mut("/spec/devices").and_then(Value::as_array_mut);
                for device in devices.into_iter().flatten() {
                    let taints = device.get_mut("taints").and_then(Value::as_array_mut);
                    for taint in taints.into_iter().flatten().filter(|taint| taint["timeAdded"].is_null()) {
                        taint["timeAdded"] = now.as_str().into();
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
