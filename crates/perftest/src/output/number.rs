//! Numbers of rows as text.

/// Text of a value that the samples do not support.
const NOT_AVAILABLE: &str = "n/a";
/// Text of a value that only the other side knows.
const UNKNOWN: &str = "unknown";
/// Time in µs from which whole numbers are precise enough.
const WHOLE_FROM_US: f64 = 100.0;

/// Returns a time in µs: a whole number, with one decimal below 100 unless it is 0.
pub fn micros(us: Option<f64>) -> String {
    match us {
        Some(us) if us.is_infinite() => "inf".to_owned(),
        Some(us) if us.is_nan() => NOT_AVAILABLE.to_owned(),
        Some(us) if us < WHOLE_FROM_US => {
            let text = format!("{us:.1}");
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        }
        Some(us) => format!("{us:.0}"),
        None => NOT_AVAILABLE.to_owned(),
    }
}

/// Returns a number with decimals, or `n/a`.
pub fn decimals(value: Option<f64>, decimals: usize) -> String {
    match value.filter(|value| value.is_finite()) {
        Some(value) => format!("{value:.decimals$}"),
        None => NOT_AVAILABLE.to_owned(),
    }
}

/// Returns a number of lost samples.
pub fn lost(lost: Option<u64>) -> String {
    lost.map_or_else(|| UNKNOWN.to_owned(), |lost| lost.to_string())
}

/// Returns a share of lost samples in percent.
pub fn lost_percent(percent: Option<f64>) -> String {
    match percent.filter(|percent| percent.is_finite()) {
        Some(percent) => format!("{percent:.2}"),
        None => UNKNOWN.to_owned(),
    }
}

/// Returns a value with at most three decimals, as JSON has it.
pub fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
