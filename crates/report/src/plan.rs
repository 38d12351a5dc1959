//! What is going to be measured, before it is; and the recipes.

use std::fmt::Write as _;

use experiment::{Experiment, RUN_OVERHEAD_NS};
use results::Allocation;

use crate::{
    layout::{Align, Grid, WIDTH, wrap},
    number::{count, duration},
    settings,
};

/// The plan of an experiment, for people: its cells, its runs and about what they take, and what it will be able to see, by
/// [`foresight`](crate::foresight).
#[must_use]
pub fn plan(experiment: &Experiment, foresight: &str) -> String {
    let mut text = format!("{}: {}\n", experiment.name, experiment.question);
    let mut line = |words: &str| text.push_str(&wrap(words, WIDTH, 2));
    line(&settings::conditions(experiment));
    line(&format!(
        "{}, {} of {}: {}, about {} (a run is taken for its traffic and {}: an estimate)",
        count(experiment.cells.len(), "cell"),
        count(experiment.design.blocks as usize, "block"),
        count(experiment.runs_per_block(), "run"),
        count(experiment.runs(), "run"),
        rough(experiment.expected_ns()),
        duration(RUN_OVERHEAD_NS),
    ));
    if let (Some(precision), Some(budget_ns)) = (&experiment.design.precision, experiment.design.budget_ns) {
        line(&format!(
            "wanted: 95 % intervals of ±{} % within {}, with a pilot of {}",
            precision.half_width_pct,
            rough(budget_ns),
            count(precision.pilot_blocks as usize, "block"),
        ));
    }
    text.push_str(foresight);
    let mut line = |words: &str| text.push_str(&wrap(words, WIDTH, 2));
    for note in &experiment.notes {
        line(&format!("note: {note}"));
    }
    let mut grid = Grid::default().column("Cell", Align::Left).column("", Align::Left);
    for cell in &experiment.cells {
        let role = match (experiment.is_baseline(&cell.id), experiment.design.duet) {
            (true, false) => "baseline, twice a block",
            (true, true) => "baseline, beside itself and each of the others",
            (false, _) => "",
        };
        grid.row(vec![cell.id.clone(), role.to_owned()]);
    }
    let _ = write!(text, "\n{}", grid.render());
    text
}

/// How many blocks there are, and why so many.
#[must_use]
pub fn allocation_words(allocation: &Allocation) -> String {
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

/// The recipes: the name and the question of each.
#[must_use]
pub fn recipe_list(recipes: &[(&str, String)]) -> String {
    let mut grid = Grid::default().column("Recipe", Align::Left).column("Question", Align::Left);
    for (name, question) in recipes {
        grid.row(vec![(*name).to_owned(), question.clone()]);
    }
    grid.render()
}

/// A time as one would plan it: `2 h 5 min`, `12 min 30 s`, `40 s`.
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
        let said = [0, 1, 59_000_000_000, 60_000_000_000, 3_599_500_000_000, 7_500_000_000_000].map(rough);
        assert_eq!(said, ["0 s", "1 s", "59 s", "1 min 0 s", "1 h 0 min", "2 h 5 min"]);
    }
}
