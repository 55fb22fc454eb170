//! One request on its way through the pipeline.

use std::sync::Arc;

use api::{
    Kind, Kinds, Status, UserInfo, Value, decode,
    validation::{FieldErrors, Reason},
};
use bytes::Bytes;
use http::{HeaderMap, header};
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{
    body::{self, FieldValidation, Form, Warnings},
    negotiate::{self, Accepted, Encoding},
    query::{Query, refuse_options},
    request_info::RequestInfo,
    server::Server,
    table,
};

/// A request for a resource, authenticated and authorized.
pub struct Call {
    /// The server.
    pub server: Arc<Server>,
    /// The table at the time of the request.
    pub kinds: Arc<Kinds>,
    /// What the URL names.
    pub kind: Arc<Kind>,
    /// The request line.
    pub info: RequestInfo,
    /// Parameters.
    pub query: Query,
    /// As it was sent.
    pub uri: http::Uri,
    /// Who asks.
    pub user: UserInfo,
    /// Headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// What the client accepts.
    pub accepted: Accepted,
    /// How tables are made.
    pub table: table::Options,
    /// When it came.
    pub now: Timestamp,
    /// Sent as `Warning` headers.
    pub warnings: Mutex<Warnings>,
}

/// Options of writes.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Nothing is stored.
    pub dry_run: bool,
    /// What happens to unknown fields.
    pub validation: FieldValidation,
    /// Who owns the fields written.
    pub manager: String,
    /// Apply takes over what others own.
    pub force: bool,
}

impl Call {
    /// The request's time as the API writes it.
    pub fn timestamp(&self) -> String {
        rfc3339(self.now)
    }

    /// Adds a warning for the client.
    pub fn warn(&self, text: impl Into<String>) {
        self.warnings.lock().add(text.into());
    }

    /// Namespace of the objects asked for: empty for cluster-scoped kinds and for all namespaces.
    pub fn namespace(&self) -> &str {
        if self.kind.namespaced { &self.info.namespace } else { "" }
    }

    /// 404 for the object asked for.
    pub fn not_found(&self) -> Status {
        Status::not_found(&self.kind.group, &self.kind.plural, &self.info.name)
    }

    /// 409 for the object asked for.
    pub fn conflict(&self, why: &str) -> Status {
        Status::conflict(&self.kind.group, &self.kind.plural, &self.info.name, why)
    }

    /// 400 for an object of another name than the URL's.
    pub fn other_name(&self, name: &str) -> Status {
        Status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            self.info.name
        ))
    }

    /// Reads the options of a write, which are called by its verb (`PatchOptions`). `apply`: the
    /// manager must be named.
    pub fn write_options(&self, apply: bool) -> Result<WriteOptions, Status> {
        let mut errors = FieldErrors::default();
        let patch = self.info.verb == "patch";
        if apply && self.query.text("fieldManager").is_none() {
            errors.required("fieldManager", "is required for apply patch");
        }
        if patch && !apply && self.query.get("force").is_some() {
            errors.push("force", Reason::Forbidden, "", "may not be specified for non-apply patch");
        }
        let manager = self.query.field_manager(&mut errors);
        let manager = if manager.is_empty() { self.default_manager() } else { manager.to_owned() };
        let dry_run = self.query.dry_run(&mut errors);
        let validation = FieldValidation::parse(&self.query, &mut errors);
        let kind = match self.info.verb {
            "create" => "CreateOptions",
            "patch" => "PatchOptions",
            _ => "UpdateOptions",
        };
        refuse_options(kind, &errors)?;
        Ok(WriteOptions { dry_run, validation, manager, force: self.query.flag("force") })
    }

    /// The User-Agent before its first slash.
    fn default_manager(&self) -> String {
        let agent = self.headers.get(header::USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let name: String = agent.split('/').next().unwrap_or_default().chars().take(128).collect();
        if name.is_empty() { component(&self.user.name).to_owned() } else { name }
    }

    /// The body as a checked tree of the kind that the URL names.
    pub fn object(&self, validation: FieldValidation) -> Result<Value, Status> {
        let root = body::wire_type(&self.kind);
        let decoded = body::parse(&self.headers, &self.body, &self.kind.schema, root)?;
        self.read(&Form::of(&self.kind), decoded, validation)
    }

    /// The body as a checked tree of another kind (`Binding`, `Scale`, …), in one of these versions.
    pub fn object_of(
        &self,
        group: &str,
        versions: &[&str],
        kind: &str,
        validation: FieldValidation,
    ) -> Result<Value, Status> {
        let schema = api::schema::builtin();
        let mut form = Form::builtin(&schema, group, versions.first().copied().unwrap_or_default(), kind)?;
        let decoded = body::parse(&self.headers, &self.body, &schema, Some(form.root))?;
        let mut taken = versions.iter().map(|version| body::api_version(group, version));
        if let Some(sent) = taken.find(|version| decoded.value["apiVersion"] == version.as_str()) {
            form.api_version = sent;
        }
        self.read(&form, decoded, validation)
    }

    fn read(&self, form: &Form, decoded: decode::Decoded, validation: FieldValidation) -> Result<Value, Status> {
        let whole = form.schema.custom.is_none() && negotiate::content_type(&self.headers)? == Encoding::Json;
        let text = whole.then_some(&self.body[..]);
        self.checked(form, decoded.value, |unknown| decode::faults(&decoded.duplicates, unknown, text), validation)
    }

    /// Checks a tree.
    pub fn checked(
        &self,
        form: &Form,
        mut value: Value,
        faults: impl FnOnce(&[String]) -> Vec<String>,
        validation: FieldValidation,
    ) -> Result<Value, Status> {
        body::expect_kind(&mut value, &form.api_version, form.kind)?;
        // Empty lists go with the check, but this one asks to forget who owns what.
        let owners = value.get_mut("metadata").and_then(|metadata| metadata.get_mut("managedFields"));
        if let Some(owners) = owners.and_then(Value::as_array_mut).filter(|owners| owners.is_empty()) {
            owners.push(serde_json::json!({}));
        }
        validation.check(form, &mut value, faults, &mut self.warnings.lock())?;
        if !value["metadata"].is_object() {
            value["metadata"] = serde_json::json!({});
        }
        Ok(value)
    }

    /// Encoding of answers.
    pub fn encoding(&self) -> Encoding {
        self.accepted.encoding
    }
}

/// What a component of this process is called, by its user name.
fn component(user: &str) -> &str {
    match user.strip_prefix("system:") {
        Some(node) if node.starts_with("node:") => "kubelet",
        Some(rest) => rest.rsplit(':').next().unwrap_or(rest),
        None => "unknown",
    }
}

/// RFC 3339 with seconds.
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
