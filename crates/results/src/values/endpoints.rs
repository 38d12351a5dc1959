//! Values over the endpoints and the flows of a run.

use std::collections::BTreeMap;

use experiment::{Qos, Role};

use crate::schema::{CellResult, DeliveryCounts, EndpointRecord, FlowRecord, ProcessRecord, Run};

impl EndpointRecord {
    /// Returns whether the endpoint drives the traffic; the other ones serve.
    #[must_use]
    pub fn drives(&self) -> bool {
        [Role::Writer, Role::Pinger, Role::Participant].iter().any(|role| role.name() == self.role)
    }
}

impl Run {
    /// Returns the process of an endpoint.
    #[must_use]
    pub fn process_of(&self, endpoint: &EndpointRecord) -> Option<&ProcessRecord> {
        self.processes.iter().find(|process| process.number == endpoint.process)
    }

    /// Returns the process of the first endpoint with a role.
    #[must_use]
    pub fn process_of_role(&self, role: &str) -> Option<&ProcessRecord> {
        self.process_of(self.endpoints.iter().find(|endpoint| endpoint.role == role)?)
    }

    /// Returns whether the endpoints are on several hosts.
    #[must_use]
    pub fn is_over_hosts(&self) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.host != self.endpoints[0].host)
    }

    /// Returns the name of an endpoint in tables and messages: its id, and its host if the run has several, `reader@pi2`.
    #[must_use]
    pub fn label(&self, id: &str) -> String {
        match self.endpoints.iter().find(|endpoint| endpoint.id == id) {
            Some(endpoint) if self.is_over_hosts() => format!("{id}@{}", endpoint.host),
            _ => id.to_owned(),
        }
    }

    /// Returns the sample counts of each flow.
    pub fn counts(&self) -> impl Iterator<Item = &DeliveryCounts> {
        self.flows.iter().map(|flow| &flow.counted)
    }

    /// Returns the effective QoS of the entities that samples pass, by name: writers of driving endpoints, readers of
    /// serving ones. Entities that differ between endpoints are absent.
    #[must_use]
    pub fn effective_qos(&self) -> BTreeMap<String, Qos> {
        agreed(self.endpoints.iter().flat_map(|endpoint| {
            let kind = if endpoint.drives() { "writer" } else { "reader" };
            let entities = endpoint.effective_qos.iter().filter(move |(entity, _)| entity.starts_with(kind));
            entities.map(|(entity, qos)| (entity.clone(), qos))
        }))
    }

    /// Returns the effective settings by entity and name. Those that differ between endpoints are absent, for example one that is
    /// their own address.
    pub(super) fn settings(&self) -> BTreeMap<(String, String), String> {
        let entities = self.endpoints.iter().flat_map(|endpoint| &endpoint.settings);
        agreed(entities.flat_map(|(entity, values)| {
            values.iter().map(move |(name, value)| ((entity.clone(), name.clone()), value))
        }))
    }
}

/// Returns the entries that have the same value wherever they occur.
fn agreed<'v, K: Ord, V: Clone + PartialEq + 'v>(
    entries: impl Iterator<Item = (K, &'v V)>,
) -> BTreeMap<K, V> {
    let mut all: BTreeMap<K, Option<&V>> = BTreeMap::new();
    for (key, value) in entries {
        let known = all.entry(key).or_insert(Some(value));
        *known = known.filter(|known| *known == value);
    }
    all.into_iter().filter_map(|(key, value)| Some((key, value?.clone()))).collect()
}

impl CellResult {
    /// Returns the name of an endpoint in tables and messages; see [`Run::label`]. All runs of a cell have the same places.
    #[must_use]
    pub fn label(&self, id: &str) -> String {
        let run = self.valid_runs().find(|run| run.endpoints.iter().any(|endpoint| endpoint.id == id));
        run.map_or_else(|| id.to_owned(), |run| run.label(id))
    }

    /// Returns the name of a flow in tables: its endpoints, `node-1 to node-2`; over several hosts with their hosts,
    /// `node-1@pi1 -> node-2@pi2`.
    #[must_use]
    pub fn flow_label(&self, writer: &str, reader: &str) -> String {
        let is_over_hosts = self.valid_runs().next().is_some_and(Run::is_over_hosts);
        let arrow = if is_over_hosts { "->" } else { "to" };
        format!("{} {arrow} {}", self.label(writer), self.label(reader))
    }
}

impl FlowRecord {
    /// Returns the name of the flow with its endpoints: `NAME:WRITER-READER`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}:{}-{}", self.name, self.writer, self.reader)
    }

    /// Returns the name of each flow in the log of its run: its name, or if the flows have different endpoints, its name with
    /// its endpoints.
    #[must_use]
    pub fn log_names(flows: &[Self]) -> Vec<String> {
        let are_alike =
            flows.windows(2).all(|pair| pair[0].writer == pair[1].writer && pair[0].reader == pair[1].reader);
        flows.iter().map(|flow| if are_alike { flow.name.clone() } else { flow.full_name() }).collect()
    }
}
