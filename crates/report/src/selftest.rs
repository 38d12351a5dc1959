//! Outcome of a selftest as text.

use std::fmt::Write as _;

use experiment::Plan;
use results::{
    DetectableEffects, MinDetectableEffect, NoiseSummary, Resolution, SHOWN_BLOCKS, SelfTest, format_effects,
    format_micros, format_signed, format_value,
};

use crate::{
    layout::{Grid, WIDTH, wrap},
    number::{count, date},
};

/// Formats the outcome of a selftest.
#[must_use]
pub fn selftest(outcome: &SelfTest) -> String {
    let mut text = String::new();
    let mut line = |words: &str| text.push_str(&wrap(words, WIDTH, 2));
    line(&format!(
        "What this host can resolve with driver `{}`: each cell was measured twice in {}, so what differs is noise.",
        outcome.driver,
        count(outcome.pairs as usize, "block"),
    ));
    let mut grid = Grid::default()
        .left(["Metric"])
        .right(["Size", "Pairs", "Median"])
        .left(["Unit"])
        .right(["Between runs"]);
    grid = grid
        .right(SHOWN_BLOCKS.map(|blocks| format!("{blocks} blocks see")))
        .left(["Second run against first"]);
    for resolution in &outcome.metrics {
        grid.row(row(resolution));
    }
    text.push('\n');
    text.push_str(&grid.render());
    text.push('\n');
    let mut line = |words: &str| text.push_str(&wrap(words, WIDTH, 2));
    line(
        "Between runs: how far runs of the same cell scatter (standard deviation, percent). N blocks see: the smallest \
         effect that a single comparison of so many blocks would find with 80 % probability; many comparisons at once see \
         less.",
    );
    for resolution in outcome.metrics.iter().filter(|resolution| !resolution.groups.is_empty()) {
        let groups: Vec<String> = resolution
            .groups
            .iter()
            .map(|group| {
                format!("{} % near {}", format_value(group.share_pct), resolution.metric.format(group.median))
            })
            .collect();
        line(&format!(
            "{} of {} bytes: runs fall into groups, {} {}. A middle of them is a value that no run has.",
            resolution.metric.words(),
            resolution.size_bytes,
            groups.join(", "),
            resolution.metric.shown_unit()
        ));
    }
    for resolution in
        outcome.metrics.iter().filter(|resolution| resolution.incomplete + resolution.unsteady > 0)
    {
        line(&format!(
            "{} of {} bytes: {} without a value, {} with a run that kept no level.",
            resolution.metric.words(),
            resolution.size_bytes,
            count(resolution.incomplete as usize, "pair"),
            resolution.unsteady
        ));
    }
    if let Some(summary) = &outcome.noise {
        line(&noise(summary));
    }
    let metrics = count(outcome.metrics.len(), "metric");
    let verdict = match outcome.differs {
        0 => format!("None of {metrics} differs from itself."),
        differs => format!(
            "{differs} of {metrics} differ from themselves. By chance, this happens in one of 20 selftests. If it happens \
             again, the two runs of a block differ for a reason on this host, and its claims cannot be trusted."
        ),
    };
    line(&verdict);
    text
}

/// Formats the minimum detectable effects of a plan on this host, one line per driver.
pub(crate) fn detectable_effects(experiment: &Plan, detectable_effects: &[DetectableEffects]) -> String {
    if experiment.design.duet {
        let words = "smallest effect: unknown for duets; the runs of a selftest are made one after the other";
        return wrap(words, WIDTH, 2);
    }
    let mut text = String::new();
    for DetectableEffects { driver, selftest_unix_ns, comparisons, power_pct, effects } in detectable_effects
    {
        let Some(began) = selftest_unix_ns else {
            let words = format!(
                "smallest effect with driver `{driver}`: unknown on this host; run `ddsmark selftest --driver {driver}`"
            );
            text.push_str(&wrap(&words, WIDTH, 2));
            continue;
        };
        let effect = |effect: &MinDetectableEffect| {
            let name = effect.metric.words();
            match (effect.least_pct, effect.most_pct) {
                (Some(least), Some(most)) => format!("{name} {}", format_effects([least, most])),
                _ if !effect.measured => format!("{name} unknown, a selftest does not measure it"),
                _ => format!("{name} nothing, the blocks are too few"),
            }
        };
        let effects: Vec<String> = effects.iter().map(effect).collect();
        let words = format!(
            "smallest effect with driver `{driver}` ({power_pct:.0} % probability, {} judged together), on this host by the \
             selftest of {}: {}",
            count(*comparisons as usize, "comparison"),
            date(*began),
            effects.join(", ")
        );
        text.push_str(&wrap(&words, WIDTH, 2));
    }
    text
}

/// Formats the host noise during a selftest.
fn noise(noise: &NoiseSummary) -> String {
    let steal = noise.max_steal_pct.map_or_else(String::new, |steal| {
        format!("; during a block the hypervisor took up to {} %", format_value(steal))
    });
    format!(
        "Noise: {} of {} noisy. Between blocks {} % of the worst core went to other work (median; up to {} %), the longest gap was \
         {} µs{steal}.",
        noise.noisy_blocks,
        count(noise.blocks as usize, "block"),
        format_value(noise.stolen_pct),
        format_value(noise.worst_stolen_pct),
        format_micros(noise.max_gap_ns as f64),
    )
}

fn row(resolution: &Resolution) -> Vec<String> {
    let percent =
        |value: Option<f64>| value.map_or("n/a".to_owned(), |value| format!("{} %", format_value(value)));
    let mut row = vec![
        resolution.metric.words().to_owned(),
        resolution.size_bytes.to_string(),
        resolution.pairs.to_string(),
        resolution.median.map_or("n/a".to_owned(), |median| resolution.metric.format(median)),
        resolution.metric.shown_unit().to_owned(),
        percent(resolution.between_run_pct),
    ];
    row.extend(
        SHOWN_BLOCKS
            .iter()
            .map(|blocks| resolution.smallest_effect_pct.get(blocks))
            .map(|effect| effect.map_or_else(|| "n/a".to_owned(), |pct| format_effects([*pct; 2]))),
    );
    let mut change = String::new();
    if let Some(estimate) = resolution.change_pct {
        let _ = write!(change, "{} %", format_signed(estimate));
    }
    if let (Some(low), Some(high)) = (resolution.low_pct, resolution.high_pct) {
        let _ = write!(change, " ({}..{})", format_signed(low), format_signed(high));
    }
    if resolution.differs {
        change.push_str(" differs");
    }
    row.push(change);
    row
}
