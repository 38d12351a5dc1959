//! Outcome of a driver check against the contract.

use experiment::{DriverDescription, Support, TransportInfo};

use crate::{
    layout::{Grid, WIDTH, wrap},
    support::{CaseResult, ProbedPolicy, judge},
};

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
    /// Outcome.
    pub finding: CaseResult,
}

/// Check of a driver, for [`driver_check`].
#[derive(Clone, Debug)]
pub struct DriverCheck<'a> {
    /// Name on the command line.
    pub name: &'a str,
    /// Description that the driver reports.
    pub description: &'a DriverDescription,
    /// Transport under test.
    pub transport: Option<&'a TransportInfo>,
    /// All cases, including those that were not selected.
    pub cases: &'a [TriedCase],
    /// Policies with the outcomes of their probes.
    pub policies: &'a [ProbedPolicy],
}

/// Returns the table of policies that the driver declares as enforced; nothing if there are none.
fn policies(check: &DriverCheck<'_>) -> String {
    let declared =
        |probe: &&ProbedPolicy| check.description.support_of_ends(probe.policy).contains(&Support::Enforced);
    if !check.policies.iter().any(|probe| declared(&probe)) {
        return String::new();
    }
    let mut grid = Grid::default().left(["Declared as enforced", "State", "Note"]);
    for probe in check.policies.iter().filter(declared) {
        let judged = judge(check.description.support_of_ends(probe.policy), probe, None);
        let state = if judged.contradicts { "FAIL".to_owned() } else { judged.state.words() };
        grid.row(vec![probe.name(), state, judged.note]);
    }
    format!("\n{}", grid.render())
}

/// Formats the outcome of a check: one line per case, the state of each policy that the driver declares as enforced,
/// and the failed cases with their promise and with what the driver notes about its transport.
#[must_use]
pub fn driver_check(check: &DriverCheck<'_>) -> String {
    let mut grid =
        Grid::default().left(["Case", "Verdict"]).right(["Processes"]).left(["In driver.h", "Note"]);
    let mut failures = String::new();
    let (mut passed, mut failed, mut not_applicable) = (0, 0, 0);
    for case in check.cases {
        let (verdict, note) = match &case.finding {
            CaseResult::Passed => {
                passed += 1;
                ("pass", "")
            }
            CaseResult::Failed(reason) | CaseResult::NoEffect(reason) => {
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
    let note = check.transport.and_then(|transport| Some((&transport.name, transport.note.as_ref()?)));
    if let Some((name, note)) = note.filter(|_| failed > 0) {
        failures.push('\n');
        failures.push_str(&wrap(&format!("note of the driver on `{name}`: {note}"), WIDTH, 2));
    }
    format!(
        "{}: {passed} passed, {failed} failed, {not_applicable} not applicable\n\n{}{}{failures}",
        check.name,
        grid.render(),
        policies(check)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use experiment::{Policy, PolicySupport};

    use super::*;

    fn case(id: &str, processes: u32, finding: CaseResult) -> TriedCase {
        TriedCase {
            processes,
            id: id.to_owned(),
            section: "7".to_owned(),
            promise: format!("{id} holds"),
            finding,
        }
    }

    fn description(enforced: &[Policy]) -> DriverDescription {
        let enforced =
            enforced.iter().map(|policy| (*policy, PolicySupport::of_both(Support::Enforced, None)));
        DriverDescription {
            name: "mine".to_owned(),
            policies: enforced.collect::<BTreeMap<_, _>>(),
            ..DriverDescription::default()
        }
    }

    #[test]
    fn failed_case_shows_its_promise_and_not_applicable_case_its_reason() {
        let cases = [
            case("one", 1, CaseResult::Passed),
            case("two", 2, CaseResult::NoEffect("it does not".to_owned())),
            case("three", 1, CaseResult::NotApplicable("never said".to_owned())),
            case("four", 1, CaseResult::NotTried),
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
        let description = description(&[]);
        let check = DriverCheck {
            name: "mine",
            description: &description,
            transport: None,
            cases: &cases,
            policies: &[],
        };
        assert_eq!(driver_check(&check), expected);
        let note = Some("slow on Mondays".to_owned());
        let transport = TransportInfo { name: "tcp4".to_owned(), max_payload_bytes: 1, note };
        let over = DriverCheck { transport: Some(&transport), ..check };
        assert_eq!(
            driver_check(&over),
            format!("{expected}\n  note of the driver on `tcp4`: slow on Mondays\n")
        );
        let passed = driver_check(&DriverCheck { cases: &cases[..1], ..over });
        assert!(!passed.contains("Mondays"), "{passed}");
    }

    #[test]
    fn a_declared_policy_is_enforced_only_where_a_case_observed_its_effect() {
        use Policy::{Deadline, Durability, History, Lifespan, Partition};
        let probe = |policy, effect: &[(&str, CaseResult)]| ProbedPolicy {
            policy,
            kinds: String::new(),
            effect: effect.iter().map(|(id, found)| ((*id).to_owned(), found.clone())).collect(),
            matching: Vec::new(),
            unobservable: if effect.is_empty() { "it is out of sight".to_owned() } else { String::new() },
        };
        let none = || CaseResult::NotApplicable("no waitset".to_owned());
        let policies = [
            probe(History, &[("depth", none()), ("keep-all", CaseResult::Passed)]),
            probe(
                Durability,
                &[("late", CaseResult::Passed), ("late-across", CaseResult::Failed("lost".to_owned()))],
            ),
            probe(Deadline, &[("deadline", none())]),
            probe(Lifespan, &[("lifespan", CaseResult::NotTried)]),
            // a policy that the driver does not declare
            probe(Partition, &[("partition", CaseResult::Passed)]),
            probe(Policy::UserData, &[]),
        ];
        let description = description(&[History, Durability, Deadline, Lifespan, Policy::UserData]);
        let check = DriverCheck {
            name: "mine",
            description: &description,
            transport: None,
            cases: &[case("late-across", 2, CaseResult::Failed("lost".to_owned()))],
            policies: &policies,
        };
        let text = driver_check(&check);
        let expected = "
  Declared as enforced  State     Note
  history               enforced  observed by keep-all
  durability            FAIL      late-across: lost
  deadline              unknown   deadline is not applicable: no waitset
  lifespan              unknown   lifespan was not tried
  user_data             unknown   it is out of sight

late-across
";
        assert!(text.contains(expected), "{text}");
    }
}
