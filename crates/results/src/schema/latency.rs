//! Latency distributions: of one run, and over the runs of a cell.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use recording::{Distribution, HistogramError, QUANTILES, new_histogram, operations};
use serde::{Deserialize, Serialize};
use stats::{Moments, median, supports_quantile, total};

/// Latency distribution of one kind, in ns: over one run, or over the valid runs of a cell. RTT values are full round trips, never
/// halved.
///
/// A quantile of a cell is the median over the runs of each run's quantile, without `twin` runs, as in verdicts. Number,
/// mean, standard deviation and extremes are over the pooled samples of all valid runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Latency_of_{Q}"))]
pub struct Latency<Q = u64> {
    /// Number of values.
    pub n: u64,
    /// Number of round trips without an echo, for `rtt` and one-way times. Quantiles rank them above all other
    /// values; mean, standard deviation and extremes exclude them. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::schema::is_zero")]
    pub lost: u64,
    /// Mean in ns (exact).
    pub mean_ns: f64,
    /// Standard deviation of the values in ns (exact).
    pub sd_ns: f64,
    /// Minimum in ns (exact).
    pub min_ns: u64,
    /// Maximum in ns (exact).
    pub max_ns: u64,
    /// Median in ns. Quantiles are accurate to 0.1 %. They are null if `n` is too small, or if they lie among the lost round
    /// trips; of a cell, if neither a run nor all runs together have enough values.
    pub p50_ns: Option<Q>,
    /// 90 % quantile in ns.
    pub p90_ns: Option<Q>,
    /// 99 % quantile in ns.
    pub p99_ns: Option<Q>,
    /// 99.9 % quantile in ns.
    pub p99_9_ns: Option<Q>,
    /// 99.99 % quantile in ns.
    pub p99_99_ns: Option<Q>,
    /// 99.9999 % quantile in ns.
    pub p99_9999_ns: Option<Q>,
    /// Quantiles of a cell (for example 0.9999) for which a run has too few samples. Their values are those of the pooled samples,
    /// and no verdict uses them. Absent if there are none, and in a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<f64>,
    /// Maximum error of each value in ns, for times between two hosts: the sum of the errors of their clocks. Absent if
    /// 0: both ends read the same clock.
    #[serde(default, skip_serializing_if = "crate::schema::is_zero")]
    pub clock_error_ns: u64,
    /// Number of values that are negative, within the error of the clocks. They are not among the `n` values. Absent if
    /// 0.
    #[serde(default, skip_serializing_if = "crate::schema::is_zero")]
    pub negative: u64,
    /// Values in ns of the null quantiles of a run, by the name of the field: the histogram's, of the values that came. `n` does
    /// not support them, or they lie among the lost round trips. Absent unless the design asks for them, and in a cell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unsupported: BTreeMap<String, u64>,
}

/// Latency distribution of one kind over the valid runs of a cell. Medians of quantiles have fractions.
pub type CellLatency = Latency<f64>;

/// Fields of the quantiles, in the order of [`QUANTILES`].
const FIELDS: [&str; 6] = ["p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "p99_99_ns", "p99_9999_ns"];

impl Latency {
    /// Creates the record of the values of one run, from its decoded histograms and `lost` lost round trips.
    ///
    /// # Errors
    /// Returns an error if a histogram has another shape.
    pub fn of_windows(
        distribution: &Distribution,
        windows: &[Histogram<u64>],
        lost: u64,
    ) -> Result<Self, HistogramError> {
        let mut all = new_histogram();
        for histogram in windows {
            operations::add(&mut all, histogram)?;
        }
        Ok(Self::of_merged(distribution, &all, lost))
    }

    /// Like [`Latency::of_windows`], with all windows merged.
    #[must_use]
    pub fn of_merged(distribution: &Distribution, merged: &Histogram<u64>, lost: u64) -> Self {
        let extremes = [distribution.min_ns, distribution.max_ns];
        Self::from_parts(distribution.moments(), lost, extremes, Some(merged))
    }

    /// Without a histogram, all quantiles are `None`.
    fn from_parts(
        moments: Moments,
        lost: u64,
        [min_ns, max_ns]: [u64; 2],
        histogram: Option<&Histogram<u64>>,
    ) -> Self {
        let n = moments.n;
        let quantile = |q: f64| {
            let histogram = histogram.filter(|_| supports_quantile(n, q) && !is_lost(n, lost, q))?;
            // the middle of the rank's share of the returned ones, so that rounding does not select a neighbour
            let share = (rank(n, lost, q) as f64 - 0.5) / n as f64;
            // the upper end of a bucket can exceed the exact maximum
            Some(operations::value_at_quantile(histogram, share).min(max_ns).max(min_ns))
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
            ..Self::default()
        }
    }

    /// Returns the same distribution with the values of its null quantiles, of the `n` values that came: the value after a share
    /// `q` of them.
    #[must_use]
    pub fn with_unsupported(self, histogram: &Histogram<u64>) -> Self {
        let value = |q: f64| {
            let before = (u128::from(self.n) * millionths(q) / MILLION) as f64;
            let share = (before + 0.5) / self.n.max(1) as f64;
            operations::value_at_quantile(histogram, share).min(self.max_ns).max(self.min_ns)
        };
        let missing = self.quantiles().into_iter().zip(QUANTILES).zip(FIELDS);
        let missing = missing.filter(|((known, _), _)| known.is_none());
        let unsupported = missing.map(|((_, q), field)| (field.to_owned(), value(q))).collect();
        Self { unsupported, ..self }
    }

    /// Returns the same distribution of times between two hosts, with the error of their clocks and the number of
    /// negative times.
    #[must_use]
    pub fn between_hosts(self, clock_error_ns: u64, negative: u64) -> Self {
        Self { clock_error_ns, negative, ..self }
    }

    /// Returns whether the quantile `q` lies among the lost round trips: at least the share above it was lost.
    #[must_use]
    pub fn is_lost(&self, q: f64) -> bool {
        is_lost(self.n, self.lost, q)
    }

    fn moments(&self) -> Moments {
        Moments::from_sd(self.n, self.mean_ns, self.sd_ns)
    }
}

/// Scale of quantiles as integers, so that shares of samples are compared without rounding.
const MILLION: u128 = 1_000_000;

fn millionths(q: f64) -> u128 {
    (q * MILLION as f64).round() as u128
}

fn is_lost(n: u64, lost: u64, q: f64) -> bool {
    lost > 0 && u128::from(lost) * MILLION >= (MILLION - millionths(q)) * (u128::from(n) + u128::from(lost))
}

/// Returns the rank of a quantile among all that were sent; the shortest has rank 1.
fn rank(n: u64, lost: u64, q: f64) -> u64 {
    let sent = u128::from(n) + u128::from(lost);
    u64::try_from((millionths(q) * sent).div_ceil(MILLION)).unwrap_or(u64::MAX).max(1)
}

impl<Q: Copy> Latency<Q> {
    /// Returns the quantiles in the order of [`QUANTILES`].
    #[must_use]
    pub const fn quantiles(&self) -> [Option<Q>; 6] {
        [self.p50_ns, self.p90_ns, self.p99_ns, self.p99_9_ns, self.p99_99_ns, self.p99_9999_ns]
    }
}

impl CellLatency {
    /// Returns whether the clocks are good enough for a value in ns: it exceeds their error.
    #[must_use]
    pub fn is_resolved(&self, ns: f64) -> bool {
        self.clock_error_ns == 0 || ns > self.clock_error_ns as f64
    }

    /// Returns whether the quantile `q` is that of the pooled samples.
    #[must_use]
    pub fn is_pooled(&self, q: f64) -> bool {
        self.pooled.contains(&q)
    }

    /// Creates the record; `all` has the pooled samples of all valid runs.
    fn from_runs(all: &Latency, runs: &[&Latency]) -> Self {
        let mut pooled = Vec::new();
        let mut quantile = |index: usize| {
            let q = QUANTILES[index];
            // A lost quantile is longer than all values.
            let of_run = |run: &&Latency| match run.quantiles()[index] {
                Some(ns) => Some(ns as f64),
                None if supports_quantile(run.n, q) && run.is_lost(q) => Some(f64::INFINITY),
                None => None,
            };
            let of_runs: Option<Vec<f64>> = runs.iter().map(of_run).collect();
            let is_measured = runs.iter().any(|run| run.quantiles()[index].is_some());
            match of_runs.filter(|_| is_measured) {
                Some(values) => median(&values).filter(|ns| ns.is_finite()),
                // The runs with enough samples are the quick ones: their median would be too short.
                None => {
                    let value = all.quantiles()[index]?;
                    pooled.push(q);
                    Some(value as f64)
                }
            }
        };
        let [p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns, p99_9999_ns] =
            [0, 1, 2, 3, 4, 5].map(&mut quantile);
        let Latency { n, lost, mean_ns, sd_ns, min_ns, max_ns, clock_error_ns, negative, .. } = *all;
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
            clock_error_ns,
            negative,
            ..Self::default()
        }
    }
}

/// Returns the latencies of a cell by kind. `runs` has the latencies of each valid run, and whether the run counts
/// for claims. `histogram` returns the pooled histogram of a kind; one with another number of values is ignored.
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
            let clock_error_ns = all().map(|part| part.clock_error_ns).max().unwrap_or(0);
            let negative = total(all().map(|part| part.negative));
            let pooled = Latency::from_parts(moments, lost, [min, max], histogram)
                .between_hosts(clock_error_ns, negative);
            let claimed: Vec<&Latency> =
                parts.iter().filter(|(_, claimed)| *claimed).map(|(part, _)| *part).collect();
            (kind.clone(), CellLatency::from_runs(&pooled, &claimed))
        })
        .collect()
}
