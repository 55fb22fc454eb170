//! Bodies: reading them within limits, and turning them into checked trees.

use std::collections::BTreeSet;

use api::{Kind, Status, Value, decode};
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

/// A body of these bytes.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    http_body_util::Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Reads a whole body.
pub async fn read<B>(body: B) -> Result<Bytes, Status>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, LIMIT).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Status::too_large(format!("Request entity too large: limit is {LIMIT}")))
        }
        Err(error) => Err(Status::bad_request(format!("the body of the request could not be read: {error}"))),
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
    /// From `fieldValidation`.
    pub fn parse(query: &Query) -> Result<Self, Status> {
        match query.text("fieldValidation") {
            None | Some("Warn") => Ok(FieldValidation::Warn),
            Some("Ignore") => Ok(FieldValidation::Ignore),
            Some("Strict") => Ok(FieldValidation::Strict),
            Some(other) => Err(Status::unprocessable(format!(
                "invalid options: fieldValidation: Unsupported value: {}: supported values: \"Ignore\", \"Strict\", \"Warn\"",
                Value::from(other)
            ))),
        }
    }

    /// Checks a tree against its type; duplicates were found while parsing.
    pub fn check(
        self,
        kind: &Kind,
        object: &mut Value,
        duplicates: Vec<String>,
        warnings: &mut BTreeSet<String>,
    ) -> Result<(), Status> {
        let unknown = decode::check(&kind.schema, kind.root, object)?;
        let found = unknown.iter().map(|path| format!("unknown field \"{path}\""));
        let found: Vec<String> =
            found.chain(duplicates.iter().map(|path| format!("duplicate field \"{path}\""))).collect();
        match self {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => warnings.extend(found),
            FieldValidation::Strict if found.is_empty() => {}
            FieldValidation::Strict => {
                return Err(Status::bad_request(format!(
                    "{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}",
                    &*kind.kind,
                    &*kind.version,
                    &*kind.kind,
                    found.join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// Parses a body as the headers say.
pub fn parse(headers: &http::HeaderMap, body: &[u8]) -> Result<decode::Decoded, Status> {
    match negotiate::content_type(headers)? {
        Encoding::Json => decode::json(body),
        Encoding::Yaml => decode::yaml(body),
    }
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
