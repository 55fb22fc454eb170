//! Server-side tables of a request.

use api::{
    Kind, Status, Value,
    table::{Include, table},
};

use crate::query::Query;

/// Options of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    include: Include,
    now: i64,
}

impl Options {
    /// From `includeObject`; `now` is in seconds.
    pub fn parse(query: &Query, now: i64) -> Result<Self, Status> {
        let text = query.text("includeObject").unwrap_or_default();
        let include = Include::parse(text).ok_or_else(|| {
            let supported = "supported values: \"None\", \"Metadata\", \"Object\"";
            Status::bad_request(format!(
                "invalid options: includeObject: Unsupported value: {}: {supported}",
                Value::from(text)
            ))
        })?;
        Ok(Options { include, now })
    }

    /// The same, with ages as of another time: a watch lasts.
    pub fn at(self, now: i64) -> Self {
        Options { now, ..self }
    }
}

/// A table of these objects; `columns`: whether they are defined (once in a watch).
pub fn make(kind: &Kind, objects: &[Value], metadata: &Value, options: Options, columns: bool) -> Value {
    let options = api::table::Options { now: options.now, include: options.include, columns };
    table(kind, objects, metadata, options)
}
