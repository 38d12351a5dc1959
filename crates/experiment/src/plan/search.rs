//! The workload `search`: goals of a search for the highest sustained rate.

use serde::{Deserialize, Serialize};

use crate::{factors::scale::Scale, syntax::named::named};

/// Length and budget of a usual search; see `docs/explain/search.md`.
struct UsualSearch {
    /// Its length in duration sums.
    sums: u64,
    /// Number of its trials.
    trials: u64,
    /// Default budget as a multiple of its duration, a numerator and a denominator: on a noisy host, a search takes all of it.
    budget: (u64, u64),
}

/// Usual search of one flow, with goals of 1 % width.
const USUAL_OF_FLOW: UsualSearch = UsualSearch { sums: 5, trials: 27, budget: (5, 4) };
/// Usual search of a system, with one goal of 5 % width.
const USUAL_OF_SYSTEM: UsualSearch = UsualSearch { sums: 3, trials: 17, budget: (2, 1) };

/// Condition for a rate to be sustained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GoalKind {
    /// No loss: the non-drop rate.
    Ndr,
    /// Loss up to a ratio: the partial drop rate.
    Pdr,
    /// Responses later than a deadline up to a ratio: the service level objective.
    Slo,
    /// Each flow of a system within its own limit of samples that miss its deadline.
    System,
}

named!(GoalKind { Ndr = "ndr", Pdr = "pdr", Slo = "slo", System = "system" });

/// Search for the highest sustained rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Search {
    /// Goals. Every trial counts for all of them.
    pub goals: Vec<SearchGoal>,
    /// Maximum duration of one search in ns, from the start of its first trial.
    pub budget_ns: u64,
    /// Scales that may be tried, if flows are searched. Absent: rates of one flow are tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scales: Option<ScaleRange>,
}

/// Range of the scale of a system. Its rates are multiplied by it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleRange {
    /// Lowest scale that may be tried.
    pub lowest: Scale,
    /// Highest scale that may be tried.
    pub highest: Scale,
}

/// Search goal, with the parameters of MLRsearch (RFC 9971).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchGoal {
    /// Condition for a rate to be sustained.
    pub aim: GoalKind,
    /// Maximum time from the intended send time of a sample to its arrival, in ns. Goal `slo` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// Duration of full-length trials, in ns.
    pub final_trial_ns: u64,
    /// Sum of full-length trials that is enough to judge a rate, in ns.
    pub duration_sum_ns: u64,
    /// Duration of the first, coarse trials, in ns.
    pub initial_trial_ns: u64,
    /// Maximum violation ratio of a good trial, 0 to 1. 0 for the goal `system`, whose flows have their own limits.
    pub loss_ratio: f64,
    /// Maximum share of bad trials at a sustained rate, by duration, 0 to 1.
    pub exceed_ratio: f64,
    /// Maximum distance of the two bounds, relative to the upper one.
    pub width: f64,
}

impl Search {
    /// Returns the estimated duration of one search in ns.
    #[must_use]
    pub fn expected_ns(&self, warm_up_ns: u64, overhead_ns: u64) -> u64 {
        let sum_ns = self.goals.iter().map(|goal| goal.duration_sum_ns).max().unwrap_or_default();
        let each_ns = warm_up_ns.saturating_add(overhead_ns);
        let UsualSearch { sums, trials, .. } = self.usual();
        let all_ns = sum_ns.saturating_mul(sums).saturating_add(each_ns.saturating_mul(trials));
        all_ns.min(self.budget_ns)
    }

    /// Returns the default budget in ns.
    pub(crate) fn usual_budget_ns(&self, warm_up_ns: u64, overhead_ns: u64) -> u64 {
        let (share, of) = self.usual().budget;
        let unlimited = Self { budget_ns: u64::MAX, ..self.clone() };
        unlimited.expected_ns(warm_up_ns, overhead_ns).saturating_mul(share) / of
    }

    const fn usual(&self) -> UsualSearch {
        if self.scales.is_some() { USUAL_OF_SYSTEM } else { USUAL_OF_FLOW }
    }
}
