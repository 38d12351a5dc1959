//! Sentences about systems: whether their deadlines were met, and what all verdicts on their flows say together.

use charts::Series;
use experiment::{Deadline, Workload};
use report::parts::{self, SystemVerdict};
use results::{CellResult, NotMet, Strain, SystemOutcome};

use crate::{
    figures::frame::{MOST_NAMED, first_of},
    page::{Sentence, Words, plain, strong},
    scene::Scene,
};

/// Maximum number of flows of a verdict that are named on each side.
const MOST_FLOWS: usize = 3;

/// Returns the verdict on each pair of systems; empty without several flows.
pub(super) fn verdicts(scene: &Scene<'_>) -> Vec<Sentence> {
    parts::system_verdicts(scene.document).iter().filter_map(|of| verdict(scene, of)).collect()
}

/// Returns a verdict with what is better and what is worse; `None` if a side has no series.
fn verdict(scene: &Scene<'_>, of: &SystemVerdict) -> Option<Sentence> {
    let name = |cell: &str| Some(Words::Name(scene.series_of(cell)?.series.clone()));
    let (treatment, baseline) = (name(&of.treatment)?, name(&of.baseline)?);
    let [better, worse] = [&of.better, &of.worse].map(|names| first_of(MOST_FLOWS, names.clone()));
    let mut sentence = match (of.better.is_empty(), of.worse.is_empty()) {
        (true, true) => {
            let begin = [plain("Between the systems with "), treatment, plain(" and "), baseline];
            return Some(begin.into_iter().chain([plain(", "), strong(of.outcome()), plain(".")]).collect());
        }
        (false, false) => {
            vec![plain("The system with "), treatment, plain(" instead of "), baseline, plain(" is ")]
        }
        _ => vec![plain("The system with "), treatment, plain(" is ")],
    };
    sentence.push(strong(of.outcome()));
    if of.better.is_empty() || of.worse.is_empty() {
        sentence.push(plain(" than with "));
        sentence.push(name(&of.baseline)?);
    }
    let (are_better, are_worse) = (verb(&of.better), verb(&of.worse));
    sentence.push(plain(match (of.better.is_empty(), of.worse.is_empty()) {
        (false, true) => format!(": {better} {are_better} better, and nothing is shown to be worse."),
        (true, _) => format!(": {worse} {are_worse} worse, and nothing is shown to be better."),
        (false, false) => format!(": {better} {are_better} better, but {worse} {are_worse} worse."),
    }));
    Some(sentence)
}

const fn verb(names: &[String]) -> &'static str {
    if names.len() == 1 { "is" } else { "are" }
}

/// Returns in how many runs the deadlines of all topics were met, and which topic missed most; `None` without deadlines.
pub(super) fn met(scene: &Scene<'_>) -> Option<Sentence> {
    let paced = scene.of_workload(Workload::Paced);
    let mut found: Vec<(&Series, &CellResult, &SystemOutcome)> = Vec::new();
    for (series, cells) in &paced {
        for cell in cells.iter().copied() {
            let system = cell.paced.as_ref().and_then(|paced| paced.system.as_ref());
            found.extend(system.filter(|of| of.runs > 0).map(|of| (*series, cell, of)));
        }
    }
    let worst = found.iter().flat_map(|(series, cell, system)| {
        system.not_met.iter().map(move |not_met| (*series, *cell, not_met))
    });
    let limit_pct = |cell: &CellResult, not_met: &NotMet| {
        let flow = cell.factors.flows.iter().find(|flow| flow.name == not_met.flow);
        flow.and_then(|flow| flow.deadline).map_or(0.0, Deadline::limit_pct)
    };
    let worst =
        worst.max_by_key(|(_, cell, not_met)| Strain::new(not_met.missed_pct, limit_pct(cell, not_met)));
    let end = worst.map(|(series, cell, not_met)| {
        let missed = results::format_value(not_met.missed_pct);
        let limit = limit_pct(cell, not_met);
        let topic = parts::flow_at_reader(cell, &not_met.flow, &not_met.reader);
        [
            plain(format!(
                "; `{topic}` was the furthest beyond its limit, {missed} % missed where {} % may, in a run with ",
                results::format_value(limit)
            )),
            Words::Name(series.clone()),
        ]
    });
    let ended: usize = found.iter().map(|(.., system)| system.ended.len()).sum();
    let more = found.len().saturating_sub(MOST_NAMED);
    found.truncate(MOST_NAMED);
    let mut sentence = vec![plain("All deadlines were met in ")];
    for (index, (series, _, system)) in found.iter().enumerate() {
        if index > 0 {
            sentence.push(plain(if index + 1 == found.len() && more == 0 { " and " } else { ", " }));
        }
        sentence.push(strong(format!(
            "{} of {}",
            system.met_runs,
            parts::count(system.runs as usize, "run")
        )));
        sentence.push(plain(" with "));
        sentence.push(Words::Name((*series).clone()));
    }
    if more > 0 {
        sentence.push(plain(format!(" and {more} more")));
    }
    sentence.extend(end.into_iter().flatten());
    if ended > 0 {
        sentence.push(plain(format!("; a process ended in {}", parts::count(ended, "run"))));
    }
    sentence.push(plain("."));
    (!found.is_empty()).then_some(sentence)
}
