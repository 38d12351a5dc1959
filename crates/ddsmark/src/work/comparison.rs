//! Output and exit status of comparisons.

use report::ComparisonOptions;
use results::{Comparison, CriterionOutcome, ResultDocument};
use verdicts::{CompareError, CompareOptions};

use crate::cli::{
    cli_error::{CliError, ExitStatus, Result},
    output::{self, to_stderr},
    result_args::CompareArgs,
};

/// Compares the two variants of a result.
pub fn variants(
    path: &str,
    document: &ResultDocument,
    options: &CompareOptions,
    flags: &CompareArgs,
) -> Result<ExitStatus> {
    let Some(compared) = verdicts::compare_variants(path, document, options) else {
        let hint = "name a second result, or measure two variants with `--interleave`";
        return Err(CliError::usage(format!("`{path}` does not have two variants"), hint));
    };
    conclude(compared, flags)
}

/// Prints a comparison and returns the exit status.
pub fn conclude(compared: Result<Comparison, CompareError>, flags: &CompareArgs) -> Result<ExitStatus> {
    let comparison = compared.map_err(|error| {
        let problem = CliError::usage(&error, error.hint());
        problem.with_details(error.details())
    })?;
    let text = if flags.json {
        report::comparison_json(&comparison)
    } else if flags.markdown {
        report::comparison_markdown(&comparison)
    } else {
        report::comparison(&comparison, ComparisonOptions { width: output::width(), notes: !flags.quiet })
    };
    output::print(&text)?;
    Ok(status(&comparison, flags.allow_inconclusive))
}

/// Returns the exit status. A failed criterion takes precedence over an inconclusive one.
fn status(comparison: &Comparison, allow_inconclusive: bool) -> ExitStatus {
    let any = |outcome| comparison.criteria.iter().any(|judged| judged.outcome == outcome);
    if any(CriterionOutcome::Broken) {
        to_stderr("a criterion failed");
        ExitStatus::Broken
    } else if any(CriterionOutcome::CannotTell) && allow_inconclusive {
        to_stderr("a criterion is inconclusive, which is allowed");
        ExitStatus::Done
    } else if any(CriterionOutcome::CannotTell) {
        to_stderr("a criterion is inconclusive\nhint: measure more blocks, or use `--allow-inconclusive`");
        ExitStatus::Invalid
    } else {
        ExitStatus::Done
    }
}
