//! Trials so far by load, and the resulting bounds of each goal.

use std::collections::BTreeMap;

use super::{
    Goal,
    classify::{Class, ObservedTrial, Weighed},
};

/// Executed trial.
#[derive(Clone, Debug)]
struct RecordedTrial {
    duration_ns: u64,
    /// Violation ratio for each goal.
    ratios: Vec<f64>,
}

/// All trials by load. Loads are grid indices.
#[derive(Clone, Debug, Default)]
pub(super) struct TrialSet(BTreeMap<u32, Vec<RecordedTrial>>);

impl TrialSet {
    /// Adds a trial at the load with that number: its duration in ns, and its violation ratio for each goal.
    pub fn add(&mut self, load: u32, duration_ns: u64, ratios: Vec<f64>) {
        self.0.entry(load).or_default().push(RecordedTrial { duration_ns, ratios });
    }

    /// Returns the number of trials at a load.
    pub fn trials_at(&self, load: u32) -> usize {
        self.0.get(&load).map_or(0, Vec::len)
    }

    /// Returns the trials at a load as seen by the goal with this index.
    pub fn observed_at(&self, index: usize, load: u32) -> impl Iterator<Item = ObservedTrial> {
        let trials = self.0.get(&load).into_iter().flatten();
        trials.map(move |trial| ObservedTrial { duration_ns: trial.duration_ns, ratio: trial.ratios[index] })
    }

    /// Returns the bounds of `goal`, with the violation ratios of the goal with this index.
    pub fn bounds(&self, index: usize, goal: &Goal) -> Bounds {
        let mut bounds = Bounds::default();
        for &load in self.0.keys() {
            match Weighed::from_trials(goal, self.observed_at(index, load)).class(goal) {
                Class::Upper => return Bounds { upper: Some(load), ..bounds },
                Class::Lower => bounds.lower = Some(load),
                Class::Undecided => {}
            }
        }
        bounds
    }
}

/// Lowest upper bound, and the highest lower bound below it. A load above an upper bound is never a lower bound,
/// whatever its trials show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Number of the load that is the lower bound; `None` if there is none.
    pub lower: Option<u32>,
    /// Number of the load that is the upper bound; `None` if there is none.
    pub upper: Option<u32>,
}

impl Bounds {
    /// Returns whether a load lies strictly between the bounds. No load between them is classified yet.
    pub fn leave_open(self, load: u32) -> bool {
        self.lower.is_none_or(|lower| lower < load) && self.upper.is_none_or(|upper| load < upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_above_an_upper_bound_is_not_a_lower_bound() {
        let (goal, full) = (Goal::ndr().strict(), 60_000_000_000);
        let mut measured = TrialSet::default();
        assert_eq!(measured.bounds(0, &goal), Bounds::default());
        for (load, ratio) in [(10, 0.0), (30, 0.0), (40, 0.1), (20, 0.0)] {
            measured.add(load, full, vec![ratio]);
        }
        assert_eq!(measured.bounds(0, &goal), Bounds { lower: Some(30), upper: Some(40) });
        // a bad trial at a load that was good: it becomes the upper bound, and the next load below it the lower
        // bound
        measured.add(30, full, vec![0.01]);
        let bounds = measured.bounds(0, &goal);
        assert_eq!(bounds, Bounds { lower: Some(20), upper: Some(30) });
        assert_eq!((measured.trials_at(30), measured.trials_at(31)), (2, 0));
        assert!(bounds.leave_open(25) && !bounds.leave_open(20) && !bounds.leave_open(30));
        assert!(Bounds::default().leave_open(0));
    }
}
