//! What may be claimed of two cells. Pure: the same verdicts for the same documents.
//!
//! - [`of`]: the verdicts of one result: each cell against its baseline, and the baseline against itself.
//! - [`compare()`]: two results, or cells of one; refused where they differ in more than the named factors.
//! - [`Criterion`]: what a comparison may be asked to hold.
//!
//! Runs of one result are paired by block, those of duets as they were made. Runs of two results are not: nothing drew their order, and what changed between
//! the two is in the difference. By which rules claims are made is the affair of [`stats`]; `docs/explain/verdicts.md` says
//! what each word means.
#![forbid(unsafe_code)]

mod compare;
mod criterion;
mod differences;
mod family;
mod matching;
mod recorded;
mod words;

use std::collections::BTreeSet;

pub use compare::{Asked, Refusal, Side, compare};
pub use criterion::{Criterion, Fault};
use family::Pair;
use recorded::Source;
use results::{Document, Metric, Verdict};

/// What may be said of a result whose experiment has a baseline: the noise floor of each baseline cell, and each other cell
/// against its own. The verdicts that the document has already play no part.
#[must_use]
pub fn of(document: &Document) -> Vec<Verdict> {
    without(document, &noisy(document))
}

/// The same where these blocks were noisy.
#[must_use]
pub fn without(document: &Document, noisy: &BTreeSet<u32>) -> Vec<Verdict> {
    let source = Source { document, noisy };
    let mut verdicts = noise_floor(source);
    let is_baseline = |cell: &&results::Cell| document.experiment.is_baseline(&cell.id);
    let (baselines, others): (Vec<_>, Vec<_>) = document.cells.iter().partition(is_baseline);
    let duets = if document.experiment.design.duet { document.experiment.comparisons() } else { Vec::new() };
    let beside = |cell: &results::Cell| {
        let (_, baseline) = duets.iter().find(|(compared, _)| compared.id == cell.id)?;
        baselines.iter().copied().find(|candidate| candidate.id == baseline.id)
    };
    let mut pairs = Vec::new();
    for cell in others {
        let nearest = || matching::nearest(document, cell, document, &baselines, &[]);
        let Some(baseline) = beside(cell).or_else(nearest) else { continue };
        for metric in Metric::claims(&cell.factors).iter().filter(|metric| cell.may_have(**metric)) {
            pairs.extend(Pair::in_blocks(cell, baseline, *metric, source).of_flows());
        }
    }
    verdicts.extend(family::judge(&pairs));
    verdicts
}

/// Each baseline cell against itself.
pub(crate) fn noise_floor(source: Source<'_>) -> Vec<Verdict> {
    let cells = source.document.cells.iter().filter(|cell| cell.runs.iter().any(|run| run.twin));
    let pairs: Vec<Pair<'_>> = cells
        .flat_map(|cell| {
            let claims = Metric::claims(&cell.factors).iter().filter(|metric| cell.may_have(**metric));
            claims.flat_map(move |metric| Pair::of_twins(cell, *metric, source).of_flows())
        })
        .collect();
    family::judge(&pairs)
}

/// The blocks of a result during which the host was noisy.
pub(crate) fn noisy(document: &Document) -> BTreeSet<u32> {
    document.blocks.iter().filter(|block| block.noisy).map(|block| block.number).collect()
}
