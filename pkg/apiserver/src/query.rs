//! Query parameters: decoding, and the options of the API's verbs.

use api::{
    Status,
    selector::{Fields, Labels},
};
use serde_json::{Value, json};

/// Decoded parameters, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses what stands behind the `?`.
    pub fn parse(raw: Option<&str>) -> Self {
        let pairs = raw.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        Query(
            pairs
                .map(|pair| {
                    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (percent_decode(key, true), percent_decode(value, true))
                })
                .collect(),
        )
    }

    /// The first value of a parameter; `None` where absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// As [`Query::get`], with empty values as absent.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// All values of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A flag, as Go's conversion reads it: present and neither `false` nor `0`.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !matches!(value, "false" | "0"))
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<Option<i64>, Status> {
        self.text(name)
            .map(|text| {
                text.parse().map_err(|_| {
                    Status::bad_request(format!("strconv.ParseInt: parsing {}: invalid syntax", json!(text)))
                })
            })
            .transpose()
    }

    /// `dryRun=All`.
    pub fn dry_run(&self) -> Result<bool, Status> {
        let mut dry = false;
        for value in self.all("dryRun") {
            match value {
                "All" => dry = true,
                "" => {}
                other => return Err(unsupported("dryRun", other, &["All"])),
            }
        }
        Ok(dry)
    }
}

fn unsupported(field: &str, value: &str, supported: &[&str]) -> Status {
    let supported: Vec<String> = supported.iter().map(|s| format!("\"{s}\"")).collect();
    let message = format!(
        "invalid options: {field}: Unsupported value: {}: supported values: {}",
        json!(value),
        supported.join(", ")
    );
    Status::unprocessable(message)
}

/// Decodes `%XX`, and `+` as a space within queries. Broken escapes stay as they are.
pub fn percent_decode(text: &str, plus: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%').and_then(|hex| {
            let hex = std::str::from_utf8(hex).ok().filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u8::from_str_radix(hex, 16).ok()
        });
        match escaped {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(if plus && bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// How a list or watch relates to a resource version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest state.
    Head,
    /// Any state (`resourceVersion=0`).
    Any,
    /// This revision or a newer one.
    NotOlder(i64),
    /// This revision.
    Exact(i64),
}

/// Options of list, watch and deletecollection.
pub struct ListOptions {
    /// `labelSelector`.
    pub labels: Option<Labels>,
    /// `fieldSelector`.
    pub fields: Option<Fields>,
    /// `resourceVersion` with `resourceVersionMatch`.
    pub at: At,
    /// Page size; 0 for all.
    pub limit: usize,
    /// Where the next page begins.
    pub continuation: Option<Continue>,
    /// `timeoutSeconds`.
    pub timeout_seconds: Option<u64>,
    /// `allowWatchBookmarks`.
    pub bookmarks: bool,
    /// `sendInitialEvents`.
    pub initial_events: Option<bool>,
}

/// A continue token: unpadded base64url of `{v, rv, start}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continue {
    /// Revision of the list; -1 for the newest.
    pub revision: i64,
    /// First key, relative to the list's prefix.
    pub start: String,
}

const VERSION: &str = "meta.k8s.io/v1";

impl Continue {
    /// The token.
    pub fn encode(&self) -> String {
        use base64::Engine as _;
        let token = json!({"v": VERSION, "rv": self.revision, "start": self.start});
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(token.to_string())
    }

    /// Parses a token.
    pub fn decode(token: &str) -> Result<Self, Status> {
        use base64::Engine as _;
        let invalid = |why: &str| Status::bad_request(format!("continue key is not valid: {why}"));
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD
            .decode(token.trim_end_matches('='))
            .map_err(|error| invalid(&error.to_string()))?;
        let token: Value = serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
        let start = token["start"].as_str().filter(|start| !start.is_empty());
        let start = start.ok_or_else(|| invalid("encoded start key empty (version meta.k8s.io/v1)"))?;
        if token["v"] != VERSION {
            return Err(invalid("server does not recognize this encoded version"));
        }
        if start.split('/').any(|segment| segment == "." || segment == "..") {
            return Err(invalid(&format!("{start}")));
        }
        match token["rv"].as_i64() {
            Some(revision) if revision != 0 => Ok(Continue { revision, start: start.to_owned() }),
            _ => Err(invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")),
        }
    }
}

fn resource_version(text: &str) -> Result<i64, Status> {
    text.parse().ok().filter(|rv: &i64| *rv >= 0).ok_or_else(|| {
        Status::bad_request(format!(
            "resourceVersion: Invalid value: {}: strconv.ParseUint: parsing {}: invalid syntax",
            json!(text),
            json!(text)
        ))
    })
}

impl ListOptions {
    /// Reads and checks the options of a list (or, with `watch`, of a watch).
    pub fn parse(query: &Query, watch: bool) -> Result<Self, Status> {
        let labels = query.text("labelSelector").map(Labels::parse).transpose().map_err(Status::bad_request)?;
        let fields = query.text("fieldSelector").map(Fields::parse).transpose().map_err(Status::bad_request)?;
        let continuation = query.text("continue").map(Continue::decode).transpose()?;
        let initial_events = query.text("sendInitialEvents").map(|_| query.flag("sendInitialEvents"));
        let at = Self::parse_at(query, watch, initial_events)?;
        let limit = query.number("limit")?.unwrap_or(0);
        Ok(ListOptions {
            labels,
            fields,
            at,
            limit: usize::try_from(limit).unwrap_or(0),
            continuation,
            timeout_seconds: query.number("timeoutSeconds")?.and_then(|s| u64::try_from(s).ok()),
            bookmarks: query.flag("allowWatchBookmarks"),
            initial_events,
        })
    }

    fn parse_at(query: &Query, watch: bool, initial_events: Option<bool>) -> Result<At, Status> {
        let (version, matching) = (query.text("resourceVersion"), query.text("resourceVersionMatch"));
        let forbidden = |field: &str, why: &str| Err(Status::unprocessable(format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: Forbidden: {why}")));
        if watch {
            if initial_events.is_some() && matching != Some("NotOlderThan") {
                return forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
            }
            if initial_events.is_none() && matching.is_some() {
                return forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
            }
        } else {
            if initial_events.is_some() {
                return forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            }
            if matching.is_some() && version.is_none() {
                return forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            if query.text("continue").is_some() {
                if matching.is_some() {
                    return forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
                }
                if version.is_some_and(|v| v != "0") {
                    return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
                }
                return Ok(At::Head);
            }
        }
        let Some(version) = version else { return Ok(At::Head) };
        let revision = resource_version(version)?;
        match (matching, revision) {
            (Some("Exact"), 0) => {
                forbidden("resourceVersionMatch", "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"")
            }
            (Some("Exact"), exact) => Ok(At::Exact(exact)),
            (None | Some("NotOlderThan"), 0) => Ok(At::Any),
            // Upstream: a limit without a match rule asks for exactly this revision.
            (None, exact) if !watch && query.text("limit").is_some_and(|limit| limit != "0") => Ok(At::Exact(exact)),
            (None | Some("NotOlderThan"), oldest) => Ok(At::NotOlder(oldest)),
            (Some(other), _) => Err(Status::unprocessable(format!(
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: {}: supported values: \"Exact\", \"NotOlderThan\"",
                json!(other)
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        let query = Query::parse(Some("a=1&b=x%2Fy+z&a=2&c&labelSelector=app%3Dweb%2Ctier%20in%20(a)&d=%zz"));
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(query.get("b"), Some("x/y z"));
        assert!(query.flag("c") && !query.flag("e"));
        assert_eq!(query.get("labelSelector"), Some("app=web,tier in (a)"));
        assert_eq!(query.get("d"), Some("%zz"));
    }

    #[test]
    fn tokens_survive_a_round_trip() {
        let token = Continue { revision: 12, start: "ns/name\0".to_owned() };
        assert_eq!(Continue::decode(&token.encode()).unwrap(), token);
        assert!(!token.encode().contains('='));
        for bad in ["", "!!", "e30", &Continue { revision: 0, start: "a".into() }.encode(), &Continue { revision: 3, start: "../a".into() }.encode()] {
            assert_eq!(Continue::decode(bad).unwrap_err().code, 400, "{bad}");
        }
    }

    #[test]
    fn resource_versions_follow_the_rules() {
        let list = |q: &str| ListOptions::parse(&Query::parse(Some(q)), false).map(|o| o.at).map_err(|s| s.code);
        let watch = |q: &str| ListOptions::parse(&Query::parse(Some(q)), true).map(|o| o.at).map_err(|s| s.code);
        assert_eq!(list(""), Ok(At::Head));
        assert_eq!(list("resourceVersion=0"), Ok(At::Any));
        assert_eq!(list("resourceVersion=5"), Ok(At::NotOlder(5)));
        assert_eq!(list("resourceVersion=5&limit=3"), Ok(At::Exact(5)));
        assert_eq!(list("resourceVersion=5&limit=3&resourceVersionMatch=NotOlderThan"), Ok(At::NotOlder(5)));
        assert_eq!(list("resourceVersion=5&resourceVersionMatch=Exact"), Ok(At::Exact(5)));
        assert_eq!(list("resourceVersion=0&resourceVersionMatch=Exact"), Err(422));
        assert_eq!(list("resourceVersionMatch=Exact"), Err(422));
        assert_eq!(list("resourceVersion=x"), Err(400));
        assert_eq!(list("sendInitialEvents=true"), Err(422));
        assert_eq!(watch("resourceVersion=7"), Ok(At::NotOlder(7)));
        assert_eq!(watch("sendInitialEvents=true"), Err(422));
        assert_eq!(watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan"), Ok(At::Head));
        assert_eq!(watch("resourceVersionMatch=NotOlderThan"), Err(422));
    }
}
