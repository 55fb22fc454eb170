//! Server-side tables of a request.

use api::{
    Kind, Status, Value,
    table::{Include, table},
};

use crate::{negotiate::MetaVersion, query::Query};

/// Options of a table.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    include: Include,
    now: i64,
    meta: MetaVersion,
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
        Ok(Options { include, now, meta: MetaVersion::V1 })
    }

    /// The same, with ages as of another time: a watch lasts.
    pub fn at(self, now: i64) -> Self {
        Options { now, ..self }
    }

    /// The same, of a version.
    pub fn of(self, meta: MetaVersion) -> Self {
        Options { meta, ..self }
    }

    fn with(self, columns: bool) -> api::table::Options {
        let api_version = self.meta.api_version();
        api::table::Options { now: self.now, include: self.include, columns, api_version }
    }
}

/// A table of these objects; `columns`: whether they are defined (once in a watch).
pub fn make(kind: &Kind, objects: &[Value], metadata: &Value, options: Options, columns: bool) -> Value {
    table(kind, objects, metadata, options.with(columns))
}

/// A table of one Scale.
pub fn of_scale(scale: &Value, options: Options) -> Value {
    api::table::of_scale(scale, options.with(true))
}
