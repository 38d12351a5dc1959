//! Topologies: how many endpoints write and read the samples of a run.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::syntax::units::{integer, textual};

/// Maximum number of endpoints of one kind. Each of them is a process.
const MAX_ENDPOINTS: u64 = 200;

/// Communication pattern: a number of writing endpoints, and a number of reading ones. Each reading endpoint receives
/// the samples of every writing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topology {
    /// Number of writing endpoints; for the workload `latency`, of pingers.
    pub writers: u16,
    /// Number of reading endpoints; for the workload `latency`, the first of them echoes.
    pub readers: u16,
}

impl Topology {
    /// One writer and one reader.
    pub const PAIR: Self = Self { writers: 1, readers: 1 };

    const EXPECTED: &str = "`pair`, or the numbers of writers and readers, 1 to 200 each, such as `\"1-3\"`";

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "pair" {
            return Some(Self::PAIR);
        }
        let (writers, readers) = text.split_once('-')?;
        let number = |text| {
            let number = integer(text).filter(|number| (1..=MAX_ENDPOINTS).contains(number))?;
            u16::try_from(number).ok()
        };
        Some(Self { writers: number(writers)?, readers: number(readers)? })
    }

    /// Returns whether it is one writer and one reader.
    #[must_use]
    pub fn is_pair(self) -> bool {
        self == Self::PAIR
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_pair() { f.write_str("pair") } else { write!(f, "{}-{}", self.writers, self.readers) }
    }
}

impl Serialize for Topology {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

textual!(
    Topology,
    false,
    json_schema!({
        "description": "Number of writers and number of readers, such as `1-3`; `pair` is one of each.",
        "type": "string",
        "pattern": "^ *(pair|[0-9]+ *- *[0-9]+) *$",
    })
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_topology_has_a_number_of_writers_and_a_number_of_readers() {
        for (text, writers, readers) in
            [("pair", 1, 1), ("1-1", 1, 1), ("1-3", 1, 3), (" 200 - 200 ", 200, 200)]
        {
            assert_eq!(Topology::parse(text), Some(Topology { writers, readers }), "{text}");
        }
        for wrong in ["", "3", "0-1", "1-0", "201-1", "1-201", "1-2-3", "-1", "1-", "a-b", "Pair", "1--1"] {
            assert_eq!(Topology::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn text_of_a_topology_is_read_back(writers in 1_u16..=200, readers in 1_u16..=200) {
            let topology = Topology { writers, readers };
            prop_assert_eq!(Topology::parse(&topology.to_string()), Some(topology));
        }
    }
}
