//! Numbers as people read them: plain digits, and no more of them than the figure has.

use std::time::{Duration, UNIX_EPOCH};

/// Nanoseconds as µs.
pub(crate) fn micros(ns: f64) -> String {
    significant(ns / 1e3)
}

/// At least three significant digits, at most one after the point from 10 on: what a histogram and a clock know.
pub(crate) fn significant(value: f64) -> String {
    let digits = match value.abs() {
        value if value < 9.995 => 2,
        value if value < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// Samples per second: whole ones where there are many.
pub(crate) fn rate(sps: f64) -> String {
    if sps < 999.5 { significant(sps) } else { format!("{sps:.0}") }
}

/// A share of 1 in percent: two significant digits from 1 % on.
pub(crate) fn percent_of_one(share: f64) -> String {
    let percent = share * 100.0;
    let digits = usize::from(percent < 9.95);
    format!("{percent:.digits$}")
}

/// A time for words: the largest unit in which it is a short number.
pub(crate) fn duration(ns: u64) -> String {
    let (divisor, unit) = match ns {
        0..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let (whole, rest) = (ns / divisor, ns % divisor);
    if rest == 0 {
        return format!("{whole} {unit}");
    }
    let value = format!("{:.3}", ns as f64 / divisor as f64);
    format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.'))
}

/// A point in time, to the second, in UTC.
pub(crate) fn date(unix_ns: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(unix_ns)).to_string()
}

/// `1 run`, `3 runs`.
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_three_digits() {
        for (ns, text) in [
            (0.0, "0.00"),
            (843.0, "0.84"),
            (9_994.0, "9.99"),
            (9_996.0, "10.0"),
            (17_940.0, "17.9"),
            (512_340.0, "512.3"),
            (999_960.0, "1000"),
            (6_601_000.0, "6601"),
        ] {
            assert_eq!(micros(ns), text, "{ns}");
        }
    }

    #[test]
    fn rates_keep_three_digits() {
        for (value, text) in [
            (0.0, "0.00"),
            (1.834, "1.83"),
            (26.13, "26.1"),
            (99.96, "100.0"),
            (8765.4, "8765"),
            (9.996, "10.0"),
        ] {
            assert_eq!(significant(value), text, "{value}");
        }
    }

    #[test]
    fn shares_are_in_percent() {
        for (share, text) in [(0.0, "0.0"), (0.021, "2.1"), (0.0995, "10"), (0.123, "12"), (1.5, "150")] {
            assert_eq!(percent_of_one(share), text, "{share}");
        }
    }

    #[test]
    fn durations_are_short() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.5 µs"),
            (200_000_000, "200 ms"),
            (1_000_000_000, "1 s"),
            (90_000_000_000, "90 s"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }
}
