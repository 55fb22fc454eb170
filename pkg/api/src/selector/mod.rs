//! Label and field selectors: their text and JSON forms, with upstream's error texts.
//!
//! ```
//! use api::selector::{Fields, Labels};
//! let labels = Labels::parse("app=web,tier in (a,b),!canary").unwrap();
//! let pod = serde_json::json!({"metadata": {"name": "web-1", "labels": {"app": "web", "tier": "b"}}});
//! assert!(labels.matches(&pod));
//! assert_eq!(labels.to_string(), "app=web,!canary,tier in (a,b)");
//!
//! let fields = Fields::parse("metadata.name!=web-2").unwrap();
//! assert_eq!(fields.requirements()[0].value, "web-2");
//! ```

mod fields;
mod labels;

pub use fields::{FieldRequirement, Fields, field};
pub use labels::{Labels, Operator, Requirement};
