//! Output of `ddsmark compare --json`: comparison of two results, or of two cells of one result.

use serde::{Deserialize, Serialize};

use crate::schema::{agreement::VerdictAgreement, metric::Metric, verdict::Verdict};

/// Comparison of two results, or of cells of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Version of the schema of results.
    pub schema_version: u32,
    /// Baseline side.
    pub baseline: ComparedSide,
    /// Candidate side, which is compared with the baseline.
    pub treatment: ComparedSide,
    /// Factors named with `--factor`: the sides may differ in these.
    pub factors: Vec<String>,
    /// All differences between the compared cells and between their results.
    pub differences: Vec<Difference>,
    /// Whether the sides were compared with `--force` although they differ in other factors than the named ones.
    pub forced: bool,
    /// Notes about the comparison.
    pub notes: Vec<String>,
    /// Between two results that have verdicts of their own: whether these agree. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<VerdictAgreement>,
    /// Verdicts, including the noise floors of the baseline cells.
    pub verdicts: Vec<Verdict>,
    /// Outcomes of the criteria, for each pair of cells.
    pub criteria: Vec<CriterionResult>,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedSide {
    /// Name of the result, as given on the command line.
    pub result: String,
    /// Name of the experiment.
    pub experiment: String,
    /// Command that measured it: the program and its arguments. Empty if unknown.
    pub command_line: Vec<String>,
    /// Start of the experiment, in ns since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// Identifiers of cells without a counterpart on the other side.
    pub unmatched: Vec<String>,
}

/// Difference between the two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Name of the field, as `--factor` accepts it.
    pub field: String,
    /// Value on the baseline side. Null if the field is absent there.
    pub baseline: Option<String>,
    /// Value on the candidate side. Null if the field is absent there.
    pub treatment: Option<String>,
    /// Whether the field belongs to a named factor.
    pub named: bool,
}

/// Outcome of a criterion for one pair of cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CriterionResult {
    /// Criterion as given on the command line.
    pub criterion: String,
    /// Metric of the criterion.
    pub metric: Metric,
    /// Identifier of the candidate cell.
    pub cell: String,
    /// Outcome over all blocks. It determines the exit status.
    pub outcome: CriterionOutcome,
    /// Outcome without noisy blocks. Null if no block was noisy.
    pub without_noisy: Option<CriterionOutcome>,
    /// Text of the outcome.
    pub text: String,
}

/// Outcome of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CriterionOutcome {
    /// Failed: the change is shown to lie in the forbidden range.
    Broken,
    /// Passed: the change is shown to lie outside the forbidden range.
    Kept,
    /// Inconclusive: the interval contains the bound, or there are too few blocks.
    CannotTell,
}
