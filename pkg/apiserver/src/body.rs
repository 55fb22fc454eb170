//! Bodies: reading them within limits, and turning them into checked trees.

use std::time::Duration;

use api::{
    Kind, Schema, Status, Value, decode, protobuf,
    schema::TypeId,
    validation::{FieldErrors, Reason},
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited, combinators::UnsyncBoxBody};
use tower::BoxError;

use crate::{
    negotiate::{self, Encoding},
    query::Query,
};

/// The body of an answer.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Largest request body, as upstream.
pub const LIMIT: usize = 3 * 1024 * 1024;
/// A body that is not there after this time is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A body of these bytes.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    http_body_util::Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Reads a whole body, within limits of size and time.
pub async fn read<B>(body: B) -> Result<Bytes, Status>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    read_within(PATIENCE, body).await
}

async fn read_within<B>(patience: Duration, body: B) -> Result<Bytes, Status>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    match tokio::time::timeout(patience, Limited::new(body, LIMIT).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Status::too_large(format!("Request entity too large: limit is {LIMIT}")))
        }
        Ok(Err(error)) => Err(Status::bad_request(format!("the body of the request could not be read: {error}"))),
        Err(_) => Err(Status::timeout("the body of the request did not come in time")),
    }
}

/// Warnings for the client, each once, in the order in which they came up.
#[derive(Debug, Default)]
pub struct Warnings(Vec<String>);

impl Warnings {
    /// Adds one.
    pub fn add(&mut self, text: String) {
        if !self.0.contains(&text) {
            self.0.push(text);
        }
    }

    /// All of them.
    pub fn all(&self) -> &[String] {
        &self.0
    }
}

/// What happens to fields that the schema does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped with a warning.
    Warn,
    /// The request is refused.
    Strict,
}

impl FieldValidation {
    /// From `fieldValidation`; what it cannot be is added to the errors.
    pub fn parse(query: &Query, errors: &mut FieldErrors) -> Self {
        match query.text("fieldValidation") {
            None | Some("Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                let supported = "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"";
                errors.push("fieldValidation", Reason::NotSupported, other, supported);
                FieldValidation::Warn
            }
        }
    }

    /// Checks a tree against its type; `faults` makes texts of the paths of unknown fields, with what was found before.
    pub fn check(
        self,
        form: &Form,
        object: &mut Value,
        faults: impl FnOnce(&[String]) -> Vec<String>,
        warnings: &mut Warnings,
    ) -> Result<(), Status> {
        let unknown = decode::check(form.schema, form.root, object)?;
        if self == FieldValidation::Ignore {
            return Ok(());
        }
        let found = faults(&unknown);
        if self == FieldValidation::Strict && !found.is_empty() {
            let (kind, version) = (form.kind, form.api_version.rsplit('/').next().unwrap_or_default());
            return Err(Status::bad_request(format!(
                "{kind} in version \"{version}\" cannot be handled as a {kind}: strict decoding error: {}",
                found.join(", ")
            )));
        }
        found.into_iter().for_each(|fault| warnings.add(fault));
        Ok(())
    }
}

/// What the object of a body is to be.
pub struct Form<'a> {
    /// Where its type is looked up.
    pub schema: &'a Schema,
    /// The type of a whole object.
    pub root: TypeId,
    /// `v1` or `apps/v1`.
    pub api_version: String,
    /// `Deployment`.
    pub kind: &'a str,
}

impl<'a> Form<'a> {
    /// An object of a row.
    pub fn of(kind: &'a Kind) -> Self {
        Form { schema: &kind.schema, root: kind.root, api_version: kind.api_version(), kind: &kind.kind }
    }

    /// An object of a built-in kind that may have no row of its own.
    pub fn builtin(schema: &'a Schema, group: &str, version: &str, kind: &'a str) -> Result<Self, Status> {
        let root = type_of(schema, group, version, kind)
            .ok_or_else(|| Status::internal(format!("there is no type of {kind} in version {version}")))?;
        Ok(Form { schema, root, api_version: api_version(group, version), kind })
    }
}

/// `v1` or `apps/v1`.
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// Parses a body as the headers say. `root` is the type that protobuf bodies are read by.
pub fn parse(
    headers: &http::HeaderMap,
    body: &[u8],
    schema: &Schema,
    root: Option<TypeId>,
) -> Result<decode::Decoded, Status> {
    match negotiate::content_type(headers)? {
        Encoding::Json => decode::json(body),
        Encoding::Yaml => decode::yaml(body),
        Encoding::Protobuf => {
            let envelope = protobuf::open(body)?;
            if envelope.content_type == "application/json" {
                return decode::json(envelope.raw);
            }
            let root = root.ok_or_else(|| {
                let what = format!("{} {}", envelope.api_version, envelope.kind);
                Status::unsupported_media_type(format!("{what} cannot be read from protobuf; send JSON"))
            })?;
            let mut value = protobuf::decode(schema, root, envelope.raw)?;
            for (field, text) in [("apiVersion", envelope.api_version), ("kind", envelope.kind)] {
                if !text.is_empty() {
                    value[field] = text.into();
                }
            }
            Ok(decode::Decoded { value, duplicates: Vec::new() })
        }
    }
}

/// The type of a row's objects in protobuf: custom resources have none.
pub fn wire_type(kind: &Kind) -> Option<TypeId> {
    protobuf::covers(&kind.schema).then_some(kind.root)
}

/// The built-in type of a kind that may have no row of its own.
pub fn type_of(schema: &Schema, group: &str, version: &str, kind: &str) -> Option<TypeId> {
    let package = match group {
        "" => "core",
        group => group.split('.').next().unwrap_or(group),
    };
    let meta = format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}");
    schema.find(&format!("io.k8s.api.{package}.{version}.{kind}")).or_else(|| schema.find(&meta))
}

/// Checks that a tree is of the kind that the URL names; what it leaves out is filled in.
pub fn expect_kind(object: &mut Value, api_version: &str, kind: &str) -> Result<(), Status> {
    let Some(fields) = object.as_object_mut() else {
        return Err(Status::bad_request("the body of the request is not an object"));
    };
    let got_version = fields.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let got_kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
    if !got_kind.is_empty() && got_kind != kind {
        return Err(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {got_kind} in version \"{got_version}\" was sent"
        )));
    }
    if !got_version.is_empty() && got_version != api_version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({got_version}) does not match the expected API version ({api_version})"
        )));
    }
    fields.insert("apiVersion".to_owned(), api_version.into());
    fields.insert("kind".to_owned(), kind.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_never_ends_is_given_up() {
        let endless = futures::stream::pending::<Result<http_body::Frame<Bytes>, std::io::Error>>();
        let status =
            read_within(Duration::from_millis(1), http_body_util::StreamBody::new(endless)).await.expect_err("no body");
        assert_eq!(status.code, 504);
    }
}
