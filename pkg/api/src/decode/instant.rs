//! Times as upstream writes them: UTC, with whole seconds (`Time`) or six digits (`MicroTime`).

use jiff::Timestamp;

/// `2026-11-30T10:00:00Z`.
pub fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2026-11-30T10:00:00.000000Z`.
pub fn micro_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// Reads RFC 3339 as Go does; the text of the fault otherwise.
pub(super) fn parse(text: &str) -> Result<Timestamp, String> {
    let fault = || {
        let layout = "2006-01-02T15:04:05Z07:00";
        format!("parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\"")
    };
    // Jiff also takes a space in place of the T, and leaves out seconds.
    let strict = text.len() >= 20 && text.as_bytes()[10] == b'T' && text.as_bytes()[16] == b':';
    if strict { text.parse().map_err(|_| fault()) } else { Err(fault()) }
}
