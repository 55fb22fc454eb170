//! Rules for names, keys and other short texts. Each answers with what is wrong, in upstream's
//! words (apimachinery `util/validation`, `api/validate/content`), or with nothing.

use super::{FieldErrors, NameRule};

const SUBDOMAIN_LENGTH: usize = 253;
const LABEL_LENGTH: usize = 63;

const LABEL_PATTERN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY_PATTERN: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

fn characters(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

fn bytes(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

fn pattern(what: &str, pattern: &str, examples: &[&str]) -> String {
    if examples.is_empty() {
        return format!("{what} (regex used for validation is '{pattern}')");
    }
    let examples: Vec<_> = examples.iter().map(|e| format!("'{e}', ")).collect();
    format!("{what} (e.g. {}regex used for validation is '{pattern}')", examples.join(" or "))
}

/// Alphanumeric at both ends, `inner` allowed between.
fn framed(text: &str, end: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    let text = text.as_bytes();
    match (text.first(), text.last()) {
        (Some(first), Some(last)) => end(*first) && end(*last) && text.iter().all(|c| inner(*c)),
        _ => false,
    }
}

fn lower(c: u8) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    framed(text, lower, |c| lower(c) || c == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_key_name(text: &str) -> bool {
    framed(text, |c| c.is_ascii_alphanumeric(), |c| c.is_ascii_alphanumeric() || b"-_.".contains(&c))
}

/// RFC 1123 label.
pub fn label(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > LABEL_LENGTH {
        faults.push(characters(LABEL_LENGTH));
    }
    if !is_label(text) {
        faults.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            pattern(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                 start and end with an alphanumeric character",
                LABEL_PATTERN,
                &["my-name", "123-abc"],
            )
        });
    }
    faults
}

/// RFC 1123 subdomain.
pub fn subdomain(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > SUBDOMAIN_LENGTH {
        faults.push(characters(SUBDOMAIN_LENGTH));
    }
    if !is_subdomain(text) {
        faults.push(pattern(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character",
            &format!("{LABEL_PATTERN}(\\.{LABEL_PATTERN})*"),
            &["example.com"],
        ));
    }
    faults
}

/// RFC 1035 label.
pub fn label_1035(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > LABEL_LENGTH {
        faults.push(characters(LABEL_LENGTH));
    }
    if !is_label(text) || !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        faults.push(pattern(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    faults
}

/// What may stand in a URL as one segment; `prefix` if more text will follow.
pub fn path_segment(text: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    ['/', '%'].iter().filter(|c| text.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}

/// Label keys, finalizers and other qualified names: `[prefix/]name`.
pub fn qualified(text: &str) -> Vec<String> {
    const WHAT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                        alphanumeric character";
    const EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];
    let mut faults = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                faults.push("prefix part must be non-empty".to_owned());
            } else {
                let counted_in_bytes = |fault: &String| fault.replace("253 characters", "253 bytes");
                faults.extend(subdomain(prefix).iter().map(|f| format!("prefix part {}", counted_in_bytes(f))));
            }
            name
        }
        _ => {
            let what = pattern(WHAT, KEY_PATTERN, &EXAMPLES);
            return vec![format!(
                "a valid label key {what} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_LENGTH {
        faults.push(format!("name part {}", bytes(LABEL_LENGTH)));
    }
    if !is_key_name(name) {
        faults.push(format!("name part {}", pattern(WHAT, KEY_PATTERN, &EXAMPLES)));
    }
    faults
}

/// Label values.
pub fn label_value(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > LABEL_LENGTH {
        faults.push(bytes(LABEL_LENGTH));
    }
    if !text.is_empty() && !is_key_name(text) {
        faults.push(pattern(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character",
            &format!("({KEY_PATTERN})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    faults
}

/// `example.com/some/path`, the path of what RFC 3986 allows.
pub fn prefixed_path(errors: &mut FieldErrors, path: &str, text: &str) {
    if text.is_empty() {
        return errors.required(path, "");
    }
    let Some((host, rest)) = text.split_once('/').filter(|(host, rest)| !host.is_empty() && !rest.is_empty()) else {
        return errors.invalid(path, text, "must be a domain-prefixed path (such as \"acme.io/foo\")");
    };
    errors.each(path, host, subdomain(host));
    if !rest.bytes().all(|c| c.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&c)) {
        errors.invalid(path, rest, pattern("Invalid path", "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+", &[]));
    }
}

/// `example.com/key`: a qualified name with its prefix.
pub fn prefixed_key(errors: &mut FieldErrors, path: &str, text: &str) {
    let faults = qualified(text);
    if text.is_empty() {
        errors.required(path, "");
    } else if !faults.is_empty() {
        errors.each(path, text, faults);
    } else if !text.contains('/') {
        errors.invalid(path, text, "must be a domain-prefixed key (such as \"acme.io/foo\")");
    }
}

/// `*.example.com`.
pub fn wildcard(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > SUBDOMAIN_LENGTH {
        faults.push(characters(SUBDOMAIN_LENGTH));
    }
    if !text.strip_prefix("*.").is_some_and(is_subdomain) {
        faults.push(pattern(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist \
             of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
            &format!("\\*\\.{LABEL_PATTERN}(\\.{LABEL_PATTERN})*"),
            &["*.example.com"],
        ));
    }
    faults
}

/// Names of container and service ports.
pub fn port_name(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > 15 {
        faults.push(characters(15));
    }
    if text.is_empty() || !text.bytes().all(|c| lower(c) || c == b'-') {
        faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|c| c.is_ascii_lowercase()) {
        faults.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        faults.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        faults.push("must not begin or end with a hyphen".to_owned());
    }
    faults
}

/// Numbers of ports.
pub fn port_number(port: i64) -> Vec<String> {
    in_range(port, 1, 65535)
}

/// Numbers from `low` to `high`.
pub fn in_range(value: i64, low: i64, high: i64) -> Vec<String> {
    if (low..=high).contains(&value) {
        return Vec::new();
    }
    vec![format!("must be between {low} and {high}, inclusive")]
}

/// User and group ids.
pub fn id(value: i64) -> Vec<String> {
    in_range(value, 0, i64::from(i32::MAX))
}

/// Names of environment variables: printable ASCII without `=`.
pub fn environment(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.is_empty() {
        faults.push("environment variable name must be non-empty".to_owned());
    }
    if !text.bytes().all(|c| (0x20..0x7f).contains(&c) && c != b'=') {
        faults.push(
            "a valid environment variable name must consist only of printable ASCII characters other than '='"
                .to_owned(),
        );
    }
    faults
}

/// Keys of ConfigMaps and Secrets, which become file names.
pub fn config_key(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > SUBDOMAIN_LENGTH {
        faults.push(characters(SUBDOMAIN_LENGTH));
    }
    if text.is_empty() || !text.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(&c)) {
        faults.push(pattern(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            "[-._a-zA-Z0-9]+",
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    if matches!(text, "." | "..") {
        faults.push(format!("must not be '{text}'"));
    } else if text.starts_with("..") {
        faults.push("must not start with '..'".to_owned());
    }
    faults
}

/// Names of HTTP headers.
pub fn http_header(text: &str) -> Vec<String> {
    if !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-') {
        return Vec::new();
    }
    vec![pattern(
        "a valid HTTP header must consist of alphanumeric characters or '-'",
        "[-A-Za-z0-9]+",
        &["X-Header-Name"],
    )]
}

/// Reasons of conditions.
pub fn condition_reason(text: &str) -> Vec<String> {
    let inner = |c: u8| c.is_ascii_alphanumeric() || b"_,:".contains(&c);
    let ends = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.ends_with(ends) && text.bytes().all(inner) {
        return Vec::new();
    }
    vec![pattern(
        "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric \
         characters or '_,:', and must end with an alphanumeric character or '_'",
        "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
        &["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"],
    )]
}

/// `25%`.
pub fn percent(text: &str) -> Vec<String> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()) {
        return Vec::new();
    }
    vec![pattern(
        "a valid percent string must be a numeric string followed by an ending '%'",
        "[0-9]+%",
        &["1%", "93%"],
    )]
}

/// Absolute names of sysctls: `kernel.shm_rmid_forced`, with `/` allowed for `.`.
pub fn sysctl(text: &str) -> bool {
    let segment = |s: &str| framed(s, lower, |c| lower(c) || c == b'-' || c == b'_');
    !text.is_empty() && text.len() <= SUBDOMAIN_LENGTH && text.split(['.', '/']).all(segment)
}

impl NameRule {
    /// What is wrong with `name`.
    pub fn faults(self, name: &str) -> Vec<String> {
        match self {
            NameRule::Subdomain => subdomain(name),
            NameRule::Label => label(name),
            NameRule::Label1035 => label_1035(name),
            NameRule::PathSegment => path_segment(name, false),
        }
    }

    /// What is wrong with `generateName`: more characters will follow, so a trailing dash is fine.
    pub fn prefix_faults(self, prefix: &str) -> Vec<String> {
        if self == NameRule::PathSegment {
            return path_segment(prefix, true);
        }
        match prefix.strip_suffix('-') {
            Some(head) if !head.is_empty() => {
                let mut masked: String = head.chars().take(head.chars().count() - 1).collect();
                masked.push('a');
                self.faults(&masked)
            }
            _ => self.faults(prefix),
        }
    }
}

/// The rule for names of most objects.
pub const NAME: NameRule = NameRule::Subdomain;
