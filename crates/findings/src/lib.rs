//! What the figures of a result say, in plain words with their numbers. Pure: the same findings for the same cells.
//!
//! A finding describes the runs that were made; how sure one may be of it for other runs is not said. The rules that all
//! of them keep:
//!
//! - A cell takes part with at least [`MIN_RUNS`] valid runs that have the figure; else it is as if it were not there.
//! - Two cells differ where no run of one lies within the range of the other's runs.
//! - Figures are on one level where every run lies within [`LEVEL`] of the best cell's median. Runs too far apart to be on
//!   one level, and too close to differ, say nothing.
//!
//! `docs/explain/findings.md` says for each finding when it is printed, and why.
#![forbid(unsafe_code)]

mod batching;
mod delivery;
mod figures;
mod front;
mod knee;
mod latency;
mod limits;
mod load;
mod loss_free;
mod overhead;
mod plateau;
mod tail;
mod words;

use results::{Document, Finding};

/// Valid runs that a cell must have to take part: what an experiment has at least.
pub const MIN_RUNS: usize = 3;
/// How far the runs on one level may lie from the level: twice the half range from which on the runs of a single cell are
/// said to differ widely.
pub const LEVEL: f64 = 2.0 * results::WIDE_SPREAD;
/// A process that uses so much of one core, in percent, uses all of it, but for what the kernel takes.
pub const FULL_CORE_PCT: f64 = 90.0;
/// Of a rate limit, in percent, that counts as all of it.
pub const FULL_LINE_PCT: f64 = 90.0;
/// Loss above this, in percent of the samples sent, takes part in what binds throughput.
pub const NOTABLE_LOSS_PCT: f64 = 1.0;

/// At the knee of a curve over loads the 99 % time is so many times that at the lowest load, at most.
pub const KNEE: f64 = 2.0;
/// Of a planned rate, what counts as all of it.
pub const KEPT: f64 = 0.99;

/// What the cells say, in the order of [`results::FindingKind`]. The findings that the document has already play no part.
/// Of duets nothing is found: their absolute figures are under the interference of the other run.
#[must_use]
pub fn of(document: &Document) -> Vec<Finding> {
    if document.experiment.design.duet {
        return Vec::new();
    }
    let sides = figures::sides(document);
    let mut findings = Vec::new();
    for side in &sides {
        findings.extend(plateau::findings(side, &document.host));
        findings.extend(batching::findings(side));
        findings.extend(latency::findings(side));
        findings.extend(load::findings(side));
        findings.extend(loss_free::findings(side));
        findings.extend(front::findings(side));
    }
    findings.extend(delivery::findings(&sides));
    findings.extend(overhead::findings(&sides));
    // a stable order: within a topic the order of the sides
    findings.sort_by_key(|finding| finding.kind);
    findings
}
