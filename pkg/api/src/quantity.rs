//! `resource.Quantity`: a fixed-point number with a suffix, and its canonical text.
//!
//! A number is kept as a whole count of nano-units, with the format it was written in:
//!
//! | text | value | canonical | format |
//! |---|---|---|---|
//! | `0.1` | 1/10 | `100m` | decimal SI |
//! | `1024Mi` | 2³⁰ | `1Gi` | binary SI |
//! | `1.5Gi` | 3 · 2²⁹ | `1536Mi` | binary SI |
//! | `12e6` | 12,000,000 | `12e6` | decimal exponent |
//!
//! Canonical means: no fraction digits, the greatest exponent that loses nothing, at most one
//! sign. Binary numbers between -1024 and 1024, or with a fraction, are written as decimal SI.
//! Two quantities are equal if their values are, whatever the format. Amounts below a nano-unit
//! are rounded away from zero; binary numbers are capped at 2⁶³-1, and other numbers beyond
//! 10²⁹ are refused.
//!
//! ```
//! use api::quantity::Quantity;
//! let mut cpu: Quantity = "0.1".parse().unwrap();
//! cpu += "1900m".parse().unwrap();
//! assert_eq!(cpu.to_string(), "2");
//! assert_eq!(cpu.milli(), 2000);
//! ```

use std::{
    cmp::Ordering,
    fmt,
    iter::Sum,
    ops::{Add, AddAssign, Neg, Sub, SubAssign},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Nano-units in one unit.
const UNIT: i128 = 1_000_000_000;

/// How a quantity is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `12M`: powers of 1000.
    #[default]
    DecimalSi,
    /// `12Mi`: powers of 1024.
    BinarySi,
    /// `12e6`.
    DecimalExponent,
}

/// A quantity; see the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not number and suffix.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Form,
    /// The number is malformed or too large.
    #[error("unable to parse numeric part of quantity")]
    Number,
    /// The suffix is none of the known ones.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// Decimal suffixes with their powers of ten, greatest first.
const DECIMAL: [(&str, i32); 10] =
    [("E", 18), ("P", 15), ("T", 12), ("G", 9), ("M", 6), ("k", 3), ("", 0), ("m", -3), ("u", -6), ("n", -9)];
/// Binary suffixes; each is another factor of 1024.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    /// A whole number.
    pub fn new(value: i64, format: Format) -> Self {
        Quantity { nanos: i128::from(value) * UNIT, format }
    }

    /// Thousandths, in decimal SI.
    pub fn from_milli(milli: i64) -> Self {
        Quantity { nanos: i128::from(milli) * (UNIT / 1000), format: Format::DecimalSi }
    }

    /// From JSON text or number, as upstream decodes it; spaces around are allowed.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        match value {
            Value::String(text) => text.trim().parse(),
            Value::Number(number) => number.to_string().parse(),
            Value::Null => Ok(Quantity::default()),
            _ => Err(Error::Form),
        }
    }

    /// Rounded away from zero to a whole number, held within `i64`.
    pub fn value(&self) -> i64 {
        self.scaled(UNIT)
    }

    /// In thousandths, rounded away from zero, held within `i64`.
    pub fn milli(&self) -> i64 {
        self.scaled(UNIT / 1000)
    }

    /// Whether thousandths cannot tell it exactly.
    pub fn is_finer_than_milli(&self) -> bool {
        self.nanos % (UNIT / 1000) != 0
    }

    /// How it was written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match self.nanos.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// An approximation in double precision.
    pub fn as_f64(&self) -> f64 {
        self.nanos as f64 / UNIT as f64
    }

    /// Times a whole number; saturates.
    #[must_use]
    pub fn times(self, factor: i64) -> Self {
        Quantity { nanos: self.nanos.saturating_mul(factor.into()), ..self }
    }

    fn scaled(&self, unit: i128) -> i64 {
        let whole = self.nanos / unit + if self.nanos % unit == 0 { 0 } else { self.nanos.signum() };
        i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX })
    }

    /// The format to write in: binary only where it loses nothing and is not confusing.
    fn shown_format(&self) -> Format {
        let small = self.nanos.abs() < 1024 * UNIT;
        if self.format == Format::BinarySi && (small || self.nanos % UNIT != 0) {
            Format::DecimalSi
        } else {
            self.format
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.pad("0");
        }
        let format = self.shown_format();
        if format == Format::BinarySi {
            let (mut number, mut suffix) = (self.nanos / UNIT, "");
            for next in BINARY {
                if number % 1024 != 0 {
                    break;
                }
                (number, suffix) = (number / 1024, next);
            }
            return f.pad(&format!("{number}{suffix}"));
        }
        let (mut number, mut exponent) = (self.nanos, -9);
        while number % 1000 == 0 && (exponent < 18 || format == Format::DecimalExponent) {
            (number, exponent) = (number / 1000, exponent + 3);
        }
        match format {
            Format::DecimalExponent if exponent != 0 => f.pad(&format!("{number}e{exponent}")),
            _ => {
                let suffix = DECIMAL.iter().find(|(_, e)| *e == exponent).map_or("", |(s, _)| s);
                f.pad(&format!("{number}{suffix}"))
            }
        }
    }
}

impl FromStr for Quantity {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (negative, rest) = match text.as_bytes().first() {
            None => return Err(Error::Form),
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            Some(_) => (false, text),
        };
        let (whole, rest) = digits(rest);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => digits(rest),
            None => ("", rest),
        };
        if !suffix_form(suffix) || (whole.is_empty() && fraction.is_empty() && suffix.is_empty()) {
            return Err(Error::Form);
        }
        let (format, exponent) = interpret(suffix).ok_or(Error::Suffix)?;
        if whole.is_empty() && fraction.is_empty() {
            return Err(Error::Number);
        }
        let nanos = match format {
            Format::BinarySi => binary(whole, fraction, exponent),
            _ => decimal(whole, fraction, exponent)?,
        };
        let below_one = format == Format::BinarySi && nanos < UNIT && nanos > 0;
        let format = if below_one { Format::DecimalSi } else { format };
        Ok(Quantity { nanos: if negative { -nanos } else { nanos }, format })
    }
}

/// Leading digits and what follows.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// `[eEinumkKMGTP]*[-+]?[0-9]*`
fn suffix_form(suffix: &str) -> bool {
    let rest = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    rest.bytes().all(|b| b.is_ascii_digit())
}

/// The format and the power of ten, or of two for binary SI.
fn interpret(suffix: &str) -> Option<(Format, i64)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(s, _)| *s == suffix) {
        return Some((Format::DecimalSi, i64::from(*exponent)));
    }
    if let Some(at) = BINARY.iter().position(|s| *s == suffix) {
        return Some((Format::BinarySi, 10 * (at as i64 + 1)));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((Format::DecimalExponent, exponent))
}

/// Digits as a number; `None` where it does not fit.
fn number(text: &str) -> Option<i128> {
    if text.is_empty() { Some(0) } else { text.parse().ok() }
}

/// Nano-units of `whole.fraction · 10^exponent`, rounded up.
fn decimal(whole: &str, fraction: &str, exponent: i64) -> Result<i128, Error> {
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    // The value is `significant · 10^shift` nano-units.
    let shift = exponent.saturating_add(9).saturating_sub(fraction.len() as i64);
    if shift >= 0 {
        let factor = u32::try_from(shift).ok().and_then(|s| 10_i128.checked_pow(s)).ok_or(Error::Number)?;
        return number(significant).and_then(|n| n.checked_mul(factor)).ok_or(Error::Number);
    }
    let kept = i64::try_from(significant.len()).unwrap_or(i64::MAX).saturating_add(shift);
    let (kept, lost) = significant.split_at(usize::try_from(kept).unwrap_or(0));
    let up = i128::from(lost.bytes().any(|b| b != b'0'));
    number(kept).and_then(|n| n.checked_add(up)).ok_or(Error::Number)
}

/// Nano-units of `whole.fraction · 2^exponent`, rounded up and capped.
fn binary(whole: &str, fraction: &str, exponent: i64) -> i128 {
    const CAP: i128 = i64::MAX as i128 * UNIT;
    /// 18 digits of a fraction times 2⁶⁰ fit.
    const DIGITS: usize = 18;
    let factor = 1_i128 << exponent;
    let whole = number(whole).and_then(|n| n.checked_mul(factor)).and_then(|n| n.checked_mul(UNIT));
    let Some(whole) = whole.filter(|n| *n <= CAP) else { return CAP };
    let (kept, lost) = fraction.split_at(fraction.len().min(DIGITS));
    let one = 10_i128.pow(kept.len() as u32);
    let parts = number(kept).unwrap_or_default() * factor;
    let rest = (parts % one) * UNIT;
    let up = i128::from(rest % one != 0 || lost.bytes().any(|b| b != b'0'));
    (whole + parts / one * UNIT + rest / one + up).min(CAP)
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}
impl Eq for Quantity {}
impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

/// Saturates. Zero takes the format of what is added.
impl Add for Quantity {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Quantity { nanos: self.nanos.saturating_add(other.nanos), format }
    }
}
impl AddAssign for Quantity {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Neg for Quantity {
    type Output = Self;
    fn neg(self) -> Self {
        Quantity { nanos: self.nanos.saturating_neg(), ..self }
    }
}
/// Saturates. Zero takes the format of what is subtracted.
impl Sub for Quantity {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}
impl SubAssign for Quantity {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
impl Sum for Quantity {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Quantity::default(), Add::add)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Quantity::from_value(&value).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn q(text: &str) -> Quantity {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn canonical_text() {
        let table = [
            ("0", "0"),
            ("0m", "0"),
            ("0Ki", "0"),
            ("-0", "0"),
            ("+0", "0"),
            ("0.", "0"),
            (".5", "500m"),
            ("1.", "1"),
            ("0.1", "100m"),
            ("100m", "100m"),
            ("1", "1"),
            ("+1", "1"),
            ("-1", "-1"),
            ("1000", "1k"),
            ("1500", "1500"),
            ("1000m", "1"),
            ("1.5", "1500m"),
            ("1.500", "1500m"),
            ("1024", "1024"),
            ("0.0000000001", "1n"),
            ("1n", "1n"),
            ("-0.0000000001", "-1n"),
            ("1500n", "1500n"),
            ("1000u", "1m"),
            ("12k", "12k"),
            ("1E", "1E"),
            ("1000E", "1000E"),
            ("100k", "100k"),
            ("0.001k", "1"),
            ("1024Mi", "1Gi"),
            ("1000Mi", "1000Mi"),
            ("1Ki", "1Ki"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1023.5Ki", "1048064"),
            ("0.1Ki", "102400m"),
            ("2048Ki", "2Mi"),
            ("-2048Ki", "-2Mi"),
            ("7Ei", "7Ei"),
            ("8Ei", "9223372036854775807"),
            ("100Ei", "9223372036854775807"),
            ("12e6", "12e6"),
            ("1e2", "100"),
            ("1e4", "10e3"),
            ("1E4", "10e3"),
            ("1e-3", "1e-3"),
            ("1.5e3", "1500"),
            ("1e+3", "1e3"),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "9223372036854775808"),
            ("99999999999999999999", "99999999999999999999"),
        ];
        for (text, canonical) in table {
            assert_eq!(q(text).to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn refused() {
        let table = [
            ("", Error::Form),
            ("-", Error::Form),
            ("+", Error::Form),
            (".", Error::Form),
            ("1.1.1", Error::Form),
            ("1 ", Error::Form),
            ("1a", Error::Form),
            ("Mi", Error::Number),
            ("1KI", Error::Form),
            ("1ki", Error::Suffix),
            ("1K", Error::Suffix),
            ("1e", Error::Suffix),
            ("1MiB", Error::Form),
            ("1i", Error::Suffix),
            ("1mm", Error::Suffix),
            ("1e99", Error::Number),
            ("--1", Error::Suffix),
            ("1e9999999999999999999", Error::Suffix),
            ("1é", Error::Form),
        ];
        for (text, error) in table {
            assert_eq!(text.parse::<Quantity>(), Err(error), "{text}");
        }
    }

    #[test]
    fn rounding_and_limits() {
        assert_eq!((q("1m").value(), q("-1m").value(), q("1.0001").milli()), (1, -1, 1001));
        assert_eq!((q("100E").value(), q("-100E").value(), q("8Ei").milli()), (i64::MAX, i64::MIN, i64::MAX));
        assert_eq!((q("1Gi").value(), q("0.5").milli(), q("3").signum()), (1 << 30, 500, 1));
        let huge = q("99999999999999999999999999999");
        assert_eq!((huge + huge + huge).value(), i64::MAX);
    }

    #[test]
    fn arithmetic_keeps_the_format() {
        assert_eq!((q("0") + q("1Gi")).to_string(), "1Gi");
        assert_eq!((q("1Gi") + q("1Gi")).to_string(), "2Gi");
        assert_eq!((q("1Gi") - q("512Mi")).to_string(), "512Mi");
        assert_eq!((q("1Gi") - q("1")).to_string(), "1073741823");
        assert_eq!(["100m", "900m", "1"].map(q).into_iter().sum::<Quantity>().to_string(), "2");
        assert_eq!(q("1Ki"), q("1024"));
        assert!(q("1M") < q("1Mi") && q("-1") < q("0"));
    }

    #[test]
    fn json() {
        let read = |text| serde_json::from_str::<Quantity>(text).map(|q| q.to_string()).ok();
        assert_eq!(read(r#""0.1""#).as_deref(), Some("100m"));
        assert_eq!(read(r#"" 1 ""#).as_deref(), Some("1"));
        assert_eq!(read("1.5").as_deref(), Some("1500m"));
        assert_eq!(read("2").as_deref(), Some("2"));
        assert_eq!(read("[]"), None);
        assert_eq!(serde_json::to_string(&q("1024Mi")).unwrap(), r#""1Gi""#);
    }

    proptest! {
        #[test]
        fn canonical_is_stable(nanos in -(1_i128 << 92)..(1_i128 << 92), format in 0..3) {
            let format = [Format::DecimalSi, Format::BinarySi, Format::DecimalExponent][format as usize];
            let text = Quantity { nanos, format }.to_string();
            let again = q(&text);
            prop_assert_eq!(again.nanos, nanos);
            prop_assert_eq!(again.to_string(), text);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[+-]?[0-9.]{0,30}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,3}") {
            if let Ok(read) = text.parse::<Quantity>() {
                prop_assert_eq!(q(&read.to_string()), read);
            }
        }

        #[test]
        fn sums_are_exact(a in any::<i64>(), b in any::<i64>()) {
            let (a, b) = (Quantity::from_milli(a), Quantity::from_milli(b));
            prop_assert_eq!(a + b - b, a);
            prop_assert_eq!(a + b, b + a);
            prop_assert_eq!(a.cmp(&b), (a - b).cmp(&Quantity::default()));
        }
    }
}
