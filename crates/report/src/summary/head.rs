//! Head of the first screen: what was measured, where, and how noisy the host was.

use results::{
    Block, HostNoise, NoiseProbe, ResultDocument, SmallestDifference, State, format_effects, format_value,
    least_runs_for_claims, smallest_differences,
};

use super::line::{Kind, Line, wrapped};
use crate::{
    fact::Fact,
    headroom, hosts,
    number::{count, date},
    settings, shell, system,
};

/// Share of the samples of a cell whose absence the title names, in percent.
const MOSTLY_MISSING_PCT: f64 = 50.0;

/// Returns the lines of the head.
pub(super) fn head(document: &ResultDocument, width: usize) -> Vec<Line> {
    let (kind, title) = title(document);
    let kind_of = |fact: &Fact| if fact.is_warning { Kind::Warning } else { Kind::Plain };
    let facts = command(document).into_iter().chain(facts(document));
    let facts = facts.flat_map(|fact| wrapped(kind_of(&fact), &fact.to_string(), width, 2, 2));
    wrapped(kind, &title, width, 0, 2).into_iter().chain(facts).collect()
}

/// Returns what was measured, and how many runs are valid.
pub(super) fn title(document: &ResultDocument) -> (Kind, String) {
    let planned = document.planned_runs();
    let made: usize = document.cells.iter().map(|cell| cell.runs.len()).sum();
    let valid: usize = document.cells.iter().map(|cell| cell.valid_runs().count()).sum();
    let (state, kind) = match document.state {
        State::Complete if valid < made => ("complete", Kind::Failure),
        State::Complete => ("complete", Kind::Heading),
        State::Interrupted => ("INTERRUPTED", Kind::Failure),
    };
    let missing = document.cells.iter().filter(|cell| cell.shortfall().pct() > MOSTLY_MISSING_PCT).count();
    let (missing, kind) = match missing {
        0 => (String::new(), kind),
        cells => (format!("most samples of {} did not arrive, ", count(cells, "cell")), Kind::Failure),
    };
    let tool = &document.tool;
    let title = format!(
        "{} {}: {}, {missing}{state}: {made} of {planned} runs made, {valid} valid, {}",
        tool.name,
        tool.version,
        document.experiment.name,
        date(document.host().started_unix_ns)
    );
    (kind, title)
}

/// Returns the command that measured the result.
pub(super) fn command(document: &ResultDocument) -> Option<Fact> {
    shell::command(document).map(|command| Fact::new("Command", command))
}

/// Returns the hosts, the design, the drivers, the noise and the resolution.
pub(super) fn facts(document: &ResultDocument) -> Vec<Fact> {
    let mut facts = hosts::facts(document);
    facts.extend(hosts::differences(document));
    facts.push(Fact::new("Design", settings::brief_conditions(document)));
    facts.extend(settings::oversubscription(document));
    facts.extend(drivers(document));
    facts.push(noise(&document.blocks));
    let outcomes = system::outcomes(&document.cells.iter().collect::<Vec<_>>());
    facts.extend(outcomes.into_iter().map(|(text, is_met)| match is_met {
        true => Fact::new("Outcome", text),
        false => Fact::warning("Outcome", text),
    }));
    let headrooms = headroom::sentences(&document.cells.iter().collect::<Vec<_>>());
    facts.extend(headrooms.into_iter().map(|text| Fact::new("Outcome", text)));
    facts.extend(resolution(document));
    facts
}

/// Returns what the scatter of the runs means for a reader: the differences that a comparison cannot see.
fn resolution(document: &ResultDocument) -> Option<Fact> {
    let all = smallest_differences(document);
    let named = |SmallestDifference { metric, pct }: &SmallestDifference| {
        Some(format!("{} ({})", format_effects((*pct)?), metric.words()))
    };
    let words: Vec<String> = all.iter().filter_map(named).collect();
    let text = match &words[..] {
        _ if all.is_empty() => return None,
        [] => {
            let least = least_runs_for_claims(document);
            format!("too few runs to claim a difference from another result: `--runs {least}` or more")
        }
        words => format!(
            "the smallest difference from another such result that can be seen is {}; more runs or a quieter host \
             show smaller ones",
            words.join(", ")
        ),
    };
    Some(Fact::new("Resolution", text))
}

/// Returns the middleware of each measured driver.
fn drivers(document: &ResultDocument) -> Option<Fact> {
    let named = document
        .drivers
        .iter()
        .filter(|(name, _)| document.experiment.cells.iter().any(|cell| cell.factors.driver == **name));
    let words: Vec<String> = named
        .map(|(name, driver)| {
            format!("{} = {} {}", crate::short_name(name), driver.middleware, driver.middleware_version)
        })
        .collect();
    (!words.is_empty()).then(|| Fact::new("Drivers", words.join(", ")))
}

/// Returns the noise of the host; a warning if a block was noisy.
fn noise(blocks: &[Block]) -> Fact {
    if blocks.is_empty() {
        return Fact::new("Noise", "unknown, because the result has no record of its blocks");
    }
    let noisy = blocks.iter().filter(|block| block.noisy).count();
    let mut words = vec![format!("{noisy} of {} noisy", count(blocks.len(), "block"))];
    let steal = |host: &HostNoise| host.steal_pct;
    let most_stolen = maximum(blocks.iter().flat_map(Block::counters).filter_map(steal));
    words.extend(most_stolen.map(|share| format!("steal ≤ {} %", format_value(share))));
    let probes = || blocks.iter().flat_map(Block::probes);
    let cores = || probes().flat_map(|probe: &NoiseProbe| &probe.cores);
    let interrupted = maximum(cores().map(|core| core.stolen_pct));
    let longest = cores().map(|core| core.max_gap_ns).max();
    if let (Some(share), Some(longest)) = (interrupted, longest) {
        words.push(format!(
            "interruptions ≤ {} % of a core, ≤ {} ms each",
            format_value(share),
            format_value(longest as f64 / 1e6)
        ));
    }
    if interrupted.is_none() {
        words.push("no noise probe".to_owned());
    }
    Fact { is_warning: noisy > 0, ..Fact::new("Noise", words.join(", ")) }
}

fn maximum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.max_by(f64::total_cmp)
}
