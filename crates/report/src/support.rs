//! State of each QoS policy in a middleware, from the declaration of its driver and the observations of the probes.

use std::collections::BTreeMap;

use control::{CaseOutcome, PolicyProbe};
use experiment::{DriverDescription, Support};
use serde_json::{Value, json};

use crate::{
    drivers::support_name,
    layout::{Grid, WIDTH, wrap},
};

/// Outcomes of the conformance cases that were tried, by id.
pub type Outcomes = BTreeMap<String, CaseOutcome>;

/// Probes of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverProbes {
    /// Name on the command line.
    pub name: String,
    /// Description that the driver reports.
    pub description: DriverDescription,
    /// Probes of the policies, in the order of the contract.
    pub probes: Vec<PolicyProbe>,
    /// Id of the case that passes if requests for unsupported policies are rejected.
    pub rejection: String,
    /// Outcomes.
    pub outcomes: Outcomes,
}

/// Support of a policy by a middleware, as observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicyState {
    /// Support by writers and by readers.
    Known([Support; 2]),
    /// No probe shows it.
    Unknown,
}

/// State of a policy, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JudgedPolicy {
    pub(crate) state: PolicyState,
    pub(crate) note: String,
    /// Whether the probes contradict what the driver declares.
    pub(crate) contradicts: bool,
}

impl PolicyState {
    /// Returns the state in the words of the tables.
    pub(crate) fn words(self) -> String {
        let acts = |support| support > Support::Ignored;
        match self {
            Self::Unknown => "unknown".to_owned(),
            Self::Known([writers, readers]) if writers == readers => support_name(writers).to_owned(),
            Self::Known([writers, readers]) if !acts(readers) => {
                format!("{} by writers", support_name(writers))
            }
            Self::Known([writers, readers]) if !acts(writers) => {
                format!("{} by readers", support_name(readers))
            }
            Self::Known([writers, readers]) => {
                format!("{} by writers, {} by readers", support_name(writers), support_name(readers))
            }
        }
    }
}

/// Returns the name of the row of a policy.
pub(crate) fn row_name(probe: &PolicyProbe) -> String {
    if probe.kinds.is_empty() {
        probe.policy.to_string()
    } else {
        format!("{} ({})", probe.policy, probe.kinds)
    }
}

/// Returns why no probe shows the state of a policy.
fn not_shown(probe: &PolicyProbe, outcomes: &Outcomes) -> String {
    let Some(id) = probe.effect.iter().chain(&probe.matching).next() else {
        return "no case observes it".to_owned();
    };
    match outcomes.get(id) {
        Some(CaseOutcome::NotApplicable { reason }) => format!("{id} is not applicable: {reason}"),
        _ => format!("{id} was not tried"),
    }
}

/// Returns what a policy is that a driver declares as `declared`, by writers and by readers.
pub(crate) fn judge(
    declared: [Support; 2],
    probe: &PolicyProbe,
    outcomes: &Outcomes,
    rejection: Option<&str>,
) -> JudgedPolicy {
    let judged = |state, note: String, contradicts| JudgedPolicy { state, note, contradicts };
    let both = |support| PolicyState::Known([support; 2]);
    let of_kinds = !probe.kinds.is_empty();
    let strongest = declared[0].max(declared[1]);
    if strongest == Support::Unsupported {
        return match rejection.and_then(|id| Some((id, outcomes.get(id)?))) {
            Some((id, CaseOutcome::Passed)) => judged(both(strongest), format!("observed by {id}"), false),
            Some((id, CaseOutcome::Failed { reason })) => {
                judged(PolicyState::Unknown, format!("{id}: {reason}"), true)
            }
            _ => judged(PolicyState::Unknown, "no rejection was observed".to_owned(), false),
        };
    }
    let passed = |ids: &[String]| {
        let passed = ids.iter().filter(|id| outcomes.get(*id) == Some(&CaseOutcome::Passed));
        passed.map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    // Id and reason of the first case that failed, or whose policy has no effect.
    let failure = |ids: &[String]| {
        ids.iter().find_map(|id| match outcomes.get(id)? {
            CaseOutcome::Failed { reason } => Some(format!("{id}: {reason}")),
            _ => None,
        })
    };
    let no_effect = |ids: &[String]| {
        ids.iter().find_map(|id| match outcomes.get(id)? {
            CaseOutcome::NoEffect { reason } => Some(format!("{id}: {reason}")),
            _ => None,
        })
    };
    let (effect, matching) = (passed(&probe.effect), passed(&probe.matching));
    let unmatched = no_effect(&probe.matching);
    if let Some(why) = failure(&probe.effect).or_else(|| failure(&probe.matching)) {
        // a probe that fails in another way shows nothing of a policy that is not declared as enforced
        return judged(PolicyState::Unknown, why, strongest == Support::Enforced && !of_kinds);
    }
    let without = no_effect(&probe.effect);
    if !effect.is_empty() {
        let is_declared = strongest == Support::Enforced && without.is_none() && unmatched.is_none();
        let ends = if strongest == Support::Enforced { declared } else { [Support::Enforced; 2] };
        let note = without.or(unmatched).unwrap_or_else(|| format!("observed by {effect}"));
        return judged(PolicyState::Known(ends), note, !is_declared);
    }
    if let Some(why) = without {
        let found = match (of_kinds, matching.is_empty(), strongest) {
            (true, ..) => Support::NeedsService,
            (false, _, Support::Hint | Support::NeedsService) => strongest,
            (false, false, _) => Support::MatchedOnly,
            (false, true, _) => Support::Ignored,
        };
        return judged(both(found), why, found != strongest && !of_kinds);
    }
    match strongest {
        Support::Hint | Support::NeedsService => {
            judged(PolicyState::Known(declared), probe.unobservable.clone(), false)
        }
        Support::MatchedOnly if !matching.is_empty() => {
            judged(both(strongest), format!("observed by {matching}"), false)
        }
        Support::Ignored if !matching.is_empty() => {
            judged(both(Support::MatchedOnly), format!("observed by {matching}"), true)
        }
        Support::MatchedOnly | Support::Ignored if unmatched.is_some() => {
            judged(both(Support::Ignored), unmatched.unwrap_or_default(), strongest != Support::Ignored)
        }
        Support::Ignored if !probe.unobservable.is_empty() => {
            judged(both(strongest), probe.unobservable.clone(), false)
        }
        _ if !probe.unobservable.is_empty() => {
            judged(PolicyState::Unknown, probe.unobservable.clone(), false)
        }
        _ => judged(PolicyState::Unknown, not_shown(probe, outcomes), false),
    }
}

impl DriverProbes {
    /// Returns the state of each policy.
    fn judged(&self) -> impl Iterator<Item = (&PolicyProbe, [Support; 2], JudgedPolicy)> {
        self.probes.iter().map(|probe| {
            let declared = self.description.support_of_ends(probe.policy);
            (probe, declared, judge(declared, probe, &self.outcomes, Some(&self.rejection)))
        })
    }

    /// Returns whether the probes contradict what the driver declares.
    #[must_use]
    pub fn contradicts(&self) -> bool {
        self.judged().any(|(.., judged)| judged.contradicts)
    }

    /// Returns name and version; without the version if it is that of the kernel.
    fn title(&self) -> String {
        let version = &self.description.middleware_version;
        if self.description.version_source == "kernel" || self.name.contains('@') {
            return self.name.clone();
        }
        format!("{} {version}", self.name)
    }
}

/// Returns headings and rows of the matrix: one row for each policy, one column for each driver.
fn matrix(drivers: &[DriverProbes]) -> Vec<Vec<String>> {
    let titles = drivers.iter().map(DriverProbes::title);
    let mut rows: Vec<Vec<String>> = vec![std::iter::once("Policy".to_owned()).chain(titles).collect()];
    let states: Vec<Vec<String>> = drivers
        .iter()
        .map(|driver| driver.judged().map(|(.., judged)| judged.state.words()).collect())
        .collect();
    let names = drivers.first().into_iter().flat_map(|driver| &driver.probes).map(row_name);
    for (row, name) in names.enumerate() {
        let of_row = states.iter().map(|states| states.get(row).cloned().unwrap_or_default());
        rows.push(std::iter::once(name).chain(of_row).collect());
    }
    rows
}

/// Formats what each policy is in the middleware of each driver; below it what contradicts a driver, and what is unknown or needs
/// a service, with the reason.
#[must_use]
pub fn support_matrix(drivers: &[DriverProbes]) -> String {
    let mut rows = matrix(drivers).into_iter();
    let mut grid = Grid::default();
    for heading in rows.next().into_iter().flatten() {
        grid = grid.left([heading]);
    }
    rows.for_each(|row| grid.row(row));
    let mut text = grid.render();
    for driver in drivers {
        let mut notes = String::new();
        for (probe, declared, judged) in driver.judged() {
            let name = row_name(probe);
            let note = if judged.contradicts {
                let declared = PolicyState::Known(declared).words();
                format!("{name}: declared as {declared}, but found {}: {}", judged.state.words(), judged.note)
            } else if matches!(
                judged.state,
                PolicyState::Unknown | PolicyState::Known([Support::NeedsService, _])
            ) {
                format!("{name}: {}: {}", judged.state.words(), judged.note)
            } else {
                continue;
            };
            notes.push_str(&wrap(&note, WIDTH, 2));
        }
        if !notes.is_empty() {
            text.push_str(&format!("\n{}\n{notes}", driver.title()));
        }
    }
    text
}

/// Formats the matrix as CSV.
#[must_use]
pub fn support_csv(drivers: &[DriverProbes]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in matrix(drivers) {
        writer.write_record(&row).expect("memory is writable, and all rows have as many cells");
    }
    String::from_utf8(writer.into_inner().expect("memory is writable")).expect("the cells are UTF-8")
}

/// Formats the matrix as JSON, with what was declared and observed.
#[must_use]
pub fn support_json(drivers: &[DriverProbes]) -> String {
    let of_policy = |(probe, declared, judged): (&PolicyProbe, [Support; 2], JudgedPolicy)| {
        let [writers, readers] = declared.map(Support::name);
        json!({
            "policy": probe.policy.name(),
            "kinds": probe.kinds,
            "state": judged.state.words().replace(' ', "_"),
            "declared_of_writers": writers,
            "declared_of_readers": readers,
            "contradicts": judged.contradicts,
            "note": judged.note,
        })
    };
    let of_driver = |driver: &DriverProbes| {
        json!({
            "driver": driver.name,
            "middleware": driver.description.middleware,
            "middleware_version": driver.description.middleware_version,
            "policies": driver.judged().map(of_policy).collect::<Vec<Value>>(),
        })
    };
    let document = json!({ "drivers": drivers.iter().map(of_driver).collect::<Vec<Value>>() });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use experiment::Policy;

    use super::*;

    type Cases<'a> = &'a [(&'a str, CaseOutcome)];
    type Probed = (PolicyProbe, Outcomes);
    const PASS: CaseOutcome = CaseOutcome::Passed;

    fn probe(effect: Cases<'_>, matching: Cases<'_>, unobservable: &str) -> Probed {
        let ids = |cases: Cases<'_>| cases.iter().map(|(id, _)| (*id).to_owned()).collect();
        let probe = PolicyProbe {
            policy: Policy::Deadline,
            kinds: String::new(),
            effect: ids(effect),
            matching: ids(matching),
            unobservable: unobservable.to_owned(),
        };
        let all = effect.iter().chain(matching).map(|(id, found)| ((*id).to_owned(), found.clone()));
        (probe, all.collect())
    }

    fn judged(declared: Support, (probe, outcomes): &Probed) -> (String, bool) {
        let mut outcomes = outcomes.clone();
        outcomes.insert("refused".to_owned(), PASS);
        let judged = judge([declared; 2], probe, &outcomes, Some("refused"));
        (judged.state.words(), judged.contradicts)
    }

    fn lacks() -> CaseOutcome {
        CaseOutcome::NoEffect { reason: "nothing happened".to_owned() }
    }

    fn cannot() -> CaseOutcome {
        CaseOutcome::NotApplicable { reason: "no waitset".to_owned() }
    }

    #[test]
    fn effect_is_enforced_only_if_it_was_observed() {
        use Support::{Enforced, Hint, Ignored, MatchedOnly, Unsupported};
        let is = |declared, probe: &Probed, words: &str, contradicts| {
            assert_eq!(judged(declared, probe), (words.to_owned(), contradicts), "{declared}");
        };
        let seen = probe(&[("effect", PASS)], &[("match", PASS)], "");
        is(Enforced, &seen, "enforced", false);
        is(Ignored, &seen, "enforced", true);
        is(MatchedOnly, &seen, "enforced", true);
        is(Unsupported, &seen, "unsupported", false);
        let matched = probe(&[("effect", lacks())], &[("match", PASS)], "");
        is(Enforced, &matched, "matched only", true);
        is(MatchedOnly, &matched, "matched only", false);
        is(Ignored, &matched, "matched only", true);
        let ignored = probe(&[("effect", lacks())], &[("match", lacks())], "");
        is(Enforced, &ignored, "ignored", true);
        is(MatchedOnly, &ignored, "ignored", true);
        is(Ignored, &ignored, "ignored", false);
        let partly = probe(&[("one", PASS), ("two", lacks())], &[], "");
        is(Enforced, &partly, "enforced", true);
        let silent = probe(&[("effect", cannot())], &[], "");
        is(Enforced, &silent, "unknown", false);
        is(Ignored, &silent, "unknown", false);
        let only_matches = probe(&[("effect", cannot())], &[("match", PASS)], "");
        is(MatchedOnly, &only_matches, "matched only", false);
        is(Enforced, &only_matches, "unknown", false);
        let failed = CaseOutcome::Failed { reason: "killed".to_owned() };
        let crashed = probe(&[("effect", failed)], &[("match", PASS)], "");
        is(Enforced, &crashed, "unknown", true);
        is(Ignored, &crashed, "unknown", false);
        let hidden = probe(&[], &[], "a hint");
        is(Hint, &hidden, "hint", false);
        is(Ignored, &hidden, "ignored", false);
        is(Enforced, &hidden, "unknown", false);
    }

    #[test]
    fn kinds_without_an_effect_need_a_service_and_accepted_requests_are_not_unsupported() {
        let mut store = probe(&[("store", lacks())], &[], "");
        store.0.kinds = "transient".to_owned();
        assert_eq!(judged(Support::Enforced, &store), ("needs a service".to_owned(), false));
        assert_eq!(row_name(&store.0), "deadline (transient)");
        let seen = (store.0.clone(), Outcomes::from([("store".to_owned(), PASS)]));
        assert_eq!(judged(Support::Enforced, &seen), ("enforced".to_owned(), false));
        let failed = CaseOutcome::Failed { reason: "it was accepted".to_owned() };
        let accepted = Outcomes::from([("refused".to_owned(), failed)]);
        let found = judge([Support::Unsupported; 2], &store.0, &accepted, Some("refused"));
        assert!(found.contradicts && found.state == PolicyState::Unknown, "{found:?}");
    }

    #[test]
    fn support_of_one_kind_of_endpoint_names_it() {
        let (limits, outcomes) = probe(&[("limit", PASS)], &[], "");
        let found = judge([Support::Ignored, Support::Enforced], &limits, &outcomes, None);
        assert_eq!((found.state.words().as_str(), found.contradicts), ("enforced by readers", false));
    }
}
