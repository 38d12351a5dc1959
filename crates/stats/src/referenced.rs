//! Comparison of runs that share no blocks, with a reference that measures how the host changed.
//!
//! Let `x` be the logarithm of a run's value, and `r` that of a reference value of its block. If the host
//! multiplies the reference by `h`, it multiplies the run's value by `h^β`, with an unknown elasticity `β`: 0 if
//! the value does not depend on the host, 1 if it changes like the reference. If the treatment has no effect,
//! `x - β r` has the same distribution on both sides for the true `β`, whatever changed on the host.
//!
//! A claim must hold for each of [`ELASTICITIES`] and for each reference metric that is passed: an
//! intersection-union test. Its p-value is the largest of all, and its interval the hull of all. Its false-claim
//! rate is therefore at most that of the rank-sum test for the true elasticity. If the true elasticity lies between
//! two of the grid, the remaining change has opposite signs at the two. A false claim must therefore be made
//! against one of them.
//!
//! Cost: the scatter of the reference, times the elasticity, adds to that of the metric. A real change of the host
//! by some percent hides effects of up to twice that size.
//!
//! Source: R. L. Berger, *Multiparameter Hypothesis Testing and Acceptance Sampling*, Technometrics 24, 1982
//! (intersection-union tests).

use crate::{
    block::{Run, pooled_sd},
    power::{PowerSpec, SmallestEffects},
    rank_sum,
    ranks::{Nulls, Ranks},
    spread::median,
};

/// Elasticities for which a claim must hold, in addition to 0.
pub const ELASTICITIES: [f64; 8] = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0];

/// Run with the reference values of its block.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferencedRun {
    /// Run.
    pub run: Run,
    /// Reference values, the same metrics in the same order for every run; empty without a reference. A run with a value
    /// that is 0, negative or not finite is excluded.
    pub references: Vec<f64>,
}

impl From<Run> for ReferencedRun {
    /// Creates a run without a reference.
    fn from(run: Run) -> Self {
        Self { run, references: Vec::new() }
    }
}

impl ReferencedRun {
    /// Returns the logarithms of the run's value and of its reference values.
    fn logs(&self) -> Option<(f64, Vec<f64>)> {
        let is_usable = |value: &f64| *value > 0.0 && value.is_finite();
        let value = self.run.usable()?.ln();
        let all = self.references.iter().all(is_usable);
        all.then(|| (value, self.references.iter().map(|value| value.ln()).collect()))
    }

    pub(crate) fn is_usable(&self) -> bool {
        self.logs().is_some()
    }
}

/// Returns logarithms of values, first without correction (elasticity 0), then corrected by each of the first `references`
/// references, of which they come with the logarithms, and each elasticity.
pub(crate) fn corrected(logs: &[(f64, Vec<f64>)], references: usize) -> Vec<Vec<f64>> {
    let axes = (0..references).flat_map(|reference| ELASTICITIES.map(|elasticity| (reference, elasticity)));
    let of = |(reference, elasticity): (usize, f64)| {
        let correction = |references: &[f64]| references.get(reference).map_or(0.0, |of| elasticity * of);
        logs.iter().map(|(value, references)| value - correction(references)).collect()
    };
    std::iter::once((0, 0.0)).chain(axes).map(of).collect()
}

/// Log values of treatment and baseline for one elasticity.
type Groups = (Vec<f64>, Vec<f64>);

/// Returns the values of both sides for every elasticity. The first pair is without correction (elasticity 0).
fn for_all(treatment: &[ReferencedRun], baseline: &[ReferencedRun]) -> Vec<Groups> {
    let logs = |runs: &[ReferencedRun]| runs.iter().filter_map(ReferencedRun::logs).collect::<Vec<_>>();
    let (treatment, baseline) = (logs(treatment), logs(baseline));
    let references = treatment.iter().chain(&baseline).map(|(_, references)| references.len()).min();
    let of = |side: &[(f64, Vec<f64>)]| corrected(side, references.unwrap_or(0));
    of(&treatment).into_iter().zip(of(&baseline)).collect()
}

/// Returns the ranks for every elasticity, the first those without correction; `None` if a side has no usable run.
pub(crate) fn ranks(treatment: &[ReferencedRun], baseline: &[ReferencedRun], nulls: &Nulls) -> Option<Ranks> {
    let groups = for_all(treatment, baseline);
    let groups = groups.iter().map(|(treatment, baseline)| (&treatment[..], &baseline[..]));
    Ranks::of_axes(&groups.collect::<Vec<_>>(), nulls)
}

/// Returns the smallest relative effect that would be claimed with the given power if it did not depend on the
/// host, given the scatter of both sides and the change of the host.
pub(crate) fn smallest_effect(
    treatment: &[ReferencedRun],
    baseline: &[ReferencedRun],
    effects: &SmallestEffects<'_>,
) -> Option<f64> {
    let all = for_all(treatment, baseline);
    // the estimate of `Ranks::of_groups`
    let shift =
        |(treatment, baseline): &Groups| median(&rank_sum::differences(treatment, baseline)).unwrap_or(0.0);
    let alone = shift(all.first()?);
    let each = all.iter().map(|groups| {
        let (treatment, baseline) = groups;
        let sd = pooled_sd(treatment, baseline)?;
        let effect = effects.apart((treatment.len(), baseline.len()), sd)?;
        Some(effect + (1.0 + effect) * (shift(groups) - alone).abs().exp_m1())
    });
    Some(each.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max))
}

/// Returns the smallest relative effect that a comparison of these runs with as many that scatter alike detects with the
/// power of `spec`, on a host whose reference values scatter alike. `None` with too few runs for any effect.
#[must_use]
pub fn smallest_effect_referenced(runs: &[ReferencedRun], spec: &PowerSpec) -> Option<f64> {
    smallest_effect(runs, runs, &SmallestEffects::new(spec))
}

#[cfg(test)]
#[path = "referenced_tests.rs"]
mod tests;
