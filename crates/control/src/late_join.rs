//! Late join of a reader: when it joins, and what the agents of its run record of it.

use serde::{Deserialize, Serialize};

/// Times at which the last reader of a run joins, in ns of the common clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinTimes {
    /// Time at which its participant is opened.
    pub begin_ns: u64,
    /// Duration in ns, from this time on, of the period around the join.
    pub period_ns: u64,
}

impl JoinTimes {
    /// Returns the times of a late join: it begins after a third of a measurement, and the period around it is the second
    /// third.
    #[must_use]
    pub const fn of_measurement(begin_ns: u64, measure_ns: u64) -> Self {
        Self { begin_ns: begin_ns.saturating_add(measure_ns / 3), period_ns: measure_ns / 3 }
    }

    /// Returns the period of a time: 0 before the join, 1 around it, 2 after it.
    #[inline]
    #[must_use]
    pub const fn period(&self, at_ns: u64) -> usize {
        match at_ns.checked_sub(self.begin_ns) {
            None => 0,
            Some(after_ns) if after_ns < self.period_ns => 1,
            Some(_) => 2,
        }
    }
}

/// Samples of one stream that its writer wrote before the late reader had joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenBeforeJoin {
    /// Number of samples whose accepted write call began before.
    pub samples: u64,
    /// Whether the number is exact. Otherwise the late reader had not joined when the record of write times was full.
    pub exact: bool,
}

/// Reception of one stream in a run with a late join.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinReception {
    /// Longest time between two samples in ns: before the join, around it, and after it.
    pub longest_gap_ns: [u64; 3],
    /// Samples that were written before the reader had joined. Only in the report of the late reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past: Option<PastReception>,
}

/// Samples that a late reader received although they were written before it had joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PastReception {
    /// Number of distinct samples of the measurement.
    pub delivered: u64,
    /// Arrival of the first sample of the run, in ns; 0 without samples.
    pub first_ns: u64,
    /// Arrival of the last sample that was written before the reader had joined, in ns; 0 without such samples.
    pub last_ns: u64,
    /// Whether the number is exact. Otherwise the reader had not joined when its record of arrivals was full.
    pub exact: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_joins_after_a_third_of_the_measurement() {
        let times = JoinTimes::of_measurement(1_000, 300);
        assert_eq!(times, JoinTimes { begin_ns: 1_100, period_ns: 100 });
        assert_eq!([0, 1_099, 1_100, 1_199, 1_200, u64::MAX].map(|at| times.period(at)), [0, 0, 1, 1, 2, 2]);
    }
}
