//! Changes that the verdicts of kept results claim, as texts of tables.

use results::{Conclusion, Verdict};

/// Returns the change in percent with the interval that holds for all comparisons at once; `None` without an answer.
pub fn change(verdict: &Verdict) -> Option<Vec<String>> {
    let answer = verdict.answer.as_ref()?;
    Some(match (answer.change_pct, answer.simultaneous_pct) {
        (Some(change), Some([low, high])) => [change, low, high].map(signed).to_vec(),
        (Some(change), None) => vec![signed(change)],
        (None, _) => vec!["n/a".to_owned()],
    })
}

/// Returns what is claimed about the change: `higher`, `lower` or `none`. `None` without an answer.
pub fn claim(verdict: &Verdict) -> Option<Vec<String>> {
    let word = match verdict.answer.as_ref()?.conclusion {
        Conclusion::Higher { .. } => "higher",
        Conclusion::Lower { .. } => "lower",
        Conclusion::Equivalent { .. } | Conclusion::Inconclusive { .. } => "none",
        Conclusion::TooFew { .. } => "too few blocks",
    };
    Some(vec![word.to_owned()])
}

/// Formats a change with its sign and three digits, of which at most two are decimals.
fn signed(pct: f64) -> String {
    let decimals = match pct.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{pct:+.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_has_a_sign_and_at_most_two_decimals() {
        let texts = [0.047, -0.1, 9.994, -9.996, 99.94, 130.6].map(signed);
        assert_eq!(texts, ["+0.05", "-0.10", "+9.99", "-10.0", "+99.9", "+131"]);
    }
}
