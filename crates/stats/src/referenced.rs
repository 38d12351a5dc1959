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
    power::{PowerSpec, smallest_effect_apart},
    rank_sum::RankSum,
    signed_rank::Interval,
};

/// Elasticities for which a claim must hold, in addition to 0.
pub const ELASTICITIES: [f64; 8] = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0];

/// Run with the reference values of its block.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferencedRun {
    /// Run.
    pub run: Run,
    /// Reference values, the same metrics in the same order for every run. A run with a value that is 0, negative
    /// or not finite is excluded.
    pub references: Vec<f64>,
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

/// Ranks for every elasticity. The first are those without correction (elasticity 0).
pub(crate) struct ReferencedRanks(Vec<RankSum>);

/// Corrected log values of one side for one elasticity.
type Values = Vec<f64>;

/// Returns the values of both sides for every elasticity. The first pair is without correction (elasticity 0).
fn for_all(treatment: &[ReferencedRun], baseline: &[ReferencedRun]) -> Vec<(Values, Values)> {
    let logs = |runs: &[ReferencedRun]| runs.iter().filter_map(ReferencedRun::logs).collect::<Vec<_>>();
    let (treatment, baseline) = (logs(treatment), logs(baseline));
    let references = treatment.iter().chain(&baseline).map(|(_, references)| references.len()).min();
    let axes =
        (0..references.unwrap_or(0)).flat_map(|axis| ELASTICITIES.map(|elasticity| (axis, elasticity)));
    let without = |runs: &[(f64, Vec<f64>)], axis: usize, elasticity: f64| -> Values {
        runs.iter()
            .map(|(value, references)| {
                value - references.get(axis).map_or(0.0, |reference| elasticity * reference)
            })
            .collect()
    };
    std::iter::once((0, 0.0))
        .chain(axes)
        .map(|(axis, elasticity)| {
            (without(&treatment, axis, elasticity), without(&baseline, axis, elasticity))
        })
        .collect()
}

/// Returns the smallest relative effect that would be claimed with the given power if it did not depend on the
/// host, given the scatter of both sides and the change of the host.
pub(crate) fn smallest_effect(
    treatment: &[ReferencedRun],
    baseline: &[ReferencedRun],
    spec: &PowerSpec,
) -> Option<f64> {
    let of = |(treatment, baseline): &(Values, Values)| -> Option<f64> {
        let sd = pooled_sd(treatment, baseline)?;
        smallest_effect_apart((treatment.len(), baseline.len()), sd, spec).map(f64::ln_1p)
    };
    let all = for_all(treatment, baseline);
    let shift = |(treatment, baseline): &(Values, Values)| {
        RankSum::new(treatment, baseline).map_or(0.0, |ranks| ranks.estimate())
    };
    let alone = shift(all.first()?);
    let each = all.iter().map(|values| Some(of(values)? + (shift(values) - alone).abs()));
    let worst = each.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
    Some(worst.exp_m1())
}

/// Returns the smallest relative effect that a comparison of these runs with as many that scatter alike detects with the
/// power of `spec`, on a host whose reference values scatter alike. `None` with too few runs for any effect.
#[must_use]
pub fn smallest_effect_referenced(runs: &[ReferencedRun], spec: &PowerSpec) -> Option<f64> {
    smallest_effect(runs, runs, spec)
}

impl ReferencedRanks {
    /// Creates the ranks; `None` if a side has no usable run.
    pub fn new(treatment: &[ReferencedRun], baseline: &[ReferencedRun]) -> Option<Self> {
        let all = for_all(treatment, baseline);
        let (first, others) = all.split_first()?;
        let alone = RankSum::new(&first.0, &first.1)?;
        let others = others.iter().map(|(treatment, baseline)| alone.of_others(treatment, baseline));
        let others: Vec<RankSum> = others.collect();
        Some(Self(std::iter::once(alone).chain(others).collect()))
    }

    /// Returns the estimate without correction (elasticity 0).
    pub fn estimate(&self) -> f64 {
        self.0[0].estimate()
    }

    /// Returns the hull of the intervals of all elasticities.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let hull = |one: Interval, other: Interval| Interval {
            low: one.low.min(other.low),
            high: one.high.max(other.high),
            level: one.level.min(other.level),
        };
        self.0.iter().map(|ranks| ranks.interval(level)).collect::<Option<Vec<_>>>()?.into_iter().reduce(hull)
    }

    /// Returns the p-value of the claim that the effect is greater than `at`: the largest over the elasticities.
    pub fn p_greater(&self, at: f64) -> f64 {
        self.0.iter().map(|ranks| ranks.p_greater(at)).fold(0.0, f64::max)
    }

    /// Returns the p-value of the claim that the effect is less than `at`: the largest over the elasticities.
    pub fn p_less(&self, at: f64) -> f64 {
        self.0.iter().map(|ranks| ranks.p_less(at)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
#[path = "referenced_tests.rs"]
mod tests;
