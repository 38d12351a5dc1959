//! Numbers as text: three significant digits, thin separators, prefixes of units.

use stats::format_value;

use crate::model::{Estimate, Interval, Unit};

/// No-break space between a number and its unit.
pub(crate) const NBSP: char = '\u{a0}';
/// Narrow no-break space between groups of three digits.
const THIN: char = '\u{202f}';
/// Text of a value that does not exist.
pub(crate) const NONE: &str = "-";
/// Largest magnitude that is drawn; larger values count as not finite.
pub(crate) const LARGEST: f64 = 1e18;

/// Factor and name of a unit with a prefix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prefix {
    /// Number of base units.
    pub factor: f64,
    /// Name, as in `µs`; empty for numbers without a unit.
    pub name: &'static str,
}

impl Prefix {
    /// Formats a value of base units, without the name of the unit.
    #[must_use]
    pub fn number(self, value: f64) -> String {
        plain(value / self.factor)
    }

    /// Formats the ends of an interval in base units, as in `22.1 to 26.8`.
    #[must_use]
    pub fn ends(self, interval: Interval) -> String {
        format!("{} to {}", self.number(interval.low), self.number(interval.high))
    }
}

/// Step from a prefix to the next one, and the names of the units with them.
type Prefixes = (f64, &'static [&'static str]);

impl Unit {
    const fn prefixes(self) -> Prefixes {
        match self {
            Self::Nanoseconds => (1e3, &["ns", "µs", "ms", "s"]),
            Self::Bytes => (1.0, &["B"]),
            Self::Memory => (1024.0, &["B", "KiB", "MiB", "GiB"]),
            Self::SamplesPerSecond => (1.0, &["samples/s"]),
            Self::BitsPerSecond => (1e3, &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]),
            Self::Percent => (1.0, &["%"]),
            Self::Count => (1.0, &[""]),
        }
    }

    /// Returns the prefix in which the magnitude of `value` is a short number.
    #[must_use]
    pub fn prefix(self, value: f64) -> Prefix {
        let (step, names) = self.prefixes();
        let (mut factor, mut place) = (1.0, 0);
        // 999.5 would be printed as 1000.
        while place + 1 < names.len() && value.abs() >= 0.9995 * (factor * step) {
            (factor, place) = (factor * step, place + 1);
        }
        Prefix { factor, name: names[place] }
    }

    /// Returns one prefix for all `values`, as for a column: that of the smallest value that is not 0.
    #[must_use]
    pub fn common_prefix(self, values: impl IntoIterator<Item = f64>) -> Prefix {
        let sizes = values.into_iter().map(f64::abs).filter(|size| size.is_finite() && *size > 0.0);
        match sizes.min_by(f64::total_cmp) {
            Some(least) => self.prefix(least),
            None => self.prefix(0.0),
        }
    }
}

/// Returns whether a value can be drawn: it is finite and of a magnitude that occurs.
pub(crate) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() <= LARGEST
}

/// Formats a value with three significant digits and thin separators, as in `23.2` or `63 000`; `-` if not finite.
#[must_use]
pub fn plain(value: f64) -> String {
    if !drawable(value) {
        return if value == f64::INFINITY { "\u{221e}".to_owned() } else { NONE.to_owned() };
    }
    separated(&format_value(value))
}

/// Formats a value with its unit in the prefix that suits it, as in `23.2 µs`.
#[must_use]
pub fn value(value: f64, unit: Unit) -> String {
    Beside::new(value, unit).value(value)
}

/// Formats a value with its unit and its interval, as in `23.2 µs (22.1 to 26.8)`.
#[must_use]
pub fn estimate(estimate: Estimate, unit: Unit) -> String {
    let beside = Beside::new(estimate.value, unit);
    let number = beside.value(estimate.value);
    match estimate.interval {
        Some(interval) => format!("{number} ({})", beside.prefix.ends(interval)),
        None => number,
    }
}

/// One unit for a value and what belongs to it: its interval, or other values of a row. It is that of the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    prefix: Prefix,
}

impl Beside {
    /// Creates the unit for a value.
    #[must_use]
    pub fn new(value: f64, unit: Unit) -> Self {
        Self { prefix: unit.prefix(if drawable(value) { value } else { 0.0 }) }
    }

    /// Formats a value, as in `23.2 µs`.
    #[must_use]
    pub fn value(self, value: f64) -> String {
        with_unit(&self.prefix.number(value), self.prefix)
    }

    /// Formats an interval, as in `22.1 to 26.8 µs`.
    #[must_use]
    pub fn interval(self, interval: Interval) -> String {
        with_unit(&self.prefix.ends(interval), self.prefix)
    }
}

pub(crate) fn with_unit(number: &str, prefix: Prefix) -> String {
    if prefix.name.is_empty() || number == NONE {
        number.to_owned()
    } else {
        format!("{number}{NBSP}{}", prefix.name)
    }
}

/// Formats a round value, as of a tick or a size: all its digits, up to nine, without trailing zeros.
#[must_use]
pub fn round(value: f64) -> String {
    if !drawable(value) {
        return NONE.to_owned();
    }
    let decimals = if value == 0.0 { 0 } else { (8 - value.abs().log10().floor() as i32).clamp(0, 12) };
    let text = format!("{value:.decimals$}", decimals = decimals as usize);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    separated(if text == "-0" { "0" } else { text })
}

/// Formats a change in percent with its sign, as in `−48.7 %`, from a ratio.
#[must_use]
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if !drawable(percent) {
        return plain(percent);
    }
    let sign = if percent > 0.0 { "+" } else { "" };
    format!("{sign}{}{NBSP}%", plain(percent))
}

/// Puts thin spaces into numbers of five digits or more, and a minus sign in front of negative ones.
pub(crate) fn separated(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("\u{2212}", digits),
        None => ("", number),
    };
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = sign.to_owned();
    for (index, c) in digits.char_indices() {
        if whole >= 5 && index > 0 && index < whole && (whole - index) % 3 == 0 {
            text.push(THIN);
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits_and_thin_separators() {
        for (number, text) in [
            (23.24, "23.2"),
            (-23.24, "\u{2212}23.2"),
            (0.0, "0"),
            (8765.4, "8765"),
            (63_000.0, "63\u{202f}000"),
            (-1_234_567.8, "\u{2212}1\u{202f}234\u{202f}568"),
            (f64::NAN, "-"),
            (f64::INFINITY, "\u{221e}"),
            (f64::NEG_INFINITY, "-"),
            (1e300, "-"),
        ] {
            assert_eq!(plain(number), text);
        }
    }

    #[test]
    fn units_get_the_prefix_of_the_value() {
        for (number, unit, text) in [
            (23_240.0, Unit::Nanoseconds, "23.2\u{a0}µs"),
            (999.96, Unit::Nanoseconds, "1.00\u{a0}µs"),
            (999.4, Unit::Nanoseconds, "999\u{a0}ns"),
            (-2.5e6, Unit::Nanoseconds, "\u{2212}2.50\u{a0}ms"),
            (2.5e12, Unit::Nanoseconds, "2500\u{a0}s"),
            (13.3e9, Unit::BitsPerSecond, "13.3\u{a0}Gbit/s"),
            (0.0, Unit::BitsPerSecond, "0\u{a0}bit/s"),
            (1_572_864.0, Unit::Memory, "1.50\u{a0}MiB"),
            (63_000.0, Unit::Bytes, "63\u{202f}000\u{a0}B"),
            (120_000.0, Unit::SamplesPerSecond, "120\u{202f}000\u{a0}samples/s"),
            (1.44, Unit::Percent, "1.44\u{a0}%"),
            (12.0, Unit::Count, "12.0"),
            (f64::NAN, Unit::Nanoseconds, "-"),
        ] {
            assert_eq!(value(number, unit), text);
        }
    }

    #[test]
    fn an_interval_has_the_unit_of_its_value() {
        let beside = Beside::new(5_200_000.0, Unit::Nanoseconds);
        assert_eq!(beside.value(5_200_000.0), "5.20\u{a0}ms");
        let text = |low, high| beside.interval(Interval { low, high });
        assert_eq!(text(901_000.0, 6_197_000.0), "0.901 to 6.20\u{a0}ms");
        assert_eq!(text(900_000.0, f64::INFINITY), "0.900 to \u{221e}\u{a0}ms");
        let value = |value| estimate(value, Unit::Nanoseconds);
        assert_eq!(value(Estimate::within(23_240.0, 22_100.0, 26_800.0)), "23.2\u{a0}µs (22.1 to 26.8)");
        assert_eq!(value(Estimate::exact(23_240.0)), "23.2\u{a0}µs");
    }

    #[test]
    fn round_values_have_no_trailing_zeros() {
        for (number, text) in [
            (20.0, "20"),
            (0.1 + 0.2, "0.3"),
            (1.5, "1.5"),
            (-0.000_02, "\u{2212}0.00002"),
            (16_384.0, "16\u{202f}384"),
            (100_000_000.0, "100\u{202f}000\u{202f}000"),
            (0.0, "0"),
            (-1e-15, "0"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(round(number), text);
        }
    }

    #[test]
    fn changes_have_a_sign() {
        for (ratio, text) in [(0.513, "\u{2212}48.7\u{a0}%"), (2.0, "+100\u{a0}%"), (1.0, "0\u{a0}%")] {
            assert_eq!(change(ratio), text);
        }
    }

    #[test]
    fn a_column_has_the_prefix_of_its_least_value() {
        let prefix = Unit::Nanoseconds.common_prefix([23_000.0, f64::NAN, 0.0, 4.0e6]);
        assert_eq!((prefix.factor, prefix.name), (1e3, "µs"));
        assert_eq!(Unit::Nanoseconds.common_prefix([]).name, "ns");
    }
}
