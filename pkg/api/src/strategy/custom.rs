//! CustomResourceDefinitions themselves.

use serde_json::Value;

use super::Strategy;

pub(crate) struct CustomResourceDefinitions;

impl Strategy for CustomResourceDefinitions {
    fn has_generation(&self) -> bool {
        true
    }

    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        !crate::tree::equal(&new["spec"], &old["spec"])
    }
}
