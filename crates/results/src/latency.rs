//! A distribution of latencies: its figures, from what was recorded, and of several runs together.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Moments, supports_quantile};

use crate::{Distribution, HistogramError, QUANTILES, new_histogram};

/// A distribution of latencies of one kind, each in ns of that kind, never halved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Samples.
    pub n: u64,
    /// Mean (exact).
    pub mean_ns: f64,
    /// Standard deviation of the samples (exact).
    pub sd_ns: f64,
    /// Smallest (exact).
    pub min_ns: u64,
    /// Largest (exact).
    pub max_ns: u64,
    /// Median (within 0.1 %, as all quantiles); null where n is too small to support it.
    pub p50_ns: Option<u64>,
    /// 90 %.
    pub p90_ns: Option<u64>,
    /// 99 %.
    pub p99_ns: Option<u64>,
    /// 99.9 %.
    pub p99_9_ns: Option<u64>,
    /// 99.99 %.
    pub p99_99_ns: Option<u64>,
    /// 99.9999 %.
    pub p99_9999_ns: Option<u64>,
}

impl Latency {
    /// What one run's values say.
    ///
    /// # Errors
    /// The histograms cannot be decoded, or hold another number of values.
    pub fn of(distribution: &Distribution) -> Result<Self, HistogramError> {
        Self::of_windows(distribution, &distribution.histograms()?)
    }

    /// The same where the histograms of its windows are decoded already.
    ///
    /// # Errors
    /// Histograms of another shape.
    pub fn of_windows(
        distribution: &Distribution,
        windows: &[Histogram<u64>],
    ) -> Result<Self, HistogramError> {
        let mut all = new_histogram();
        for histogram in windows {
            all.add(histogram).map_err(|error| HistogramError::Decode(error.to_string()))?;
        }
        Ok(Self::from_parts(distribution.moments(), distribution.min_ns, distribution.max_ns, Some(&all)))
    }

    /// What values say whose histogram, moments and extremes are known.
    #[must_use]
    pub fn of_histogram(
        histogram: &Histogram<u64>,
        mean_ns: f64,
        sd_ns: f64,
        min_ns: u64,
        max_ns: u64,
    ) -> Self {
        let moments = Moments::from_sd(histogram.len(), mean_ns, sd_ns);
        Self::from_parts(moments, min_ns, max_ns, Some(histogram))
    }

    /// Without a histogram no quantile is known.
    fn from_parts(moments: Moments, min_ns: u64, max_ns: u64, histogram: Option<&Histogram<u64>>) -> Self {
        let quantile = |q: f64| {
            histogram
                .filter(|_| supports_quantile(moments.n, q))
                // a bucket's upper end may lie beyond the exact maximum
                .map(|histogram| histogram.value_at_quantile(q).min(max_ns).max(min_ns))
        };
        let [p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns, p99_9999_ns] = QUANTILES.map(quantile);
        Self {
            n: moments.n,
            mean_ns: moments.mean,
            sd_ns: moments.sd(),
            min_ns,
            max_ns,
            p50_ns,
            p90_ns,
            p99_ns,
            p99_9_ns,
            p99_99_ns,
            p99_9999_ns,
        }
    }

    fn moments(&self) -> Moments {
        Moments::from_sd(self.n, self.mean_ns, self.sd_ns)
    }
}

/// The latencies of all runs as one, by kind. `histogram` has all their values; one that has not is as if there were none.
pub(crate) fn pooled_latency<'r>(
    runs: impl Iterator<Item = &'r BTreeMap<String, Latency>>,
    histogram: impl Fn(&str) -> Option<&'r Histogram<u64>>,
) -> BTreeMap<String, Latency> {
    let mut kinds: BTreeMap<&String, Vec<&Latency>> = BTreeMap::new();
    for (kind, latency) in runs.flatten().filter(|(_, latency)| latency.n > 0) {
        kinds.entry(kind).or_default().push(latency);
    }
    kinds
        .into_iter()
        .map(|(kind, parts)| {
            let moments = parts.iter().map(|part| part.moments()).fold(Moments::default(), Moments::combine);
            let min = parts.iter().map(|part| part.min_ns).min().unwrap_or(0);
            let max = parts.iter().map(|part| part.max_ns).max().unwrap_or(0);
            let histogram = histogram(kind).filter(|histogram| histogram.len() == moments.n);
            (kind.clone(), Latency::from_parts(moments, min, max, histogram))
        })
        .collect()
}
