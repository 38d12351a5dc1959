//! Trials of searches.

use charts::{Axis, ChartKind, Estimate, Outcome, SearchTrials, Series, Trial, Trials};
use experiment::GoalKind;
use results::{CellResult, Metric, SearchRecord, format_value};

use super::{
    choice::telling,
    distribution::{self, OfWorkload, at_one_size},
    frame::{Frame, list, names, sizes_and_n},
    limits::ONE_PANEL,
};
use crate::{page::Figure, scene::Scene, values::Quantity};

/// Meaning of the marks of trials.
const MARKS: &str = "Filled: the trial met the goal. Cross: it did not.";

/// Returns the trials of one search of each series, and the rates that all searches found.
pub(crate) fn figures(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let focus = at_one_size(all, false);
    let mut aims: Vec<GoalKind> = Vec::new();
    for search in focus.iter().filter_map(|(_, cell)| cell.search.as_ref()) {
        for goal in &search.goals {
            if !aims.contains(&goal.aim) {
                aims.push(goal.aim);
            }
        }
    }
    let mut figures = Vec::new();
    for aim in aims {
        let metric = match aim {
            GoalKind::Ndr => Metric::Ndr,
            GoalKind::Pdr => Metric::Pdr,
            GoalKind::Slo => Metric::Slo,
            GoalKind::System => Metric::Headroom,
        };
        figures.extend(trials(scene, &focus, aim, metric));
        figures.extend(distribution::runs(
            scene,
            &focus,
            Quantity::Metric(metric),
            &format!("runs-of-{aim}"),
        ));
    }
    figures
}

fn trials(
    scene: &Scene<'_>,
    focus: &[(&Series, &CellResult)],
    aim: GoalKind,
    metric: Metric,
) -> Option<Figure> {
    let (focus, why) =
        telling(scene, focus.to_vec(), (ONE_PANEL, |cell| Quantity::Metric(metric).median(cell)), |cell| {
            *cell
        });
    let searches: Vec<SearchTrials> =
        focus.iter().filter_map(|(series, cell)| search(series, cell, aim, metric)).collect();
    if searches.is_empty() {
        return None;
    }
    let cells: Vec<&CellResult> = focus.iter().map(|(_, cell)| *cell).collect();
    let loads: Vec<f64> = searches.iter().flat_map(|of| of.trials.iter().map(|trial| trial.load)).collect();
    let scale = distribution::scale(&loads);
    let mut conditions = vec![format!("goal {aim}"), "the median search".to_owned()];
    conditions.extend(sizes_and_n(&cells, None));
    let id = format!("trials-{aim}");
    let found_word = if metric == Metric::Headroom { "scale" } else { "rate" };
    let frame = Frame {
        id: &id,
        short: "Trials",
        title: found(&focus, metric).unwrap_or_else(|| format!("Trials of a search: {}", metric.words())),
        quantity: Quantity::Metric(metric),
        conditions,
        note: match searches.iter().any(|search| search.found.is_some()) {
            true => format!("{MARKS} Line: the {found_word} that was found, between its bounds."),
            false => format!("{MARKS} No {found_word} was found."),
        },
        drawn: format!("Load of each trial of a search of {} in order, with its outcome.", names(&focus)),
    };
    let is_scale = metric == Metric::Headroom;
    let label = if is_scale { "scale of all rates" } else { "" }.to_owned();
    let y = Axis { label, unit: Quantity::Metric(metric).unit(), scale, ..Axis::default() };
    Some(frame.around(scene, (&cells, &why), ChartKind::Trials(Trials { y, searches })))
}

/// Returns a title with the rates that were found: the medians over the searches; `None` unless each series has one.
fn found(focus: &[(&Series, &CellResult)], metric: Metric) -> Option<String> {
    let rate = |(series, cell): &(&Series, &CellResult)| {
        let rate = Quantity::Metric(metric).over_runs(cell)?.value;
        let value = charts::number::value(rate, Quantity::Metric(metric).unit());
        Some(match headroom_of(cell) {
            Some(first) => format!("{} has a headroom of {value} x{first}", series.name),
            None => format!("{} sustains {value}", series.name),
        })
    };
    let rates: Vec<String> = focus.iter().map(rate).collect::<Option<_>>()?;
    let goal = match metric {
        Metric::Ndr => " without loss",
        Metric::Pdr => " with little loss",
        Metric::Headroom => "",
        _ => " within the deadline",
    };
    (rates.len() <= 3).then(|| format!("{}{goal}", list(&rates)))
}

/// Returns which topic of a system fails first, to follow its headroom; `None` without a headroom.
pub(crate) fn headroom_of(cell: &CellResult) -> Option<String> {
    let goals = &cell.search.as_ref()?.goals;
    let headroom = goals.iter().find_map(|goal| goal.headroom.as_ref())?;
    let first = headroom.fails_first.first();
    Some(first.map_or_else(String::new, |first| format!(" ({} fails first)", first.flow)))
}

/// Returns the trials of the median search of a cell; of the first one if none found a rate.
fn search(series: &Series, cell: &CellResult, aim: GoalKind, metric: Metric) -> Option<SearchTrials> {
    let median = Quantity::Metric(metric).median_run(cell);
    let record = median.or_else(|| cell.valid_runs().next())?.search()?;
    let goal = record.goals.iter().find(|goal| goal.aim == aim)?;
    let found = goal.conditional_sps.map(|sps| match (&goal.lower, &goal.upper) {
        (Some(lower), Some(upper)) => match (lower.scale, upper.scale) {
            (Some(scale), Some(upper)) => Estimate::within(scale, scale, upper),
            _ => Estimate::within(sps, lower.load_sps.min(sps), upper.load_sps),
        },
        (Some(lower), None) => Estimate::exact(lower.scale.unwrap_or(sps)),
        _ => Estimate::exact(sps),
    });
    Some(SearchTrials { series: series.clone(), trials: of_record(record, aim), found })
}

fn of_record(record: &SearchRecord, aim: GoalKind) -> Vec<Trial> {
    let trial = |trial: &results::TrialRecord| {
        let judged = trial.judged.iter().find(|judged| judged.aim == aim);
        let outcome = match judged {
            Some(judged) if judged.good => Outcome::Passed,
            Some(_) => Outcome::Failed,
            None => Outcome::Inconclusive,
        };
        let violated = match (&trial.worst, judged) {
            (Some(worst), _) => format!(
                "{} missed {} %, limit {} %, ",
                worst.flow,
                format_value(worst.missed_pct),
                format_value(worst.limit_pct)
            ),
            (None, Some(judged)) => {
                format!("{} % outside the goal, ", format_value(100.0 * judged.violation_ratio))
            }
            (None, None) => String::new(),
        };
        let detail = format!("{violated}{}", report::parts::duration(trial.duration_ns));
        Trial { load: trial.scale.unwrap_or(trial.load_sps), outcome, detail }
    };
    record.trials.iter().map(trial).collect()
}
