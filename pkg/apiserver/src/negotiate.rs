//! Media types: what a body is in, and what the client wants to read.

use std::collections::HashMap;

use api::Status;
use http::{HeaderMap, header};

/// How objects are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// `application/json`.
    #[default]
    Json,
    /// `application/yaml`.
    Yaml,
    /// `application/vnd.kubernetes.protobuf`: what typed Go clients prefer.
    Protobuf,
}

impl Encoding {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Encoding::Json => "application/json",
            Encoding::Yaml => "application/yaml",
            Encoding::Protobuf => PROTOBUF,
        }
    }
}

/// Into what objects are turned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// As they are.
    #[default]
    Plain,
    /// `meta.k8s.io Table`.
    Table(MetaVersion),
    /// `meta.k8s.io PartialObjectMetadata`, or a list of them.
    Metadata(MetaVersion),
    /// `apidiscovery.k8s.io/v2 APIGroupDiscoveryList`; discovery only.
    AggregatedDiscovery,
}

/// Versions of `meta.k8s.io`, which differ in nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaVersion {
    /// `v1`.
    V1,
    /// `v1beta1`.
    V1beta1,
}

impl MetaVersion {
    fn parse(group: &str, version: &str) -> Option<Self> {
        match (group, version) {
            ("meta.k8s.io", "v1") => Some(MetaVersion::V1),
            ("meta.k8s.io", "v1beta1") => Some(MetaVersion::V1beta1),
            _ => None,
        }
    }

    /// `apiVersion`.
    pub fn api_version(self) -> &'static str {
        match self {
            MetaVersion::V1 => "meta.k8s.io/v1",
            MetaVersion::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// What a client accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Encoding.
    pub encoding: Encoding,
    /// Shape.
    pub shape: Shape,
}

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const OFFERED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// What can be served beside JSON and YAML.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Objects in protobuf; their metadata always has such a form.
    pub protobuf: bool,
    /// Tables, and metadata alone.
    pub shapes: bool,
}

impl Offer {
    /// Everything.
    pub const ALL: Offer = Offer { protobuf: true, shapes: true };
}

/// Chooses from an Accept header: of what can be served, what the client likes best, as upstream does.
pub fn accept(headers: &HeaderMap, offer: Offer) -> Result<Accepted, Status> {
    let clauses = clauses(headers);
    if clauses.is_empty() {
        return Ok(Accepted::default());
    }
    let served = |accepted: &Accepted| match (accepted.encoding, accepted.shape) {
        (_, Shape::Table(_) | Shape::Metadata(_)) if !offer.shapes => false,
        (Encoding::Protobuf, Shape::Plain) => offer.protobuf,
        (Encoding::Protobuf, shape) => matches!(shape, Shape::Metadata(_)),
        _ => true,
    };
    let refused = || Status::not_acceptable(format!("only the following media types are accepted: {OFFERED}"));
    clauses.into_iter().find_map(|clause| clause_of(clause).filter(served)).ok_or_else(refused)
}

/// Chooses among the media types of a document; `None` where the client takes none of them.
pub fn choose(headers: &HeaderMap, offered: &[&'static str]) -> Option<&'static str> {
    let clauses = clauses(headers);
    let first = offered.first().copied();
    if clauses.is_empty() {
        return first;
    }
    clauses.into_iter().find_map(|clause| match media_of(clause).as_str() {
        "*/*" | "application/*" => first,
        media => offered.iter().find(|offer| **offer == media).copied(),
    })
}

/// The clauses of the Accept headers: by weight, then those without wildcards first.
fn clauses(headers: &HeaderMap) -> Vec<&str> {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut clauses: Vec<&str> =
        values.flat_map(|value| value.split(',')).map(str::trim).filter(|clause| !clause.is_empty()).collect();
    clauses.sort_by(|a, b| {
        let wild = |clause: &str| media_of(clause).matches('*').count();
        weight(b).total_cmp(&weight(a)).then_with(|| wild(a).cmp(&wild(b)))
    });
    clauses
}

fn media_of(clause: &str) -> String {
    clause.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn weight(clause: &str) -> f32 {
    let parameters = clause.split(';').skip(1).map(str::trim);
    parameters.filter_map(|p| p.strip_prefix("q=")?.parse().ok()).next().unwrap_or(1.0)
}

fn clause_of(clause: &str) -> Option<Accepted> {
    let mut parts = clause.split(';').map(str::trim);
    let encoding = match parts.next()?.to_ascii_lowercase().as_str() {
        "application/json" | "*/*" | "application/*" => Encoding::Json,
        "application/yaml" => Encoding::Yaml,
        PROTOBUF => Encoding::Protobuf,
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
    let shape = match kind {
        "" => Shape::Plain,
        "Table" => Shape::Table(MetaVersion::parse(group, version)?),
        "PartialObjectMetadata" | "PartialObjectMetadataList" => Shape::Metadata(MetaVersion::parse(group, version)?),
        "APIGroupDiscoveryList" if (group, version) == ("apidiscovery.k8s.io", "v2") => Shape::AggregatedDiscovery,
        _ => return None,
    };
    Some(Accepted { encoding, shape })
}

/// What a body is in.
pub fn content_type(headers: &HeaderMap) -> Result<Encoding, Status> {
    let text = headers.get(header::CONTENT_TYPE).map_or("", |value| value.to_str().unwrap_or(";"));
    let well_formed = text.split_once(';').is_none_or(|(_, parameters)| are_parameters(parameters));
    match media_type(headers).as_str() {
        "" if text.is_empty() => Ok(Encoding::Json),
        "application/json" | "*/*" if well_formed => Ok(Encoding::Json),
        "application/yaml" if well_formed => Ok(Encoding::Yaml),
        PROTOBUF if well_formed => Ok(Encoding::Protobuf),
        _ => Err(Status::unsupported_media_type(format!(
            "the body of the request was in an unknown format - accepted media types include: {OFFERED}"
        ))),
    }
}

/// Whether this is what may follow the `;` of a media type (RFC 2045, as Go reads it): nothing, or `name=value` with
/// values that are tokens or quoted, blanks around each, and no name twice with different values.
fn are_parameters(text: &str) -> bool {
    let (mut rest, mut seen) = (text.trim(), HashMap::new());
    while !rest.is_empty() {
        let Some((name, after)) = rest.split_once('=') else { return false };
        let name = name.trim_end().to_ascii_lowercase();
        let Some((value, after)) = parameter_value(after.trim_start()).filter(|_| is_token(&name)) else {
            return false;
        };
        if seen.insert(name, value).is_some_and(|before| before != value) {
            return false;
        }
        rest = after.trim_start();
        match rest.strip_prefix(';') {
            Some(next) => rest = next.trim(),
            None if rest.is_empty() => {}
            None => return false,
        }
    }
    true
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&b))
}

/// The value that a text begins with, as it is written, and what stands behind it.
fn parameter_value(text: &str) -> Option<(&str, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find([';', ' ', '\t']).unwrap_or(text.len()));
        return is_token(value).then_some((value, rest));
    };
    let mut escaped = false;
    let close = quoted.bytes().position(|b| {
        let closes = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        closes
    })?;
    Some((&quoted[..close], &quoted[close + 1..]))
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
    fn the_best_clause_that_can_be_served_is_taken() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        for (value, want) in [
            ("", Some((Encoding::Json, Shape::Plain))),
            ("*/*", Some((Encoding::Json, Shape::Plain))),
            ("*/*, application/yaml", Some((Encoding::Yaml, Shape::Plain))),
            ("application/json;q=0.5, application/yaml;q=0.8", Some((Encoding::Yaml, Shape::Plain))),
            ("application/yaml", Some((Encoding::Yaml, Shape::Plain))),
            (kubectl, Some((Encoding::Json, Shape::Table(MetaVersion::V1)))),
            (
                "application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json",
                Some((Encoding::Json, Shape::Table(MetaVersion::V1beta1))),
            ),
            ("application/vnd.kubernetes.protobuf,application/json;q=0.9", Some((Encoding::Protobuf, Shape::Plain))),
            ("application/vnd.kubernetes.protobuf;stream=watch", Some((Encoding::Protobuf, Shape::Plain))),
            ("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1", None),
            (
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
                Some((Encoding::Protobuf, Shape::Metadata(MetaVersion::V1))),
            ),
            (
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                Some((Encoding::Json, Shape::Metadata(MetaVersion::V1))),
            ),
            ("application/json;as=Pie;g=meta.k8s.io;v=v1, application/json", Some((Encoding::Json, Shape::Plain))),
            ("text/html", None),
        ] {
            let mut headers = HeaderMap::new();
            if !value.is_empty() {
                headers.insert(header::ACCEPT, value.parse().unwrap());
            }
            let got = accept(&headers, Offer::ALL).map(|a| (a.encoding, a.shape)).ok();
            assert_eq!(got, want, "{value}");
        }
    }

    #[test]
    fn malformed_media_types_of_bodies_are_refused() {
        for (value, want) in [
            ("application/json", Some(Encoding::Json)),
            ("application/json;", Some(Encoding::Json)),
            ("Application/JSON ; charset=utf-8 ; a=\"b;\\\"c\"", Some(Encoding::Json)),
            ("application/yaml; charset=utf-8;", Some(Encoding::Yaml)),
            // These were refused, though Go takes them.
            ("application/json; charset = utf-8 ; a =\"\"", Some(Encoding::Json)),
            ("application/json; charset=utf-8; Charset=\"utf-8\"", Some(Encoding::Json)),
            ("application/json; charset", None),
            ("application/json; charset=", None),
            ("application/json; charset=a b", None),
            ("application/json; a=\"b", None),
            ("application/json; a=b; A=c", None),
            ("application/json;;", None),
            (";;", None),
            ("text/plain", None),
        ] {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().unwrap())]);
            assert_eq!(content_type(&headers).map_err(|s| s.code), want.ok_or(415), "{value}");
        }
        assert_eq!(content_type(&HeaderMap::new()), Ok(Encoding::Json));
    }

    #[test]
    fn custom_resources_have_no_protobuf() {
        let both = "application/vnd.kubernetes.protobuf,application/json";
        for (value, want) in [
            ("application/vnd.kubernetes.protobuf", None),
            (both, Some((Encoding::Json, Shape::Plain))),
            (
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                Some((Encoding::Protobuf, Shape::Metadata(MetaVersion::V1))),
            ),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, value.parse().unwrap())]);
            assert_eq!(
                accept(&headers, Offer { protobuf: false, ..Offer::ALL }).map(|a| (a.encoding, a.shape)).ok(),
                want,
                "{value}"
            );
        }
    }
}
