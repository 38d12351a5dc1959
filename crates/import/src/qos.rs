//! QoS policies of the endpoints of a topic, and their text in an experiment file.

use std::fmt::Display;

pub(crate) use experiment::{Durability, History, Liveliness, Reliability};

/// Policies of the writers and readers of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicQos {
    /// Policies of the writers.
    pub writer: EndpointQos,
    /// Policies of the readers.
    pub reader: EndpointQos,
}

/// Policies of an endpoint; `None` is not requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointQos {
    /// RELIABILITY kind.
    pub reliability: Option<Reliability>,
    /// DURABILITY kind.
    pub durability: Option<Durability>,
    /// HISTORY kind.
    pub history: Option<History>,
    /// HISTORY depth.
    pub depth: Option<u32>,
    /// LIVELINESS kind.
    pub liveliness: Option<Liveliness>,
    /// LIVELINESS lease duration in ns.
    pub lease_ns: Option<u64>,
    /// DEADLINE period in ns.
    pub deadline_ns: Option<u64>,
    /// LIFESPAN duration in ns.
    pub lifespan_ns: Option<u64>,
}

/// Kinds that a source may request.
pub(crate) const RELIABILITIES: [Reliability; 2] = [Reliability::Reliable, Reliability::BestEffort];
pub(crate) const DURABILITIES: [Durability; 2] = [Durability::Volatile, Durability::TransientLocal];
pub(crate) const HISTORIES: [History; 2] = [History::KeepLast, History::KeepAll];
pub(crate) const LIVELINESS: [Liveliness; 2] = [Liveliness::Automatic, Liveliness::ManualByTopic];

/// Returns the kind with this name in an experiment file.
pub(crate) fn kind<T: Copy + Display>(kinds: &[T], name: &str) -> Option<T> {
    kinds.iter().copied().find(|kind| kind.to_string() == name)
}

/// Returns the names of kinds.
pub(crate) fn names<T: Display>(kinds: &[T]) -> String {
    kinds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl EndpointQos {
    /// Returns the first policy with whose kinds, as offered here and as requested, a writer and a reader do not match.
    pub(crate) fn mismatch(&self, requested: &Self) -> Option<(&'static str, String, String)> {
        fn weaker<T: Ord + Display>(
            policy: &'static str,
            offered: Option<T>,
            requested: Option<T>,
        ) -> Option<(&'static str, String, String)> {
            let pair = offered.zip(requested).filter(|(offered, requested)| offered < requested)?;
            Some((policy, pair.0.to_string(), pair.1.to_string()))
        }
        weaker("reliability", self.reliability, requested.reliability)
            .or_else(|| weaker("durability", self.durability, requested.durability))
            .or_else(|| weaker("liveliness", self.liveliness, requested.liveliness))
    }

    /// Creates the default of the RMW interface of ROS 2: reliable, volatile, the newest 10 samples.
    #[must_use]
    pub fn of_rmw() -> Self {
        Self {
            reliability: Some(Reliability::Reliable),
            durability: Some(Durability::Volatile),
            history: Some(History::KeepLast),
            depth: Some(10),
            ..Self::default()
        }
    }

    /// Sets the depth of the newest samples that are kept. 0 is not a depth of DDS, and counts as 1.
    pub fn keep_last(&mut self, depth: u32) {
        self.history = Some(History::KeepLast);
        self.depth = Some(depth.max(1));
    }

    /// Returns keys and values in an experiment file.
    fn entries(&self) -> Vec<(&'static str, String)> {
        let word = |word: &str| format!("\"{word}\"");
        // The depth belongs to the newest samples only.
        let depth = self.depth.filter(|_| self.history == Some(History::KeepLast));
        [
            ("reliability", self.reliability.map(|kind| word(kind.name()))),
            ("durability", self.durability.map(|kind| word(kind.name()))),
            ("history", self.history.map(|kind| word(kind.name()))),
            ("history_depth", depth.map(|depth| depth.to_string())),
            ("liveliness", self.liveliness.map(|kind| word(kind.name()))),
            ("liveliness_lease", self.lease_ns.map(|ns| word(&duration(ns)))),
            ("deadline", self.deadline_ns.map(|ns| word(&duration(ns)))),
            ("lifespan", self.lifespan_ns.map(|ns| word(&duration(ns)))),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
    }
}

impl TopicQos {
    /// Creates the same policies for writers and readers.
    #[must_use]
    pub fn both(qos: EndpointQos) -> Self {
        Self { reader: qos.clone(), writer: qos }
    }

    /// Returns the table of an experiment file; `None` if no policy is requested.
    #[must_use]
    pub fn to_toml(&self) -> Option<String> {
        let (writer, reader) = (self.writer.entries(), self.reader.entries());
        let is_common = |entry: &&(&str, String)| writer.contains(entry) && reader.contains(entry);
        let text = |entries: Vec<&(&str, String)>| {
            entries.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
        };
        let mut parts = vec![text(writer.iter().filter(is_common).collect())];
        for (end, entries) in [("writer", &writer), ("reader", &reader)] {
            let own = text(entries.iter().filter(|entry| !is_common(entry)).collect());
            if !own.is_empty() {
                parts.push(format!("{end} = {{ {own} }}"));
            }
        }
        parts.retain(|part| !part.is_empty());
        (!parts.is_empty()).then(|| format!("{{ {} }}", parts.join(", ")))
    }
}

/// Formats a time with the largest unit that has no rest.
#[must_use]
pub fn duration(ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = UNITS.iter().find(|(unit, _)| ns >= *unit && ns.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{ns}ns"), |(unit, name)| format!("{}{name}", ns / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_of_both_ends_are_written_once() {
        let mut qos = TopicQos::both(EndpointQos::of_rmw());
        let common =
            r#"reliability = "reliable", durability = "volatile", history = "keep_last", history_depth = 10"#;
        assert_eq!(qos.to_toml(), Some(format!("{{ {common} }}")));
        qos.reader.keep_last(0);
        qos.writer.lifespan_ns = Some(1_500_000_000);
        assert_eq!(
            qos.to_toml().expect("policies"),
            "{ reliability = \"reliable\", durability = \"volatile\", history = \"keep_last\", \
             writer = { history_depth = 10, lifespan = \"1500ms\" }, reader = { history_depth = 1 } }"
        );
        assert_eq!(TopicQos::default().to_toml(), None);
        let all = EndpointQos { history: Some(History::KeepAll), ..EndpointQos::of_rmw() };
        assert!(!TopicQos::both(all).to_toml().expect("policies").contains("depth"));
    }

    #[test]
    fn duration_has_the_largest_unit_without_a_rest() {
        let cases = [
            (0, "0ns"),
            (1_001, "1001ns"),
            (15_625_000, "15625us"),
            (3_000_000, "3ms"),
            (60_000_000_000, "60s"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration(ns), text);
        }
    }
}
