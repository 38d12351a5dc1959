//! Output and exit status of comparisons.

use report::Options;
use results::{Comparison, CriterionOutcome, Document};
use verdicts::{Asked, Refusal};

use crate::cli::{
    arguments::Compare,
    output::{self, say},
    problem::{Problem, Status},
};

/// Compares the two variants of a result.
pub fn variants(place: &str, document: &Document, asked: &Asked, flags: &Compare) -> Result<Status, Problem> {
    let Some(compared) = verdicts::compare_variants(place, document, asked) else {
        let hint = "name a second result, or measure two variants with `--interleave`";
        return Err(Problem::new(Status::WrongUse, format!("`{place}` does not have two variants"), hint));
    };
    conclude(compared, flags)
}

/// Prints a comparison and returns the exit status.
pub fn conclude(compared: Result<Comparison, Refusal>, flags: &Compare) -> Result<Status, Problem> {
    let comparison = compared.map_err(|refusal| {
        let problem = Problem::new(Status::WrongUse, &refusal, refusal.hint());
        problem.with_details(refusal.details())
    })?;
    let text = if flags.json {
        report::comparison_json(&comparison)
    } else {
        report::comparison(&comparison, Options { width: output::width() })
    };
    output::print(&text)?;
    Ok(status(&comparison, flags.allow_inconclusive))
}

/// Returns the exit status. A failed criterion takes precedence over an inconclusive one.
fn status(comparison: &Comparison, allow_inconclusive: bool) -> Status {
    let any = |outcome| comparison.criteria.iter().any(|judged| judged.outcome == outcome);
    if any(CriterionOutcome::Broken) {
        say("a criterion failed");
        Status::Broken
    } else if any(CriterionOutcome::CannotTell) && allow_inconclusive {
        say("a criterion is inconclusive, which is allowed");
        Status::Done
    } else if any(CriterionOutcome::CannotTell) {
        say("a criterion is inconclusive\nhint: measure more blocks, or use `--allow-inconclusive`");
        Status::Invalid
    } else {
        Status::Done
    }
}
