//! Checks of cron schedules and time zones, with the words of the parsers that upstream uses
//! (`robfig/cron`, five fields or a descriptor; Go's `time.LoadLocation`).

use super::FieldErrors;

/// A field of a schedule: lowest and highest value, and names of values from the lowest on.
struct Bounds {
    low: u32,
    high: u32,
    names: &'static [&'static str],
}

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: [Bounds; 5] = [
    Bounds { low: 0, high: 59, names: &[] },
    Bounds { low: 0, high: 23, names: &[] },
    Bounds { low: 1, high: 31, names: &[] },
    Bounds { low: 1, high: 12, names: MONTHS },
    Bounds { low: 0, high: 6, names: DAYS },
];
const DESCRIPTORS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
/// Names of the IANA database, one to a line.
const ZONES: &str = include_str!("zones.txt");

/// What is wrong with a schedule.
pub fn fault(schedule: &str) -> Option<String> {
    parse(schedule).err()
}

fn parse(schedule: &str) -> Result<(), String> {
    if schedule.is_empty() {
        return Err("empty spec string".to_owned());
    }
    let mut rest = schedule;
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        let Some((zone, spec)) = schedule.split_once(' ') else {
            return Err("invalid schedule format: runtime error: slice bounds out of range [:-1]".to_owned());
        };
        let zone = zone.split_once('=').map_or("", |(_, zone)| zone);
        if !known(zone) {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        rest = spec.trim();
    }
    if rest.starts_with('@') {
        return descriptor(rest);
    }
    let fields: Vec<_> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let shown = fields.join(" ");
        return Err(format!("expected exactly {} fields, found {}: [{shown}]", FIELDS.len(), fields.len()));
    }
    for (field, bounds) in fields.iter().zip(&FIELDS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            self::range(range, bounds)?;
        }
    }
    Ok(())
}

fn descriptor(text: &str) -> Result<(), String> {
    if DESCRIPTORS.contains(&text) {
        return Ok(());
    }
    match text.strip_prefix("@every ") {
        Some(duration) => match duration_fault(duration) {
            None => Ok(()),
            Some(fault) => Err(format!("failed to parse duration {text}: {fault}")),
        },
        None => Err(format!("unrecognized descriptor: {text}")),
    }
}

/// What is wrong with a Go duration, as `1h30m`.
fn duration_fault(text: &str) -> Option<String> {
    const UNITS: [&str; 8] = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];
    let invalid = || Some(format!("time: invalid duration {text:?}"));
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return None;
    }
    if rest.is_empty() {
        return invalid();
    }
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (digits, after) = rest.split_at(number);
        if !digits.bytes().any(|c| c.is_ascii_digit()) || digits.matches('.').count() > 1 {
            return invalid();
        }
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        if unit.is_empty() {
            return Some(format!("time: missing unit in duration {text:?}"));
        }
        if !UNITS.contains(&unit) {
            return Some(format!("time: unknown unit {unit:?} in duration {text:?}"));
        }
        rest = after;
    }
    None
}

/// `LOW`, `LOW-HIGH`, `*`, each with `/STEP` or without.
fn range(text: &str, bounds: &Bounds) -> Result<(), String> {
    let steps: Vec<_> = text.split('/').collect();
    let ends: Vec<_> = steps[0].split('-').collect();
    let (low, mut high) = if matches!(ends[0], "*" | "?") {
        (bounds.low, bounds.high)
    } else {
        let low = value(ends[0], bounds)?;
        match ends[..] {
            [_] => (low, low),
            [_, high] => (low, value(high, bounds)?),
            _ => return Err(format!("too many hyphens: {text}")),
        }
    };
    let step = match steps[..] {
        [_] => 1,
        [_, step] => {
            if ends.len() == 1 {
                high = bounds.high;
            }
            number(step)?
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if low < bounds.low {
        return Err(format!("beginning of range ({low}) below minimum ({}): {text}", bounds.low));
    }
    if high > bounds.high {
        return Err(format!("end of range ({high}) above maximum ({}): {text}", bounds.high));
    }
    if low > high {
        return Err(format!("beginning of range ({low}) beyond end of range ({high}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn value(text: &str, bounds: &Bounds) -> Result<u32, String> {
    let lower = text.to_lowercase();
    match bounds.names.iter().position(|name| *name == lower) {
        Some(at) => Ok(bounds.low + at as u32),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u32, String> {
    match text.parse::<i64>() {
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
        Err(_) => Err(format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax")),
    }
}

fn known(zone: &str) -> bool {
    matches!(zone, "" | "Local") || ZONES.lines().any(|name| name == zone)
}

/// Checks `timeZone`.
pub fn time_zone(errors: &mut FieldErrors, path: &str, zone: &str) {
    const EXPLICIT: &str = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    let unknown = || format!("unknown time zone {zone}");
    let odd = |part: &str| {
        let inner = |c: u8| c.is_ascii_alphanumeric() || b".-_+".contains(&c);
        matches!(part, "" | "." | "..") || part.starts_with('-') || part.len() > 14 || !part.bytes().all(inner)
    };
    if zone.is_empty() {
        errors.invalid(path, zone, "timeZone must be nil or non-empty string");
    } else if zone.split('/').any(odd) {
        errors.invalid(path, zone, unknown());
    } else {
        if zone.eq_ignore_ascii_case("local") {
            errors.invalid(path, zone, EXPLICIT);
        }
        if !known(zone) {
            errors.invalid(path, zone, unknown());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules() {
        let cases = [
            ("*/5 * * * *", None),
            ("0 0 1,15 JAN-mar mon-fri", None),
            ("@hourly", None),
            ("@every 1h30m", None),
            ("TZ=Europe/Berlin 0 0 * * *", None),
            ("* * * *", Some("expected exactly 5 fields, found 4: [* * * *]")),
            ("60 * * * *", Some("end of range (60) above maximum (59): 60")),
            ("* * 0 * *", Some("beginning of range (0) below minimum (1): 0")),
            ("* * * * 7", Some("end of range (7) above maximum (6): 7")),
            ("5-1 * * * *", Some("beginning of range (5) beyond end of range (1): 5-1")),
            ("*/0 * * * *", Some("step of range should be a positive number: */0")),
            ("1/2/3 * * * *", Some("too many slashes: 1/2/3")),
            ("a * * * *", Some("failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax")),
            ("@often", Some("unrecognized descriptor: @often")),
            ("@every day", Some("failed to parse duration @every day: time: invalid duration \"day\"")),
            ("TZ=Here * * * * *", Some("provided bad location Here: unknown time zone Here")),
        ];
        for (schedule, expected) in cases {
            assert_eq!(fault(schedule).as_deref(), expected, "{schedule}");
        }
    }

    #[test]
    fn zones() {
        let faults = |zone: &str| {
            let mut errors = FieldErrors::default();
            time_zone(&mut errors, "z", zone);
            errors.0.into_iter().map(|e| e.detail).collect::<Vec<_>>()
        };
        assert!(faults("Europe/Berlin").is_empty() && faults("UTC").is_empty() && faults("Etc/GMT+5").is_empty());
        assert_eq!(faults("Europe/Nowhere"), ["unknown time zone Europe/Nowhere"]);
        assert_eq!(faults("../UTC"), ["unknown time zone ../UTC"]);
        assert_eq!(faults("").len(), 1);
        assert_eq!(faults("Local").len(), 1);
    }
}
