//! QoS of the writers of a topic, as bags store it: YAML, with numbers up to metadata version 8 and with words after it.

use std::fmt::Display;

use crate::{
    document::{Fields, Node, Value, parse_yaml},
    error::ImportError,
    qos::{Durability, EndpointQos, History, Liveliness, Reliability, TopicQos},
    system::System,
};

/// Returns the policies that a list of profiles requests, and adds notes about what is not known.
pub(super) fn offered_qos(text: &str, topic: &str, system: &mut System) -> Result<TopicQos, ImportError> {
    let document = parse_yaml(text).map_err(|error| of_topic(error, topic))?;
    let profiles = match &document.value {
        Value::List(list) => &list[..],
        Value::Table(table) if table.is_empty() => &[],
        _ => return Err(of_topic(ImportError::new("the QoS is not a list", "record the bag again"), topic)),
    };
    if profiles.is_empty() {
        let reason = "not recorded: the defaults of the RMW interface are requested";
        system.not_applied(format!("QoS of `{topic}`"), reason);
        return Ok(TopicQos::both(EndpointQos::of_rmw()));
    }
    let read = |profile: &Node| profile_of(profile, topic, system).map_err(|error| of_topic(error, topic));
    let profiles = profiles.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    if profiles.len() > 1 {
        let reason =
            "a bag does not say which one sent a message: one writer sends all, with their strongest QoS";
        system.not_applied_often(format!("other writers of `{topic}`"), profiles.len() as u64 - 1, reason);
    }
    let writer = profiles.into_iter().reduce(|one, other| strongest(&one, &other)).expect("there are some");
    // A reader takes what is offered; times are the promise of the writer.
    let reader = EndpointQos {
        liveliness: None,
        lease_ns: None,
        deadline_ns: None,
        lifespan_ns: None,
        ..writer.clone()
    };
    Ok(TopicQos { writer, reader })
}

fn of_topic(error: ImportError, topic: &str) -> ImportError {
    ImportError { message: format!("QoS of topic `{topic}`: {}", error.message), ..error }
}

fn strongest(one: &EndpointQos, other: &EndpointQos) -> EndpointQos {
    EndpointQos {
        reliability: one.reliability.max(other.reliability),
        durability: one.durability.max(other.durability),
        history: one.history.max(other.history),
        depth: one.depth.max(other.depth),
        ..one.clone()
    }
}

/// Reads a policy, as a word or as a number of the RMW interface.
fn policy<T: Copy + Display>(
    fields: &Fields<'_>,
    key: &str,
    kinds: &[(u8, T)],
    topic: &str,
    system: &mut System,
) -> Result<Option<T>, ImportError> {
    let Some(text) = fields.text(key)? else { return Ok(None) };
    let is_of =
        |(number, kind): &&(u8, T)| [number.to_string(), kind.to_string()].iter().any(|of| of == text);
    let known = kinds.iter().find(is_of);
    if known.is_none() {
        let reason = format!("`{key}` is `{text}`, which a reader cannot request: the default is requested");
        system.not_applied(format!("QoS of `{topic}`"), reason);
    }
    Ok(known.map(|(_, kind)| *kind))
}

fn profile_of(profile: &Node, topic: &str, system: &mut System) -> Result<EndpointQos, ImportError> {
    let fields = Fields::new(profile, "QoS profile")?;
    let mut qos = EndpointQos::of_rmw();
    let histories = [(1, History::KeepLast), (2, History::KeepAll)];
    let depth = fields.number::<u64>("depth")?;
    if let Some(history) = policy(&fields, "history", &histories, topic, system)? {
        qos.history = Some(history);
        if history == History::KeepLast {
            qos.keep_last(depth.unwrap_or(10).min(1_000_000) as u32);
        }
    }
    let reliabilities = [(1, Reliability::Reliable), (2, Reliability::BestEffort)];
    qos.reliability = policy(&fields, "reliability", &reliabilities, topic, system)?.or(qos.reliability);
    let durabilities = [(1, Durability::TransientLocal), (2, Durability::Volatile)];
    qos.durability = policy(&fields, "durability", &durabilities, topic, system)?.or(qos.durability);
    let kinds = [(1, Liveliness::Automatic), (3, Liveliness::ManualByTopic)];
    // The default has no effect, and not each driver supports the policy.
    let liveliness = policy(&fields, "liveliness", &kinds, topic, system)?;
    qos.liveliness = liveliness.filter(|kind| *kind != Liveliness::Automatic);
    qos.deadline_ns = time(&fields, "deadline")?;
    qos.lifespan_ns = time(&fields, "lifespan")?;
    qos.lease_ns = time(&fields, "liveliness_lease_duration")?;
    if fields.text("avoid_ros_namespace_conventions")?.is_some_and(|value| value == "true") {
        let reason = "topics have the names of ddsmark";
        system.not_applied("`avoid_ros_namespace_conventions`", reason);
    }
    fields.no_other()?;
    Ok(qos)
}

/// Returns a time; `None` if it is infinite, which has several forms.
fn time(fields: &Fields<'_>, key: &str) -> Result<Option<u64>, ImportError> {
    /// Seconds that stand for infinite: of `rmw_time_t`, and of Foxy.
    const INFINITE_S: [u64; 2] = [9_223_372_036, 2_147_483_647];
    let Some(node) = fields.get(key) else { return Ok(None) };
    // Words: `infinite`.
    if node.scalar().is_some() {
        return Ok(None);
    }
    let parts = Fields::new(node, "time")?;
    let (sec, nsec) = (parts.number::<u64>("sec")?.unwrap_or(0), parts.number::<u64>("nsec")?.unwrap_or(0));
    parts.no_other()?;
    if INFINITE_S.contains(&sec) || (sec, nsec) == (0, 0) {
        return Ok(None);
    }
    Ok(sec.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(nsec)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: &str = "- history: 3\n  depth: 0\n  reliability: 2\n  durability: 1\n  deadline:\n    sec: 9223372036\n    nsec: 854775807\n  lifespan:\n    sec: 1\n    nsec: 5\n  liveliness: 1\n  liveliness_lease_duration:\n    sec: 0\n    nsec: 0\n  avoid_ros_namespace_conventions: false\n";
    const WORDS: &str = "- history: keep_last\n  depth: 5\n  reliability: reliable\n  durability: volatile\n  deadline: {sec: 2147483647, nsec: 4294967295}\n  lifespan: {sec: 0, nsec: 0}\n  liveliness: manual_by_topic\n  liveliness_lease_duration: {sec: 2, nsec: 0}\n  avoid_ros_namespace_conventions: true\n";

    fn read(text: &str) -> (EndpointQos, EndpointQos, Vec<String>) {
        let mut system = System::default();
        let TopicQos { writer, reader } = offered_qos(text, "/t", &mut system).expect("QoS");
        (writer, reader, system.not_applied.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn numbers_of_the_rmw_interface() {
        let (writer, reader, notes) = read(NUMBERS);
        let expected = EndpointQos {
            reliability: Some(Reliability::BestEffort),
            durability: Some(Durability::TransientLocal),
            lifespan_ns: Some(1_000_000_005),
            ..EndpointQos::of_rmw()
        };
        assert_eq!(writer, expected);
        assert_eq!(reader, EndpointQos { lifespan_ns: None, ..expected });
        assert_eq!(
            notes,
            ["QoS of `/t`: `history` is `3`, which a reader cannot request: the default is requested"]
        );
    }

    #[test]
    fn words_of_version_9() {
        let (writer, _, notes) = read(WORDS);
        assert_eq!(
            (writer.history, writer.depth, writer.deadline_ns, writer.lifespan_ns),
            (Some(History::KeepLast), Some(5), None, None)
        );
        assert_eq!(
            (writer.liveliness, writer.lease_ns),
            (Some(Liveliness::ManualByTopic), Some(2_000_000_000))
        );
        assert_eq!(notes.len(), 1, "{notes:?}");
    }

    #[test]
    fn several_writers_become_one_with_the_strongest_policies() {
        let (writer, _, notes) = read(&format!("{NUMBERS}{WORDS}"));
        assert_eq!(
            (writer.reliability, writer.durability),
            (Some(Reliability::Reliable), Some(Durability::TransientLocal))
        );
        assert!(notes.iter().any(|note| note.starts_with("other writers of `/t`")), "{notes:?}");
        let (writer, _, notes) = read("");
        assert_eq!((writer, notes.len()), (EndpointQos::of_rmw(), 1));
    }

    #[test]
    fn fault_names_the_topic() {
        let error = offered_qos("- depth: x", "/t", &mut System::default()).expect_err("a fault");
        assert_eq!(error.to_string(), "1:10: QoS of topic `/t`: `depth` is `x`, not a valid number");
        assert!(offered_qos("- speed: 1", "/t", &mut System::default()).is_err());
        assert!(offered_qos("x", "/t", &mut System::default()).is_err());
    }
}
