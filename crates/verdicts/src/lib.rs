//! What may be claimed of two cells. Pure: the same verdicts for the same documents.
//!
//! - [`of`]: the verdicts of one result: each cell against its baseline, and the baseline against itself.
//! - [`compare()`]: two results, or cells of one; refused where they differ in more than the named factors.
//! - [`compare_variants`]: the two variants of a result of `ddsmark compare --interleave`.
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
mod interleave;
mod matching;
mod notes;
mod part;
mod recorded;
mod words;

use std::collections::BTreeSet;

pub use compare::{Asked, Refusal, Side, compare};
pub use criterion::{Criterion, Fault};
use family::Pair;
pub use interleave::{compare_variants, interleave_hint};
use recorded::Source;
use results::{Cell, Claim, Document, Verdict, comparison_claims, noise_floor_claims};
use stats::Rules;

/// What may be said of a result whose experiment has a baseline: the noise floor of each baseline cell, and each other cell
/// against its own. The verdicts that the document has already play no part.
#[must_use]
pub fn of(document: &Document) -> Vec<Verdict> {
    without(document, &noisy(document))
}

/// The same where these blocks were noisy.
#[must_use]
pub fn without(document: &Document, noisy: &BTreeSet<u32>) -> Vec<Verdict> {
    judged(Source { document, noisy }, &family::RULES)
}

/// The same without the bootstrap, on which no claim rests: for campaigns of many results.
#[must_use]
pub fn without_cross_check(document: &Document) -> Vec<Verdict> {
    let rules = Rules { resamples: 0, ..family::RULES };
    judged(Source { document, noisy: &noisy(document) }, &rules)
}

fn judged<'d>(source: Source<'d>, rules: &Rules) -> Vec<Verdict> {
    let document = source.document;
    let mut verdicts = family::judge_by(&noise_floor_pairs(source), rules);
    let claims = comparison_claims(&document.experiment);
    let pair = |claim: &Claim<'d>| {
        let [cell, baseline] = [claim.cell, claim.baseline].map(|cell| measured(document, &cell.id));
        Some(Pair::in_blocks(cell?, baseline?, claim.metric, source).of_flow(claim.flow))
    };
    verdicts.extend(family::judge_by(&claims.iter().filter_map(pair).collect::<Vec<_>>(), rules));
    verdicts
}

/// Finds the measured cell of a planned one.
fn measured<'d>(document: &'d Document, id: &str) -> Option<&'d Cell> {
    document.cells.iter().find(|cell| cell.id == id)
}

/// Each baseline cell against itself.
pub(crate) fn noise_floor(source: Source<'_>) -> Vec<Verdict> {
    family::judge(&noise_floor_pairs(source))
}

fn noise_floor_pairs<'d>(source: Source<'d>) -> Vec<Pair<'d>> {
    let document = source.document;
    let claims = noise_floor_claims(&document.experiment);
    let pair = |claim: &Claim<'d>| {
        let cell = measured(document, &claim.cell.id)?;
        Some(Pair::of_twins(cell, claim.metric, source).of_flow(claim.flow))
    };
    claims.iter().filter_map(pair).collect()
}

/// The blocks of a result during which the host was noisy.
pub(crate) fn noisy(document: &Document) -> BTreeSet<u32> {
    document.blocks.iter().filter(|block| block.noisy).map(|block| block.number).collect()
}
