//! Topics of a run, with their writers and readers.

use std::collections::BTreeMap;

use super::RunTopology;

/// Entity of a run: the index of its endpoint, and its own among the writers or readers there.
pub type EntityIndex = (usize, usize);

/// Writers and readers of a topology by topic.
#[derive(Clone, Debug)]
pub struct Topics<'s> {
    topology: &'s RunTopology,
    writers: BTreeMap<&'s str, Vec<EntityIndex>>,
    readers: BTreeMap<&'s str, Vec<EntityIndex>>,
}

impl<'s> Topics<'s> {
    pub(super) fn of(topology: &'s RunTopology) -> Self {
        let mut topics = Self { topology, writers: BTreeMap::new(), readers: BTreeMap::new() };
        for (endpoint, of) in topology.endpoints.iter().enumerate() {
            for (index, writer) in of.writers.iter().enumerate() {
                topics.writers.entry(&writer.topic).or_default().push((endpoint, index));
            }
            for (index, reader) in of.readers.iter().enumerate() {
                topics.readers.entry(&reader.topic).or_default().push((endpoint, index));
            }
        }
        topics
    }

    /// Returns the topology.
    #[must_use]
    pub const fn topology(&self) -> &'s RunTopology {
        self.topology
    }

    /// Returns the writers of a topic, in the order of the endpoints.
    #[must_use]
    pub fn writers(&self, topic: &str) -> &[EntityIndex] {
        self.writers.get(topic).map_or(&[], Vec::as_slice)
    }

    /// Returns the readers of a topic, in the order of the endpoints.
    #[must_use]
    pub fn readers(&self, topic: &str) -> &[EntityIndex] {
        self.readers.get(topic).map_or(&[], Vec::as_slice)
    }
}
