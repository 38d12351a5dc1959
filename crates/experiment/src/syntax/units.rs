//! Sizes, times and percentages with units: `"64KiB"`, `"200ms"`, `"2%"`.

use std::{fmt, time::Duration};

use serde::{Serialize, Serializer};

use crate::syntax::scalar::{from_text, schema, textual};

/// Size in bytes: a number, or text with `B`, `KiB`, `MiB`, `GiB` (powers of 1024), or `kB`, `MB`, `GB`, `k`, `M`, `G`
/// (powers of 1000), in upper or lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// Time in ns; written with its unit, as in `"200ms"` or `"1min 30s"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

/// Percentage, at least 0; written as `"2%"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(pub f64);

/// Minimum payload in bytes: the 16-byte sample header.
pub const MIN_SIZE_BYTES: u64 = 16;

/// Units of a size in lower case, with their number of bytes.
const SIZE_UNITS: &[(&str, u64)] = &[
    ("gib", 1 << 30),
    ("mib", 1 << 20),
    ("kib", 1 << 10),
    ("gb", 1_000_000_000),
    ("mb", 1_000_000),
    ("kb", 1_000),
    ("g", 1_000_000_000),
    ("m", 1_000_000),
    ("k", 1_000),
    ("b", 1),
];

impl Size {
    const EXPECTED: &str = "a size such as `1024` or `\"64KiB\"`";

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let (number, unit) = SIZE_UNITS
            .iter()
            .find_map(|(name, bytes)| Some((text.strip_suffix(name)?, *bytes)))
            .unwrap_or((&text, 1));
        let number = number.trim_end();
        // A sign is not a digit.
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| number.parse::<u64>().ok()?.checked_mul(unit)).flatten().map(Self)
    }
}

impl Time {
    const EXPECTED: &str = "a time with its unit, such as `\"800ms\"`, `\"5s\"` or `\"5m\"`";

    pub(crate) fn parse(text: &str) -> Option<Self> {
        humantime::parse_duration(text).ok().and_then(|time| u64::try_from(time.as_nanos()).ok()).map(Self)
    }
}

impl Percent {
    const EXPECTED: &str = "a share in percent, such as `\"2%\"`";

    /// Parses a percentage with its sign, such as `2%`. Returns `None` if it is negative or not finite.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number: f64 = text.trim().strip_suffix('%')?.trim_end().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(Self(number))
    }
}

/// Formats a time as one word.
pub(crate) fn short(ns: u64) -> String {
    Time(ns).to_string().replace(' ', "")
}

/// Parses a number of digits only; a sign is invalid.
pub(crate) fn integer(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(Duration::from_nanos(self.0)).fmt(f)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // TOML integers are signed.
        match i64::try_from(self.0) {
            Ok(bytes) => serializer.serialize_i64(bytes),
            Err(_) => serializer.collect_str(self),
        }
    }
}

from_text!(Size, Valid);
schema!(
    Size,
    "Size",
    {
        "description": "A size in bytes: a number, or text with `B`, `KiB`, `MiB`, `GiB` (powers of 1024), or `kB`, `MB`, `GB`, `k`, `M`, `G` (of 1000).",
        "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^ *[0-9]+ *([kKmMgG]([iI]?[bB])?|[bB])? *$" },
        ],
    }
);
textual!(
    Time,
    WithoutUnit,
    { "description": "A time with its unit, such as `200ms` or `1min 30s`.", "type": "string" }
);
textual!(
    Percent,
    WithoutUnit,
    { "description": "A share in percent, such as `2%`.", "type": "string", "pattern": "% *$" }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_or_none() {
        let size = |text| Size::parse(text).map(|size| size.0);
        assert_eq!(size("64"), Some(64));
        assert_eq!(size("64KiB"), Some(65_536));
        assert_eq!(size("11 MB"), Some(11_000_000));
        assert_eq!((size("3GiB"), size("7B")), (Some(3 << 30), Some(7)));
        assert_eq!((size("1KB"), size("8m"), size("2kib")), (Some(1_000), Some(8_000_000), Some(2_048)));
        for wrong in ["", "k", "64ki", "-1", "+1", "1.5KiB", "99999999999GiB", "KiB"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_and_shares_need_their_unit() {
        assert_eq!(Time::parse("1min 30s"), Some(Time(90_000_000_000)));
        assert_eq!((Time::parse("5"), Time::parse("99999999999years")), (None, None));
        assert_eq!(Percent::parse("2.5 %"), Some(Percent(2.5)));
        assert_eq!((Percent::parse("2"), Percent::parse("-1%"), Percent::parse("nan%")), (None, None, None));
    }
}
