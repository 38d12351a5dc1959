//! Topologies: which endpoints of a run write and read its samples.

use std::{fmt, ops::RangeInclusive};

use crate::syntax::{scalar::textual, units::integer};

/// Maximum number of endpoints of one kind. Each of them is a process.
const MAX_ENDPOINTS: u64 = 1000;
/// Number of nodes of a ring.
const NODES: RangeInclusive<u64> = 2..=16;

/// Communication pattern of the endpoints of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topology {
    /// Each reading endpoint receives the samples of every writing one.
    Mesh {
        /// Number of writing endpoints; for the workload `latency`, of pingers.
        writers: u16,
        /// Number of reading endpoints; for the workload `latency`, the first of them echoes.
        readers: u16,
    },
    /// Each node receives the samples of the node before it and sends them to the node after it.
    Ring {
        /// Number of nodes.
        nodes: u16,
    },
    /// Each participant has writers and readers, and each writer matches the readers of all other participants.
    FullMesh {
        /// Number of participants.
        participants: u16,
    },
}

impl Topology {
    /// One writer and one reader.
    pub const PAIR: Self = Self::Mesh { writers: 1, readers: 1 };

    /// Forms in an experiment file. `W`, `R` and `N` are numbers.
    pub const FORMS: &[&str] = &["pair", "W-R", "ring-N", "full-mesh-N"];

    const EXPECTED: &str = "`pair`, the numbers of writers and readers, 1 to 1000 each, such as `\"1-3\"`, `ring-N` with 2 to 16 \
                            nodes, or `full-mesh-N` with 2 to 1000 participants";

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let number = |text, range: RangeInclusive<u64>| {
            u16::try_from(integer(text).filter(|number| range.contains(number))?).ok()
        };
        if text == "pair" {
            Some(Self::PAIR)
        } else if let Some(nodes) = text.strip_prefix("ring-") {
            Some(Self::Ring { nodes: number(nodes, NODES)? })
        } else if let Some(participants) = text.strip_prefix("full-mesh-") {
            Some(Self::FullMesh { participants: number(participants, 2..=MAX_ENDPOINTS)? })
        } else {
            let (writers, readers) = text.split_once('-')?;
            let number = |text| number(text, 1..=MAX_ENDPOINTS);
            Some(Self::Mesh { writers: number(writers)?, readers: number(readers)? })
        }
    }

    /// Returns whether it is one writer and one reader.
    #[must_use]
    pub fn is_pair(self) -> bool {
        self == Self::PAIR
    }

    /// Returns the number of hops of a round trip: 2 of a pair, N of `ring-N`; `None` for other topologies.
    #[must_use]
    pub fn hops(self) -> Option<u16> {
        match self {
            Self::Ring { nodes } => Some(nodes),
            mesh => mesh.is_pair().then_some(2),
        }
    }

    /// Returns the numbers of writing and of reading endpoints of a mesh.
    #[must_use]
    pub const fn mesh(self) -> Option<(u16, u16)> {
        match self {
            Self::Mesh { writers, readers } => Some((writers, readers)),
            Self::Ring { .. } | Self::FullMesh { .. } => None,
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Self::PAIR => f.write_str("pair"),
            Self::Mesh { writers, readers } => write!(f, "{writers}-{readers}"),
            Self::Ring { nodes } => write!(f, "ring-{nodes}"),
            Self::FullMesh { participants } => write!(f, "full-mesh-{participants}"),
        }
    }
}

textual!(
    Topology,
    Invalid,
    {
        "description": "Number of writers and number of readers, such as `1-3`; `pair` is one of each; `ring-N`; `full-mesh-N`.",
        "type": "string",
        "pattern": "^ *(pair|(ring-|full-mesh-|[0-9]+ *-) *[0-9]+) *$",
    }
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the form of a topology. A variant that is new here needs a form, too.
    fn form(topology: Topology) -> &'static str {
        match topology {
            Topology::PAIR => "pair",
            Topology::Mesh { .. } => "W-R",
            Topology::Ring { .. } => "ring-N",
            Topology::FullMesh { .. } => "full-mesh-N",
        }
    }

    #[test]
    fn a_topology_is_a_mesh_a_ring_or_a_full_mesh() {
        for (text, writers, readers) in
            [("pair", 1, 1), ("1-1", 1, 1), ("1-3", 1, 3), (" 200 - 1000 ", 200, 1000)]
        {
            assert_eq!(Topology::parse(text), Some(Topology::Mesh { writers, readers }), "{text}");
        }
        assert_eq!(Topology::parse("ring-16"), Some(Topology::Ring { nodes: 16 }));
        assert_eq!(Topology::parse("full-mesh-1000"), Some(Topology::FullMesh { participants: 1000 }));
        for wrong in [
            "",
            "3",
            "0-1",
            "1-0",
            "1001-1",
            "1-1001",
            "1-2-3",
            "-1",
            "1-",
            "a-b",
            "Pair",
            "1--1",
            "ring-1",
            "ring-17",
            "ring",
            "ring-3-1",
            "full-mesh-1",
            "full-mesh-1001",
            "mesh-3",
        ] {
            assert_eq!(Topology::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn text_of_a_topology_is_read_back(
            writers in 1_u16..=1000,
            readers in 1_u16..=1000,
            nodes in 2_u16..=16,
            participants in 2_u16..=1000,
        ) {
            for topology in [
                Topology::Mesh { writers, readers },
                Topology::Ring { nodes },
                Topology::FullMesh { participants },
            ] {
                prop_assert_eq!(Topology::parse(&topology.to_string()), Some(topology));
                prop_assert!(Topology::FORMS.contains(&form(topology)));
            }
        }
    }
}
