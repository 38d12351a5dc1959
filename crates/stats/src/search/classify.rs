//! Load classification and conditional throughput of MLRsearch, from the trials at one load.

use super::Goal;

/// Trial, as seen by one goal: its duration and violation ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ObservedTrial {
    /// Duration in ns.
    pub duration_ns: u64,
    /// Share of the samples that violate the goal, 0 to 1.
    pub ratio: f64,
}

/// Classification of a load for a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Lower bound: sustained, whatever the outstanding trials show.
    Lower,
    /// Upper bound: not sustained, whatever the outstanding trials show.
    Upper,
    /// Undecided until further trials.
    Undecided,
}

/// Tolerance: durations are whole ns, but shares of them are not, and rounding must not decide.
const ROUNDING_NS: f64 = 0.5;

/// Duration sums of the trials at one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weighed {
    /// Duration of full-length good trials.
    pub low_ns: f64,
    /// Duration of full-length bad trials, and of short bad ones not balanced by short good ones.
    pub high_ns: f64,
    /// Effective whole sum: both, plus the outstanding part of the duration sum.
    pub whole_ns: f64,
}

impl Weighed {
    /// Weighs the trials of one load by their duration.
    pub fn from_trials(goal: &Goal, trials: impl Iterator<Item = ObservedTrial>) -> Self {
        // indexed by full length (false: short), then by bad (false: good)
        let mut sums = [[0_u128; 2]; 2];
        for trial in trials {
            let full = trial.duration_ns >= goal.final_trial_duration_ns;
            let bad = trial.ratio > goal.loss_ratio;
            sums[usize::from(full)][usize::from(bad)] += u128::from(trial.duration_ns);
        }
        let [[short_low, short_high], [low_ns, full_high]] = sums.map(|pair| pair.map(|sum| sum as f64));
        let balancing = short_low * goal.exceed_ratio / (1.0 - goal.exceed_ratio);
        let high_ns = full_high + (short_high - balancing).max(0.0);
        Self { low_ns, high_ns, whole_ns: (low_ns + high_ns).max(goal.duration_sum_ns as f64) }
    }

    /// Returns whether the load is a lower bound, an upper bound, or neither.
    pub fn class(&self, goal: &Goal) -> Class {
        let allowed = self.whole_ns * goal.exceed_ratio + ROUNDING_NS;
        match () {
            () if self.whole_ns - self.low_ns <= allowed => Class::Lower,
            () if self.high_ns > allowed => Class::Upper,
            () => Class::Undecided,
        }
    }
}

/// Returns the conditional throughput at a sustained load: the forwarding rate of the full-length trial at the
/// exceed-ratio quantile. Outstanding trials of the duration sum count as the worst.
pub(super) fn conditional_throughput(
    goal: &Goal,
    load_sps: f64,
    trials: impl Iterator<Item = ObservedTrial>,
) -> f64 {
    let mut full: Vec<ObservedTrial> =
        trials.filter(|trial| trial.duration_ns >= goal.final_trial_duration_ns).collect();
    full.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let sum: u128 = full.iter().map(|trial| u128::from(trial.duration_ns)).sum();
    let mut remaining = (sum as f64).max(goal.duration_sum_ns as f64) * (1.0 - goal.exceed_ratio);
    for trial in full {
        remaining -= trial.duration_ns as f64;
        if remaining <= ROUNDING_NS {
            return load_sps * (1.0 - trial.ratio);
        }
    }
    0.0
}
