//! Output of a dry run, and list of recipes.

use std::fmt::Write as _;

use experiment::{Cell, Factors, MAXIMUM_RUNS, Plan, Workload};
use results::{BlockAllocation, DetectableEffects, DryRunReport};
use stats::{min_n_for, total};

use crate::{
    headroom,
    layout::{Grid, WIDTH, wrap},
    number::{count, duration},
    offered::offered_loads,
    search, selftest, settings,
};

/// Formats the plan of an experiment: its cells, its runs, their approximate duration, and the minimum detectable
/// effects.
#[must_use]
pub fn plan(experiment: &Plan, detectable_effects: &[DetectableEffects]) -> String {
    let mut text = format!("{}: {}\n", experiment.name, experiment.question);
    let mut line = |words: &str| text.push_str(&wrap(words, WIDTH, 2));
    line(&settings::conditions(experiment, &count(experiment.design.blocks as usize, "run")));
    line(&format!(
        "{}, {} of {}: {}, about {} (a run is taken for its traffic and {}: an estimate)",
        count(experiment.cells.len(), "cell"),
        count(experiment.design.blocks as usize, "block"),
        count(experiment.runs_per_block(), "run"),
        count(experiment.runs(), "run"),
        rough(experiment.expected_ns()),
        duration(experiment.run_overhead_ns()),
    ));
    for words in offered_loads(experiment) {
        line(&words);
    }
    line(&reference(experiment));
    if let (Some(precision), Some(budget_ns)) = (&experiment.design.precision, experiment.design.budget_ns) {
        line(&format!(
            "wanted: 95 % intervals of ±{} % within {}, with a pilot of {}",
            precision.half_width_pct,
            rough(budget_ns),
            count(precision.pilot_blocks as usize, "block"),
        ));
    }
    let DryRunReport { claims, least_blocks: least, .. } = DryRunReport::new(experiment, detectable_effects);
    if let Some(least) = least {
        line(&format!(
            "{} against the baseline, which share the 5 %: at least {}",
            count(claims as usize, "claim"),
            count(least as usize, "block"),
        ));
    }
    let max_rates = experiment.max_rates();
    if !max_rates.is_empty() {
        line(&format!(
            "before the first block, what 100 % of a rate is: {} of {} as fast as it goes, about {} of the above",
            count(MAXIMUM_RUNS as usize, "run"),
            count(max_rates.len(), "cell"),
            rough(experiment.expected_max_rates_ns())
        ));
    }
    if let Some(search) = &experiment.search {
        let searches = experiment.searches_per_block() as u64 * u64::from(experiment.design.blocks);
        line(&format!(
            "{} until its bounds are found: about {} each, at most {}, {} together",
            match searches {
                1 => "1 run is a search,".to_owned(),
                several => format!("{several} runs are searches, each"),
            },
            rough(search.expected_ns(experiment.design.warm_up_ns, experiment.run_overhead_ns())),
            rough(search.budget_ns),
            rough(search.budget_ns.saturating_mul(searches))
        ));
        for goal in &search.goals {
            line(&search::goal(goal));
        }
        if let Some(scales) = &search.scales {
            line(&headroom::range(scales));
        }
        for words in search.goals.iter().filter_map(search::least_rate) {
            line(&format!("note: {words}"));
        }
    }
    text.push_str(&selftest::detectable_effects(experiment, detectable_effects));
    let paced = experiment.cells.iter().any(|cell| cell.factors.workload == Workload::Paced);
    let mut grid = Grid::default().left(["Cell"]);
    if paced {
        for words in too_few(experiment) {
            text.push_str(&wrap(&words, WIDTH, 2));
        }
        grid = grid.right(["Samples a run"]);
    }
    grid = grid.left([""]);
    for cell in &experiment.cells {
        let mut row = vec![cell.id.clone()];
        if paced {
            row.push(
                planned(&cell.factors, experiment.design.measure_ns)
                    .map_or_else(String::new, |samples| samples.to_string()),
            );
        }
        let second =
            experiment.design.second_tier.as_ref().filter(|_| experiment.is_of_second_tier(&cell.id));
        let tier =
            second.map(|tier| format!("second tier, the first {}", count(tier.blocks as usize, "block")));
        let role = match (experiment.is_baseline(&cell.id), experiment.design.duet) {
            (true, false) => "baseline, twice a block",
            (true, true) => "baseline, beside itself and each of the others",
            (false, _) => "",
        };
        row.push(tier.unwrap_or_else(|| role.to_owned()));
        grid.row(row);
    }
    let _ = write!(text, "\n{}", grid.render());
    if !experiment.notes.is_empty() {
        text.push('\n');
    }
    for note in &experiment.notes {
        text.push_str(&wrap(&format!("note: {note}"), WIDTH, 2));
    }
    text
}

/// Formats the reference and its duration.
fn reference(experiment: &Plan) -> String {
    let each_ns = experiment.design.reference_ns(experiment.runs_per_block());
    if each_ns == 0 {
        return "no reference: `compare` will make no claim between this result and another".to_owned();
    }
    let all_ns = each_ns.saturating_mul(u64::from(experiment.design.blocks) + 1);
    format!(
        "reference: a bare UDP socket before the first block and after each, {} each, {} of the above",
        duration(each_ns),
        duration(all_ns)
    )
}

/// Returns the number of planned samples of a run over all flows; `None` without a schedule.
fn planned(factors: &Factors, measure_ns: u64) -> Option<u64> {
    let flows = factors.streams();
    let loads = flows.iter().flat_map(|flow| flow.load.of_writers());
    let planned: Vec<u64> = loads.filter_map(|load| load.planned(measure_ns)).collect();
    (!planned.is_empty()).then(|| total(planned))
}

/// Returns notes on quantiles that runs have too few samples for, by the flow with the fewest samples of each cell.
fn too_few(experiment: &Plan) -> Vec<String> {
    let least = |cell: &Cell| {
        let flows = cell.factors.streams();
        let loads = flows.iter().flat_map(|flow| flow.load.of_writers());
        loads.filter_map(|load| load.planned(experiment.design.measure_ns)).min()
    };
    let cells: Vec<(&str, u64)> =
        experiment.cells.iter().filter_map(|cell| Some((cell.id.as_str(), least(cell)?))).collect();
    let mut notes = Vec::new();
    // a cell that is listed for its median is not listed for higher quantiles
    let mut from = 0;
    for (quantile, name) in [(0.5, "median"), (0.9, "90 % quantile"), (0.99, "99 % quantile")] {
        let enough = min_n_for(quantile);
        let few: Vec<&(&str, u64)> = cells.iter().filter(|(_, n)| (from..enough).contains(n)).collect();
        from = enough;
        let Some((id, n)) = few.iter().min_by_key(|(_, n)| n) else { continue };
        let others = match few.len() {
            1 => String::new(),
            n => format!(", and of {} more", n - 1),
        };
        notes.push(format!(
            "note: {} a run of `{id}`{others}: too few for a {name}, which needs {enough}; measure for longer",
            count(usize::try_from(*n).unwrap_or(usize::MAX), "sample"),
        ));
    }
    notes
}

/// Formats the number of blocks, and how it was decided.
#[must_use]
pub fn allocation_words(allocation: &BlockAllocation) -> String {
    let blocks = count(allocation.planned as usize, "block");
    match (allocation.wanted, allocation.pilot_log_sd) {
        (Some(wanted), Some(sd)) if wanted <= allocation.planned => {
            format!("{blocks} are enough for the precision (by the pilot, logarithms scatter by {sd:.4})")
        }
        (Some(wanted), Some(sd)) => format!(
            "{blocks}, for which there is time; the precision needs {wanted} (by the pilot, logarithms scatter by {sd:.4})"
        ),
        _ => blocks,
    }
}

/// Formats the recipes: name and question of each.
#[must_use]
pub fn recipe_list(recipes: &[(&str, String)]) -> String {
    let mut grid = Grid::default().left(["Recipe", "Question"]);
    for (name, question) in recipes {
        grid.row(vec![(*name).to_owned(), question.clone()]);
    }
    grid.render()
}

/// Formats an approximate duration: `2 h 5 min`, `12 min 30 s`, `40 s`.
fn rough(ns: u64) -> String {
    match ns.div_ceil(1_000_000_000) {
        seconds @ 0..=59 => format!("{seconds} s"),
        seconds @ 60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_times_are_rounded_up() {
        let texts = [0, 1, 59_000_000_000, 60_000_000_000, 3_599_500_000_000, 7_500_000_000_000].map(rough);
        assert_eq!(texts, ["0 s", "1 s", "59 s", "1 min 0 s", "1 h 0 min", "2 h 5 min"]);
    }
}
