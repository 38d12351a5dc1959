//! Published figures by the names of their columns: what a source printed, with kind and unit.

use std::{borrow::Cow, fmt};

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::syntax::{named::named, scalar::to_text};

/// Figure of a source, with its kind and unit: `goodput_mbps`, `half_rtt_p50_us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// Delivered samples per second.
    Delivered,
    /// Payload of the delivered samples, in 10^6 bit/s.
    Goodput,
    /// Lost samples, in percent of those sent.
    Lost,
    /// Round-trip time in µs.
    Rtt(RttStatistic),
    /// Half of the round-trip time in µs, which some tools call latency or one-way latency.
    HalfRtt(RttStatistic),
    /// Mean round-trip time, divided by the number of hops, in µs.
    HopMean,
    /// Time per sample around a ring of two nodes with several samples in flight, in µs: that of two hops.
    TwoHopsPerSample,
}

/// Statistic of round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RttStatistic {
    /// Mean.
    Mean,
    /// Standard deviation.
    Sd,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Median.
    P50,
    /// 90 % quantile.
    P90,
    /// 99 % quantile.
    P99,
    /// 99.99 % quantile.
    P9999,
    /// 99.9999 % quantile.
    P999999,
}

named!(RttStatistic {
    Mean = "mean",
    Sd = "sd",
    Min = "min",
    Max = "max",
    P50 = "p50",
    P90 = "p90",
    P99 = "p99",
    P9999 = "p99_99",
    P999999 = "p99_9999",
});

impl Figure {
    /// Returns all figures.
    pub fn all() -> impl Iterator<Item = Self> {
        let times = [Self::Rtt, Self::HalfRtt]
            .into_iter()
            .flat_map(|kind| RttStatistic::ALL.iter().map(move |statistic| kind(*statistic)));
        let others = [Self::HopMean, Self::TwoHopsPerSample];
        [Self::Delivered, Self::Goodput, Self::Lost].into_iter().chain(times).chain(others)
    }

    /// Returns the name of its column.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Delivered => "delivered_sps".into(),
            Self::Goodput => "goodput_mbps".into(),
            Self::Lost => "lost_pct".into(),
            Self::Rtt(statistic) => format!("rtt_{statistic}_us").into(),
            Self::HalfRtt(statistic) => format!("half_rtt_{statistic}_us").into(),
            Self::HopMean => "hop_mean_us".into(),
            Self::TwoHopsPerSample => "two_hops_per_sample_us".into(),
        }
    }

    /// Returns the figure of a column.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|figure| figure.name() == name)
    }

    /// Returns the number that a figure is multiplied by, for the kind and unit of the value that is measured in runs with this number of
    /// hops: an RTT/2 is doubled, and µs become ns.
    #[must_use]
    pub const fn to_measured(self, hops: u16) -> f64 {
        let unit = if self.is_time() { 1e3 } else { 1.0 };
        unit * self.multiple(hops)
    }

    /// Returns how much of the measured value one figure is: 2 for half of a round-trip time.
    #[must_use]
    pub const fn multiple(self, hops: u16) -> f64 {
        match self {
            Self::Delivered | Self::Goodput | Self::Lost | Self::Rtt(_) => 1.0,
            Self::HalfRtt(_) => 2.0,
            Self::HopMean => hops as f64,
            Self::TwoHopsPerSample => 0.5,
        }
    }

    /// Returns whether it is a time.
    #[must_use]
    pub const fn is_time(self) -> bool {
        !matches!(self, Self::Delivered | Self::Goodput | Self::Lost)
    }

    /// Returns the statistic of a round-trip time; `None` for other figures.
    #[must_use]
    pub const fn statistic(self) -> Option<RttStatistic> {
        match self {
            Self::Rtt(statistic) | Self::HalfRtt(statistic) => Some(statistic),
            Self::HopMean => Some(RttStatistic::Mean),
            Self::Delivered | Self::Goodput | Self::Lost | Self::TwoHopsPerSample => None,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

to_text!(Figure);

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        Self::parse(&name).ok_or_else(|| {
            let known: Vec<Cow<'_, str>> = Self::all().map(Self::name).collect();
            de::Error::custom(format!("unknown figure `{name}`; available: {}", known.join(", ")))
        })
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Figure {
    fn schema_name() -> Cow<'static, str> {
        "Figure".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<Cow<'_, str>> = Self::all().map(Self::name).collect();
        json_schema!({
            "description": "Figure of a source, with its kind and unit: `goodput_mbps`, `half_rtt_p50_us`. `half_rtt` is half of the \
                            round-trip time, `hop_mean` that divided by the number of hops, and `two_hops_per_sample` the time per \
                            sample around a ring of two nodes.",
            "type": "string",
            "enum": names,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_parses_back_from_its_name() {
        for figure in Figure::all() {
            assert_eq!(Figure::parse(&figure.name()), Some(figure));
        }
        assert_eq!(Figure::all().count(), 23);
        assert_eq!(Figure::parse("rtt_p50"), None);
        let error = serde_json::from_str::<Figure>("\"rtt_p50_ms\"").expect_err("no such figure").to_string();
        assert!(error.contains("`rtt_p50_ms`; available: delivered_sps,"), "{error}");
    }

    #[test]
    fn half_of_a_round_trip_is_doubled_and_all_times_are_in_ns() {
        let half = Figure::HalfRtt(RttStatistic::P50);
        assert_eq!(half.to_measured(2), 2.0 * Figure::Rtt(RttStatistic::P50).to_measured(2));
        assert_eq!(Figure::Rtt(RttStatistic::Max).to_measured(2), 1e3);
        assert_eq!(Figure::Goodput.to_measured(2), 1.0);
        assert_eq!((half.multiple(3), Figure::HopMean.multiple(3)), (2.0, 3.0));
        assert_eq!(Figure::HopMean.to_measured(2), half.to_measured(2));
        assert_eq!(Figure::TwoHopsPerSample.to_measured(3), 500.0);
    }
}
