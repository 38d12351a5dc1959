//! Search goals in the terms of MLRsearch, and the input checks before the first trial.

use crate::quantile::min_n_for;

/// Minimum and maximum trial duration: 1 ms and one day.
const DURATION_NS: (u64, u64) = (1_000_000, 86_400_000_000_000);
/// Minimum relative width of a goal.
const NARROWEST: f64 = 1e-4;
const SECOND_NS: u64 = 1_000_000_000;

/// Search goal: the condition for a load to be sustained, and the precision of the highest such load.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Name, unique within a search.
    pub name: String,
    /// Duration of a full-length trial.
    pub final_trial_duration_ns: u64,
    /// Duration sum of full-length trials that is enough to classify a load.
    pub duration_sum_ns: u64,
    /// Loss ratio: a trial with a larger violation ratio is bad.
    pub loss_ratio: f64,
    /// Exceed ratio: maximum share of bad trials, by duration, at a sustained load.
    pub exceed_ratio: f64,
    /// Maximum relative width between the two bounds, relative to the upper one.
    pub width: f64,
    /// Duration of the first, coarse trials; equal to the final duration to have none.
    pub initial_trial_duration_ns: u64,
}

impl Goal {
    /// Returns the goal of the non-drop rate (NDR): no sample is lost.
    #[must_use]
    pub fn ndr() -> Self {
        Self::usual("ndr", 0.0)
    }

    /// Returns the goal of the partial drop rate (PDR): at most 0.5 % of the samples are lost.
    #[must_use]
    pub fn pdr() -> Self {
        Self::usual("pdr", 0.005)
    }

    /// Returns the goal of a service level objective: at most 0.1 % of the samples miss a deadline.
    #[must_use]
    pub fn slo() -> Self {
        Self::usual("slo", 0.001)
    }

    fn usual(name: &str, loss_ratio: f64) -> Self {
        Self {
            name: name.to_owned(),
            final_trial_duration_ns: 5 * SECOND_NS,
            duration_sum_ns: 15 * SECOND_NS,
            loss_ratio,
            exceed_ratio: 0.5,
            width: 0.01,
            initial_trial_duration_ns: SECOND_NS,
        }
    }

    /// Returns the goal with trials as in RFC 2544: one trial of 60 s classifies a load, and none may be bad. With
    /// a loss ratio of 0 the result is the throughput of RFC 2544, section 26.1.
    #[must_use]
    pub fn strict(self) -> Self {
        let minute = 60 * SECOND_NS;
        Self { final_trial_duration_ns: minute, duration_sum_ns: minute, exceed_ratio: 0.0, ..self }
    }

    /// Returns the minimum number of samples in a trial for a statement on its loss ratio. With fewer samples, no
    /// order statistics bound the corresponding quantile ([`crate::supports_quantile`]), and more than one trial in
    /// twenty shows no bad sample at a load where exactly that share is bad. A goal with a loss ratio of 0 needs
    /// one sample.
    #[must_use]
    pub fn least_samples(&self) -> u64 {
        let kept = 1.0 - self.loss_ratio;
        match self.loss_ratio {
            0.0 => 1,
            // so small that 1 - loss_ratio rounds to 1
            _ if kept >= 1.0 => u64::MAX,
            _ => min_n_for(kept),
        }
    }

    /// Returns the lowest load in samples/s, a whole number, at which a full-length trial has this many samples.
    #[must_use]
    pub fn least_sps(&self) -> f64 {
        (self.least_samples() as f64 * SECOND_NS as f64 / self.final_trial_duration_ns as f64).ceil()
    }

    /// Returns whether a full-length trial at this load has enough samples to show that the loss ratio is kept.
    #[must_use]
    pub fn resolves(&self, load_sps: f64) -> bool {
        let samples = load_sps * self.final_trial_duration_ns as f64 / SECOND_NS as f64;
        samples.round() >= self.least_samples() as f64
    }

    pub(super) fn check(&self) -> Result<(), SearchError> {
        let refuse = |field, value: String, range| {
            Err(SearchError::OutOfRange { goal: self.name.clone(), field, value, range })
        };
        for (field, value) in [
            ("final_trial_duration_ns", self.final_trial_duration_ns),
            ("duration_sum_ns", self.duration_sum_ns),
            ("initial_trial_duration_ns", self.initial_trial_duration_ns),
        ] {
            if !(DURATION_NS.0..=DURATION_NS.1).contains(&value) {
                return refuse(field, value.to_string(), "1 ms to one day");
            }
        }
        for (field, value) in [("loss_ratio", self.loss_ratio), ("exceed_ratio", self.exceed_ratio)] {
            if !(0.0..1.0).contains(&value) {
                return refuse(field, value.to_string(), "0 to less than 1");
            }
        }
        if !(NARROWEST..1.0).contains(&self.width) {
            return refuse("width", self.width.to_string(), "0.0001 to less than 1");
        }
        let (goal, final_ns) = (self.name.clone(), self.final_trial_duration_ns);
        if self.duration_sum_ns < final_ns {
            return Err(SearchError::SumTooShort { goal, sum_ns: self.duration_sum_ns, final_ns });
        }
        if self.initial_trial_duration_ns > final_ns {
            return Err(SearchError::InitialTooLong {
                goal,
                initial_ns: self.initial_trial_duration_ns,
                final_ns,
            });
        }
        if self.width < self.loss_ratio {
            return Err(SearchError::WidthBelowLoss { goal, width: self.width, loss_ratio: self.loss_ratio });
        }
        Ok(())
    }
}

/// Reasons for rejecting a search or a trial.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// No goal.
    #[error("no goal to search for")]
    NoGoal,
    /// Two goals with the same name.
    #[error("two goals are called `{0}`")]
    SameName(String),
    /// Field of a goal out of range.
    #[error("goal `{goal}`: `{field}` is {value}, outside of {range}")]
    OutOfRange {
        /// Goal name.
        goal: String,
        /// Field name.
        field: &'static str,
        /// Rejected value.
        value: String,
        /// Allowed range.
        range: &'static str,
    },
    /// Duration sum shorter than a full-length trial.
    #[error("goal `{goal}`: a duration sum of {} s is shorter than a trial of {} s", seconds(*sum_ns), seconds(*final_ns))]
    SumTooShort {
        /// Goal name.
        goal: String,
        /// Duration sum of the goal.
        sum_ns: u64,
        /// Final trial duration of the goal.
        final_ns: u64,
    },
    /// Coarse trials longer than full-length ones.
    #[error("goal `{goal}`: initial trials of {} s are longer than final ones of {} s", seconds(*initial_ns), seconds(*final_ns))]
    InitialTooLong {
        /// Goal name.
        goal: String,
        /// Initial trial duration of the goal.
        initial_ns: u64,
        /// Final trial duration of the goal.
        final_ns: u64,
    },
    /// Width narrower than the loss ratio: the result of a goal that allows more loss could then be below that of a
    /// goal that allows less.
    #[error("goal `{goal}`: a width of {width} is narrower than its loss ratio of {loss_ratio}")]
    WidthBelowLoss {
        /// Goal name.
        goal: String,
        /// Width of the goal.
        width: f64,
        /// Loss ratio of the goal.
        loss_ratio: f64,
    },
    /// Loads that are not a range, or a start outside of it.
    #[error("loads from {floor_sps} to {ceiling_sps} samples/s, beginning at {start_sps}, are no range")]
    NoRange {
        /// Lowest load.
        floor_sps: f64,
        /// Highest load.
        ceiling_sps: f64,
        /// First load.
        start_sps: f64,
    },
    /// Floor at which the shortest trial has less than one sample.
    #[error("at {floor_sps} samples/s a trial of {} s has less than one sample", seconds(*shortest_ns))]
    FloorTooLow {
        /// Lowest load.
        floor_sps: f64,
        /// Duration of the shortest trial.
        shortest_ns: u64,
    },
    /// Trial other than the one returned by `next_trial`.
    #[error("no trial of {} s at {load_sps} samples/s was asked for", seconds(*duration_ns))]
    NotAsked {
        /// Load of the trial.
        load_sps: f64,
        /// Duration of the trial.
        duration_ns: u64,
    },
    /// Number of ratios different from the number of goals.
    #[error("{given} violation ratios for {goals} goals")]
    Ratios {
        /// Number of ratios.
        given: usize,
        /// Number of goals.
        goals: usize,
    },
    /// Violation ratio outside of 0 to 1.
    #[error("goal `{goal}`: {ratio} is not a violation ratio")]
    NoRatio {
        /// Goal name.
        goal: String,
        /// Rejected ratio.
        ratio: f64,
    },
}

impl SearchError {
    /// Returns how to fix the error.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoGoal => "name at least one, such as `ndr`".to_owned(),
            Self::SameName(_) => "give each goal a name of its own".to_owned(),
            Self::OutOfRange { range, .. } => format!("choose a value within {range}"),
            Self::SumTooShort { final_ns, .. } => {
                format!("use a sum of {} s or more, or shorter trials", seconds(*final_ns))
            }
            Self::InitialTooLong { final_ns, .. } => {
                format!("use initial trials of {} s or less", seconds(*final_ns))
            }
            Self::WidthBelowLoss { loss_ratio, .. } => format!("use a width of {loss_ratio} or more"),
            Self::NoRange { .. } => {
                "use finite loads: 0 < floor < ceiling, and a start from floor to ceiling".to_owned()
            }
            Self::FloorTooLow { shortest_ns, .. } => {
                format!("use a floor of {} samples/s or more, or longer trials", 1.0 / seconds(*shortest_ns))
            }
            Self::NotAsked { .. } => "record the trial that `next_trial` gives, once".to_owned(),
            Self::Ratios { .. } => "give one for each goal, in their order".to_owned(),
            Self::NoRatio { .. } => "give the share of violations, within 0 and 1".to_owned(),
        }
    }
}

fn seconds(duration_ns: u64) -> f64 {
    duration_ns as f64 / SECOND_NS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_goals_are_as_the_method_has_them() {
        for (goal, name, loss_ratio) in
            [(Goal::ndr(), "ndr", 0.0), (Goal::pdr(), "pdr", 0.005), (Goal::slo(), "slo", 0.001)]
        {
            assert_eq!((goal.name.as_str(), goal.loss_ratio), (name, loss_ratio));
            assert_eq!((goal.final_trial_duration_ns, goal.duration_sum_ns), (5_000_000_000, 15_000_000_000));
            assert_eq!(goal.initial_trial_duration_ns, 1_000_000_000);
            assert_eq!((goal.exceed_ratio, goal.width), (0.5, 0.01));
            assert_eq!(goal.check(), Ok(()));
            let strict = goal.strict();
            assert_eq!(
                (strict.final_trial_duration_ns, strict.duration_sum_ns),
                (60_000_000_000, 60_000_000_000)
            );
            assert_eq!((strict.exceed_ratio, strict.loss_ratio), (0.0, loss_ratio));
            assert_eq!(strict.check(), Ok(()));
        }
    }

    #[test]
    fn invalid_goal_is_rejected_with_a_hint() {
        let error_and_hint = |goal: Goal| {
            let refused = goal.check().expect_err("refused");
            (refused.to_string(), refused.hint())
        };
        let second = SECOND_NS;
        for (goal, error, hint) in [
            (
                Goal { final_trial_duration_ns: 0, ..Goal::ndr() },
                "goal `ndr`: `final_trial_duration_ns` is 0, outside of 1 ms to one day",
                "choose a value within 1 ms to one day",
            ),
            (
                Goal { initial_trial_duration_ns: u64::MAX, ..Goal::ndr() },
                "goal `ndr`: `initial_trial_duration_ns` is 18446744073709551615, outside of 1 ms to one day",
                "choose a value within 1 ms to one day",
            ),
            (
                Goal { loss_ratio: 1.0, ..Goal::pdr() },
                "goal `pdr`: `loss_ratio` is 1, outside of 0 to less than 1",
                "choose a value within 0 to less than 1",
            ),
            (
                Goal { exceed_ratio: f64::NAN, ..Goal::pdr() },
                "goal `pdr`: `exceed_ratio` is NaN, outside of 0 to less than 1",
                "choose a value within 0 to less than 1",
            ),
            (
                Goal { width: 0.0, ..Goal::slo() },
                "goal `slo`: `width` is 0, outside of 0.0001 to less than 1",
                "choose a value within 0.0001 to less than 1",
            ),
            (
                Goal { duration_sum_ns: 4 * second, ..Goal::ndr() },
                "goal `ndr`: a duration sum of 4 s is shorter than a trial of 5 s",
                "use a sum of 5 s or more, or shorter trials",
            ),
            (
                Goal { initial_trial_duration_ns: 6 * second, ..Goal::ndr() },
                "goal `ndr`: initial trials of 6 s are longer than final ones of 5 s",
                "use initial trials of 5 s or less",
            ),
            (
                Goal { width: 0.002, ..Goal::pdr() },
                "goal `pdr`: a width of 0.002 is narrower than its loss ratio of 0.005",
                "use a width of 0.005 or more",
            ),
        ] {
            assert_eq!(error_and_hint(goal), (error.to_owned(), hint.to_owned()));
        }
        // a width may be as narrow as the loss ratio
        assert_eq!(Goal { width: 0.005, ..Goal::pdr() }.check(), Ok(()));
    }

    #[test]
    fn a_loss_ratio_needs_samples() {
        // 1 in 1,000 in trials of 5 s: as many samples as the quantile needs
        assert_eq!((Goal::slo().least_samples(), Goal::slo().least_sps()), (2_995, 599.0));
        assert!(Goal::slo().resolves(599.0) && !Goal::slo().resolves(598.0));
        assert_eq!((Goal::pdr().least_samples(), Goal::pdr().least_sps()), (598, 120.0));
        assert_eq!((Goal::slo().strict().least_sps(), Goal::ndr().least_samples()), (50.0, 1));
        assert!(Goal::ndr().resolves(0.2) && !Goal::ndr().resolves(0.0));
        // a share that no trial can show
        let none = Goal { loss_ratio: 1e-18, ..Goal::slo() };
        assert!(none.least_samples() == u64::MAX && !none.resolves(1e9));
    }
}
