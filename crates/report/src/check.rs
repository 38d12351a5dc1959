//! What became of a driver that was tried against the contract.

use crate::layout::{Align, Grid, WIDTH, wrap};

/// A case that was tried, for [`driver_check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedCase {
    /// Its name.
    pub id: String,
    /// Where in the contract the promise stands.
    pub section: String,
    /// The promise.
    pub promise: String,
    /// In how many processes writer and reader were.
    pub processes: u32,
    /// What was found.
    pub finding: Finding,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The promise is kept.
    Passed,
    /// It is not: how.
    Failed(String),
    /// It was never made: why.
    NotApplicable(String),
}

/// The cases, one a line; below them, what was promised and what was found instead.
#[must_use]
pub fn driver_check(driver: &str, cases: &[TriedCase]) -> String {
    let mut grid = Grid::default()
        .column("Case", Align::Left)
        .column("Verdict", Align::Left)
        .column("Processes", Align::Right)
        .column("In driver.h", Align::Left)
        .column("Note", Align::Left);
    let mut failures = String::new();
    let (mut passed, mut failed, mut not_applicable) = (0, 0, 0);
    for case in cases {
        let (verdict, note) = match &case.finding {
            Finding::Passed => {
                passed += 1;
                ("pass", "")
            }
            Finding::Failed(reason) => {
                failed += 1;
                failures.push_str(&format!("\n{}\n", case.id));
                failures.push_str(&wrap(&format!("promised: {}", case.promise), WIDTH, 2));
                failures.push_str(&wrap(&format!("found: {reason}"), WIDTH, 2));
                ("FAIL", "")
            }
            Finding::NotApplicable(reason) => {
                not_applicable += 1;
                ("n/a", reason.as_str())
            }
        };
        grid.row(vec![
            case.id.clone(),
            verdict.to_owned(),
            case.processes.to_string(),
            case.section.clone(),
            note.to_owned(),
        ]);
    }
    format!(
        "{driver}: {passed} passed, {failed} failed, {not_applicable} not applicable\n\n{}{failures}",
        grid.render()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_with_its_promise_and_what_is_not_applicable_with_why() {
        let case = |id: &str, processes, finding| TriedCase {
            processes,
            id: id.to_owned(),
            section: "7".to_owned(),
            promise: format!("{id} holds"),
            finding,
        };
        let cases = [
            case("one", 1, Finding::Passed),
            case("two", 2, Finding::Failed("it does not".to_owned())),
            case("three", 1, Finding::NotApplicable("never said".to_owned())),
        ];
        let expected = "\
mine: 1 passed, 1 failed, 1 not applicable

  Case   Verdict  Processes  In driver.h  Note
  one    pass             1  7
  two    FAIL             2  7
  three  n/a              1  7            never said

two
  promised: two holds
  found: it does not
";
        assert_eq!(driver_check("mine", &cases), expected);
    }
}
