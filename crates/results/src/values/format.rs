//! Formatting of measured values: the rounding rule of tables, findings, verdicts and warnings.

use stats::format_value;

use crate::schema::metric::Metric;

/// Formats a half-range or another uncertainty with two significant digits, at most one of them after the decimal
/// point.
#[must_use]
pub fn format_spread(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = match value.abs() {
        size if size < 0.05 => return "0.0".to_owned(),
        size if size < 9.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Formats a change: a value with its sign.
#[must_use]
pub fn format_signed(value: f64) -> String {
    let text = format_value(value);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// Largest detectable effect that texts show, in percent: a difference of 10x.
const LARGEST_EFFECT_PCT: f64 = 900.0;

/// Formats the smallest effect that a comparison can show, as in `15.2 %`; `None` if it shows none of 10x: the noise is too large
/// for a number to mean anything.
#[must_use]
pub fn shown_effect(pct: f64) -> Option<String> {
    (pct <= LARGEST_EFFECT_PCT).then(|| format!("{} %", format_value(pct)))
}

/// Formats the range of the smallest effects that comparisons can show, as in `15.2 to 20.1 %` or `more than 10x`.
#[must_use]
pub fn format_effects([least, most]: [f64; 2]) -> String {
    match [least, most].map(shown_effect) {
        [None, _] => "more than 10x".to_owned(),
        [Some(least), None] => format!("{least} to more than 10x"),
        [Some(one), Some(other)] if one == other => one,
        [Some(_), Some(most)] => format!("{} to {most}", format_value(least)),
    }
}

/// Formats nanoseconds as a number of µs, the unit of all measured times in reports.
#[must_use]
pub fn format_micros(ns: f64) -> String {
    format_value(ns / 1e3)
}

impl Metric {
    /// Formats a value of this metric, without its unit.
    #[must_use]
    pub fn format(self, value: f64) -> String {
        if self.is_time() { format_micros(value) } else { format_value(value) }
    }

    /// Returns the unit of [`Metric::format`].
    #[must_use]
    pub const fn shown_unit(self) -> &'static str {
        if self.is_time() { "µs" } else { self.unit() }
    }

    const fn is_time(self) -> bool {
        matches!(self.unit().as_bytes(), b"ns")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_two_significant_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.049, "0.0"),
            (0.051, "0.1"),
            (0.618, "0.6"),
            (0.996, "1.0"),
            (2.13, "2.1"),
            (9.96, "10"),
            (12.3, "12"),
            (150.0, "150"),
        ] {
            assert_eq!(format_spread(value), text, "{value}");
        }
    }

    #[test]
    fn a_change_has_a_sign() {
        for (value, text) in [(0.0, "+0"), (-0.000_1, "+0.000"), (5.314, "+5.31"), (-12.34, "-12.3")] {
            assert_eq!(format_signed(value), text, "{value}");
        }
    }

    #[test]
    fn effect_of_more_than_10x_has_no_number() {
        for (range, text) in [
            ([3.0, 3.0], "3.00 %"),
            ([3.0, 15.24], "3.00 to 15.2 %"),
            ([900.0, 900.0], "900 %"),
            ([15.24, 901.0], "15.2 % to more than 10x"),
            ([2_097_959.0, f64::INFINITY], "more than 10x"),
        ] {
            assert_eq!(format_effects(range), text, "{range:?}");
        }
        assert_eq!(shown_effect(2_097_959.0), None);
    }

    #[test]
    fn times_are_in_microseconds_and_rates_as_they_are() {
        let shown = |metric: Metric, value| format!("{} {}", metric.format(value), metric.shown_unit());
        assert_eq!(shown(Metric::RttP50, 17_940.0), "17.9 µs");
        assert_eq!(shown(Metric::RttP99, 8_765_400.0), "8765 µs");
        assert_eq!(shown(Metric::CpuWriter, 843.0), "0.843 µs");
        assert_eq!(shown(Metric::Goodput, 26.13), "26.1 Mbit/s");
        assert_eq!(shown(Metric::Ndr, 100_000.0), "100000 1/s");
    }
}
