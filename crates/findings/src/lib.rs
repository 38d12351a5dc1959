//! Findings: descriptions of the values of a result, as text with numbers. Pure: the same findings for the same
//! cells.
//!
//! A finding describes the measured runs; it does not generalize to other runs. Rules common to all findings:
//!
//! - A cell is included if at least [`MIN_RUNS`] of its valid runs have the value.
//! - Two cells differ if their ranges over the runs do not overlap.
//! - Values are on one level if every run is within [`LEVEL`] of the best cell's median. Runs that are neither on
//!   one level nor different yield no finding.
//!
//! `docs/explain/findings.md` states for each finding when it is printed, and why.
#![forbid(unsafe_code)]

mod batching;
mod bottleneck;
mod cpu_oversubscription;
mod curves;
mod delivery;
mod format;
mod knee;
mod latency;
mod line_rate;
mod load;
mod load_point;
mod loss_free;
mod overhead;
mod pareto;
mod plateau;
mod ring;
mod scaling;
mod sharing;
mod tail;

use results::{Finding, ResultDocument};

/// Minimum number of valid runs for a cell to be included: the minimum of an experiment.
pub const MIN_RUNS: usize = 3;
/// Maximum distance of runs on one level from the best median, as a share: twice the half-range of a cell above which
/// a warning is issued.
pub const LEVEL: f64 = 2.0 * results::WIDE_SPREAD;
/// Share of a core, in percent, that counts as a full core. The kernel takes the rest.
pub const FULL_CORE_PCT: f64 = 90.0;
/// Share of the interface speed, in percent, that counts as line rate.
pub const FULL_LINE_PCT: f64 = 90.0;
/// Share of the rate of a link, in percent, from which on payload fills it. Headers take the rest.
pub const FULL_LINK_PCT: f64 = 95.0;
/// Loss, in percent of the samples sent, above which it counts as a bottleneck.
pub const NOTABLE_LOSS_PCT: f64 = 1.0;

/// Jain's index of several writers below which they do not share evenly.
pub const FAIR: f64 = 0.95;
/// Share of the mean rate below which the slowest of several readers is behind.
pub const LEAST_OF_MEAN: f64 = 0.9;

/// Limit for the knee of a curve over loads: ratio of the 99 % time to that at the lowest load.
pub const KNEE: f64 = 2.0;
/// Share of the planned rate that counts as all of it.
pub const KEPT: f64 = 0.99;
/// Samples that arrived after the end of the writing, in percent of the delivered ones, above which a load is not kept up with.
pub const LATE_PCT: f64 = 5.0;

/// Returns the findings of a result, in the order of [`results::FindingKind`]. Existing findings of the document
/// are ignored. Duets have no findings, because their absolute values are under interference of the partner run.
#[must_use]
pub fn find(document: &ResultDocument) -> Vec<Finding> {
    if document.experiment.design.duet {
        return Vec::new();
    }
    let sides = curves::sides(document);
    let mut findings = Vec::new();
    for side in &sides {
        findings.extend(plateau::findings(side, &document.hosts));
        findings.extend(line_rate::findings(side));
        findings.extend(batching::findings(side));
        findings.extend(latency::findings(side));
        findings.extend(load::findings(side));
        findings.extend(loss_free::findings(side));
        findings.extend(pareto::findings(side));
        findings.extend(sharing::findings(side));
    }
    findings.extend(ring::findings(document));
    findings.extend(delivery::findings(&sides));
    findings.extend(overhead::findings(&sides));
    findings.extend(scaling::findings(document));
    let cells = document.cells.iter().map(|cell| (cell.id.as_str(), cell)).collect();
    for finding in &mut findings {
        cpu_oversubscription::add(document, &cells, finding);
    }
    // stable sort: within a kind, the order of the sides
    findings.sort_by_key(|finding| finding.kind);
    findings
}
