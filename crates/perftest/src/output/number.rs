//! Numbers of rows as text.

use super::rows::Rows;

/// Text of a value that the samples do not support.
const NOT_AVAILABLE: &str = "n/a";
/// Text of a value that only the other side knows.
const UNKNOWN: &str = "unknown";
/// Text of a missing value for readers that convert each column to a number.
const NOT_A_NUMBER: &str = "nan";
/// Time in µs from which whole numbers are precise enough.
const WHOLE_FROM_US: f64 = 100.0;

impl Rows {
    fn or(&self, number: Option<String>, missing: &str) -> String {
        number.unwrap_or_else(|| if self.numbers { NOT_A_NUMBER } else { missing }.to_owned())
    }

    /// Returns a time in µs: a whole number, with one decimal below 100 unless it is 0.
    pub(super) fn micros(&self, us: Option<f64>) -> String {
        let text = us.filter(|us| !us.is_nan()).map(|us| match us {
            _ if us.is_infinite() => "inf".to_owned(),
            _ if us < WHOLE_FROM_US => {
                let text = format!("{us:.1}");
                text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
            }
            _ => format!("{us:.0}"),
        });
        self.or(text, NOT_AVAILABLE)
    }

    /// Returns a standard deviation in µs of `samples` values. The release has 0 for a single one.
    pub(super) fn deviation(&self, us: Option<f64>, samples: u64) -> String {
        self.decimals(us.or((self.numbers && samples == 1).then_some(0.0)), 1)
    }

    /// Returns a number with decimals.
    pub(super) fn decimals(&self, value: Option<f64>, decimals: usize) -> String {
        let text = value.filter(|value| value.is_finite()).map(|value| format!("{value:.decimals$}"));
        self.or(text, NOT_AVAILABLE)
    }

    /// Returns a number of lost samples.
    pub(super) fn lost(&self, lost: Option<u64>) -> String {
        self.or(lost.map(|lost| lost.to_string()), UNKNOWN)
    }

    /// Returns a share of lost samples in percent.
    pub(super) fn lost_percent(&self, percent: Option<f64>) -> String {
        let text = percent.filter(|percent| percent.is_finite()).map(|percent| format!("{percent:.2}"));
        self.or(text, UNKNOWN)
    }
}
