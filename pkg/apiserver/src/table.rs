//! Server-side tables of a request.

use api::{Kind, Status, Value};

use crate::query::Query;

/// Options of a table.
#[derive(Clone, Debug, Default)]
pub struct Options {
    include: String,
    now: i64,
}

impl Options {
    /// From `includeObject`.
    pub fn parse(query: &Query, now: i64) -> Result<Self, Status> {
        match query.text("includeObject").unwrap_or("Metadata") {
            include @ ("None" | "Metadata" | "Object") => Ok(Options { include: include.to_owned(), now }),
            other => Err(Status::bad_request(format!(
                "invalid options: includeObject: Unsupported value: {}: supported values: \"None\", \"Metadata\", \"Object\"",
                Value::from(other)
            ))),
        }
    }
}

/// A table of these objects.
pub fn make(_kind: &Kind, _objects: &[Value], _metadata: Value, _options: &Options) -> Value {
    Value::Null
}
