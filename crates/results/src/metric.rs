//! The figures of a run that a claim can rest on: one number a run.

use experiment::Workload;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Better;

use crate::{Run, RunState, SteadyVerdict};

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
    /// Distinct samples delivered, in 1/s.
    Delivered,
    /// Payload of these, in 10^6 bit/s.
    Goodput,
    /// CPU time of the writer's (pinger's) process per sample, in ns.
    CpuWriter,
    /// CPU time of the reader's (ponger's) process per sample, in ns.
    CpuReader,
}

impl Metric {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::RttP50,
        Self::RttP90,
        Self::RttP99,
        Self::RttP999,
        Self::Delivered,
        Self::Goodput,
        Self::CpuWriter,
        Self::CpuReader,
    ];

    /// Those that claims are made of where nobody asks for others.
    #[must_use]
    pub const fn claims(workload: Workload) -> &'static [Self] {
        match workload {
            Workload::Latency => &[Self::RttP50, Self::RttP99],
            Workload::Throughput | Workload::Paced => &[Self::Goodput],
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
            Self::Delivered => "delivered",
            Self::Goodput => "goodput",
            Self::CpuWriter => "cpu-writer",
            Self::CpuReader => "cpu-reader",
        }
    }

    /// The one that is meant by a word; `throughput` is goodput.
    #[must_use]
    pub fn by_name(word: &str) -> Option<Self> {
        let word = if word == "throughput" { "goodput" } else { word };
        Self::ALL.into_iter().find(|metric| metric.name() == word)
    }

    /// Its name for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::RttP50 => "p50 RTT",
            Self::RttP90 => "p90 RTT",
            Self::RttP99 => "p99 RTT",
            Self::RttP999 => "p99.9 RTT",
            Self::Delivered => "samples delivered",
            Self::Goodput => "goodput",
            Self::CpuWriter => "CPU time per sample at the writer",
            Self::CpuReader => "CPU time per sample at the reader",
        }
    }

    /// The unit of [`Run::figure`].
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Delivered => "1/s",
            Self::Goodput => "Mbit/s",
            _ => "ns",
        }
    }

    /// Whether more of it is better, or less.
    #[must_use]
    pub const fn better(self) -> Better {
        match self {
            Self::Delivered | Self::Goodput => Better::More,
            _ => Better::Less,
        }
    }

    /// Whether it is a latency: one that nothing is claimed of where too many pings were lost.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::RttP50 | Self::RttP90 | Self::RttP99 | Self::RttP999)
    }

    /// Whether runs of a workload have it, if they have samples enough.
    #[must_use]
    pub const fn is_of(self, workload: Workload) -> bool {
        match self {
            Self::RttP50 | Self::RttP90 | Self::RttP99 | Self::RttP999 => {
                matches!(workload, Workload::Latency)
            }
            Self::Delivered | Self::Goodput => matches!(workload, Workload::Throughput | Workload::Paced),
            Self::CpuWriter | Self::CpuReader => true,
        }
    }

    /// By which of the judged series of a run it is told whether this figure is of one level.
    const fn steadied_by(self) -> &'static [&'static str] {
        match self {
            Self::RttP50 => &["rtt_p50"],
            Self::RttP90 | Self::RttP99 | Self::RttP999 => &["rtt_p50", "rtt_p99"],
            Self::Delivered | Self::Goodput => &["delivered"],
            Self::CpuWriter | Self::CpuReader => &["rtt_p50", "delivered"],
        }
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
        let rtt = || self.latency.get("rtt");
        let ns = |quantile: Option<u64>| quantile.map(|ns| ns as f64);
        let figure = match metric {
            Metric::RttP50 => ns(rtt()?.p50_ns),
            Metric::RttP90 => ns(rtt()?.p90_ns),
            Metric::RttP99 => ns(rtt()?.p99_ns),
            Metric::RttP999 => ns(rtt()?.p99_9_ns),
            Metric::Delivered => self.throughput.as_ref().map(|throughput| throughput.delivered_sps),
            Metric::Goodput => self.throughput.as_ref().map(|throughput| throughput.goodput_mbps),
            Metric::CpuWriter => self.cpu_ns_per_sample.as_ref().map(|cpu| cpu.writer),
            Metric::CpuReader => self.cpu_ns_per_sample.as_ref().map(|cpu| cpu.reader),
        };
        figure.filter(|figure| figure.is_finite() && *figure > 0.0)
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
            assert_eq!(Metric::by_name(metric.name()), Some(metric));
            assert!(Workload::ALL.iter().any(|workload| metric.is_of(*workload)), "{metric:?}");
        }
        assert_eq!(Metric::by_name("throughput"), Some(Metric::Goodput));
        assert_eq!(Metric::by_name("p42"), None);
    }

    #[test]
    fn claims_are_made_of_what_runs_have() {
        for workload in Workload::ALL {
            assert!(!Metric::claims(*workload).is_empty());
            assert!(Metric::claims(*workload).iter().all(|metric| metric.is_of(*workload)));
        }
        assert!(!Metric::Goodput.is_of(Workload::Latency) && !Metric::RttP99.is_of(Workload::Throughput));
    }
}
