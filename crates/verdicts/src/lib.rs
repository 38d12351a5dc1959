//! Verdicts: statistical comparisons of two cells. Pure: the same verdicts for the same documents.
//!
//! - [`judge`]: verdicts of one result: each cell with its baseline, and each baseline cell with itself (A/A).
//! - [`over_bases()`]: effects of settings over several bases, to explore; no claims.
//! - [`compare()`]: verdicts of two results, or of cells of one; rejected if they differ in more than the named
//!   factors.
//! - [`compare_variants`]: verdicts of the two variants of a result of `ddsmark compare --interleave`.
//! - [`BlockChange`]: ratio of two cells over their blocks, to describe; no claim.
//! - [`Criterion`]: criterion that a comparison has to pass.
//!
//! Runs of one result are paired by block, and runs of duets with their partners. Runs of two results are not
//! paired: their order was not randomized, and any change between them is in the difference. [`stats`] defines the
//! rules of claims; `docs/explain/verdicts.md` explains each conclusion.
#![forbid(unsafe_code)]

mod agreement;
mod arrivals;
mod block_change;
mod compare;
mod criterion;
mod differences;
mod error;
mod family;
mod format;
mod interleave;
mod matching;
mod notes;
mod over_bases;
mod part;
mod policies;
mod recorded;
mod sides;

use std::collections::{BTreeMap, BTreeSet};

pub use block_change::BlockChange;
pub use compare::{compare, compare_variants};
pub use criterion::{Criterion, CriterionError};
pub use error::CompareError;
use family::Pair;
pub use interleave::interleave_hint;
pub use over_bases::over_bases;
use recorded::Source;
use results::{CellResult, Claim, ResultDocument, Verdict, comparison_claims, noise_floor_claims};
pub use sides::{CompareOptions, CompareSide};

/// Returns the verdicts of a result with a baseline: the noise floor of each baseline cell, and each other cell
/// compared with its own. Existing verdicts of the document are ignored.
#[must_use]
pub fn judge(document: &ResultDocument) -> Vec<Verdict> {
    without(document, &noisy(document))
}

/// Like [`judge`], with these noisy blocks.
#[must_use]
pub fn without<'d>(document: &'d ResultDocument, noisy: &'d BTreeSet<u32>) -> Vec<Verdict> {
    let source = Source { document, noisy };
    let mut verdicts = noise_floor(source);
    let claims = comparison_claims(&document.experiment);
    let measured = measured(document);
    let pair = |claim: &Claim<'d>| {
        let [cell, baseline] =
            [claim.cell, claim.baseline].map(|cell| measured.get(cell.id.as_str()).copied());
        Some(Pair::in_blocks(cell?, baseline?, claim.metric, source).of_flow(claim.flow))
    };
    let pairs: Vec<Pair<'_>> = claims.iter().filter_map(pair).collect();
    verdicts.extend(family::judge(&pairs));
    verdicts.extend(arrivals::judge(&pairs));
    verdicts
}

/// Returns the measured cells by their ids.
fn measured(document: &ResultDocument) -> BTreeMap<&str, &CellResult> {
    document.cells.iter().map(|cell| (cell.id.as_str(), cell)).collect()
}

/// Returns the noise floor of each baseline cell.
pub(crate) fn noise_floor<'d>(source: Source<'d>) -> Vec<Verdict> {
    let measured = measured(source.document);
    let pair = |claim: &Claim<'d>| {
        let cell = *measured.get(claim.cell.id.as_str())?;
        Some(Pair::of_twins(cell, claim.metric, source).of_flow(claim.flow))
    };
    let claims = noise_floor_claims(&source.document.experiment);
    family::judge(&claims.iter().filter_map(pair).collect::<Vec<_>>())
}

/// Returns the numbers of the noisy blocks of a result.
pub(crate) fn noisy(document: &ResultDocument) -> BTreeSet<u32> {
    document.blocks.iter().filter(|block| block.noisy).map(|block| block.number).collect()
}
