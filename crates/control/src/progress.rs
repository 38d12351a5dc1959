//! Progress of an agent while it measures.

use serde::{Deserialize, Serialize};

/// Progress of an agent since the start of its measurement.
#[serde_with::skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// Time since the start of the measurement in ns; at an agent that receives samples, since the first one.
    pub elapsed_ns: u64,
    /// Samples received; absent for a role that receives none.
    pub reception: Option<ReceptionProgress>,
    /// Round trips of pings or probes; absent without any.
    pub round_trips: Option<RoundTripProgress>,
    /// CPU time of the process; absent if the agent does not know it, and before `measure`.
    pub cpu: Option<CpuProgress>,
}

/// CPU time of a process since the request `measure`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuProgress {
    /// Time since the request in ns.
    pub elapsed_ns: u64,
    /// CPU time of all threads in ns, in user and kernel mode.
    pub used_ns: u64,
}

/// Samples received so far, from all writers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReceptionProgress {
    /// Number of distinct samples.
    pub delivered: u64,
    /// Their payloads in bytes.
    pub bytes: u64,
    /// Number of samples that are missing before the last one of their writer. Samples on their way count until they
    /// arrive. Absent if the role does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
}

impl ReceptionProgress {
    /// Returns the reception of two streams together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            delivered: self.delivered.saturating_add(other.delivered),
            bytes: self.bytes.saturating_add(other.bytes),
            lost: match (self.lost, other.lost) {
                (Some(one), Some(other)) => Some(one.saturating_add(other)),
                (one, other) => one.or(other),
            },
        }
    }
}

/// Round trips so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundTripProgress {
    /// Number of round trips.
    pub count: u64,
    /// Mean in ns.
    pub mean_ns: f64,
    /// Sample standard deviation in ns; 0 for a single round trip.
    pub sd_ns: f64,
    /// Minimum in ns.
    pub min_ns: u64,
    /// Maximum in ns.
    pub max_ns: u64,
    /// The last round trip in ns.
    pub last_ns: u64,
}

impl RoundTripProgress {
    /// Returns the round trips of two endpoints together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let count = self.count.saturating_add(other.count);
        let [n, m] = [self.count, other.count].map(|count| count as f64);
        let share = m / (n + m).max(1.0);
        let distance = other.mean_ns - self.mean_ns;
        let squares = |of: &Self| of.sd_ns * of.sd_ns * of.count.saturating_sub(1) as f64;
        let deviations = squares(&self) + squares(&other) + distance * distance * n * share;
        Self {
            count,
            mean_ns: self.mean_ns + distance * share,
            sd_ns: (deviations / count.saturating_sub(1).max(1) as f64).sqrt(),
            min_ns: self.min_ns.min(other.min_ns),
            max_ns: self.max_ns.max(other.max_ns),
            last_ns: self.last_ns.max(other.last_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_of_two_endpoints_have_the_moments_of_all() {
        // 1, 3 and 5, 7, 9
        let one = RoundTripProgress {
            count: 2,
            mean_ns: 2.0,
            sd_ns: 2.0_f64.sqrt(),
            min_ns: 1,
            max_ns: 3,
            last_ns: 3,
        };
        let other =
            RoundTripProgress { count: 3, mean_ns: 7.0, sd_ns: 2.0, min_ns: 5, max_ns: 9, last_ns: 9 };
        let both = one.and(other);
        assert_eq!((both.count, both.mean_ns, both.min_ns, both.max_ns), (5, 5.0, 1, 9));
        assert!((both.sd_ns - 10.0_f64.sqrt()).abs() < 1e-9, "{both:?}");
    }
}
