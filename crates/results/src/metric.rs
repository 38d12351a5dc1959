//! The figures of a run that a claim can rest on: one number a run.

use experiment::{Factors, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Better, supports_quantile};

use crate::{Latency, Run, RunState, SteadyVerdict};

/// A figure of a run. Claims rest on its values over runs, one each, never on samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Median round trip, in ns.
    RttP50,
    /// Its 90 % quantile.
    RttP90,
    /// Its 99 % quantile.
    RttP99,
    /// Its 99.9 % quantile.
    #[serde(rename = "rtt_p99_9")]
    RttP999,
    /// Median response, from the intended time to the arrival, in ns.
    ResponseP50,
    /// Its 90 % quantile.
    ResponseP90,
    /// Its 99 % quantile.
    ResponseP99,
    /// Its 99.9 % quantile.
    #[serde(rename = "response_p99_9")]
    ResponseP999,
    /// Median service time, from the begin of the write to the arrival, in ns.
    ServiceP50,
    /// Its 99 % quantile.
    ServiceP99,
    /// 99 % quantile of the send lag, from the intended time to the begin of the write, in ns.
    SendLagP99,
    /// Distinct samples delivered, in 1/s.
    Delivered,
    /// Payload of these, in 10^6 bit/s.
    Goodput,
    /// Conditional throughput at the highest rate at which nothing is lost, in 1/s.
    Ndr,
    /// The same where little may be lost.
    Pdr,
    /// The same where little may come later than a deadline.
    Slo,
    /// CPU time of the writer's (pinger's) process per sample, in ns.
    CpuWriter,
    /// CPU time of the reader's (ponger's) process per sample, in ns.
    CpuReader,
}

/// A quantile that a run has where its samples support it.
#[derive(Clone, Copy)]
enum Quantile {
    P50,
    P90,
    P99,
    P999,
}

impl Quantile {
    const fn q(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P90 => 0.9,
            Self::P99 => 0.99,
            Self::P999 => 0.999,
        }
    }

    const fn of(self, latency: &Latency) -> Option<u64> {
        match self {
            Self::P50 => latency.p50_ns,
            Self::P90 => latency.p90_ns,
            Self::P99 => latency.p99_ns,
            Self::P999 => latency.p99_9_ns,
        }
    }
}

impl Metric {
    /// Every one.
    pub const ALL: [Self; 18] = [
        Self::RttP50,
        Self::RttP90,
        Self::RttP99,
        Self::RttP999,
        Self::ResponseP50,
        Self::ResponseP90,
        Self::ResponseP99,
        Self::ResponseP999,
        Self::ServiceP50,
        Self::ServiceP99,
        Self::SendLagP99,
        Self::Delivered,
        Self::Goodput,
        Self::Ndr,
        Self::Pdr,
        Self::Slo,
        Self::CpuWriter,
        Self::CpuReader,
    ];

    /// Metrics that claims are made of by default; of a search those of its goals, see [`crate::metrics_of`].
    #[must_use]
    pub fn claims(factors: &Factors) -> &'static [Self] {
        let has_times = || factors.streams().iter().any(|flow| flow.load.has_times());
        match factors.workload {
            Workload::Latency => &[Self::RttP50, Self::RttP99],
            Workload::Paced if has_times() => &[Self::ResponseP50, Self::ResponseP99],
            Workload::Throughput | Workload::Paced => &[Self::Goodput],
            Workload::Search => &[Self::Ndr, Self::Pdr, Self::Slo],
        }
    }

    /// The word for it in flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RttP50 => "p50",
            Self::RttP90 => "p90",
            Self::RttP99 => "p99",
            Self::RttP999 => "p99.9",
            Self::ResponseP50 => "response-p50",
            Self::ResponseP90 => "response-p90",
            Self::ResponseP99 => "response-p99",
            Self::ResponseP999 => "response-p99.9",
            Self::ServiceP50 => "service-p50",
            Self::ServiceP99 => "service-p99",
            Self::SendLagP99 => "send-lag-p99",
            Self::Delivered => "delivered",
            Self::Goodput => "goodput",
            Self::Ndr => "ndr",
            Self::Pdr => "pdr",
            Self::Slo => "slo",
            Self::CpuWriter => "cpu-writer",
            Self::CpuReader => "cpu-reader",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::RttP50 => "p50 RTT",
            Self::RttP90 => "p90 RTT",
            Self::RttP99 => "p99 RTT",
            Self::RttP999 => "p99.9 RTT",
            Self::ResponseP50 => "p50 response",
            Self::ResponseP90 => "p90 response",
            Self::ResponseP99 => "p99 response",
            Self::ResponseP999 => "p99.9 response",
            Self::ServiceP50 => "p50 service time",
            Self::ServiceP99 => "p99 service time",
            Self::SendLagP99 => "p99 send lag",
            Self::Delivered => "samples delivered",
            Self::Goodput => "goodput",
            Self::Ndr => "rate without loss",
            Self::Pdr => "rate with little loss",
            Self::Slo => "rate within the deadline",
            Self::CpuWriter => "CPU time per sample at the writer",
            Self::CpuReader => "CPU time per sample at the reader",
        }
    }

    /// The unit of [`Run::figure`].
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Delivered | Self::Ndr | Self::Pdr | Self::Slo => "1/s",
            Self::Goodput => "Mbit/s",
            _ => "ns",
        }
    }

    /// Whether more of it is better, or less.
    #[must_use]
    pub const fn better(self) -> Better {
        match self {
            Self::Delivered | Self::Goodput | Self::Ndr | Self::Pdr | Self::Slo => Better::More,
            _ => Better::Less,
        }
    }

    /// Of a latency: its kind in [`Run::latency`], and which quantile of it.
    const fn quantile(self) -> Option<(&'static str, Quantile)> {
        match self {
            Self::RttP50 => Some(("rtt", Quantile::P50)),
            Self::RttP90 => Some(("rtt", Quantile::P90)),
            Self::RttP99 => Some(("rtt", Quantile::P99)),
            Self::RttP999 => Some(("rtt", Quantile::P999)),
            Self::ResponseP50 => Some(("response", Quantile::P50)),
            Self::ResponseP90 => Some(("response", Quantile::P90)),
            Self::ResponseP99 => Some(("response", Quantile::P99)),
            Self::ResponseP999 => Some(("response", Quantile::P999)),
            Self::ServiceP50 => Some(("service", Quantile::P50)),
            Self::ServiceP99 => Some(("service", Quantile::P99)),
            Self::SendLagP99 => Some(("send_lag", Quantile::P99)),
            Self::Delivered
            | Self::Goodput
            | Self::Ndr
            | Self::Pdr
            | Self::Slo
            | Self::CpuWriter
            | Self::CpuReader => None,
        }
    }

    /// Whether it is the latency of samples that arrived: one that nothing is claimed of where too many were lost.
    #[must_use]
    pub fn is_latency(self) -> bool {
        self.quantile().is_some_and(|(kind, _)| kind != "send_lag")
    }

    /// Whether each of several streams has one of its own.
    #[must_use]
    pub fn is_of_flows(self) -> bool {
        self.quantile().is_some_and(|(kind, _)| kind != "rtt")
    }

    /// Whether runs of a workload have it, if they have samples enough.
    #[must_use]
    pub fn is_of(self, workload: Workload) -> bool {
        match (self, self.quantile()) {
            (_, Some(("rtt", _))) => workload == Workload::Latency,
            (_, Some(_)) => workload == Workload::Paced,
            (Self::Ndr | Self::Pdr | Self::Slo, None) => workload == Workload::Search,
            (Self::Delivered | Self::Goodput, None) => {
                matches!(workload, Workload::Throughput | Workload::Paced)
            }
            // of a search every trial has its own
            (_, None) => workload != Workload::Search,
        }
    }

    /// By which of the judged series of a run it is told whether this figure is of one level.
    fn steadied_by(self) -> &'static [&'static str] {
        match (self, self.quantile()) {
            (_, Some(("rtt", Quantile::P50))) => &["rtt_p50"],
            (_, Some(("rtt", _))) => &["rtt_p50", "rtt_p99"],
            (_, Some((_, Quantile::P50))) => &["response_p50"],
            (_, Some(_)) => &["response_p50", "response_p99"],
            (Self::Delivered | Self::Goodput, None) => &["delivered"],
            (Self::Ndr | Self::Pdr | Self::Slo, None) => &[],
            (_, None) => &["rtt_p50", "delivered"],
        }
    }
}

/// What a word of a flag asks for: a figure, or the same quantile of the headline latency of whatever workload a cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    word: &'static str,
    metric: Metric,
    /// Of cells that have not got the other one.
    or: Option<Metric>,
}

impl Wanted {
    /// Every one, headlines first.
    pub fn all() -> impl Iterator<Item = Self> {
        Metric::ALL.into_iter().map(Self::from)
    }

    /// What a word asks for; `throughput` is goodput.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        let word = if word == "throughput" { "goodput" } else { word };
        Self::all().find(|wanted| wanted.word == word)
    }

    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.word
    }

    /// The figure that cells of a workload have of it.
    #[must_use]
    pub fn of(self, workload: Workload) -> Option<Metric> {
        [Some(self.metric), self.or].into_iter().flatten().find(|metric| metric.is_of(workload))
    }

    /// Whether it is, or may be, this figure.
    #[must_use]
    pub fn means(self, metric: Metric) -> bool {
        self.metric == metric || self.or == Some(metric)
    }
}

impl From<Metric> for Wanted {
    /// By its word: that of a round trip is also that of a response.
    fn from(metric: Metric) -> Self {
        let or = match metric {
            Metric::RttP50 => Some(Metric::ResponseP50),
            Metric::RttP90 => Some(Metric::ResponseP90),
            Metric::RttP99 => Some(Metric::ResponseP99),
            Metric::RttP999 => Some(Metric::ResponseP999),
            _ => None,
        };
        Self { word: metric.name(), metric, or }
    }
}

impl Run {
    /// A figure of a valid run, in the unit of the metric. None where it was not measured, where the run has too few
    /// samples to support it, and where it is 0 or no number: then it has no ratio to another.
    #[must_use]
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        if self.state != RunState::Valid {
            return None;
        }
        let figure = match (metric, metric.quantile()) {
            (_, Some((kind, quantile))) => quantile.of(self.latency.get(kind)?).map(|ns| ns as f64),
            (Metric::Delivered, _) => self.throughput.as_ref().map(|throughput| throughput.delivered_sps),
            (Metric::Goodput, _) => self.throughput.as_ref().map(|throughput| throughput.goodput_mbps),
            (Metric::Ndr | Metric::Pdr | Metric::Slo, _) => {
                metric.aim().and_then(|aim| self.conditional_sps(aim))
            }
            (Metric::CpuWriter, _) => self.cpu_ns_per_sample.as_ref().map(|cpu| cpu.writer),
            (_, None) => self.cpu_ns_per_sample.as_ref().map(|cpu| cpu.reader),
        };
        figure.filter(|figure| figure.is_finite() && *figure > 0.0)
    }

    /// The same of one of several streams; of all together where none is named.
    #[must_use]
    pub fn figure_of(&self, metric: Metric, flow: Option<&str>) -> Option<f64> {
        let Some(name) = flow else { return self.figure(metric) };
        let (kind, quantile) = metric.quantile().filter(|_| self.state == RunState::Valid)?;
        let flow = self.paced.as_ref()?.flows.iter().find(|flow| flow.name == name)?;
        quantile.of(flow.latency.get(kind)?).filter(|ns| *ns > 0).map(|ns| ns as f64)
    }

    /// Whether a valid run lacks this figure because too many round trips were lost, not for want of samples.
    #[must_use]
    pub fn is_lost(&self, metric: Metric) -> bool {
        let latency = |(kind, quantile)| Some((self.latency.get(kind)?, quantile));
        let lost = metric.quantile().filter(|_| self.state == RunState::Valid).and_then(latency);
        lost.is_some_and(|(latency, quantile): (&Latency, Quantile)| {
            supports_quantile(latency.n, quantile.q()) && latency.is_lost(quantile.q())
        })
    }

    /// Whether it was judged to have reached no level that it kept, by what this figure is made of.
    #[must_use]
    pub fn is_unsteady(&self, metric: Metric) -> bool {
        let judged = metric.steadied_by().iter().filter_map(|kind| self.steady_state.get(*kind));
        judged
            .into_iter()
            .any(|state| matches!(state.verdict, SteadyVerdict::NoSteadyState | SteadyVerdict::Cyclic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_word_of_its_own_that_leads_back_to_it() {
        for metric in Metric::ALL {
            let wanted = Wanted::by_word(metric.name()).expect("a word of its own");
            assert!(wanted.means(metric) && wanted.word() == metric.name());
            let workloads = || Workload::ALL.iter().filter(|workload| metric.is_of(**workload));
            assert!(workloads().count() > 0, "{metric:?}");
            assert!(workloads().all(|workload| wanted.of(*workload) == Some(metric)), "{metric:?}");
        }
        assert_eq!(Wanted::by_word("throughput"), Some(Metric::Goodput.into()));
        assert_eq!(Wanted::by_word("p42"), None);
    }

    #[test]
    fn a_quantile_alone_is_that_of_the_headline_latency() {
        let p99 = Wanted::by_word("p99").expect("a word");
        let of = Workload::ALL.iter().map(|workload| (workload.name(), p99.of(*workload)));
        let expected = [
            ("latency", Some(Metric::RttP99)),
            ("throughput", None),
            ("paced", Some(Metric::ResponseP99)),
            ("search", None),
        ];
        assert_eq!(of.collect::<Vec<_>>(), expected);
        let response = Wanted::by_word("response-p99").expect("a word");
        assert_eq!((response.of(Workload::Latency), response.means(Metric::RttP99)), (None, false));
    }

    #[test]
    fn what_is_lost_decides_on_latencies_of_samples_that_arrived() {
        let latencies: Vec<&str> =
            Metric::ALL.into_iter().filter(|metric| metric.is_latency()).map(Metric::name).collect();
        assert_eq!(latencies.len(), 10);
        assert!(!latencies.contains(&"send-lag-p99") && !latencies.contains(&"goodput"));
        assert!(!Metric::Goodput.is_of(Workload::Latency) && !Metric::RttP99.is_of(Workload::Throughput));
        assert!(Metric::Ndr.is_of(Workload::Search) && !Metric::CpuWriter.is_of(Workload::Search));
        assert!(!Metric::RttP99.is_of(Workload::Paced) && !Metric::ResponseP99.is_of(Workload::Latency));
    }
}
