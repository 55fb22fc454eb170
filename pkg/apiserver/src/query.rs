//! Query parameters: decoding, and the options of the API's verbs.

use api::{
    Status,
    selector::{Fields, Labels},
    validation::{FieldErrors, Reason},
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
        self.get(name).is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
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

    /// `resourceVersion`.
    pub fn resource_version(&self) -> Result<Option<i64>, Status> {
        self.text("resourceVersion").map(resource_version).transpose()
    }

    /// `dryRun=All`; what else is asked for is added to the errors.
    pub fn dry_run(&self, errors: &mut FieldErrors) -> bool {
        let values: Vec<&str> = self.all("dryRun").filter(|value| !value.is_empty()).collect();
        if values.iter().any(|value| *value != "All") {
            errors.push("dryRun", Reason::NotSupported, json!(values), "supported values: \"All\"");
        }
        !values.is_empty()
    }

    /// `fieldManager`, empty for none; one that is too long or not printable is added to the errors.
    pub fn field_manager(&self, errors: &mut FieldErrors) -> &str {
        let manager = self.get("fieldManager").unwrap_or_default();
        if manager.len() > MANAGER {
            errors.push("fieldManager", Reason::TooLong, "", format!("may not be more than {MANAGER} bytes"));
        }
        for (at, c) in manager.char_indices().filter(|(_, c)| c.is_control() || (c.is_whitespace() && *c != ' ')) {
            let code = u32::from(c);
            errors.invalid("fieldManager", manager, format!("invalid character U+{code:04X} (at position {at})"));
        }
        manager
    }
}

/// Bytes of a field manager's name.
const MANAGER: usize = 128;

/// 422 for options: `kind` is `ListOptions` and the like.
pub fn refuse_options(kind: &str, errors: &FieldErrors) -> Result<(), Status> {
    errors.refuse("meta.k8s.io", kind, "")
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
            return Err(invalid(start));
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
        let sent = query.text("sendInitialEvents").map(|_| query.flag("sendInitialEvents"));
        let at = Self::parse_at(query, watch, sent)?;
        // A watch from no or any revision begins with what is there.
        let from_start = watch && sent.is_none() && matches!(at, At::Head | At::Any);
        let initial_events = if from_start { Some(true) } else { sent };
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
        let continues = query.text("continue").is_some();
        let mut errors = FieldErrors::default();
        check_match(watch, version, matching, continues, initial_events, &mut errors);
        refuse_options("ListOptions", &errors)?;
        if !watch && continues {
            if version.is_some_and(|v| v != "0") {
                return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
            }
            return Ok(At::Head);
        }
        let Some(version) = version else { return Ok(At::Head) };
        match (matching, resource_version(version)?) {
            (Some("Exact"), exact) => Ok(At::Exact(exact)),
            (_, 0) => Ok(At::Any),
            // Upstream: a limit without a match rule asks for exactly this revision.
            (None, exact) if !watch && query.text("limit").is_some_and(|limit| limit != "0") => Ok(At::Exact(exact)),
            (_, oldest) => Ok(At::NotOlder(oldest)),
        }
    }
}

/// What `resourceVersionMatch` and `sendInitialEvents` may be together with the rest.
fn check_match(
    watch: bool,
    version: Option<&str>,
    matching: Option<&str>,
    continues: bool,
    initial_events: Option<bool>,
    errors: &mut FieldErrors,
) {
    const MATCH: &str = "resourceVersionMatch";
    let mut forbid = |field: &str, why: &str| errors.push(field, Reason::Forbidden, "", why);
    let with_continue = "resourceVersionMatch is forbidden when continue is provided";
    let known: &[&str] = if watch { &["NotOlderThan"] } else { &["Exact", "NotOlderThan", ""] };
    if watch && initial_events.is_some() && matching != Some("NotOlderThan") {
        forbid(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if let Some(matching) = matching {
        if watch && initial_events.is_none() {
            forbid(MATCH, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        }
        if !watch && version.is_none() {
            forbid(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if !watch && continues {
            forbid(MATCH, with_continue);
        }
        if !known.contains(&matching) {
            let known: Vec<_> = known.iter().map(|value| format!("\"{value}\"")).collect();
            errors.push(MATCH, Reason::NotSupported, matching, format!("supported values: {}", known.join(", ")));
        }
        if watch && continues {
            errors.push(MATCH, Reason::Forbidden, "", with_continue);
        }
        if !watch && matching == "Exact" && version == Some("0") {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(MATCH, Reason::Forbidden, "", why);
        }
    }
    if !watch && initial_events.is_some() {
        errors.push("sendInitialEvents", Reason::Forbidden, "", "sendInitialEvents is forbidden for list");
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
        assert!(!Query::parse(Some("c=False")).flag("c"));
        assert_eq!(query.get("labelSelector"), Some("app=web,tier in (a)"));
        assert_eq!(query.get("d"), Some("%zz"));
    }

    #[test]
    fn tokens_survive_a_round_trip() {
        let token = Continue { revision: 12, start: "ns/name\0".to_owned() };
        assert_eq!(Continue::decode(&token.encode()).unwrap(), token);
        assert!(!token.encode().contains('='));
        for bad in [
            "",
            "!!",
            "e30",
            &Continue { revision: 0, start: "a".into() }.encode(),
            &Continue { revision: 3, start: "../a".into() }.encode(),
        ] {
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
        let started = |q: &str| ListOptions::parse(&Query::parse(Some(q)), true).unwrap().initial_events;
        assert_eq!(started("resourceVersion=0"), Some(true));
        assert_eq!(started(""), Some(true));
        assert_eq!(started("resourceVersion=7"), None);
        assert_eq!(started("resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"), Some(false));
    }

    #[test]
    fn refusals_of_lists_are_upstreams() {
        let prefix = "ListOptions.meta.k8s.io \"\" is invalid: ";
        for (watch, query, want) in [
            (
                false,
                "resourceVersionMatch=Exact",
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
            ),
            (
                false,
                "resourceVersion=1&resourceVersionMatch=x",
                "resourceVersionMatch: Unsupported value: \"x\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
            ),
            (
                false,
                "resourceVersion=0&resourceVersionMatch=Exact",
                "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ),
            (
                false,
                "sendInitialEvents=true&resourceVersionMatch=Exact",
                "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]",
            ),
            (
                true,
                "sendInitialEvents=true",
                "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ),
            (
                true,
                "resourceVersionMatch=Exact&resourceVersion=1",
                "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]",
            ),
        ] {
            let status = ListOptions::parse(&Query::parse(Some(query)), watch).map(|o| o.at).unwrap_err();
            assert_eq!((status.code, &*status.message), (422, &*format!("{prefix}{want}")), "{query}");
        }
    }

    #[test]
    fn options_of_writes_are_checked() {
        let long = format!("fieldManager={}", "x".repeat(129));
        for (query, want) in [
            ("fieldManager=kubectl&dryRun=All", ""),
            (&*long, "fieldManager: Too long: may not be more than 128 bytes"),
            ("fieldManager=a%0Ab", "fieldManager: Invalid value: \"a\\nb\": invalid character U+000A (at position 1)"),
            ("dryRun=Some", "dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""),
        ] {
            let (query, mut errors) = (Query::parse(Some(query)), FieldErrors::default());
            query.field_manager(&mut errors);
            query.dry_run(&mut errors);
            assert_eq!(if errors.is_empty() { String::new() } else { errors.to_string() }, want);
        }
    }
}
