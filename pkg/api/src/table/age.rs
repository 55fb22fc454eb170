//! Durations for people, with two or three significant figures.
//!
//! Source: apimachinery `pkg/util/duration`.

/// A duration in seconds.
pub fn human_duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    // A unit, and the next smaller one where it is not zero.
    let pair = |unit: i64, suffix: &str, small: i64, small_suffix: &str| match seconds % unit / small {
        0 => format!("{}{suffix}", seconds / unit),
        rest => format!("{}{suffix}{rest}{small_suffix}", seconds / unit),
    };
    match seconds {
        i64::MIN..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => pair(MINUTE, "m", 1, "s"),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => pair(HOUR, "h", MINUTE, "m"),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => pair(DAY, "d", HOUR, "h"),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => pair(YEAR, "y", DAY, "d"),
        s => format!("{}y", s / YEAR),
    }
}

/// How long ago an RFC 3339 time was; `<unknown>` if there is none.
pub fn since(time: &str, now: i64) -> String {
    match parse(time) {
        Some(then) => human_duration(now - then),
        None => "<unknown>".to_owned(),
    }
}

/// Seconds since the epoch of an RFC 3339 time.
pub(super) fn parse(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}
