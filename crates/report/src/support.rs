//! State of each QoS policy in a middleware, from the declaration of its driver and the observations of the probes.

use experiment::{DriverDescription, Policy, Support};
use serde_json::{Value, json};

use crate::{
    drivers::support_name,
    layout::{Grid, WIDTH, wrap},
};

/// Outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseResult {
    /// The promise is kept.
    Passed,
    /// The promise is not kept, with the reason.
    Failed(String),
    /// The policy that the case observes has no effect, with the reason.
    NoEffect(String),
    /// The driver does not make the promise, with the reason.
    NotApplicable(String),
    /// The case was not selected.
    NotTried,
}

/// Policy with the outcomes of its probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbedPolicy {
    /// Policy.
    pub policy: Policy,
    /// Kinds of the policy that this is about; empty: all others.
    pub kinds: String,
    /// Cases that pass if the policy has its effect.
    pub effect: Vec<(String, CaseResult)>,
    /// Cases that pass if the policy decides whether writer and reader match.
    pub matching: Vec<(String, CaseResult)>,
    /// Reason why no case can observe the effect; empty if one does.
    pub unobservable: String,
}

/// Probes of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverProbes {
    /// Name on the command line.
    pub name: String,
    /// Description that the driver reports.
    pub description: DriverDescription,
    /// Policies in the order of the contract.
    pub policies: Vec<ProbedPolicy>,
    /// Case that passes if requests for unsupported policies are rejected.
    pub rejection: (String, CaseResult),
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

impl ProbedPolicy {
    /// Returns the name of the row.
    pub(crate) fn name(&self) -> String {
        if self.kinds.is_empty() {
            self.policy.to_string()
        } else {
            format!("{} ({})", self.policy, self.kinds)
        }
    }
}

fn ids(cases: &[(String, CaseResult)], is: impl Fn(&CaseResult) -> bool) -> String {
    cases.iter().filter(|(_, found)| is(found)).map(|(id, _)| id.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns id and reason of the first case with this kind of outcome.
fn reason(cases: &[(String, CaseResult)], of: impl Fn(&CaseResult) -> Option<String>) -> Option<String> {
    cases.iter().find_map(|(id, found)| Some(format!("{id}: {}", of(found)?)))
}

fn failure(found: &CaseResult) -> Option<String> {
    if let CaseResult::Failed(reason) = found { Some(reason.clone()) } else { None }
}

fn no_effect(found: &CaseResult) -> Option<String> {
    if let CaseResult::NoEffect(reason) = found { Some(reason.clone()) } else { None }
}

/// Returns why no probe shows the state of a policy.
fn not_shown(probe: &ProbedPolicy) -> String {
    let mut cases = probe.effect.iter().chain(&probe.matching);
    cases.next().map_or_else(
        || "no case observes it".to_owned(),
        |(id, found)| match found {
            CaseResult::NotApplicable(reason) => format!("{id} is not applicable: {reason}"),
            _ => format!("{id} was not tried"),
        },
    )
}

/// Returns what a policy is that a driver declares as `declared`, by writers and by readers.
pub(crate) fn judge(
    declared: [Support; 2],
    probe: &ProbedPolicy,
    rejection: Option<&(String, CaseResult)>,
) -> JudgedPolicy {
    let judged = |state, note: String, contradicts| JudgedPolicy { state, note, contradicts };
    let both = |support| PolicyState::Known([support; 2]);
    let of_kinds = !probe.kinds.is_empty();
    let strongest = declared[0].max(declared[1]);
    if strongest == Support::Unsupported {
        return match rejection {
            Some((id, CaseResult::Passed)) => judged(both(strongest), format!("observed by {id}"), false),
            Some((id, CaseResult::Failed(reason))) => {
                judged(PolicyState::Unknown, format!("{id}: {reason}"), true)
            }
            _ => judged(PolicyState::Unknown, "no rejection was observed".to_owned(), false),
        };
    }
    let passed = |cases| ids(cases, |found| *found == CaseResult::Passed);
    let (effect, matching) = (passed(&probe.effect), passed(&probe.matching));
    let unmatched = reason(&probe.matching, no_effect);
    if let Some(why) = reason(&probe.effect, failure).or_else(|| reason(&probe.matching, failure)) {
        // a probe that fails in another way shows nothing of a policy that is not declared as enforced
        return judged(PolicyState::Unknown, why, strongest == Support::Enforced && !of_kinds);
    }
    let without = reason(&probe.effect, no_effect);
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
        _ => judged(PolicyState::Unknown, not_shown(probe), false),
    }
}

impl DriverProbes {
    /// Returns the state of each policy.
    fn judged(&self) -> impl Iterator<Item = (&ProbedPolicy, [Support; 2], JudgedPolicy)> {
        self.policies.iter().map(|probe| {
            let declared = self.description.support_of_ends(probe.policy);
            (probe, declared, judge(declared, probe, Some(&self.rejection)))
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
    let names = drivers.first().into_iter().flat_map(|driver| &driver.policies).map(ProbedPolicy::name);
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
            let name = probe.name();
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
    let of_policy = |(probe, declared, judged): (&ProbedPolicy, [Support; 2], JudgedPolicy)| {
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
    use super::*;

    type Cases<'a> = &'a [(&'a str, CaseResult)];
    const PASS: CaseResult = CaseResult::Passed;

    fn probe(effect: Cases<'_>, matching: Cases<'_>, unobservable: &str) -> ProbedPolicy {
        let owned =
            |cases: Cases<'_>| cases.iter().map(|(id, found)| ((*id).to_owned(), found.clone())).collect();
        ProbedPolicy {
            policy: Policy::Deadline,
            kinds: String::new(),
            effect: owned(effect),
            matching: owned(matching),
            unobservable: unobservable.to_owned(),
        }
    }

    fn judged(declared: Support, probe: &ProbedPolicy) -> (String, bool) {
        let rejected = ("refused".to_owned(), CaseResult::Passed);
        let judged = judge([declared; 2], probe, Some(&rejected));
        (judged.state.words(), judged.contradicts)
    }

    fn lacks() -> CaseResult {
        CaseResult::NoEffect("nothing happened".to_owned())
    }

    fn cannot() -> CaseResult {
        CaseResult::NotApplicable("no waitset".to_owned())
    }

    #[test]
    fn effect_is_enforced_only_if_it_was_observed() {
        use Support::{Enforced, Hint, Ignored, MatchedOnly, Unsupported};
        let is = |declared, probe: &ProbedPolicy, words: &str, contradicts| {
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
        let crashed = probe(&[("effect", CaseResult::Failed("killed".to_owned()))], &[("match", PASS)], "");
        is(Enforced, &crashed, "unknown", true);
        is(Ignored, &crashed, "unknown", false);
        let hidden = probe(&[], &[], "a hint");
        is(Hint, &hidden, "hint", false);
        is(Ignored, &hidden, "ignored", false);
        is(Enforced, &hidden, "unknown", false);
    }

    #[test]
    fn kinds_without_an_effect_need_a_service_and_accepted_requests_are_not_unsupported() {
        let store = ProbedPolicy { kinds: "transient".to_owned(), ..probe(&[("store", lacks())], &[], "") };
        assert_eq!(judged(Support::Enforced, &store), ("needs a service".to_owned(), false));
        assert_eq!(store.name(), "deadline (transient)");
        let seen = ProbedPolicy { effect: vec![("store".to_owned(), PASS)], ..store.clone() };
        assert_eq!(judged(Support::Enforced, &seen), ("enforced".to_owned(), false));
        let accepted = ("refused".to_owned(), CaseResult::Failed("it was accepted".to_owned()));
        let found = judge([Support::Unsupported; 2], &store, Some(&accepted));
        assert!(found.contradicts && found.state == PolicyState::Unknown, "{found:?}");
    }

    #[test]
    fn support_of_one_kind_of_endpoint_names_it() {
        let limits = probe(&[("limit", PASS)], &[], "");
        let found = judge([Support::Ignored, Support::Enforced], &limits, None);
        assert_eq!((found.state.words().as_str(), found.contradicts), ("enforced by readers", false));
    }
}
