//! Outcome of a driver check against the contract.

use experiment::{Policy, TransportInfo};

use crate::layout::{Align, Grid, WIDTH, wrap};

/// Case of a driver check, for [`driver_check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedCase {
    /// Identifier of the case.
    pub id: String,
    /// Section of the contract with the promise.
    pub section: String,
    /// Promise that the case checks.
    pub promise: String,
    /// Number of processes: 1 or 2, for writer and reader.
    pub processes: u32,
    /// Policies whose effect the case observes.
    pub observes: Vec<Policy>,
    /// Outcome.
    pub finding: CaseResult,
}

/// Outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseResult {
    /// The promise is kept.
    Passed,
    /// The promise is not kept, with the reason.
    Failed(String),
    /// The driver does not make the promise, with the reason.
    NotApplicable(String),
    /// The case was not selected.
    NotTried,
}

/// State of a policy that a driver declares as enforced, after a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PolicyState {
    /// A case observed the effect, and none missed it.
    Enforced,
    /// A case missed the effect.
    Failed,
    /// No case observed the effect.
    Unknown,
}

impl PolicyState {
    const fn name(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Failed => "FAIL",
            Self::Unknown => "unknown",
        }
    }
}

/// Returns the state of a policy that is declared as enforced, and the reason.
fn policy_state(policy: Policy, cases: &[TriedCase]) -> (PolicyState, String) {
    let observers: Vec<&TriedCase> = cases.iter().filter(|case| case.observes.contains(&policy)).collect();
    let those = |found: fn(&CaseResult) -> bool| {
        let ids = observers.iter().filter(|case| found(&case.finding)).map(|case| case.id.as_str());
        ids.collect::<Vec<_>>().join(", ")
    };
    let failed = those(|finding| matches!(finding, CaseResult::Failed(_)));
    if !failed.is_empty() {
        return (PolicyState::Failed, format!("failed: {failed}"));
    }
    let passed = those(|finding| *finding == CaseResult::Passed);
    if !passed.is_empty() {
        return (PolicyState::Enforced, format!("observed by {passed}"));
    }
    let why = observers.first().map_or_else(
        || "no case observes its effect".to_owned(),
        |case| match &case.finding {
            CaseResult::NotApplicable(reason) => format!("{} is not applicable: {reason}", case.id),
            _ => format!("{} was not tried", case.id),
        },
    );
    (PolicyState::Unknown, why)
}

/// Returns the table of policies that the driver declares as enforced; nothing if there are none.
fn policies(declared: &[Policy], cases: &[TriedCase]) -> String {
    if declared.is_empty() {
        return String::new();
    }
    let mut grid = Grid::default()
        .column("Declared as enforced", Align::Left)
        .column("State", Align::Left)
        .column("Note", Align::Left);
    for &policy in declared {
        let (state, note) = policy_state(policy, cases);
        grid.row(vec![policy.to_string(), state.name().to_owned(), note]);
    }
    format!("\n{}", grid.render())
}

/// Formats the outcome of a check: one line per case, the state of each policy that the driver declares as enforced
/// (`declared`), and the failed cases with their promise and with what the driver notes about its `transport`. `cases` includes
/// those that were not selected.
#[must_use]
pub fn driver_check(
    driver: &str,
    transport: Option<&TransportInfo>,
    declared: &[Policy],
    cases: &[TriedCase],
) -> String {
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
            CaseResult::Passed => {
                passed += 1;
                ("pass", "")
            }
            CaseResult::Failed(reason) => {
                failed += 1;
                failures.push_str(&format!("\n{}\n", case.id));
                failures.push_str(&wrap(&format!("promised: {}", case.promise), WIDTH, 2));
                failures.push_str(&wrap(&format!("found: {reason}"), WIDTH, 2));
                ("FAIL", "")
            }
            CaseResult::NotApplicable(reason) => {
                not_applicable += 1;
                ("n/a", reason.as_str())
            }
            CaseResult::NotTried => continue,
        };
        grid.row(vec![
            case.id.clone(),
            verdict.to_owned(),
            case.processes.to_string(),
            case.section.clone(),
            note.to_owned(),
        ]);
    }
    let note = transport.and_then(|transport| Some((&transport.name, transport.note.as_ref()?)));
    if let Some((name, note)) = note.filter(|_| failed > 0) {
        failures.push('\n');
        failures.push_str(&wrap(&format!("note of the driver on `{name}`: {note}"), WIDTH, 2));
    }
    format!(
        "{driver}: {passed} passed, {failed} failed, {not_applicable} not applicable\n\n{}{}{failures}",
        grid.render(),
        policies(declared, cases)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &str, processes: u32, observes: &[Policy], finding: CaseResult) -> TriedCase {
        TriedCase {
            processes,
            id: id.to_owned(),
            section: "7".to_owned(),
            promise: format!("{id} holds"),
            observes: observes.to_vec(),
            finding,
        }
    }

    #[test]
    fn failed_case_shows_its_promise_and_not_applicable_case_its_reason() {
        let cases = [
            case("one", 1, &[], CaseResult::Passed),
            case("two", 2, &[], CaseResult::Failed("it does not".to_owned())),
            case("three", 1, &[], CaseResult::NotApplicable("never said".to_owned())),
            case("four", 1, &[], CaseResult::NotTried),
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
        assert_eq!(driver_check("mine", None, &[], &cases), expected);
        let note = Some("slow on Mondays".to_owned());
        let transport = TransportInfo { name: "tcp4".to_owned(), max_payload_bytes: 1, note };
        let noted = format!("{expected}\n  note of the driver on `tcp4`: slow on Mondays\n");
        assert_eq!(driver_check("mine", Some(&transport), &[], &cases), noted);
        let passed = driver_check("mine", Some(&transport), &[], &cases[..1]);
        assert!(!passed.contains("Mondays"), "{passed}");
    }

    #[test]
    fn a_declared_policy_is_enforced_only_where_a_case_observed_its_effect() {
        use Policy::{Deadline, Durability, History, Lifespan, Partition, Presentation};
        let none = || CaseResult::NotApplicable("no waitset".to_owned());
        let cases = [
            case("depth", 1, &[History], none()),
            case("keep-all", 1, &[History], CaseResult::Passed),
            case("late", 1, &[Durability], CaseResult::Passed),
            case("late-across", 2, &[Durability], CaseResult::Failed("lost".to_owned())),
            case("deadline", 1, &[Deadline], none()),
            case("lifespan", 1, &[Lifespan], CaseResult::NotTried),
            // a policy that the driver does not declare
            case("partition", 1, &[Partition], CaseResult::Passed),
        ];
        let declared = [History, Durability, Deadline, Lifespan, Presentation];
        let text = driver_check("mine", None, &declared, &cases);
        let expected = "
  Declared as enforced  State     Note
  history               enforced  observed by keep-all
  durability            FAIL      failed: late-across
  deadline              unknown   deadline is not applicable: no waitset
  lifespan              unknown   lifespan was not tried
  presentation          unknown   no case observes its effect

late-across
";
        assert!(text.contains(expected), "{text}");
    }
}
