//! What is searched for, in the words of MLRsearch, and what is refused before the first trial.

use crate::quantile::min_n_for;

/// No trial is longer, and none is shorter: a day, and a millisecond.
const DURATION_NS: (u64, u64) = (1_000_000, 86_400_000_000_000);
/// No width is narrower.
const NARROWEST: f64 = 1e-4;
const SECOND_NS: u64 = 1_000_000_000;

/// A search goal: what a load must keep to be sustained, and how closely the highest such load shall be known.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// What it is called; no two goals of a search share a name.
    pub name: String,
    /// The duration of trials that count in full.
    pub final_trial_duration_ns: u64,
    /// So much of such trials is enough to judge a load.
    pub duration_sum_ns: u64,
    /// A trial with a larger violation ratio than this is a bad one.
    pub loss_ratio: f64,
    /// This share of the trials, by duration, may be bad at a load that is sustained.
    pub exceed_ratio: f64,
    /// How far the two bounds may lie apart, relative to the upper one.
    pub width: f64,
    /// The duration of the first, coarse trials; like the final one for none.
    pub initial_trial_duration_ns: u64,
}

impl Goal {
    /// No sample is lost: the non-drop rate.
    #[must_use]
    pub fn ndr() -> Self {
        Self::usual("ndr", 0.0)
    }

    /// Up to 0.5 % are lost: the partial drop rate.
    #[must_use]
    pub fn pdr() -> Self {
        Self::usual("pdr", 0.005)
    }

    /// Up to 0.1 % come later than a deadline.
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

    /// The same with trials as long as RFC 2544 has them: one of 60 s judges a load, and none may be bad. With a loss
    /// ratio of 0 the result is the throughput of RFC 2544, section 26.1.
    #[must_use]
    pub fn strict(self) -> Self {
        let minute = 60 * SECOND_NS;
        Self { final_trial_duration_ns: minute, duration_sum_ns: minute, exceed_ratio: 0.0, ..self }
    }

    /// With fewer samples in a trial nothing is said of its loss ratio: they bound no quantile with that share above it
    /// ([`crate::supports_quantile`]), and more than one trial in twenty has no bad sample where just that share is bad. A
    /// goal without a share asks for one sample.
    #[must_use]
    pub fn least_samples(&self) -> u64 {
        let kept = 1.0 - self.loss_ratio;
        match self.loss_ratio {
            0.0 => 1,
            // so small a share that it is lost in rounding
            _ if kept >= 1.0 => u64::MAX,
            _ => min_n_for(kept),
        }
    }

    /// The lowest load, in whole samples/s, at which a full trial has these.
    #[must_use]
    pub fn least_sps(&self) -> f64 {
        (self.least_samples() as f64 * SECOND_NS as f64 / self.final_trial_duration_ns as f64).ceil()
    }

    /// Whether a full trial at this load has samples enough for a good one to show that the loss ratio is kept.
    #[must_use]
    pub fn resolves(&self, load_sps: f64) -> bool {
        let samples = load_sps * self.final_trial_duration_ns as f64 / SECOND_NS as f64;
        samples.round() >= self.least_samples() as f64
    }

    pub(super) fn check(&self) -> Result<(), Refused> {
        let refuse = |field, value: String, range| {
            Err(Refused::OutOfRange { goal: self.name.clone(), field, value, range })
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
            return Err(Refused::SumTooShort { goal, sum_ns: self.duration_sum_ns, final_ns });
        }
        if self.initial_trial_duration_ns > final_ns {
            return Err(Refused::InitialTooLong {
                goal,
                initial_ns: self.initial_trial_duration_ns,
                final_ns,
            });
        }
        if self.width < self.loss_ratio {
            return Err(Refused::WidthBelowLoss { goal, width: self.width, loss_ratio: self.loss_ratio });
        }
        Ok(())
    }
}

/// Why a search cannot be made, or a trial not be recorded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// Nothing to search for.
    #[error("no goal to search for")]
    NoGoal,
    /// A name that does not tell goals apart.
    #[error("two goals are called `{0}`")]
    SameName(String),
    /// What no goal can have.
    #[error("goal `{goal}`: `{field}` is {value}, outside of {range}")]
    OutOfRange {
        /// The goal.
        goal: String,
        /// Its field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        range: &'static str,
    },
    /// A sum that no full trial fits into.
    #[error("goal `{goal}`: a duration sum of {} s is shorter than a trial of {} s", seconds(*sum_ns), seconds(*final_ns))]
    SumTooShort {
        /// The goal.
        goal: String,
        /// Its duration sum.
        sum_ns: u64,
        /// Its final trial duration.
        final_ns: u64,
    },
    /// Coarse trials that are longer than those that count in full.
    #[error("goal `{goal}`: initial trials of {} s are longer than final ones of {} s", seconds(*initial_ns), seconds(*final_ns))]
    InitialTooLong {
        /// The goal.
        goal: String,
        /// Its initial trial duration.
        initial_ns: u64,
        /// Its final trial duration.
        final_ns: u64,
    },
    /// Bounds that may lie closer than two good trials at one load: a goal that allows more loss could then come out
    /// below one that allows less.
    #[error("goal `{goal}`: a width of {width} is narrower than its loss ratio of {loss_ratio}")]
    WidthBelowLoss {
        /// The goal.
        goal: String,
        /// Its width.
        width: f64,
        /// Its loss ratio.
        loss_ratio: f64,
    },
    /// Loads that are no range, or a start outside of it.
    #[error("loads from {floor_sps} to {ceiling_sps} samples/s, beginning at {start_sps}, are no range")]
    NoRange {
        /// The lowest load.
        floor_sps: f64,
        /// The highest load.
        ceiling_sps: f64,
        /// The first load.
        start_sps: f64,
    },
    /// A floor at which the shortest trial has no sample.
    #[error("at {floor_sps} samples/s a trial of {} s has less than one sample", seconds(*shortest_ns))]
    FloorTooLow {
        /// The lowest load.
        floor_sps: f64,
        /// The shortest trial.
        shortest_ns: u64,
    },
    /// A trial other than the next one.
    #[error("no trial of {} s at {load_sps} samples/s was asked for", seconds(*duration_ns))]
    NotAsked {
        /// Its load.
        load_sps: f64,
        /// Its duration.
        duration_ns: u64,
    },
    /// Ratios that do not fit the goals.
    #[error("{given} violation ratios for {goals} goals")]
    Ratios {
        /// So many ratios.
        given: usize,
        /// So many goals.
        goals: usize,
    },
    /// What is no ratio.
    #[error("goal `{goal}`: {ratio} is no violation ratio")]
    NoRatio {
        /// The goal.
        goal: String,
        /// What was given.
        ratio: f64,
    },
}

impl Refused {
    /// The next step.
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
    fn what_no_goal_can_be_is_refused_with_a_next_step() {
        let said = |goal: Goal| {
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
            assert_eq!(said(goal), (error.to_owned(), hint.to_owned()));
        }
        // a width may be as narrow as the loss ratio
        assert_eq!(Goal { width: 0.005, ..Goal::pdr() }.check(), Ok(()));
    }

    #[test]
    fn a_loss_ratio_needs_samples() {
        // 1 in 1,000 in trials of 5 s: as many as its quantile needs
        assert_eq!((Goal::slo().least_samples(), Goal::slo().least_sps()), (2_995, 599.0));
        assert!(Goal::slo().resolves(599.0) && !Goal::slo().resolves(598.0));
        assert_eq!((Goal::pdr().least_samples(), Goal::pdr().least_sps()), (598, 120.0));
        assert_eq!((Goal::slo().strict().least_sps(), Goal::ndr().least_samples()), (50.0, 1));
        assert!(Goal::ndr().resolves(0.2) && !Goal::ndr().resolves(0.0));
        // a share that no trial shows
        let none = Goal { loss_ratio: 1e-18, ..Goal::slo() };
        assert!(none.least_samples() == u64::MAX && !none.resolves(1e9));
    }
}
