//! Agreement of two results: whether each repeats the verdicts of the other.

use serde::{Deserialize, Serialize};

use crate::schema::metric::Metric;

/// Agreement of the verdicts of two results. Each verdict compares a cell with the baseline of its own result, so a change of the
/// host between the results is in both of its sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictAgreement {
    /// Numbers over all claims.
    pub all: AgreementCounts,
    /// Numbers by driver and metric, in the order of the cells.
    pub groups: Vec<AgreementGroup>,
    /// Claims with the verdicts of both results, in the order of the cells.
    pub claims: Vec<RepeatedClaim>,
}

/// Numbers of claims by the verdicts of two results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgreementCounts {
    /// Number of claims.
    pub claims: u32,
    /// Number of claims with the same verdict in both results.
    pub agree: u32,
    /// Number of claims that both results leave open.
    pub undecided: u32,
    /// Number of claims that only one of the results decides.
    pub weaker: u32,
    /// Number of claims with opposite signs, or that are equivalent in one result and different in the other.
    pub contradict: u32,
}

/// Numbers of claims of a driver and a metric, and how well the effects agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgreementGroup {
    /// Name of the driver.
    pub driver: String,
    /// Metric.
    pub metric: Metric,
    /// Numbers of its claims.
    #[serde(flatten)]
    pub counts: AgreementCounts,
    /// Number of claims with an estimate of the change in both results.
    pub estimates: u32,
    /// Pearson's correlation of these estimates. Null with fewer than three, or if they do not vary.
    pub r: Option<f64>,
}

/// Claim with the verdicts of two results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatedClaim {
    /// Identifier of the cell on the candidate side.
    pub cell: String,
    /// Metric.
    pub metric: Metric,
    /// Name of the flow. Absent if the metric is over all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Whether both verdicts agree.
    pub outcome: AgreementOutcome,
    /// Verdict of the baseline side. Null if that result has no such claim.
    pub baseline: Option<String>,
    /// Verdict of the candidate side. Null if that result has no such claim.
    pub treatment: Option<String>,
    /// Change in percent on the baseline side. Null without an estimate.
    pub baseline_change_pct: Option<f64>,
    /// Change in percent on the candidate side. Null without an estimate.
    pub treatment_change_pct: Option<f64>,
}

/// Agreement of two verdicts on the same claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AgreementOutcome {
    /// Both decide the same.
    Agree,
    /// Neither decides.
    Undecided,
    /// Only one decides.
    Weaker,
    /// Opposite signs, or equivalent in one and different in the other.
    Contradict,
}

impl AgreementCounts {
    /// Adds a claim.
    pub const fn add(&mut self, outcome: AgreementOutcome) {
        self.claims += 1;
        match outcome {
            AgreementOutcome::Agree => self.agree += 1,
            AgreementOutcome::Undecided => self.undecided += 1,
            AgreementOutcome::Weaker => self.weaker += 1,
            AgreementOutcome::Contradict => self.contradict += 1,
        }
    }
}
