//! Table of the highest sustained rates, and the lines of trials.

use std::time::Duration;

use experiment::{GoalKind, Search, SearchGoal};
use results::{CellResult, GoalCell, GoalRecord, Run, SearchState, format_spread, format_value};
use stats::min_n_for;

use crate::{
    factor_columns::FactorColumns,
    headroom,
    layout::Grid,
    number::{count, duration},
    tables::{nothing, unsupported},
};

/// Returns the table: by ascending size and batch, one row per goal.
pub(crate) fn table(cells: &[&CellResult]) -> Grid {
    let more = FactorColumns::new(&[], cells);
    let grid = Grid::default().units_below().right(["Size (B)", "Batch (B)"]);
    let mut grid = more
        .headed(grid)
        .left(["Goal"])
        .right(["Found", "Lower (samples/s)", "Upper (samples/s)"])
        .spread(["Samples/s"])
        .right(["Mbit/s", "Trials"])
        .left([""]);
    let mut cells = cells.to_vec();
    cells.sort_by_key(|cell| (cell.factors.size_bytes, cell.factors.batch_bytes));
    for cell in cells {
        let (size, batch) = (cell.factors.size_bytes, cell.factors.batch_bytes);
        let mut begin =
            vec![size.to_string(), if batch == 0 { "none".to_owned() } else { batch.to_string() }];
        begin.extend(more.entries(cell));
        match &cell.search {
            Some(search) => {
                for goal in &search.goals {
                    grid.row(begin.iter().cloned().chain(row(goal, size)).collect());
                }
            }
            None => {
                grid.fill(&mut begin, nothing(cell));
                grid.row(begin);
            }
        }
    }
    grid
}

fn row(goal: &GoalCell, size_bytes: u64) -> Vec<String> {
    let sps = |sps: Option<f64>| sps.map_or_else(unsupported, format_value);
    let mbps = goodput_mbps(goal, size_bytes);
    let mut marks = Vec::new();
    if goal.limited_by_sender > 0 {
        marks.push(format!("limited by the sender in {} of {}", goal.limited_by_sender, goal.searches));
    }
    vec![
        name(goal.aim.name(), goal.deadline_ns),
        format!("{} of {}", goal.found, goal.searches),
        sps(goal.lowest_sps),
        sps(goal.highest_sps),
        sps(goal.conditional_sps),
        goal.spread.map_or_else(String::new, |share| format_spread(100.0 * share)),
        mbps.map_or_else(unsupported, format_value),
        goal.trials.to_string(),
        marks.join(", "),
    ]
}

/// Returns the payload of the conditional throughput, in 10^6 bit/s.
pub(crate) fn goodput_mbps(goal: &GoalCell, size_bytes: u64) -> Option<f64> {
    goal.conditional_sps.map(|sps| sps * size_bytes as f64 * 8.0 / 1e6)
}

/// Formats a goal for a column.
pub(crate) fn name(aim: &str, deadline_ns: Option<u64>) -> String {
    deadline_ns.map_or_else(|| aim.to_owned(), |ns| format!("{aim} {}", duration(ns)))
}

/// Returns the legend of the table.
pub(crate) fn legend(search: &Search) -> String {
    if search.scales.is_some() {
        return headroom::LEGEND.to_owned();
    }
    let goals: Vec<String> = search.goals.iter().map(goal).collect();
    format!(
        "Highest sustained rate: each run is a search (MLRsearch), and each of its trials is an open loop with fresh \
         processes. Goals: {}. Found is the number of searches that found both bounds, of all valid ones; the warnings name \
         the others. Lower is the lowest of the loads that are sustained, and Upper the highest of those that are not. \
         Samples/s is the conditional throughput: the delivered rate that is typical at the lower bound, which is less than this \
         load by what the goal allows to be missing, as the median over the searches; ± % is half its range. Mbit/s is the payload at that rate.",
        goals.join("; ")
    )
}

/// Formats a goal.
pub(crate) fn goal(goal: &SearchGoal) -> String {
    let share = |share: f64| format!("{} %", significant_percent(share));
    let what = match goal.deadline_ns {
        _ if goal.aim == GoalKind::System => {
            "each flow keeps its own limit of samples that miss its deadline".to_owned()
        }
        Some(ns) => format!("at most {} arrive later than {}", share(goal.loss_ratio), duration(ns)),
        None if goal.loss_ratio > 0.0 => {
            format!("at most {} are lost or not sent", share(goal.loss_ratio))
        }
        None => "no sample is lost or not sent".to_owned(),
    };
    format!(
        "{}: {what} (trials of {}, {} of them judge a rate, {} of these may be bad, bounds within {})",
        goal.aim,
        duration(goal.final_trial_ns),
        duration(goal.duration_sum_ns),
        share(goal.exceed_ratio),
        share(goal.width)
    )
}

/// Returns the minimum rate at which the goal can judge a trial; `None` if any number of samples is enough. Printed
/// before the first trial.
#[must_use]
pub fn least_rate(goal: &SearchGoal) -> Option<String> {
    goal.deadline_ns?;
    // a share that rounds to 0 cannot be shown by a trial
    let needs = (goal.loss_ratio > f64::EPSILON).then(|| min_n_for(1.0 - goal.loss_ratio))?;
    let sps = (needs as f64 * 1e9 / goal.final_trial_ns.max(1) as f64).ceil();
    Some(format!(
        "{}: whether {} % come late takes {needs} samples to tell, so no trial of {} is made below {}/s",
        goal.aim,
        significant_percent(goal.loss_ratio),
        duration(goal.final_trial_ns),
        format_value(sps)
    ))
}

/// Formats a share of 1 in percent, with up to four decimals and without trailing zeros.
fn significant_percent(share: f64) -> String {
    let text = format!("{:.4}", 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats the outcome of a search in a progress line.
pub(crate) fn outcome(run: &Run) -> String {
    let Some(search) = run.search() else { return "nothing measured".to_owned() };
    let mut words: Vec<String> = search.goals.iter().map(describe_goal).collect();
    words.push(format!(
        "{} in {} s",
        count(search.trials.len(), "trial"),
        format_value(search.took_ns as f64 / 1e9)
    ));
    words.join(", ")
}

fn describe_goal(goal: &GoalRecord) -> String {
    if goal.aim == GoalKind::System {
        return headroom::describe(goal);
    }
    let name = name(goal.aim.name(), goal.deadline_ns);
    let bound = |bound: &Option<results::SearchBound>| {
        bound.as_ref().map_or_else(|| "?".to_owned(), |bound| format_value(bound.load_sps))
    };
    let (lower, upper) = (bound(&goal.lower), bound(&goal.upper));
    match (goal.state, goal.conditional_sps) {
        (SearchState::Found, Some(sps)) => {
            format!("{name} {}/s delivered at {lower}/s, {upper}/s is too much", format_value(sps))
        }
        (SearchState::Floor, _) => format!("{name}: even {upper}/s is too much"),
        (SearchState::Ceiling, _) => format!("{name}: {lower}/s is sustained, more may be"),
        _ if goal.lower.is_none() && goal.upper.is_none() => format!("{name}: no bounds yet"),
        _ => format!("{name}: {lower} to {upper}/s, not brought to its end"),
    }
}

/// Returns the progress line of the last trial of a search, with the state after it. `at_most` is the maximum
/// remaining time.
#[must_use]
pub fn trial_line(run: &Run, at_most: Duration) -> String {
    let search = run.search();
    let Some((search, trial)) = search.and_then(|search| Some((search, search.trials.last()?))) else {
        return "no trial was made".to_owned();
    };
    let judged = trial.judged.iter().map(|judged| {
        let verdict = if judged.good { "good" } else { "bad" };
        match trial.scale {
            Some(_) => format!("{verdict}, {}", headroom::worst(trial)),
            None => format!("{} {verdict} ({} %)", judged.aim, format_value(100.0 * judged.violation_ratio)),
        }
    });
    let known = search.goals.iter().map(describe_goal);
    let again = trial.repeats.as_ref().map_or_else(String::new, |why| format!("; made again, since {why}"));
    let load = match trial.scale {
        Some(scale) => format!("scale {}", format_value(scale)),
        None => format!("{}/s", format_value(trial.load_sps)),
    };
    format!(
        "  trial {}: {load} for {}: {}; now {}; at most {} more{again}",
        search.trials.len(),
        duration(trial.duration_ns),
        judged.collect::<Vec<_>>().join(", "),
        known.collect::<Vec<_>>().join(", "),
        duration(at_most.as_secs().saturating_mul(1_000_000_000)),
    )
}
