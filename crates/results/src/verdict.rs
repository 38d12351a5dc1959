//! What may be said of two cells: the part of the schema that claims something.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Metric, ReferenceFigure};

/// One figure of one cell held against that of another. What it rests on is in `docs/explain/verdicts.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What was compared.
    pub kind: VerdictKind,
    /// By which figure.
    pub metric: Metric,
    /// Of which of several streams. Absent: of all together; so in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Its unit, as far as it stands beside a number here.
    pub unit: String,
    /// The cell that is judged.
    pub treatment: VerdictSide,
    /// The cell that it is held against.
    pub baseline: VerdictSide,
    /// How the runs of both belong together.
    pub pairing: Pairing,
    /// By all blocks; null where no verdict is given.
    pub answer: Option<Answer>,
    /// Without the blocks during which the host was noisy; null where there are none, or no verdict is given.
    pub without_noisy: Option<Answer>,
    /// Why no verdict is given; null where one is.
    pub withheld: Option<String>,
    /// Between two results: how the figures of the reference changed that a claim must not be explained by. Empty within a
    /// result, and if a result has no reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferenceChange>,
    /// Between two results: whether there would be a claim if the host had not changed, and no claim is made because its change
    /// may explain it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_explains: bool,
    /// In words.
    pub text: String,
}

/// Change of a figure of the reference between two results, over the blocks of the compared runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceChange {
    /// Figure.
    pub figure: ReferenceFigure,
    /// Unit of the medians.
    pub unit: String,
    /// Median over the blocks of the baseline.
    pub baseline: f64,
    /// Median over the blocks of the treatment.
    pub treatment: f64,
    /// Estimate of Hodges and Lehmann, in percent.
    pub change_pct: f64,
    /// Lower end of its 95 % interval; null with too few blocks.
    pub low_pct: Option<f64>,
    /// Upper end.
    pub high_pct: Option<f64>,
    /// A claim holds for every elasticity from 0 to this: the metric changes by the reference's factor to that power.
    pub max_elasticity: f64,
}

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// Two cells.
    Comparison,
    /// A cell with itself: its two runs in each block. What differs here is noise.
    NoiseFloor,
}

/// How runs belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// Both were measured in each block, in drawn order: what disturbs a block cancels.
    Blocks,
    /// Both were measured in each block at the same time, beside each other: what disturbs the host meanwhile cancels.
    Duets,
    /// In two results. A claim holds whatever part of the reference's change is in the difference.
    Apart,
}

/// One side of a comparison: what there is of its runs, all blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictSide {
    /// Its result as it was named, where two are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Id of the cell.
    pub cell: String,
    /// Runs that have the figure.
    pub runs: u32,
    /// Runs that were not brought to their end.
    pub failed: u32,
    /// Runs whose figures contradict each other.
    pub invalid: u32,
    /// Valid runs with too few samples for the figure, or with none that has a ratio.
    pub without_figure: u32,
    /// Valid runs that reached no level that they kept.
    pub unsteady: u32,
    /// Of the workload `paced`: runs whose response times the sender decides. Absent where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sender_limited: u32,
    /// Of a load in percent of a maximum: what it came to, in samples/s. Each side has a maximum of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_sps: Option<f64>,
    /// Samples or pings lost, of those sent in all valid runs of the cell, in percent.
    pub lost_pct: f64,
    /// Whether `median` and `modes` are under duet interference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_duet_interference: bool,
    /// Median of the figure over the runs, in `unit`; null without runs.
    pub median: Option<f64>,
    /// Where runs fall into two or more groups: these; else empty. Sought from 12 runs on.
    pub modes: Vec<VerdictMode>,
    /// Which recorded fields of the runs go with these groups. Absent without groups, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes_by: Option<ModesBy>,
}

/// Which recorded fields of runs go with the groups that the runs fall into. What goes together need not be cause and effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModesBy {
    /// How many fields were tested: those that are recorded, and differ between runs.
    pub tested: u32,
    /// Those in which the groups differ, the surest first. None is named falsely with a probability of 95 %.
    pub separating: Vec<SeparatingField>,
    /// Whether so many runs can show anything where so many fields are tested.
    pub enough_runs: bool,
}

/// A recorded field in which groups of runs differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeparatingField {
    /// Its name.
    pub field: String,
    /// p-value of "has nothing to do with the groups", adjusted by Holm over the tested fields.
    pub p_holm: f64,
    /// In each group, in the order of `modes`: the median, or the most frequent word. Null where no run of it has the field.
    pub typical: Vec<Option<Typical>>,
}

/// What a field typically is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Typical {
    /// The median.
    Number(f64),
    /// The most frequent word.
    Word(String),
}

/// Of a field that is left out where it says nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) const fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// A group of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictMode {
    /// The median of its runs, in the unit of the verdict.
    pub location: f64,
    /// Its runs, of all, in percent.
    pub share_pct: f64,
}

/// What may be said, and the figures that it rests on: changes of the treatment relative to the baseline, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What may be said.
    pub conclusion: Conclusion,
    /// Blocks (of duets: duets) with both figures; apart, runs of the smaller side.
    pub n: u32,
    /// Blocks that miss a figure; apart, runs that miss it; also duets that were not measured side by side. They take no
    /// part.
    pub incomplete: u32,
    /// Estimate of Hodges and Lehmann; null where there is none.
    pub change_pct: Option<f64>,
    /// Lower end of the interval, of this comparison alone. Between two results it covers what the host's change may explain.
    pub low_pct: Option<f64>,
    /// Its upper end.
    pub high_pct: Option<f64>,
    /// With which probability it covers, in percent: 95 or a little more.
    pub level_pct: Option<f64>,
    /// Ends of the interval that is wide enough for all comparisons of the family to cover at once.
    pub simultaneous_pct: Option<[f64; 2]>,
    /// Ends of the bootstrap's interval: a cross-check that no claim rests on. Only with blocks.
    pub cross_check_pct: Option<[f64; 2]>,
    /// p-value of "nothing differs", alone.
    pub p: Option<f64>,
    /// The same, adjusted by Holm over the family: claims rest on it.
    pub p_holm: Option<f64>,
    /// The same, adjusted by Benjamini and Hochberg: for what to look at next.
    pub p_exploratory: Option<f64>,
    /// How many comparisons were judged together.
    pub family: u32,
}

/// What may be said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "word")]
pub enum Conclusion {
    /// A real difference upwards.
    Higher {
        /// Whether that is better.
        better: bool,
        /// Whether it is shown to be too small to matter.
        within_margin: bool,
    },
    /// A real difference downwards.
    Lower {
        /// Whether that is better.
        better: bool,
        /// Whether it is shown to be too small to matter.
        within_margin: bool,
    },
    /// No difference that matters.
    Equivalent {
        /// The largest that does not matter, in percent.
        margin_pct: f64,
    },
    /// Neither is shown.
    Inconclusive {
        /// The effect that would have been found in four of five such experiments, in percent.
        could_have_seen_pct: Option<f64>,
    },
    /// Not enough for any claim, whatever the figures.
    TooFew {
        /// Blocks, or runs on each side, from which on there may be one.
        needs: u32,
    },
}

impl Conclusion {
    /// Whether both claim the same: the numbers may differ.
    #[must_use]
    pub fn claims_the_same(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Whether anything is claimed: a difference or equivalence.
    #[must_use]
    pub const fn is_claim(&self) -> bool {
        matches!(self, Self::Higher { .. } | Self::Lower { .. } | Self::Equivalent { .. })
    }

    /// Whether a real difference is claimed.
    #[must_use]
    pub const fn differs(&self) -> bool {
        matches!(self, Self::Higher { .. } | Self::Lower { .. })
    }
}

impl Verdict {
    /// The figure for people.
    #[must_use]
    pub fn figure(&self) -> String {
        let of_flow = self.flow.as_ref().map_or_else(String::new, |flow| format!(" of flow `{flow}`"));
        format!("{}{of_flow}", self.metric.words())
    }

    /// Whether all blocks say something else than those without noise.
    #[must_use]
    pub fn depends_on_noise(&self) -> bool {
        match (&self.answer, &self.without_noisy) {
            // too few that are left conclude nothing
            (Some(_), Some(Answer { conclusion: Conclusion::TooFew { .. }, .. })) => false,
            (Some(all), Some(quiet)) => !all.conclusion.claims_the_same(&quiet.conclusion),
            _ => false,
        }
    }
}
