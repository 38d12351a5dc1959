//! Metrics that flags select.

use experiment::Workload;

use crate::schema::metric::Metric;

/// Metric selected by a flag: one metric, or the same quantile of the main latency of each workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricSelector {
    word: &'static str,
    metric: Metric,
    /// Metric for cells that do not have the first one.
    or: Option<Metric>,
}

/// Quantiles of the main latency, by their names in flags: the RTT, or the response time under load.
const MAIN_LATENCY: [(&str, Metric, Metric); 4] = [
    ("p50", Metric::RttP50, Metric::ResponseP50),
    ("p90", Metric::RttP90, Metric::ResponseP90),
    ("p99", Metric::RttP99, Metric::ResponseP99),
    ("p99.9", Metric::RttP999, Metric::ResponseP999),
];

impl MetricSelector {
    /// Returns all selectors: the quantiles of the main latency, and all metrics in the order of [`Metric::ALL`].
    pub fn all() -> impl Iterator<Item = Self> {
        let main = MAIN_LATENCY.map(|(word, metric, or)| Self { word, metric, or: Some(or) });
        main.into_iter().chain(Metric::ALL.into_iter().map(Self::from))
    }

    /// Parses the name of a metric in a flag; `throughput` means goodput.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        let word = if word == "throughput" { "goodput" } else { word };
        Self::all().find(|wanted| wanted.word == word)
    }

    /// Returns the name in flags.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.word
    }

    /// Returns the selected metric of cells of a workload.
    #[must_use]
    pub fn for_workload(self, workload: Workload) -> Option<Metric> {
        [Some(self.metric), self.or].into_iter().flatten().find(|metric| metric.is_of(workload))
    }

    /// Returns whether this selector can select the metric.
    #[must_use]
    pub fn means(self, metric: Metric) -> bool {
        self.metric == metric || self.or == Some(metric)
    }
}

impl From<Metric> for MetricSelector {
    /// Creates the selector of this metric only.
    fn from(metric: Metric) -> Self {
        Self { word: metric.name(), metric, or: None }
    }
}
