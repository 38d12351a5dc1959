//! Offered load: the intended send times of an open loop.
//!
//! A load gives each sample of a flow its intended send time, relative to the start of the measurement. Intended
//! times are never moved: a sample that cannot be sent in time is sent late, and the next one keeps its own time.
//! Writer and reader compute the same times from the same [`Load`] and seed; samples do not carry them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    factors::{
        Factors,
        percent_of_max::PercentOfMax,
        rate::{Rate, RateSpec, THROTTLE_QUEUE},
    },
    syntax::{named::named, trace::RecordedSizes},
};

/// Offered load of a flow: the intended send times of its samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "plan", rename_all = "snake_case")]
pub enum Load {
    /// Equal intervals.
    Constant {
        /// Rate.
        rate: Rate,
    },
    /// Independent, exponentially distributed intervals.
    Poisson {
        /// Mean rate.
        rate: Rate,
    },
    /// All samples of a period at its start.
    Burst {
        /// Samples per burst, and period of the bursts.
        rate: Rate,
    },
    /// Times of a trace file.
    Trace {
        /// The trace file.
        trace: Trace,
    },
    /// Percentage of the maximum rate of the same cell, which is measured before the first block.
    Share {
        /// Percentage of the maximum rate.
        percent: PercentOfMax,
        /// `constant` or `poisson`.
        arrival: Arrival,
        /// Resulting rate. Absent until the maximum is measured, and if the measurement failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<Rate>,
    },
    /// Each sample as soon as the previous one is written. No intended times.
    #[default]
    Max,
    /// Like `Max`, but throttled by ddsmark to the rate that the reader follows. No intended times.
    Throttled {
        /// Queue in samples whose filling controls the throttle: it slows down above 90 % and speeds up below 10 %.
        queue: u64,
    },
    /// Loads of the writing endpoints, in their order, if they differ.
    PerWriter {
        /// Load of each writing endpoint: one with a rate, or `max`.
        loads: Vec<Self>,
    },
}

/// Distribution of the send times of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Equal intervals.
    Constant,
    /// Independent, exponentially distributed intervals.
    Poisson,
    /// All samples of a period at its start: with the rate `"10/100ms"` 10 at once, every 100 ms.
    Burst,
}

named!(Arrival { Constant = "constant", Poisson = "poisson", Burst = "burst" });

/// Placeholder for the queue of a throttle: the writer's send queue, which is known per cell.
const QUEUE_OF_WRITER: u64 = 0;

/// Trace file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trace {
    /// Path as given.
    pub file: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Number of samples.
    pub samples: u64,
    /// Time of its last sample.
    pub length_ns: u64,
    /// Sizes of its samples. Absent: the flow has one size, or a distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<RecordedSizes>,
}

impl Load {
    /// Returns whether the samples, of several writers those of one of them, have intended times.
    #[must_use]
    pub fn has_times(&self) -> bool {
        match self {
            Self::PerWriter { loads } => loads.iter().any(Self::has_times),
            _ => !matches!(self, Self::Max | Self::Throttled { .. }),
        }
    }

    /// Returns the trace file, if the samples follow one.
    #[must_use]
    pub const fn trace(&self) -> Option<&Trace> {
        match self {
            Self::Trace { trace } => Some(trace),
            _ => None,
        }
    }

    /// Creates a throttled load. Without `queue` it follows the writer's send queue.
    pub(crate) fn throttled(queue: Option<u64>) -> Self {
        Self::Throttled { queue: queue.unwrap_or(QUEUE_OF_WRITER) }
    }

    /// Sets the queue of a throttle to the writer's send queue, or to the default, if it has no queue of its own.
    pub(crate) fn of_writer(self, send_samples: Option<u32>) -> Self {
        match self {
            Self::Throttled { queue: QUEUE_OF_WRITER } => {
                Self::Throttled { queue: send_samples.map_or(THROTTLE_QUEUE, u64::from) }
            }
            other => other,
        }
    }

    /// Returns the load as an absolute rate. Returns `None` for a percentage whose maximum is not known.
    #[must_use]
    pub fn resolved(&self) -> Option<Self> {
        match *self {
            Self::Share { arrival: Arrival::Poisson, rate, .. } => Some(Self::Poisson { rate: rate? }),
            Self::Share { rate, .. } => Some(Self::Constant { rate: rate? }),
            _ => Some(self.clone()),
        }
    }

    /// Sets the rate of a percentage, given the maximum rate in samples/s. Returns other loads unchanged.
    #[must_use]
    pub fn with_maximum(self, sps: f64) -> Self {
        match self {
            Self::Share { percent, arrival, .. } => {
                Self::Share { percent, arrival, rate: Some(Rate::nearest(percent.rate_sps(sps))) }
            }
            other => other,
        }
    }

    /// Returns the percentage of the maximum rate; `None` for other loads.
    #[must_use]
    pub const fn share(&self) -> Option<PercentOfMax> {
        match self {
            Self::Share { percent, .. } => Some(*percent),
            _ => None,
        }
    }

    /// Returns the rate, if the load has one, and only one, and it is known.
    #[must_use]
    pub const fn rate(&self) -> Option<Rate> {
        match self {
            Self::Constant { rate } | Self::Poisson { rate } | Self::Burst { rate } => Some(*rate),
            Self::Share { rate, .. } => *rate,
            Self::Trace { .. } | Self::Max | Self::Throttled { .. } | Self::PerWriter { .. } => None,
        }
    }

    /// Returns the mean time between two samples, or between two bursts, in ns; `None` without intended send times, and if
    /// writers have different loads.
    #[must_use]
    pub fn mean_period_ns(&self) -> Option<f64> {
        match self.resolved()? {
            Self::Constant { rate } | Self::Poisson { rate } => {
                Some(rate.period_ns as f64 / rate.samples.max(1) as f64)
            }
            Self::Burst { rate } => Some(rate.period_ns as f64),
            Self::Trace { trace } => {
                Some(trace.length_ns as f64 / trace.samples.saturating_sub(1).max(1) as f64)
            }
            Self::Share { .. } | Self::Max | Self::Throttled { .. } | Self::PerWriter { .. } => None,
        }
    }

    /// Returns the number of samples that are due within a measured time; the mean for Poisson, all samples for a
    /// trace. Returns `None` if the load has no intended times or its rate is not known, and if writers have different
    /// loads.
    #[must_use]
    pub fn planned(&self, measure_ns: u64) -> Option<u64> {
        let of = |number: u64| u128::from(number);
        let planned = match self {
            // Sample `i` is due at `i * period / samples`.
            Self::Constant { rate } => (of(measure_ns) * of(rate.samples)).div_ceil(of(rate.period_ns)),
            Self::Poisson { rate } => (of(measure_ns) * of(rate.samples)) / of(rate.period_ns),
            Self::Burst { rate } => of(rate.samples) * of(measure_ns).div_ceil(of(rate.period_ns)),
            Self::Trace { trace } => of(trace.samples),
            Self::Share { .. } => return self.resolved()?.planned(measure_ns),
            Self::Max | Self::Throttled { .. } | Self::PerWriter { .. } => return None,
        };
        Some(u64::try_from(planned).unwrap_or(u64::MAX))
    }
}

impl Factors {
    /// Returns whether a rate of the experiment file is that of the cell.
    pub(crate) fn has_rate(&self, requested: &RateSpec) -> bool {
        self.load.as_ref().is_some_and(|load| self.is_rate_of(load, requested))
    }

    /// Returns whether a rate of the experiment file is that of a load of the cell.
    fn is_rate_of(&self, load: &Load, requested: &RateSpec) -> bool {
        match (load, requested) {
            (Load::PerWriter { loads }, RateSpec::PerWriter(rates)) => {
                loads.len() == rates.len()
                    && loads.iter().zip(rates.iter()).all(|(load, rate)| self.is_rate_of(load, rate))
            }
            // Equal rates of all writers are one load.
            (load, RateSpec::PerWriter(rates)) => rates.iter().all(|rate| self.is_rate_of(load, rate)),
            (Load::Max, requested) => *requested == RateSpec::Max,
            (throttled @ Load::Throttled { .. }, RateSpec::Throttled(queue)) => {
                Load::throttled(*queue).of_writer(self.queues.send_samples) == *throttled
            }
            (Load::Throttled { .. }, _) => false,
            (Load::Burst { rate }, requested) => requested.bursts() == Some(*rate),
            (Load::Share { percent, .. }, requested) => *requested == RateSpec::Share(*percent),
            (load, requested) => {
                load.rate().is_some_and(|rate| requested.of_size(self.size_bytes) == Some(rate))
            }
        }
    }

    /// Returns whether the send times of the cell, of several writers those of one of them, have this distribution.
    pub(crate) fn has_arrival(&self, requested: Arrival) -> bool {
        let arrives = |load: &Load| {
            let arrival = match load {
                Load::Constant { .. } => Arrival::Constant,
                Load::Poisson { .. } => Arrival::Poisson,
                Load::Burst { .. } => Arrival::Burst,
                Load::Share { arrival, .. } => *arrival,
                Load::Trace { .. } | Load::Max | Load::Throttled { .. } | Load::PerWriter { .. } => {
                    return false;
                }
            };
            requested == arrival
        };
        self.load.iter().flat_map(Load::of_writers).any(arrives)
    }

    /// Returns whether the cell sends at the times of the trace file with this path.
    pub(crate) fn has_trace(&self, path: &str) -> bool {
        self.load.as_ref().and_then(Load::trace).is_some_and(|trace| trace.file == path)
    }
}

/// Returns the parts of a cell's id for its load.
pub(crate) fn load_id(load: &Load) -> Vec<String> {
    let rate = || match load {
        Load::Share { percent, .. } => Some(format!("rate-{}pct", percent.percent())),
        load => load.rate().map(|rate| format!("rate-{}", rate.to_string().trim_end_matches("/s"))),
    };
    let kind = match load {
        Load::Constant { .. } | Load::Share { arrival: Arrival::Constant | Arrival::Burst, .. } => None,
        Load::Poisson { .. } | Load::Share { arrival: Arrival::Poisson, .. } => Some("poisson".to_owned()),
        Load::Burst { rate } => Some(format!("burst-{}", rate.samples)),
        Load::Trace { trace } => {
            let name = trace.file.rsplit('/').next().unwrap_or(&trace.file);
            Some(format!("trace-{name}"))
        }
        Load::Max => Some("max".to_owned()),
        Load::PerWriter { loads } => {
            let of_one = |load: &Load| load_id(load).join("-").trim_start_matches("rate-").to_owned();
            Some(format!("rate-{}", loads.iter().map(of_one).collect::<Vec<_>>().join("+")))
        }
        Load::Throttled { queue } => Some(format!("throttled-{queue}")),
    };
    rate().into_iter().chain(kind).collect()
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { rate } => rate.fmt(f),
            Self::Poisson { rate } => write!(f, "poisson {rate}"),
            Self::Burst { rate } => {
                let period = humantime::format_duration(std::time::Duration::from_nanos(rate.period_ns));
                write!(f, "bursts of {} every {period}", rate.samples)
            }
            Self::Share { percent, arrival, rate } => {
                let kind = if *arrival == Arrival::Poisson { "poisson " } else { "" };
                write!(f, "{kind}{percent}")?;
                rate.map_or(Ok(()), |rate| write!(f, " ({rate})"))
            }
            Self::Trace { trace } => write!(f, "trace {}", trace.file),
            Self::Max => f.write_str("max"),
            Self::PerWriter { loads } => {
                loads.iter().enumerate().try_for_each(|(writer, load)| match writer {
                    0 => load.fmt(f),
                    _ => write!(f, " + {load}"),
                })
            }
            Self::Throttled { queue } => write!(f, "throttled {queue}"),
        }
    }
}
