//! Go's text form of durations: `1h2m3.5s`, nanoseconds on the wire.

const UNITS: &[(&str, i64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Nanoseconds of a text; 0 where it is malformed.
pub fn parse(text: &str) -> i64 {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut total = 0i64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else { return 0 };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let Ok(whole) = whole.parse::<i64>() else { return 0 };
        if part.contains('.') {
            return 0;
        }
        let (mut fraction, mut digit_scale) = (0, *scale);
        for digit in part.bytes() {
            digit_scale /= 10;
            fraction += i64::from(digit - b'0') * digit_scale;
        }
        total = total.saturating_add(whole.saturating_mul(*scale)).saturating_add(fraction);
        rest = tail;
    }
    if negative { -total } else { total }
}

/// The text of nanoseconds.
pub fn format(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let decimal = |unit: u64, name: &str| {
        let width = unit.ilog10() as usize;
        let fraction = format!("{:0width$}", nanos % unit);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() || width == 0 { String::new() } else { format!(".{fraction}") };
        format!("{point}{name}")
    };
    match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{nanos}ns"),
        1_000..1_000_000 => format!("{sign}{}{}", nanos / 1_000, decimal(1_000, "µs")),
        1_000_000..1_000_000_000 => format!("{sign}{}{}", nanos / 1_000_000, decimal(1_000_000, "ms")),
        _ => {
            let seconds = nanos / 1_000_000_000;
            let rest = format!("{}{}", seconds % 60, decimal(1_000_000_000, "s"));
            match (seconds / 3600, seconds / 60 % 60) {
                (0, 0) => format!("{sign}{rest}"),
                (0, minutes) => format!("{sign}{minutes}m{rest}"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{rest}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_go() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (2_000_000, "2ms"),
            (30_000_000_000, "30s"),
            (60_000_000_000, "1m0s"),
            (3_661_500_000_000, "1h1m1.5s"),
            (-15_042_000_000, "-15.042s"),
        ] {
            assert_eq!(format(nanos), text);
            assert_eq!(parse(text), nanos, "{text}");
        }
        assert_eq!(parse("soon"), 0);
        assert_eq!(parse("1.2.3s"), 0);
    }
}
