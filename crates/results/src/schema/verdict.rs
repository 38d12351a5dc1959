//! Verdicts: statistical comparisons of two cells.

use serde::{Deserialize, Serialize};

use crate::schema::{metric::Metric, reference::ReferenceMetric};

/// Comparison of one metric of two cells. Methods: `docs/explain/verdicts.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Kind of the comparison.
    pub kind: VerdictKind,
    /// Compared metric.
    pub metric: Metric,
    /// Name of the flow. Absent if the metric is over all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Whether its samples are pings, each of which arrived if its round trip was complete. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_round_trips: bool,
    /// Unit of the medians and modes.
    pub unit: String,
    /// Candidate cell.
    pub treatment: VerdictSide,
    /// Baseline cell.
    pub baseline: VerdictSide,
    /// Pairing of the runs of both cells.
    pub pairing: Pairing,
    /// Statistics over all blocks. Null if the verdict is withheld.
    pub answer: Option<EffectEstimate>,
    /// Statistics without noisy blocks. Null if no block was noisy, or if the verdict is withheld.
    pub without_noisy: Option<EffectEstimate>,
    /// Reason why the verdict is withheld. Null otherwise.
    pub withheld: Option<String>,
    /// Between two results: changes of the reference values that must not explain a claim. Empty within a result,
    /// and if a result has no reference.
    pub references: Vec<ReferenceChange>,
    /// Between two results: whether there would be a claim without a change of the host. No claim is made, because
    /// the change of the host, or the noise of its blocks, may explain it.
    pub host_explains: bool,
    /// Text of the verdict.
    pub text: String,
}

/// Change of a reference value between two results, over the blocks of the compared runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReferenceChange {
    /// Reference value.
    pub metric: ReferenceMetric,
    /// Unit of the medians.
    pub unit: String,
    /// Median over the blocks of the baseline.
    pub baseline: f64,
    /// Median over the blocks of the candidate.
    pub treatment: f64,
    /// Change in percent: Hodges-Lehmann estimate.
    pub change_pct: f64,
    /// Lower end of the 95 % CI of the change, in percent. Null with too few blocks.
    pub low_pct: Option<f64>,
    /// Upper end of the 95 % CI of the change, in percent. Null with too few blocks.
    pub high_pct: Option<f64>,
    /// Maximum elasticity: a claim holds for all elasticities from 0 to this. If the reference changes by a factor
    /// f, the metric changes by f to the power of the elasticity.
    pub max_elasticity: f64,
}

/// Kind of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// Two cells.
    Comparison,
    /// A/A comparison: the two runs of a cell in each block. Differences are noise.
    NoiseFloor,
}

/// Pairing of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// Both cells were measured in each block, in random order: disturbances common to a block cancel.
    Blocks,
    /// Both cells were measured at the same time in each block: disturbances of the host at that time cancel.
    Duets,
    /// The cells are in two results. A claim holds for any part of the reference's change that may be in the
    /// difference.
    Apart,
}

/// One side of a comparison: its runs over all blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictSide {
    /// Name of the result, if two results are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Identifier of the cell.
    pub cell: String,
    /// Number of runs that have a value.
    pub runs: u32,
    /// Number of failed runs.
    pub failed: u32,
    /// Number of invalid runs: their counts contradict each other.
    pub invalid: u32,
    /// Number of valid runs without a value: they have too few samples, or a value that has no ratio.
    pub without_value: u32,
    /// Number of runs with a value but without a steady state.
    pub unsteady: u32,
    /// For the workload `paced`: number of runs whose response times are determined by the sender.
    pub sender_limited: u32,
    /// Rate of a load in percent of a maximum, in samples/s. Each side has its own maximum. Absent for other loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_sps: Option<f64>,
    /// Share of samples or pings that did not arrive, whatever the reason, over all valid runs, in percent of those planned.
    pub missing_pct: f64,
    /// Whether `median` and `modes` are under duet interference.
    pub under_duet_interference: bool,
    /// Median over the runs of the observed values, in `unit`. Null without values, and for a quantile for which a run has too few
    /// samples.
    pub median: Option<f64>,
    /// Modes, if the runs fall into two or more; otherwise empty. Requires at least 12 runs.
    pub modes: Vec<VerdictMode>,
    /// Recorded fields that differ between the modes. Absent without modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes_by: Option<ModesBy>,
}

/// Recorded fields of runs that differ between the modes. An association need not be a cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModesBy {
    /// Number of tested fields: those that are recorded and vary between runs.
    pub tested: u32,
    /// Fields that differ between the modes, by ascending p-value. The probability of any false one is at most 5 %.
    pub separating: Vec<SeparatingField>,
    /// Whether this number of runs can show any association when this number of fields is tested.
    pub enough_runs: bool,
}

/// Recorded field that differs between the modes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeparatingField {
    /// Name of the field.
    pub field: String,
    /// p-value of the hypothesis of no association with the modes, adjusted by Holm over the tested fields.
    pub p_adjusted: f64,
    /// Typical value in each mode, in the order of `modes`: median, or most frequent text. Null if no run of the
    /// mode has the field.
    pub typical: Vec<Option<TypicalValue>>,
}

/// Typical value of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TypicalValue {
    /// Median.
    Number(f64),
    /// Most frequent text.
    Word(String),
}

/// Mode: group of runs with similar values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictMode {
    /// Median of its runs, in the unit of the verdict.
    pub location: f64,
    /// Share of its runs in all runs, in percent.
    pub share_pct: f64,
}

/// Conclusion and its statistics. Changes are those of the candidate relative to the baseline, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectEstimate {
    /// Conclusion.
    pub conclusion: Conclusion,
    /// Number of blocks (or duets) with both values. Between two results: number of runs of the smaller side.
    pub n: u32,
    /// Number of blocks without one or both values, and of duets without enough overlap; between two results, of
    /// runs without a value. They are excluded.
    pub incomplete: u32,
    /// Change in percent: Hodges-Lehmann estimate. Null if there is none.
    pub change_pct: Option<f64>,
    /// Lower end of the CI of this comparison alone, in percent. Between two results it includes what the host's
    /// change may explain.
    pub low_pct: Option<f64>,
    /// Upper end of the CI of this comparison alone, in percent.
    pub high_pct: Option<f64>,
    /// Confidence level of the CI, in percent: 95 or slightly more.
    pub level_pct: Option<f64>,
    /// Ends of the simultaneous CI, in percent: it covers all comparisons of the family at once.
    pub simultaneous_pct: Option<[f64; 2]>,
    /// p-value of the hypothesis of no difference, unadjusted.
    pub p: Option<f64>,
    /// p-value adjusted over the family. Claims use it.
    pub p_adjusted: Option<f64>,
    /// p-value adjusted by Benjamini and Hochberg: for exploration only.
    pub p_exploratory: Option<f64>,
    /// Number of comparisons in the family, which are judged together.
    pub family: u32,
}

/// Conclusion of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "word")]
pub enum Conclusion {
    /// The candidate is significantly higher.
    Higher {
        /// Whether higher is better.
        better: bool,
        /// Whether the difference is also shown to be within the equivalence margin.
        within_margin: bool,
    },
    /// The candidate is significantly lower.
    Lower {
        /// Whether lower is better.
        better: bool,
        /// Whether the difference is also shown to be within the equivalence margin.
        within_margin: bool,
    },
    /// The difference is shown to be within the equivalence margin.
    Equivalent {
        /// Equivalence margin, in percent.
        margin_pct: f64,
    },
    /// Neither a difference nor equivalence is shown.
    Inconclusive {
        /// Minimum detectable effect with a power of 80 %, in percent. Null if it is unknown.
        could_have_seen_pct: Option<f64>,
    },
    /// Too few blocks or runs for any claim.
    TooFew {
        /// Minimum number of blocks, or of runs on each side, for a claim.
        needs: u32,
    },
}

impl Conclusion {
    /// Returns whether both conclusions are of the same kind. Their numbers may differ.
    #[must_use]
    pub fn claims_the_same(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Returns whether a difference or equivalence is claimed.
    #[must_use]
    pub const fn is_claim(&self) -> bool {
        matches!(self, Self::Higher { .. } | Self::Lower { .. } | Self::Equivalent { .. })
    }

    /// Returns whether a claimed difference is an improvement; `None` without one.
    #[must_use]
    pub const fn is_better(&self) -> Option<bool> {
        match self {
            Self::Higher { better, .. } | Self::Lower { better, .. } => Some(*better),
            Self::Equivalent { .. } | Self::Inconclusive { .. } | Self::TooFew { .. } => None,
        }
    }

    /// Returns whether a difference is claimed.
    #[must_use]
    pub const fn differs(&self) -> bool {
        self.is_better().is_some()
    }
}

impl Verdict {
    /// Returns the name of the metric in reports, with that of its flow.
    #[must_use]
    pub fn metric_name(&self) -> String {
        let of_flow = self.flow.as_ref().map_or_else(String::new, |flow| format!(" of flow `{flow}`"));
        let name = match self.metric {
            Metric::Arrived if self.is_of_round_trips => "share of complete round trips",
            metric => metric.words(),
        };
        format!("{name}{of_flow}")
    }

    /// Returns the shares of the samples that arrived of the candidate and of the baseline over all valid runs, in percent;
    /// `None` for other metrics.
    #[must_use]
    pub fn arrived_pct(&self) -> Option<(f64, f64)> {
        let share = |side: &VerdictSide| 100.0 - side.missing_pct;
        (self.metric == Metric::Arrived).then(|| (share(&self.treatment), share(&self.baseline)))
    }

    /// Returns whether the quiet blocks would have to confirm a claim, and are too few for it: between two results, interruptions of
    /// the host can be most of a tail.
    #[must_use]
    pub fn lacks_quiet_blocks(&self) -> bool {
        let too_few = |quiet: &EffectEstimate| matches!(quiet.conclusion, Conclusion::TooFew { .. });
        self.pairing == Pairing::Apart
            && self.metric.is_of_the_tail()
            && self.without_noisy.as_ref().is_some_and(too_few)
    }

    /// Returns whether the conclusion over all blocks differs from that without noisy blocks.
    #[must_use]
    pub fn depends_on_noise(&self) -> bool {
        match (&self.answer, &self.without_noisy) {
            // too few remaining blocks conclude nothing
            (Some(_), Some(EffectEstimate { conclusion: Conclusion::TooFew { .. }, .. })) => false,
            (Some(all), Some(quiet)) => !all.conclusion.claims_the_same(&quiet.conclusion),
            _ => false,
        }
    }
}
