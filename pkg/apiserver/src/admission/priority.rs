//! Priorities of pods, from their class.

use api::{Status, Value, meta};

use super::{Attributes, Operation, Plugin};

/// Upstream's Priority.
pub struct Priority;

/// Classes that hold even where the objects are not there (yet).
const SYSTEM: [(&str, i64); 2] = [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

struct Class {
    name: String,
    value: i64,
    policy: String,
}

#[async_trait::async_trait]
impl Plugin for Priority {
    fn name(&self) -> &'static str {
        "Priority"
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        if !attributes.is_core("pods") {
            return Ok(());
        }
        if let Some(old) = attributes.old {
            // Set once; what an update leaves out stays.
            for field in ["priority", "preemptionPolicy"] {
                if object["spec"][field].is_null() && !old["spec"][field].is_null() {
                    object["spec"][field] = old["spec"][field].clone();
                }
            }
            return Ok(());
        }
        if attributes.operation != Operation::Create {
            return Ok(());
        }
        let wanted = object["spec"]["priorityClassName"].as_str().unwrap_or_default().to_owned();
        let class = match wanted.as_str() {
            "" => default_class(attributes).await?,
            name => Some(named_class(attributes, name).await?.ok_or_else(|| {
                let why = format!("no PriorityClass with name {name} was found");
                attributes.forbidden(object, &why)
            })?),
        };
        let class =
            class.unwrap_or_else(|| Class { name: String::new(), value: 0, policy: "PreemptLowerPriority".to_owned() });
        let spec = &mut object["spec"];
        if let Some(given) = spec["priority"].as_i64().filter(|given| *given != class.value) {
            let why = format!(
                "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {} from the given PriorityClass name",
                class.value
            );
            return Err(attributes.forbidden(object, &why));
        }
        if !class.name.is_empty() {
            spec["priorityClassName"] = class.name.into();
        }
        spec["priority"] = class.value.into();
        if spec["preemptionPolicy"].is_null() {
            spec["preemptionPolicy"] = class.policy.into();
        }
        Ok(())
    }
}

fn class(object: &Value) -> Class {
    Class {
        name: meta::name(object).to_owned(),
        value: object["value"].as_i64().unwrap_or(0),
        policy: object["preemptionPolicy"].as_str().unwrap_or("PreemptLowerPriority").to_owned(),
    }
}

async fn named_class(attributes: &Attributes<'_>, name: &str) -> Result<Option<Class>, Status> {
    let call = attributes.call;
    if let Some(kind) = call.kinds.by_resource("scheduling.k8s.io", "v1", "priorityclasses")
        && let Some(stored) = call.server.read(kind, "", name).await?
    {
        return Ok(Some(class(&stored.tree()?)));
    }
    let system = SYSTEM.iter().find(|(system, _)| *system == name);
    Ok(system.map(|(name, value)| Class {
        name: (*name).to_owned(),
        value: *value,
        policy: "PreemptLowerPriority".to_owned(),
    }))
}

/// The class marked as default: of several, the one with the lowest value, as upstream.
async fn default_class(attributes: &Attributes<'_>) -> Result<Option<Class>, Status> {
    let call = attributes.call;
    let Some(kind) = call.kinds.by_resource("scheduling.k8s.io", "v1", "priorityclasses") else { return Ok(None) };
    let classes = call.server.caches.of(kind).await?.all();
    let trees = classes.iter().filter_map(|object| object.stored.tree().ok());
    Ok(trees.filter(|tree| tree["globalDefault"] == true).map(|tree| class(&tree)).min_by_key(|class| class.value))
}
