//! What is offered, and when: the plan of an open loop.
//!
//! A plan gives each sample of a flow its intended time, counted from the begin of the measured time. It is never moved: a
//! sample that cannot leave in time leaves late, and the next one keeps its own time. Writer and reader compute the same
//! times from the same [`Load`] and seed; no sample carries them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Arrival, Qos, QosOfEnds, Share, rate::THROTTLE_QUEUE};

/// When the samples of a flow are to leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "plan", rename_all = "snake_case")]
pub enum Load {
    /// One after the other, at equal distances.
    Constant {
        /// How many.
        rate: Rate,
    },
    /// At independent, exponentially distributed distances.
    Poisson {
        /// How many, on average.
        rate: Rate,
    },
    /// All samples of a period at its begin.
    Burst {
        /// Size and distance of the bursts.
        rate: Rate,
    },
    /// At the times of a file.
    Trace {
        /// Where they come from.
        trace: Trace,
    },
    /// At a share of the highest rate that the same cell had without a plan: measured before the first block.
    Share {
        /// In percent of it.
        percent: Share,
        /// `constant` or `poisson`.
        arrival: Arrival,
        /// What that came to. Absent until the maximum is measured, and where it could not be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<Rate>,
    },
    /// Each as soon as the one before is written: no intended times.
    Max,
    /// The same, but no faster than the reader is known to follow: ddsmark's own throttle. No intended times either.
    Throttled {
        /// Samples of the queue whose filling it follows: it slows down above 90 % of it, and speeds up below 10 %.
        queue: u64,
    },
}

/// In the making of cells, in the place of a throttle's queue: that of its writer.
const QUEUE_OF_WRITER: u64 = 0;

/// So many samples in each period. Sample `i` of a constant rate is due at `i * period_ns / samples`, without a rounding that
/// adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Samples of a period; at least 1.
    pub samples: u64,
    /// The period; at least 1.
    pub period_ns: u64,
}

/// Times of a file, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// The file, as given.
    pub file: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Samples in it.
    pub samples: u64,
    /// Time of its last sample.
    pub length_ns: u64,
}

/// One of several streams of samples in a run, with a topic of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Unique within the run; letters, digits and `-`.
    pub name: String,
    /// Payload bytes of a sample, the 16-byte header included.
    pub size_bytes: u64,
    /// When its samples are to leave.
    pub load: Load,
    /// QoS asked of its writer and reader, where it has policies of its own. Absent: that of the cell; so of older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<Qos>,
    /// That of each end, where it asks something of one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos_of_ends: Option<QosOfEnds>,
}

impl Rate {
    /// So many in each second.
    #[must_use]
    pub const fn per_second(samples: u64) -> Self {
        Self { samples, period_ns: 1_000_000_000 }
    }

    /// The nearest to a rate that was computed, within a millionth of a sample per second.
    #[must_use]
    pub fn nearest(sps: f64) -> Self {
        Self { samples: ((sps * 1e6).round() as u64).max(1), period_ns: 1_000_000_000_000_000 }
    }

    /// Samples per second, on average.
    #[must_use]
    pub fn sps(self) -> f64 {
        let Self { samples, period_ns } = self;
        samples as f64 * 1e9 / period_ns as f64
    }
}

impl Load {
    /// Whether its samples have intended times.
    #[must_use]
    pub const fn has_times(&self) -> bool {
        !matches!(self, Self::Max | Self::Throttled { .. })
    }

    /// A throttle, with or without a queue of its own.
    pub(crate) fn throttled(queue: Option<u64>) -> Self {
        Self::Throttled { queue: queue.unwrap_or(QUEUE_OF_WRITER) }
    }

    /// The same for a writer with this send queue, where one is given.
    pub(crate) fn of_writer(self, send_samples: Option<u32>) -> Self {
        match self {
            Self::Throttled { queue: QUEUE_OF_WRITER } => {
                Self::Throttled { queue: send_samples.map_or(THROTTLE_QUEUE, u64::from) }
            }
            other => other,
        }
    }

    /// The plan in samples/s: of a share what it came to, none where that is not known.
    #[must_use]
    pub fn known(&self) -> Option<Self> {
        match *self {
            Self::Share { arrival: Arrival::Poisson, rate, .. } => Some(Self::Poisson { rate: rate? }),
            Self::Share { rate, .. } => Some(Self::Constant { rate: rate? }),
            _ => Some(self.clone()),
        }
    }

    /// The same where 100 % is this rate.
    #[must_use]
    pub fn with_maximum(self, sps: f64) -> Self {
        match self {
            Self::Share { percent, arrival, .. } => {
                Self::Share { percent, arrival, rate: Some(Rate::nearest(percent.of(sps))) }
            }
            other => other,
        }
    }

    /// Its share of a maximum, where it is one.
    #[must_use]
    pub const fn share(&self) -> Option<Share> {
        match self {
            Self::Share { percent, .. } => Some(*percent),
            _ => None,
        }
    }

    /// Its rate, where it has one that is known.
    #[must_use]
    pub const fn rate(&self) -> Option<Rate> {
        match self {
            Self::Constant { rate } | Self::Poisson { rate } | Self::Burst { rate } => Some(*rate),
            Self::Share { rate, .. } => *rate,
            Self::Trace { .. } | Self::Max | Self::Throttled { .. } => None,
        }
    }

    /// How many of its samples are due within a time from the begin, on average where that is left to chance; none where
    /// nothing is due, or the rate is not known.
    #[must_use]
    pub fn planned(&self, measure_ns: u64) -> Option<u64> {
        let of = |number: u64| u128::from(number);
        let planned = match self {
            // sample `i` is due at `i * period / samples`
            Self::Constant { rate } => (of(measure_ns) * of(rate.samples)).div_ceil(of(rate.period_ns)),
            Self::Poisson { rate } => (of(measure_ns) * of(rate.samples)) / of(rate.period_ns),
            Self::Burst { rate } => of(rate.samples) * of(measure_ns).div_ceil(of(rate.period_ns)),
            Self::Trace { trace } => of(trace.samples),
            Self::Share { .. } => return self.known()?.planned(measure_ns),
            Self::Max | Self::Throttled { .. } => return None,
        };
        Some(u64::try_from(planned).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sps = self.sps();
        // as many digits as tell it from its neighbours
        let digits = if sps >= 1000.0 { 0 } else { 3 };
        let text = format!("{sps:.digits$}");
        let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        write!(f, "{text}/s")
    }
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
            Self::Throttled { queue } => write!(f, "throttled {queue}"),
        }
    }
}
