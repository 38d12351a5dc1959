//! A distribution of latencies: its figures, from what was recorded, and of several runs together.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Moments, median, supports_quantile, total};

use crate::{Distribution, HistogramError, QUANTILES, new_histogram};

/// A distribution of latencies of one kind, each in ns of that kind, never halved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Samples.
    pub n: u64,
    /// Round trips that were lost: pings without an echo. Quantiles count them as longer than all others; mean, deviation and
    /// extremes are of those that came back. Absent where there are none, and of other latencies.
    #[serde(default, skip_serializing_if = "is_none_lost")]
    pub lost: u64,
    /// Mean (exact).
    pub mean_ns: f64,
    /// Standard deviation of the samples (exact).
    pub sd_ns: f64,
    /// Smallest (exact).
    pub min_ns: u64,
    /// Largest (exact).
    pub max_ns: u64,
    /// Median (within 0.1 %, as all quantiles); null where n is too small to support it, or too many are lost.
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
        Self::of_windows(distribution, &distribution.histograms()?, 0)
    }

    /// The same where the histograms of its windows are decoded already, and so many round trips were lost beside.
    ///
    /// # Errors
    /// Histograms of another shape.
    pub fn of_windows(
        distribution: &Distribution,
        windows: &[Histogram<u64>],
        lost: u64,
    ) -> Result<Self, HistogramError> {
        let mut all = new_histogram();
        for histogram in windows {
            all.add(histogram).map_err(|error| HistogramError::Decode(error.to_string()))?;
        }
        let extremes = [distribution.min_ns, distribution.max_ns];
        Ok(Self::from_parts(distribution.moments(), lost, extremes, Some(&all)))
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
        Self::from_parts(moments, 0, [min_ns, max_ns], Some(histogram))
    }

    /// The same values, and so many round trips lost beside them: the quantiles of all that were sent.
    #[must_use]
    pub fn with_lost(&self, lost: u64, histogram: &Histogram<u64>) -> Self {
        Self::from_parts(self.moments(), lost, [self.min_ns, self.max_ns], Some(histogram))
    }

    /// Without a histogram no quantile is known.
    fn from_parts(
        moments: Moments,
        lost: u64,
        [min_ns, max_ns]: [u64; 2],
        histogram: Option<&Histogram<u64>>,
    ) -> Self {
        let n = moments.n;
        let quantile = |q: f64| {
            let histogram = histogram.filter(|_| supports_quantile(n, q) && !is_lost(n, lost, q))?;
            // the middle of the rank's share of those that came back, so that rounding leads to no other
            let share = (rank(n, lost, q) as f64 - 0.5) / n as f64;
            // a bucket's upper end may lie beyond the exact maximum
            Some(histogram.value_at_quantile(share).min(max_ns).max(min_ns))
        };
        let [p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns, p99_9999_ns] = QUANTILES.map(quantile);
        Self {
            n,
            lost,
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

    /// The quantiles, in the order of [`QUANTILES`].
    #[must_use]
    pub const fn quantiles(&self) -> [Option<u64>; 6] {
        [self.p50_ns, self.p90_ns, self.p99_ns, self.p99_9_ns, self.p99_99_ns, self.p99_9999_ns]
    }

    /// Whether so many were lost that a quantile is a round trip without an end: at least the share that lies above it.
    #[must_use]
    pub fn is_lost(&self, q: f64) -> bool {
        is_lost(self.n, self.lost, q)
    }

    fn moments(&self) -> Moments {
        Moments::from_sd(self.n, self.mean_ns, self.sd_ns)
    }
}

/// Quantiles in millionths, so that shares of samples are compared without rounding.
const MILLION: u128 = 1_000_000;

fn millionths(q: f64) -> u128 {
    (q * MILLION as f64).round() as u128
}

fn is_lost(n: u64, lost: u64, q: f64) -> bool {
    lost > 0 && u128::from(lost) * MILLION >= (MILLION - millionths(q)) * (u128::from(n) + u128::from(lost))
}

/// The rank of a quantile among all that were sent; the shortest has rank 1.
fn rank(n: u64, lost: u64, q: f64) -> u64 {
    let sent = u128::from(n) + u128::from(lost);
    u64::try_from((millionths(q) * sent).div_ceil(MILLION)).unwrap_or(u64::MAX).max(1)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_none_lost(lost: &u64) -> bool {
    *lost == 0
}

/// Latencies of one kind over the valid runs of a cell, each in ns of that kind, never halved.
///
/// A quantile is the median over runs of each run's, as claims have it. Number, mean, deviation and extremes are of the
/// samples of all runs together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellLatency {
    /// Samples of all runs.
    pub n: u64,
    /// Round trips that were lost, of all runs. Absent where there are none.
    #[serde(default, skip_serializing_if = "is_none_lost")]
    pub lost: u64,
    /// Mean (exact).
    pub mean_ns: f64,
    /// Standard deviation of the samples (exact).
    pub sd_ns: f64,
    /// Smallest (exact).
    pub min_ns: u64,
    /// Largest (exact).
    pub max_ns: u64,
    /// Median over runs of the runs' medians; null where no run has samples enough, nor all together, or too many are lost.
    pub p50_ns: Option<f64>,
    /// 90 %.
    pub p90_ns: Option<f64>,
    /// 99 %.
    pub p99_ns: Option<f64>,
    /// 99.9 %.
    pub p99_9_ns: Option<f64>,
    /// 99.99 %.
    pub p99_99_ns: Option<f64>,
    /// 99.9999 %.
    pub p99_9999_ns: Option<f64>,
    /// Quantiles that no single run supports: these are of the samples of all runs together, and no claim rests on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<f64>,
}

impl CellLatency {
    /// The quantiles, in the order of [`QUANTILES`].
    #[must_use]
    pub const fn quantiles(&self) -> [Option<f64>; 6] {
        [self.p50_ns, self.p90_ns, self.p99_ns, self.p99_9_ns, self.p99_99_ns, self.p99_9999_ns]
    }

    /// Whether a quantile is of the samples of all runs together.
    #[must_use]
    pub fn is_pooled(&self, q: f64) -> bool {
        self.pooled.contains(&q)
    }

    /// `all`: the samples of all runs together.
    fn of(all: &Latency, runs: &[&Latency]) -> Self {
        let mut pooled = Vec::new();
        let mut quantile = |index: usize| {
            let q = QUANTILES[index];
            if runs.iter().all(|run| run.quantiles()[index].is_none()) {
                let value = all.quantiles()[index]?;
                pooled.push(q);
                return Some(value as f64);
            }
            // a quantile beyond what came back is longer than all that did; a run with too few samples says nothing
            let of_run = |run: &&Latency| match run.quantiles()[index] {
                Some(ns) => Some(ns as f64),
                None if supports_quantile(run.n, q) && run.is_lost(q) => Some(f64::INFINITY),
                None => None,
            };
            median(&runs.iter().filter_map(of_run).collect::<Vec<_>>()).filter(|ns| ns.is_finite())
        };
        let [p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns, p99_9999_ns] =
            [0, 1, 2, 3, 4, 5].map(&mut quantile);
        let Latency { n, lost, mean_ns, sd_ns, min_ns, max_ns, .. } = *all;
        Self {
            n,
            lost,
            mean_ns,
            sd_ns,
            min_ns,
            max_ns,
            p50_ns,
            p90_ns,
            p99_ns,
            p99_9_ns,
            p99_99_ns,
            p99_9999_ns,
            pooled,
        }
    }
}

/// The latencies of a cell by kind: `runs` are those of its valid runs, and whether claims rest on them. `histogram` has the values
/// of all of them; one that has not is as if there were none.
pub(crate) fn cell_latency<'r>(
    runs: impl Iterator<Item = (&'r BTreeMap<String, Latency>, bool)>,
    histogram: impl Fn(&str) -> Option<&'r Histogram<u64>>,
) -> BTreeMap<String, CellLatency> {
    let mut kinds: BTreeMap<&String, Vec<(&Latency, bool)>> = BTreeMap::new();
    for (of_run, claimed) in runs {
        for (kind, latency) in of_run.iter().filter(|(_, latency)| latency.n > 0) {
            kinds.entry(kind).or_default().push((latency, claimed));
        }
    }
    kinds
        .into_iter()
        .map(|(kind, parts)| {
            let all = || parts.iter().map(|(part, _)| *part);
            let moments = all().map(Latency::moments).fold(Moments::default(), Moments::combine);
            let lost = total(all().map(|part| part.lost));
            let min = all().map(|part| part.min_ns).min().unwrap_or(0);
            let max = all().map(|part| part.max_ns).max().unwrap_or(0);
            let histogram = histogram(kind).filter(|histogram| histogram.len() == moments.n);
            let pooled = Latency::from_parts(moments, lost, [min, max], histogram);
            let claimed: Vec<&Latency> =
                parts.iter().filter(|(_, claimed)| *claimed).map(|(part, _)| *part).collect();
            (kind.clone(), CellLatency::of(&pooled, &claimed))
        })
        .collect()
}
