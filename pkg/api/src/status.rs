//! API errors: `metav1.Status`, with the reasons, codes and message texts that clients match.

use serde_json::{Value, json};

use crate::validation::FieldErrors;

/// A failed request, as the client sees it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// HTTP status code.
    pub code: u16,
    /// `NotFound`, `AlreadyExists`, …; empty where upstream sends none.
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// `details`; null for none.
    pub details: Value,
}

impl Status {
    /// The object as sent on the wire.
    pub fn to_value(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        status
    }

    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Status { code, reason, message: message.into(), details: Value::Null }
    }

    fn about(code: u16, reason: &'static str, message: String, group: &str, plural: &str, name: &str) -> Self {
        let mut details = json!({"name": name, "kind": plural});
        if !group.is_empty() {
            details["group"] = group.into();
        }
        Status { code, reason, message, details }
    }

    /// 404 for an object.
    pub fn not_found(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", qualified(group, plural));
        Self::about(404, "NotFound", message, group, plural, name)
    }

    /// 404 for a path that nothing serves.
    pub fn no_such_path() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    /// 409 at creation.
    pub fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", qualified(group, plural));
        Self::about(409, "AlreadyExists", message, group, plural, name)
    }

    /// 409 at update.
    pub fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", qualified(group, plural));
        Self::about(409, "Conflict", message, group, plural, name)
    }

    /// 403 by the authorizer or an admission plugin.
    pub fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let what =
            if name.is_empty() { qualified(group, plural) } else { format!("{} \"{name}\"", qualified(group, plural)) };
        Self::about(403, "Forbidden", format!("{what} is forbidden: {why}"), group, plural, name)
    }

    /// 422 with one cause to each field. `kind` is the kind, not the resource, as upstream has it.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &FieldErrors) -> Self {
        let what = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let mut status =
            Self::about(422, "Invalid", format!("{what} \"{name}\" is invalid: {errors}"), group, kind, name);
        status.details["causes"] = errors.causes();
        status
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }
    /// 401.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }
    /// 405.
    pub fn method_not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }
    /// 405 for what cannot be done while the definition of a custom resource is being deleted.
    pub fn ending(group: &str, plural: &str, verb: &str) -> Self {
        let message = format!("{verb} not allowed while custom resource definition is terminating");
        let details = json!({"group": group, "kind": plural});
        Status { code: 405, reason: "MethodNotAllowed", message, details }
    }
    /// 406.
    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(406, "NotAcceptable", message)
    }
    /// 410: the resource version is too old.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }
    /// 413.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(413, "RequestEntityTooLarge", message)
    }
    /// 415.
    pub fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }
    /// 422 without fields.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(422, "Invalid", message)
    }
    /// 429.
    pub fn too_many_requests(message: impl Into<String>) -> Self {
        Self::new(429, "TooManyRequests", message)
    }
    /// 500: ours to mend.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        Self::new(500, "InternalError", format!("Internal error occurred: {message}"))
    }
    /// 503.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }
    /// 504.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(504, "Timeout", message)
    }
}

fn qualified(group: &str, plural: &str) -> String {
    if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") }
}
