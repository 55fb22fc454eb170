//! Media types: what a body is in, and what the client wants to read.

use api::Status;
use http::{HeaderMap, header};

/// How objects are written. Protobuf takes its place here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// `application/json`.
    #[default]
    Json,
    /// `application/yaml`.
    Yaml,
}

impl Encoding {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Encoding::Json => "application/json",
            Encoding::Yaml => "application/yaml",
        }
    }
}

/// Into what objects are turned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// As they are.
    #[default]
    Plain,
    /// `meta.k8s.io/v1 Table`.
    Table,
    /// `meta.k8s.io/v1 PartialObjectMetadata`, or a list of them.
    Metadata,
    /// `apidiscovery.k8s.io/v2 APIGroupDiscoveryList`; discovery only.
    AggregatedDiscovery,
}

/// What a client accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Encoding.
    pub encoding: Encoding,
    /// Shape.
    pub shape: Shape,
}

const OFFERED: &str = "application/json, application/yaml";

/// Chooses from an Accept header: the first clause that can be served, as upstream does.
pub fn accept(headers: &HeaderMap) -> Result<Accepted, Status> {
    let mut any = false;
    for value in headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()) {
        for clause in value.split(',').map(str::trim).filter(|clause| !clause.is_empty()) {
            any = true;
            if let Some(accepted) = clause_of(clause) {
                return Ok(accepted);
            }
        }
    }
    match any {
        false => Ok(Accepted::default()),
        true => Err(Status::not_acceptable(format!("only the following media types are accepted: {OFFERED}"))),
    }
}

fn clause_of(clause: &str) -> Option<Accepted> {
    let mut parts = clause.split(';').map(str::trim);
    let encoding = match parts.next()?.to_ascii_lowercase().as_str() {
        "application/json" | "*/*" | "application/*" => Encoding::Json,
        "application/yaml" => Encoding::Yaml,
        _ => return None,
    };
    let (mut kind, mut group, mut version) = ("", "", "");
    for parameter in parts {
        match parameter.split_once('=') {
            Some(("as", value)) => kind = value,
            Some(("g", value)) => group = value,
            Some(("v", value)) => version = value,
            _ => {}
        }
    }
    let shape = match (kind, group, version) {
        ("", _, _) => Shape::Plain,
        ("Table", "meta.k8s.io", "v1") => Shape::Table,
        ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1") => Shape::Metadata,
        ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") => Shape::AggregatedDiscovery,
        _ => return None,
    };
    Some(Accepted { encoding, shape })
}

/// What a body is in.
pub fn content_type(headers: &HeaderMap) -> Result<Encoding, Status> {
    match media_type(headers).as_str() {
        "" | "application/json" | "*/*" => Ok(Encoding::Json),
        "application/yaml" => Ok(Encoding::Yaml),
        _ => Err(Status::unsupported_media_type(format!(
            "the body of the request was in an unknown format - accepted media types include: {OFFERED}"
        ))),
    }
}

/// The media type of a body, without parameters.
pub fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a client takes gzip.
pub fn takes_gzip(headers: &HeaderMap) -> bool {
    let encodings = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|v| v.to_str().ok());
    encodings.flat_map(|v| v.split(',')).any(|e| e.split(';').next().is_some_and(|e| e.trim() == "gzip"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_clause_that_can_be_served_is_taken() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        for (value, want) in [
            ("", Some((Encoding::Json, Shape::Plain))),
            ("*/*", Some((Encoding::Json, Shape::Plain))),
            ("application/yaml", Some((Encoding::Yaml, Shape::Plain))),
            (kubectl, Some((Encoding::Json, Shape::Table))),
            ("application/vnd.kubernetes.protobuf,application/json;q=0.9", Some((Encoding::Json, Shape::Plain))),
            ("application/vnd.kubernetes.protobuf", None),
            ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", Some((Encoding::Json, Shape::Metadata))),
            ("application/json;as=Pie;g=meta.k8s.io;v=v1, application/json", Some((Encoding::Json, Shape::Plain))),
            ("text/html", None),
        ] {
            let mut headers = HeaderMap::new();
            if !value.is_empty() {
                headers.insert(header::ACCEPT, value.parse().unwrap());
            }
            let got = accept(&headers).map(|a| (a.encoding, a.shape)).ok();
            assert_eq!(got, want, "{value}");
        }
    }
}
