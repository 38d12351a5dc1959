//! Formatting of planned durations, dates and counts. For measured values see [`results::format_value`].

use std::time::{Duration, UNIX_EPOCH};

/// Formats a duration in the largest unit in which it is a short number.
#[must_use]
pub fn duration(ns: u64) -> String {
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

/// Formats a time in UTC, accurate to the second.
#[must_use]
pub fn date(unix_ns: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(unix_ns)).to_string()
}

/// Formats a count with its noun: `1 run`, `3 runs`.
#[must_use]
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

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
