//! Warnings of a cell: losses and the warnings of its runs.

use std::collections::BTreeMap;

use experiment::{Factors, Workload};
use hdrhistogram::Histogram;
use recording::Histograms;
use stats::{format_value, total};

use crate::{
    schema::{CellResult, DeliveryCounts, Run, RunState, Warning, WarningKind, latency::CellLatency},
    values::{
        differing_runs::differing_runs,
        losses::losses_by_reader,
        rules::{MAX_LATENCY_LOSS_PCT, percent},
        steady::not_steady,
    },
};

/// Names the datagrams that a kernel dropped: at the sockets of the run, or of all programs.
#[must_use]
pub const fn full_buffers(of_all_programs: bool) -> &'static str {
    if of_all_programs {
        "datagrams at full socket buffers (of all programs in this network namespace: it does not list the sockets of the agents)"
    } else {
        "datagrams at full socket buffers of the agents"
    }
}

impl CellResult {
    /// Returns the runs that the values of the cell are based on.
    pub fn valid_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.state == RunState::Valid)
    }

    /// Returns the valid runs that medians over runs are based on: without the second run of a baseline cell in
    /// each block, which is used for the noise floor only.
    pub fn claimed_runs(&self) -> impl Iterator<Item = &Run> {
        self.valid_runs().filter(|run| !run.twin)
    }
}

/// Returns the warnings of a cell in the order of [`WarningKind`].
pub(crate) fn warnings(
    factors: &Factors,
    runs: &[Run],
    latency: &BTreeMap<String, CellLatency>,
    pooled: &Histograms,
) -> Vec<Warning> {
    let valid: Vec<&Run> = runs.iter().filter(|run| run.state == RunState::Valid).collect();
    let mut warnings = Vec::new();
    let mut warn = |kind, text: String| warnings.push(Warning::new(kind, text));

    let of_state = |state| runs.iter().filter(|run| run.state == state).collect::<Vec<_>>();
    let failed = of_state(RunState::Failed);
    if let Some(first) = failed.first() {
        let why = first.failure.as_ref().map_or_else(String::new, |failure| {
            format!(": run {} in phase `{}`: {}", first.number, failure.phase, failure.error)
        });
        warn(WarningKind::RunsFailed, format!("{} of {} runs failed{why}", failed.len(), runs.len()));
    }
    let invalid = of_state(RunState::Invalid);
    if let Some(first) = invalid.first() {
        let why = first
            .warnings
            .first()
            .map_or_else(String::new, |warning| format!(": run {}: {}", first.number, warning.text));
        warn(
            WarningKind::RunsInvalid,
            format!("{} of {} runs contradict themselves and are left out{why}", invalid.len(), runs.len()),
        );
    }

    let counted = DeliveryCounts::sum(valid.iter().flat_map(|run| run.counts()));
    let what = if factors.workload == Workload::Latency { "pings" } else { "samples" };
    if counted.lost > 0 {
        let percent = percent(counted.lost, counted.sent);
        let reliable = |stream| factors.is_reliable(stream);
        let promise = match factors.workload {
            Workload::Latency | Workload::Paced if percent > MAX_LATENCY_LOSS_PCT => {
                ": too many for a verdict on latency"
            }
            _ if (0..factors.flows.len().max(1)).all(reliable) => ", although delivery was to be reliable",
            _ => "",
        };
        warn(
            WarningKind::Loss,
            format!(
                "{} of {} {what} were lost ({} %){promise}{}",
                counted.lost,
                counted.sent,
                format_value(percent),
                losses_by_reader(valid.iter().flat_map(|run| &run.flows))
            ),
        );
    }
    if let Some(text) = late_losses(&valid) {
        warn(WarningKind::Loss, text);
    }
    let drops = total(valid.iter().filter_map(|run| run.udp_buffer_drops));
    if drops > 0 {
        warn(
            WarningKind::BufferDrops,
            format!(
                "the kernel dropped {drops} {}",
                full_buffers(valid.iter().any(|run| run.udp_drops_of_all_programs))
            ),
        );
    }
    if counted.foreign > 0 {
        warn(WarningKind::Foreign, format!("{} samples came that are not of the run", counted.foreign));
    }
    if counted.corrupt > 0 {
        warn(WarningKind::Corrupt, format!("{} samples were damaged", counted.corrupt));
    }
    if counted.duplicate > 0 || counted.out_of_order > 0 {
        warn(
            WarningKind::Order,
            format!("{} samples came again, {} out of order", counted.duplicate, counted.out_of_order),
        );
    }
    if let Some((kind, text)) = differing_runs(&valid) {
        warn(kind, text);
    }
    if counted.undelivered > 0 {
        warn(
            WarningKind::Incomplete,
            format!(
                "{} samples were still owed when the time limit of the drain was reached",
                counted.undelivered
            ),
        );
    }
    for (kind, latency) in latency {
        let found = pooled.get(kind).map_or(0, Histogram::len);
        if found != latency.n {
            warn(
                WarningKind::Incomplete,
                format!(
                    "no quantiles of `{kind}` for which a run has too few samples: the histograms hold {found} values, not {}",
                    latency.n
                ),
            );
        }
    }
    warnings.extend(not_steady(&valid));
    warnings.extend(of_the_runs(&valid));
    warnings.sort_by_key(|warning| warning.kind);
    warnings
}

/// Returns the text of a warning if a late reader lost samples that were written since it had joined.
fn late_losses(valid: &[&Run]) -> Option<String> {
    let joins = || valid.iter().filter_map(|run| run.late_join.as_ref());
    let counted = DeliveryCounts::sum(joins().flat_map(|join| &join.flows).map(|flow| &flow.counted));
    let reader = joins().next().map(|join| join.reader.as_str()).filter(|_| counted.lost > 0)?;
    Some(late_loss(reader, &counted))
}

/// Formats the loss of a late reader.
#[must_use]
pub fn late_loss(reader: &str, counted: &DeliveryCounts) -> String {
    format!(
        "{reader} joined late and lost {} of {} samples that were written since ({} %)",
        counted.lost,
        counted.sent,
        format_value(percent(counted.lost, counted.sent))
    )
}

/// Kinds of warnings of runs that a cell states from its counts, and a result from its blocks.
const STATED_ELSEWHERE: [WarningKind; 6] = [
    WarningKind::Loss,
    WarningKind::BufferDrops,
    WarningKind::Foreign,
    WarningKind::Corrupt,
    WarningKind::Order,
    WarningKind::OtherExperiment,
];

/// Returns the warnings of the runs that are stated nowhere else.
fn of_the_runs(valid: &[&Run]) -> Vec<Warning> {
    let mut by_kind: BTreeMap<WarningKind, Vec<&Warning>> = BTreeMap::new();
    for warning in valid.iter().flat_map(|run| &run.warnings) {
        if !STATED_ELSEWHERE.contains(&warning.kind) {
            by_kind.entry(warning.kind).or_default().push(warning);
        }
    }
    by_kind
        .into_iter()
        .map(|(kind, same)| {
            let text = match same.len() {
                1 => same[0].text.clone(),
                n => format!("{} (the first of {n} such warnings of the runs)", same[0].text),
            };
            Warning { kind, text, hint: same[0].hint.clone() }
        })
        .collect()
}
