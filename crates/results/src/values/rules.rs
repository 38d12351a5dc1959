//! Limits of warnings and verdicts, and shares in percent.

/// Half-range over the runs, relative to their median, above which a warning is issued.
pub const WIDE_SPREAD: f64 = 0.1;
/// Maximum share of lost pings or samples, in percent, for a verdict on latency.
pub const MAX_LATENCY_LOSS_PCT: f64 = 1.0;

/// Returns a part in percent of the whole; 0 if the whole is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}
