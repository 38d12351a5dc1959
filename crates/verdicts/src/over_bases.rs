//! Second tier: the additive model of settings and bases.

use std::collections::BTreeMap;

use experiment::{Cell, gather};
use results::{
    CellResult, EffectOverBase, EffectOverBases, MAX_LATENCY_LOSS_PCT, Metric, ResultDocument, Run,
    metrics_of,
};
use stats::{Rules, additive_effects};

use crate::measured;

/// Seed of the permutations, so that a result always has the same values.
const SEED: u64 = 1;

/// Setting, one metric of it, and the cells of each base with their baselines.
struct Setting<'d> {
    metric: Metric,
    pairs: Vec<(&'d Cell, &'d Cell)>,
}

/// Returns the effects of the settings of a plan with a second tier, over the blocks that have it; empty for other plans.
#[must_use]
pub fn over_bases(document: &ResultDocument) -> Vec<EffectOverBases> {
    let plan = &document.experiment;
    let Some(tier) = &plan.design.second_tier else { return Vec::new() };
    let compared = plan.comparisons_over_bases().into_iter();
    let of_metrics =
        compared.flat_map(|pair| metrics_of(plan, &pair.0.factors).map(move |metric| (metric, pair)));
    let settings = gather(
        of_metrics,
        |(metric, _)| *metric,
        |(_, (a, _)), (_, (b, _))| a.factors.same_setting(&b.factors),
    );
    let settings: Vec<Setting<'_>> = settings
        .into_iter()
        .map(|all| Setting { metric: all[0].0, pairs: all.into_iter().map(|(_, pair)| pair).collect() })
        .collect();
    let measured = measured(document);
    let ratios: Vec<Vec<Vec<f64>>> = settings
        .iter()
        .map(|setting| {
            let of = |pair: &(&Cell, &Cell)| log_ratios(&measured, *pair, setting.metric, tier.blocks);
            setting.pairs.iter().map(of).collect()
        })
        .collect();
    let effects = additive_effects(&ratios, Rules::DEFAULT.level, SEED);
    let percent = |share: f64| 100.0 * share;
    let found = settings.iter().zip(&ratios).zip(effects).filter_map(|((setting, ratios), effect)| {
        let effect = effect?;
        let base = |index: usize| EffectOverBase {
            base: setting.pairs[index].0.factors.base_name().to_owned(),
            n: ratios[index].len() as u32,
            change_pct: effect.levels[index].map(percent),
        };
        Some(EffectOverBases {
            cell: setting.pairs[0].0.id.clone(),
            metric: setting.metric,
            n: effect.ratios as u32,
            change_pct: percent(effect.estimate),
            low_pct: effect.interval.map(|interval| percent(interval.low)),
            high_pct: effect.interval.map(|interval| percent(interval.high)),
            p_exploratory: effect.p_exploratory,
            p_differs_exploratory: effect.p_interaction_exploratory,
            bases: (0..setting.pairs.len()).map(base).collect(),
        })
    });
    found.collect()
}

/// Returns the logarithms of the ratios of a cell to its baseline in the blocks of the second tier; none for a latency if too many samples of
/// either are missing, or if a run of either has too few samples for it.
fn log_ratios(
    measured: &BTreeMap<&str, &CellResult>,
    (cell, baseline): (&Cell, &Cell),
    metric: Metric,
    blocks: u32,
) -> Vec<f64> {
    let [Some(cell), Some(baseline)] = [cell, baseline].map(|cell| measured.get(cell.id.as_str()).copied())
    else {
        return Vec::new();
    };
    let is_lossy = |cell: &CellResult| metric.is_latency() && cell.shortfall().pct() > MAX_LATENCY_LOSS_PCT;
    let is_excluded = |cell: &CellResult| is_lossy(cell) || cell.values_of(metric, None).is_none();
    if is_excluded(cell) || is_excluded(baseline) {
        return Vec::new();
    }
    let value = |run: &Run| run.value_of(metric, None).filter(|value| *value > 0.0);
    let in_tier = |run: &&Run| run.block <= blocks;
    let ratio = |run: &Run| {
        let other = baseline.claimed_runs().find(|other| other.block == run.block)?;
        Some((value(run)? / value(other)?).ln())
    };
    cell.claimed_runs().filter(in_tier).filter_map(ratio).collect()
}
