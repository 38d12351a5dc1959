//! Policies of an XML file: names and values of OMG DDS-XML 1.0, to policies of an experiment file.

use std::{collections::BTreeSet, fmt::Display};

use driver_abi::policies::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, QosDuration,
    Reliability, Scope,
};
use roxmltree::Node;

use super::{Outcome, elements, error, local, text, variables::resolved};
use crate::{
    factors::{
        policies::Policies,
        policy_values::{PolicyDuration, ReliabilityChoice},
    },
    syntax::one_or_many::{Located, Span},
};

const FLAGS: &[(&str, bool)] = &[("true", true), ("false", false), ("1", true), ("0", false)];

/// Words for numbers.
const UNLIMITED: &str = "LENGTH_UNLIMITED";
const INFINITE: [&str; 2] = ["DURATION_INFINITY", "DURATION_INFINITE"];
const SECOND_NS: u64 = 1_000_000_000;

/// Adds the policy of an element of `entity`; a part that is not applied is added to `not_applied`.
pub(super) fn policy(
    node: Node<'_, '_>,
    entity: &str,
    out: &mut Policies,
    at: &Span,
    not_applied: &mut BTreeSet<String>,
) -> Outcome<()> {
    let name = local(node);
    for field in elements(node) {
        let mut texts = field.descendants().filter_map(|part| part.text());
        if Policy::ALL.iter().any(|policy| policy.name() == name) {
            texts.try_for_each(|text| resolved(field, text))?;
        }
        if !apply((name, local(field)), field, out, at)? {
            not_applied.insert(format!("{entity}/{name}/{}", local(field)));
        }
    }
    // a policy without a field requests nothing
    if elements(node).next().is_none() && !Policy::ALL.iter().any(|policy| policy.name() == name) {
        not_applied.insert(format!("{entity}/{name}"));
    }
    if name == "history" && out.history.as_ref().is_some_and(|history| *history.get() == History::KeepAll) {
        out.history_depth = None;
    }
    if name == "durability_service"
        && out.service_history.as_ref().is_some_and(|history| *history.get() == History::KeepAll)
    {
        out.service_history_depth = None;
    }
    Ok(())
}

/// Sets the field of a policy. Returns `false` if it is not applied.
fn apply((policy, field): (&str, &str), node: Node<'_, '_>, out: &mut Policies, at: &Span) -> Outcome<bool> {
    macro_rules! set {
        ($key:ident, $value:expr) => {
            out.$key = Some(Located::at(at.clone(), $value))
        };
    }
    match (policy, field) {
        ("reliability", "kind") => {
            set!(reliability, ReliabilityChoice::from(kind(node, Reliability::ALL, "RELIABILITY")?));
        }
        ("reliability", "max_blocking_time") => set!(max_blocking, duration(node)?),
        ("history", "kind") => set!(history, kind(node, History::ALL, "HISTORY")?),
        ("history", "depth") => set!(history_depth, number(node)?),
        ("resource_limits", "max_samples") => set!(max_samples, number(node)?),
        ("resource_limits", "max_instances") => set!(max_instances, number(node)?),
        ("resource_limits", "max_samples_per_instance") => set!(max_samples_per_instance, number(node)?),
        ("durability", "kind") => set!(durability, kind(node, Durability::ALL, "DURABILITY")?),
        ("durability_service", "service_cleanup_delay") => set!(service_cleanup, duration(node)?),
        ("durability_service", "history_kind") => set!(service_history, kind(node, History::ALL, "HISTORY")?),
        ("durability_service", "history_depth") => set!(service_history_depth, number(node)?),
        ("durability_service", "max_samples") => set!(service_max_samples, number(node)?),
        ("durability_service", "max_instances") => set!(service_max_instances, number(node)?),
        ("durability_service", "max_samples_per_instance") => {
            set!(service_max_samples_per_instance, number(node)?);
        }
        ("deadline", "period") => set!(deadline, duration(node)?),
        ("latency_budget", "duration") => set!(latency_budget, duration(node)?),
        ("lifespan", "duration") => set!(lifespan, duration(node)?),
        ("liveliness", "kind") => set!(liveliness, kind(node, Liveliness::ALL, "LIVELINESS")?),
        ("liveliness", "lease_duration") => set!(liveliness_lease, duration(node)?),
        ("ownership", "kind") => set!(ownership, kind(node, Ownership::ALL, "OWNERSHIP")?),
        ("ownership_strength", "value") => set!(ownership_strength, number(node)?),
        ("partition", "name") => set!(partitions, names(node)),
        ("presentation", "access_scope") => {
            let scope = kind(node, Scope::ALL, "PRESENTATION")?;
            set!(presentation, Presentation { scope, ..presentation(out) });
        }
        ("presentation", "coherent_access") => {
            let coherent_access = word(node, FLAGS)?;
            set!(presentation, Presentation { coherent_access, ..presentation(out) });
        }
        ("presentation", "ordered_access") => {
            let ordered_access = word(node, FLAGS)?;
            set!(presentation, Presentation { ordered_access, ..presentation(out) });
        }
        ("destination_order", "kind") => {
            set!(destination_order, kind(node, DestinationOrder::ALL, "DESTINATIONORDER")?);
        }
        ("time_based_filter", "minimum_separation") => set!(minimum_separation, duration(node)?),
        ("transport_priority", "value") => set!(transport_priority, number(node)?),
        ("writer_data_lifecycle", "autodispose_unregistered_instances") => {
            set!(autodispose_unregistered, word(node, FLAGS)?);
        }
        ("reader_data_lifecycle", "autopurge_nowriter_samples_delay") => {
            set!(autopurge_nowriter, duration(node)?);
        }
        ("reader_data_lifecycle", "autopurge_disposed_samples_delay") => {
            set!(autopurge_disposed, duration(node)?);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn presentation(policies: &Policies) -> Presentation {
    policies.presentation.as_ref().map_or(Presentation::UNORDERED, |presentation| *presentation.get())
}

/// Parses the kind of a policy, such as `KEEP_LAST_HISTORY_QOS`.
fn kind<T: Copy + Display>(node: Node<'_, '_>, all: &[T], policy: &str) -> Outcome<T> {
    let named = |kind: &T| (format!("{}_{policy}_QOS", kind.to_string().to_uppercase()), *kind);
    word(node, &all.iter().map(named).collect::<Vec<_>>())
}

/// Parses one of several words; `DDS_` before it is optional.
fn word<T: Copy>(node: Node<'_, '_>, known: &[(impl AsRef<str>, T)]) -> Outcome<T> {
    let found = text(node);
    let plain = found.strip_prefix("DDS_").unwrap_or(found);
    known.iter().find(|(word, _)| word.as_ref() == plain).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| word.as_ref()).collect();
        error(
            node,
            format!("`{}` is not a value of `{}`", shown(found), local(node)),
            format!("available: {}", words.join(", ")),
        )
    })
}

/// Parses a whole number.
fn number(node: Node<'_, '_>) -> Outcome<i32> {
    let found = text(node);
    if found.strip_prefix("DDS_").unwrap_or(found) == UNLIMITED {
        return Ok(-1);
    }
    found.parse().map_err(|_| {
        let words = format!("`{}` of `{}` is not a whole number", shown(found), local(node));
        error(node, words, format!("write a number up to {}, or `{UNLIMITED}`", i32::MAX))
    })
}

/// Parses a duration: `sec` and `nanosec`, each a number or the word for infinite or zero.
fn duration(node: Node<'_, '_>) -> Outcome<PolicyDuration> {
    let (mut seconds, mut nanoseconds) = (0, 0);
    let is_infinite =
        |text: &str| INFINITE.iter().any(|word| text.strip_prefix("DDS_").unwrap_or(text).starts_with(word));
    if is_infinite(text(node)) {
        return Ok(PolicyDuration(QosDuration::INFINITE));
    }
    for part in elements(node) {
        let found = text(part);
        if is_infinite(found) {
            return Ok(PolicyDuration(QosDuration::INFINITE));
        }
        let value = match found.strip_prefix("DDS_").unwrap_or(found) {
            word if word.starts_with("DURATION_ZERO") => Some(0),
            number => number.parse::<u32>().ok(),
        };
        match (local(part), value) {
            ("sec", Some(value)) => seconds = u64::from(value),
            ("nanosec", Some(value)) => nanoseconds = u64::from(value),
            _ => {
                let words = format!("`{}` of `{}` is not a duration", shown(found), local(node));
                let hint = "write `<sec>` and `<nanosec>` as whole numbers, or `DURATION_INFINITE_SEC` and `DURATION_INFINITE_NSEC`";
                return Err(error(part, words, hint));
            }
        }
    }
    if elements(node).next().is_none() {
        let words = format!("`{}` has no duration", local(node));
        return Err(error(node, words, "write `<sec>` and `<nanosec>` in it"));
    }
    // The largest number of seconds of the standard is infinite.
    if seconds >= i32::MAX as u64 {
        return Ok(PolicyDuration(QosDuration::INFINITE));
    }
    Ok(PolicyDuration(QosDuration::Ns(seconds * SECOND_NS + nanoseconds)))
}

/// Returns partition names: one per element, or between commas.
fn names(node: Node<'_, '_>) -> Vec<String> {
    let listed: Vec<String> = elements(node).map(|element| text(element).to_owned()).collect();
    if !listed.is_empty() || text(node).is_empty() {
        return listed;
    }
    text(node).split(',').map(|name| name.trim().to_owned()).collect()
}

/// Shortens a text to the length that an error shows.
fn shown(text: &str) -> String {
    const MOST: usize = 40;
    text.chars().take(MOST).collect()
}
