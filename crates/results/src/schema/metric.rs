//! Metrics of a run that claims use: one value per run.

use experiment::{Factors, Workload};
use serde::{Deserialize, Serialize};
use stats::Better;

/// Metric of a run. Claims use one value per run, never single samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Median RTT, in ns.
    RttP50,
    /// 90 % quantile of the RTT, in ns.
    RttP90,
    /// 99 % quantile of the RTT, in ns.
    RttP99,
    /// 99.9 % quantile of the RTT, in ns.
    #[serde(rename = "rtt_p99_9")]
    RttP999,
    /// Median response time, from the intended send time to the arrival, in ns.
    ResponseP50,
    /// 90 % quantile of the response time, in ns.
    ResponseP90,
    /// 99 % quantile of the response time, in ns.
    ResponseP99,
    /// 99.9 % quantile of the response time, in ns.
    #[serde(rename = "response_p99_9")]
    ResponseP999,
    /// Median service time, from the start of the write call to the arrival, in ns.
    ServiceP50,
    /// 99 % quantile of the service time, in ns.
    ServiceP99,
    /// 99 % quantile of the send lag, from the intended send time to the start of the write call, in ns.
    SendLagP99,
    /// Delivered rate: distinct samples, in samples/s.
    Delivered,
    /// Goodput: payload of the delivered samples, in 10^6 bit/s.
    Goodput,
    /// Non-drop rate: conditional throughput at the highest rate without loss, in samples/s.
    Ndr,
    /// Partial drop rate: conditional throughput at the highest rate within the allowed loss, in samples/s.
    Pdr,
    /// Conditional throughput at the highest rate within the allowed share of late samples, in samples/s.
    Slo,
    /// Headroom of a system: the highest factor of all rates at which each flow keeps its limit of missed samples.
    Headroom,
    /// Time until all participants are matched, in ns.
    AllMatched,
    /// Time per sample and hop of a ring, in ns.
    SampleHop,
    /// Share of the samples (pings) that were to arrive which did, in percent. A run in which nothing arrived counts as if half a
    /// sample had, so that it has a ratio to others.
    Arrived,
    /// Share of the planned samples that missed the deadline of their flow, lost ones included, in percent, at the reader that missed
    /// most. With half a sample more, so that a run that missed none has a ratio to others.
    Missed,
    /// CPU time of the writer's (pinger's) process per sample, in ns.
    CpuWriter,
    /// CPU time of the reader's (echo's) process per sample, in ns.
    CpuReader,
}

/// Indices of quantiles in [`Latency::quantiles`](crate::Latency::quantiles).
pub(crate) const P50: usize = 0;
pub(crate) const P90: usize = 1;
pub(crate) const P99: usize = 2;
pub(crate) const P999: usize = 3;

/// Properties of a metric.
struct Row {
    metric: Metric,
    name: &'static str,
    words: &'static str,
    unit: &'static str,
    better: Better,
    quantile: Option<(&'static str, usize)>,
}

/// Quantile of the latencies of a kind.
const fn latency(
    metric: Metric,
    name: &'static str,
    words: &'static str,
    kind: &'static str,
    quantile: usize,
) -> Row {
    Row { metric, name, words, unit: "ns", better: Better::Less, quantile: Some((kind, quantile)) }
}

/// Metric that is not a latency.
const fn other(
    metric: Metric,
    name: &'static str,
    words: &'static str,
    unit: &'static str,
    better: Better,
) -> Row {
    Row { metric, name, words, unit, better, quantile: None }
}

/// Properties of each metric, in the order of their declaration.
static TABLE: [Row; 23] = {
    use Better::{Less, More};
    use Metric::*;
    [
        latency(RttP50, "rtt-p50", "RTT p50", "rtt", P50),
        latency(RttP90, "rtt-p90", "RTT p90", "rtt", P90),
        latency(RttP99, "rtt-p99", "RTT p99", "rtt", P99),
        latency(RttP999, "rtt-p99.9", "RTT p99.9", "rtt", P999),
        latency(ResponseP50, "response-p50", "response p50", "response", P50),
        latency(ResponseP90, "response-p90", "response p90", "response", P90),
        latency(ResponseP99, "response-p99", "response p99", "response", P99),
        latency(ResponseP999, "response-p99.9", "response p99.9", "response", P999),
        latency(ServiceP50, "service-p50", "service time p50", "service", P50),
        latency(ServiceP99, "service-p99", "service time p99", "service", P99),
        latency(SendLagP99, "send-lag-p99", "send lag p99", "send_lag", P99),
        other(Delivered, "delivered", "samples delivered", "1/s", More),
        other(Goodput, "goodput", "goodput", "Mbit/s", More),
        other(Ndr, "ndr", "rate without loss", "1/s", More),
        other(Pdr, "pdr", "rate with little loss", "1/s", More),
        other(Slo, "slo", "rate within the deadline", "1/s", More),
        other(Headroom, "headroom", "headroom of the system", "x", More),
        other(AllMatched, "all-matched", "time until all are matched", "ns", Less),
        other(SampleHop, "sample-hop", "time per sample and hop", "ns", Less),
        other(Arrived, "arrived", "share of samples that arrived", "%", More),
        other(Missed, "missed", "share of samples that missed the deadline", "%", Less),
        other(CpuWriter, "cpu-writer", "CPU time per sample at the writer", "ns", Less),
        other(CpuReader, "cpu-reader", "CPU time per sample at the reader", "ns", Less),
    ]
};

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 23] = {
        let mut all = [Self::RttP50; 23];
        let mut index = 0;
        while index < all.len() {
            all[index] = TABLE[index].metric;
            index += 1;
        }
        all
    };

    /// Returns the metrics of default claims. [`crate::metrics_of`] selects those of a search's goals.
    #[must_use]
    pub fn claims(factors: &Factors) -> &'static [Self] {
        let has_times = || factors.streams().iter().any(|flow| flow.load.has_times());
        match factors.workload {
            Workload::Latency if factors.is_pipelined() => &[Self::SampleHop, Self::RttP99],
            Workload::Latency => &[Self::RttP50, Self::RttP99],
            Workload::Paced if factors.flows.iter().any(|flow| flow.deadline.is_some()) => {
                &[Self::ResponseP50, Self::ResponseP99, Self::Missed]
            }
            Workload::Paced if has_times() => &[Self::ResponseP50, Self::ResponseP99],
            Workload::Throughput | Workload::Paced => &[Self::Goodput],
            Workload::Search => &[Self::Ndr, Self::Pdr, Self::Slo, Self::Headroom],
            Workload::Discovery => &[Self::AllMatched],
        }
    }

    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Returns the name in command-line flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the name in reports.
    #[must_use]
    pub const fn words(self) -> &'static str {
        self.row().words
    }

    /// Returns the unit of [`Run::value`](crate::Run::value).
    #[must_use]
    pub const fn unit(self) -> &'static str {
        self.row().unit
    }

    /// Returns whether a higher or a lower value is better.
    #[must_use]
    pub const fn better(self) -> Better {
        self.row().better
    }

    /// Returns the kind in [`Run::latency`](crate::Run::latency) and the index of the quantile; `None` if the metric is not a latency.
    pub(crate) const fn quantile(self) -> Option<(&'static str, usize)> {
        self.row().quantile
    }

    /// Returns whether it is a latency of delivered samples: no claim is made if too many samples were lost.
    #[must_use]
    pub fn is_latency(self) -> bool {
        self.quantile().is_some_and(|(kind, _)| kind != "send_lag")
    }

    /// Returns whether each of several flows has its own value.
    #[must_use]
    pub fn is_of_flows(self) -> bool {
        matches!(self, Self::Arrived | Self::Missed) || self.quantile().is_some_and(|(kind, _)| kind != "rtt")
    }

    /// Returns whether runs of a workload have this metric, given enough samples.
    #[must_use]
    pub fn is_of(self, workload: Workload) -> bool {
        match (self, self.quantile()) {
            (_, Some(("rtt", _))) => workload == Workload::Latency,
            (_, Some(_)) => workload == Workload::Paced,
            (Self::Ndr | Self::Pdr | Self::Slo | Self::Headroom, None) => workload == Workload::Search,
            (Self::Delivered | Self::Goodput, None) => {
                matches!(workload, Workload::Throughput | Workload::Paced)
            }
            (Self::SampleHop, None) => workload == Workload::Latency,
            (Self::AllMatched, None) => workload == Workload::Discovery,
            (Self::Missed, None) => workload == Workload::Paced,
            // in a search, each trial has its own CPU time; discovery has no samples
            (_, None) => !matches!(workload, Workload::Search | Workload::Discovery),
        }
    }

    /// Returns the keys of [`Run::steady_state`](crate::Run::steady_state) that decide whether this metric is steady.
    pub(crate) fn steadied_by(self) -> &'static [&'static str] {
        match (self, self.quantile()) {
            (_, Some(("rtt", P50))) => &["rtt_p50"],
            (_, Some(("rtt", _))) => &["rtt_p50", "rtt_p99"],
            (_, Some((_, P50))) => &["response_p50"],
            (_, Some(_)) => &["response_p50", "response_p99"],
            (Self::Delivered | Self::Goodput, None) => &["delivered"],
            (Self::SampleHop, None) => &["rtt_p50"],
            (Self::CpuWriter | Self::CpuReader, None) => &["rtt_p50", "delivered"],
            (_, None) => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::metric_selector::MetricSelector;

    #[test]
    fn metric_name_parses_back() {
        for (index, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric as usize, index, "the table is in the order of the declaration");
            let wanted = MetricSelector::by_word(metric.name()).expect("a word of its own");
            assert!(wanted.means(metric) && wanted.word() == metric.name());
            let workloads = || Workload::ALL.iter().filter(|workload| metric.is_of(**workload));
            assert!(workloads().count() > 0, "{metric:?}");
            assert!(workloads().all(|workload| wanted.for_workload(*workload) == Some(metric)), "{metric:?}");
        }
        assert_eq!(MetricSelector::by_word("throughput"), Some(Metric::Goodput.into()));
        assert_eq!(MetricSelector::by_word("p42"), None);
    }

    #[test]
    fn a_quantile_alone_is_that_of_the_headline_latency() {
        let p99 = MetricSelector::by_word("p99").expect("a word");
        let of = Workload::ALL.iter().map(|workload| (workload.name(), p99.for_workload(*workload)));
        let expected = [
            ("latency", Some(Metric::RttP99)),
            ("throughput", None),
            ("paced", Some(Metric::ResponseP99)),
            ("search", None),
            ("discovery", None),
        ];
        assert_eq!(of.collect::<Vec<_>>(), expected);
        let rtt = MetricSelector::by_word("rtt-p99").expect("a word");
        assert_eq!(rtt.for_workload(Workload::Paced), None);
        assert!(rtt.means(Metric::RttP99) && !rtt.means(Metric::ResponseP99));
        let response = MetricSelector::by_word("response-p99").expect("a word");
        assert_eq!((response.for_workload(Workload::Latency), response.means(Metric::RttP99)), (None, false));
    }

    #[test]
    fn loss_determines_the_direction_of_latency_metrics() {
        let latencies: Vec<&str> =
            Metric::ALL.into_iter().filter(|metric| metric.is_latency()).map(Metric::name).collect();
        assert_eq!(latencies.len(), 10);
        assert!(!latencies.contains(&"send-lag-p99") && !latencies.contains(&"goodput"));
        assert!(!Metric::Goodput.is_of(Workload::Latency) && !Metric::RttP99.is_of(Workload::Throughput));
        assert!(Metric::Ndr.is_of(Workload::Search) && !Metric::CpuWriter.is_of(Workload::Search));
        assert!(!Metric::RttP99.is_of(Workload::Paced) && !Metric::ResponseP99.is_of(Workload::Latency));
    }
}
