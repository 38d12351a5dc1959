//! Agreement of the verdicts of two results: text and table.

use results::{AgreementOutcome, Comparison, RepeatedClaim, VerdictAgreement, format_value};

use crate::{layout::Grid, number::count, short_name};

/// Heading of the agreement.
pub(crate) const HEADING: &str =
    "Agreement: verdicts of both results, each against the baseline of its own result";

/// Returns how many verdicts agree, and each contradiction, one text each; empty without verdicts in both results.
pub(crate) fn words(comparison: &Comparison) -> Vec<String> {
    let Some(agreement) = &comparison.agreement else { return Vec::new() };
    let numbers = numbers(agreement);
    let contradictions =
        agreement.claims.iter().filter(|claim| claim.outcome == AgreementOutcome::Contradict);
    std::iter::once(numbers).chain(contradictions.map(|claim| contradiction(comparison, claim))).collect()
}

fn numbers(agreement: &VerdictAgreement) -> String {
    let all = &agreement.all;
    let both = all.agree + all.contradict;
    let share = match both {
        0 => String::new(),
        both => format!(
            " ({} % of {} that both decide)",
            format_value(100.0 * f64::from(all.contradict) / f64::from(both)),
            count(both as usize, "claim")
        ),
    };
    format!(
        "{} agree, {} contradict{share}, {} weaker (only one result decides), {} undecided in both, of {}. A contradiction is an \
         opposite sign, or equivalent against different by more than the margin.",
        all.agree,
        all.contradict,
        all.weaker,
        all.undecided,
        count(all.claims as usize, "claim")
    )
}

fn contradiction(comparison: &Comparison, claim: &RepeatedClaim) -> String {
    let of = |verdict: &Option<String>| verdict.clone().unwrap_or_else(|| "no such claim".to_owned());
    format!(
        "CONTRADICTION: {}: {} in {}; {} in {}",
        claim.cell,
        of(&claim.baseline),
        comparison.baseline.result,
        of(&claim.treatment),
        comparison.treatment.result
    )
}

/// Returns the numbers by driver and metric, with the correlation of the effects; `None` without verdicts in both results.
pub(crate) fn table(comparison: &Comparison) -> Option<Grid> {
    let agreement = comparison.agreement.as_ref()?;
    let mut grid = Grid::default().left(["Driver", "Metric"]).right([
        "Claims",
        "Agree",
        "Contradict",
        "Weaker",
        "Undecided",
        "r of the changes",
    ]);
    for group in &agreement.groups {
        let counts = &group.counts;
        let numbers = [counts.claims, counts.agree, counts.contradict, counts.weaker, counts.undecided];
        let mut row = vec![short_name(&group.driver).to_owned(), group.metric.words().to_owned()];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(group.r.map_or_else(|| "n/a".to_owned(), |r| format!("{r:.2}")));
        grid.row(row);
    }
    Some(grid)
}
