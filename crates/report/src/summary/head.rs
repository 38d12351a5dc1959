//! Head of the first screen: what was measured, where, and how noisy the host was.

use results::{
    Block, HostNoise, NoiseProbe, ResultDocument, SmallestDifference, State, format_value,
    least_runs_for_claims, smallest_differences,
};

use super::line::{Kind, Line, wrapped};
use crate::{
    hosts,
    number::{count, date},
    settings, shell,
};

/// Share of the samples of a cell whose absence the title names, in percent.
const MOSTLY_MISSING_PCT: f64 = 50.0;

/// Returns the lines of the head.
pub(super) fn head(document: &ResultDocument, width: usize) -> Vec<Line> {
    let indent = |index| if index == 0 { 0 } else { 2 };
    let facts = facts(document).into_iter().enumerate();
    facts.flat_map(|(index, (kind, text))| wrapped(kind, &text, width, indent(index), 2)).collect()
}

/// Returns the title, the command, the host, the design, the drivers and the noise, one sentence each.
pub(super) fn facts(document: &ResultDocument) -> Vec<(Kind, String)> {
    let planned = document.experiment.runs();
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
        cells => (format!(", most samples of {} did not arrive", count(cells, "cell")), Kind::Failure),
    };
    let tool = &document.tool;
    let title = format!(
        "{} {}: {}, {state}: {made} of {planned} runs made, {valid} valid{missing}, {}",
        tool.name,
        tool.version,
        document.experiment.name,
        date(document.host().started_unix_ns)
    );
    let design = format!("Design: {}", settings::brief_conditions(&document.experiment));
    let mut facts = vec![(kind, title)];
    facts.extend(shell::command(tool).map(|command| (Kind::Plain, format!("Command: {command}"))));
    facts.extend(hosts::lines(document).into_iter().map(|line| (Kind::Plain, line)));
    facts.extend(hosts::differences(document).map(|text| (Kind::Warning, text)));
    facts.push((Kind::Plain, design));
    facts.extend(settings::oversubscription(document).map(|text| (Kind::Warning, text)));
    let drivers = drivers(document);
    if !drivers.is_empty() {
        facts.push((Kind::Plain, drivers));
    }
    let (noise, is_noisy) = noise(&document.blocks);
    facts.push((if is_noisy { Kind::Warning } else { Kind::Plain }, noise));
    facts.extend(resolution(document).map(|text| (Kind::Plain, text)));
    facts
}

/// Returns what the scatter of the runs means for a reader: the differences that a comparison cannot see.
fn resolution(document: &ResultDocument) -> Option<String> {
    let all = smallest_differences(document);
    let named = |SmallestDifference { metric, pct }: &SmallestDifference| {
        let [least, most] = pct.map(|pct| pct.map(format_value))?;
        let range = if least == most { most } else { format!("{least} to {most}") };
        Some(format!("{range} % ({})", metric.words()))
    };
    let words: Vec<String> = all.iter().filter_map(named).collect();
    Some(match &words[..] {
        _ if all.is_empty() => return None,
        [] => {
            let least = least_runs_for_claims(document);
            format!(
                "Resolution: too few runs to claim a difference from another result: `--runs {least}` or more"
            )
        }
        words => format!(
            "Resolution: the smallest difference from another such result that can be seen is {}; more runs or a quieter host \
             show smaller ones",
            words.join(", ")
        ),
    })
}

/// Returns the middleware of each measured driver.
fn drivers(document: &ResultDocument) -> String {
    let named = document
        .drivers
        .iter()
        .filter(|(name, _)| document.experiment.cells.iter().any(|cell| cell.factors.driver == **name));
    let words: Vec<String> = named
        .map(|(name, driver)| {
            format!("{} = {} {}", crate::short_name(name), driver.middleware, driver.middleware_version)
        })
        .collect();
    if words.is_empty() { String::new() } else { format!("Drivers: {}", words.join(", ")) }
}

/// Returns the noise of the host in one sentence, and whether a block was noisy.
fn noise(blocks: &[Block]) -> (String, bool) {
    if blocks.is_empty() {
        return ("Noise: unknown, because the result has no record of its blocks".to_owned(), false);
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
    (format!("Noise: {}", words.join(", ")), noisy > 0)
}

fn maximum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.max_by(f64::total_cmp)
}
