//! Outcome of a driver check against the contract.

use control::{CaseInfo, CaseOutcome, PolicyProbe};
use experiment::{DriverDescription, Support, TransportInfo};

use crate::{
    layout::{Grid, WIDTH, wrap},
    support::{Outcomes, judge, row_name},
};

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
    pub cases: &'a [CaseInfo],
    /// Probes of the policies.
    pub probes: &'a [PolicyProbe],
    /// Outcomes.
    pub outcomes: &'a Outcomes,
}

/// Returns the table of policies that the driver declares as enforced; nothing if there are none.
fn policies(check: &DriverCheck<'_>) -> String {
    let declared =
        |probe: &&PolicyProbe| check.description.support_of_ends(probe.policy).contains(&Support::Enforced);
    if !check.probes.iter().any(|probe| declared(&probe)) {
        return String::new();
    }
    let mut grid = Grid::default().left(["Declared as enforced", "State", "Note"]);
    for probe in check.probes.iter().filter(declared) {
        let judged = judge(check.description.support_of_ends(probe.policy), probe, check.outcomes, None);
        let state = if judged.contradicts { "FAIL".to_owned() } else { judged.state.words() };
        grid.row(vec![row_name(probe), state, judged.note]);
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
        let (verdict, note) = match check.outcomes.get(&case.id) {
            Some(CaseOutcome::Passed) => {
                passed += 1;
                ("pass", "")
            }
            Some(CaseOutcome::Failed { reason } | CaseOutcome::NoEffect { reason }) => {
                failed += 1;
                failures.push_str(&format!("\n{}\n", case.id));
                failures.push_str(&wrap(&format!("promised: {}", case.promise), WIDTH, 2));
                failures.push_str(&wrap(&format!("found: {reason}"), WIDTH, 2));
                ("FAIL", "")
            }
            Some(CaseOutcome::NotApplicable { reason }) => {
                not_applicable += 1;
                ("n/a", reason.as_str())
            }
            None => continue,
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

    fn case(id: &str, processes: u32) -> CaseInfo {
        CaseInfo { processes, id: id.to_owned(), section: "7".to_owned(), promise: format!("{id} holds") }
    }

    fn outcomes(all: &[(&str, CaseOutcome)]) -> Outcomes {
        all.iter().map(|(id, found)| ((*id).to_owned(), found.clone())).collect()
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
        let cases = [case("one", 1), case("two", 2), case("three", 1), case("four", 1)];
        let outcomes = outcomes(&[
            ("one", CaseOutcome::Passed),
            ("two", CaseOutcome::NoEffect { reason: "it does not".to_owned() }),
            ("three", CaseOutcome::NotApplicable { reason: "never said".to_owned() }),
        ]);
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
            probes: &[],
            outcomes: &outcomes,
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
        let probe = |policy, effect: &[&str]| PolicyProbe {
            policy,
            kinds: String::new(),
            effect: effect.iter().map(|id| (*id).to_owned()).collect(),
            matching: Vec::new(),
            unobservable: if effect.is_empty() { "it is out of sight".to_owned() } else { String::new() },
        };
        let none = || CaseOutcome::NotApplicable { reason: "no waitset".to_owned() };
        let probes = [
            probe(History, &["depth", "keep-all"]),
            probe(Durability, &["late", "late-across"]),
            probe(Deadline, &["deadline"]),
            probe(Lifespan, &["lifespan"]),
            // a policy that the driver does not declare
            probe(Partition, &["partition"]),
            probe(Policy::UserData, &[]),
        ];
        let outcomes = outcomes(&[
            ("depth", none()),
            ("keep-all", CaseOutcome::Passed),
            ("late", CaseOutcome::Passed),
            ("late-across", CaseOutcome::Failed { reason: "lost".to_owned() }),
            ("deadline", none()),
            ("partition", CaseOutcome::Passed),
        ]);
        let description = description(&[History, Durability, Deadline, Lifespan, Policy::UserData]);
        let check = DriverCheck {
            name: "mine",
            description: &description,
            transport: None,
            cases: &[case("late-across", 2)],
            probes: &probes,
            outcomes: &outcomes,
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
