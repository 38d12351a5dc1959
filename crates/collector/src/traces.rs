//! Times of the trace files that loads follow.

use std::{collections::BTreeMap, sync::Arc};

use experiment::{Endpoint, Load};

/// Times of trace files, by the SHA-256 of the file: in ns from the start, ascending.
#[derive(Clone, Debug, Default)]
pub struct TraceTimes(BTreeMap<String, Arc<[u64]>>);

impl TraceTimes {
    /// Adds the times of the file with this SHA-256.
    pub fn insert(&mut self, sha256: &str, times: impl Into<Arc<[u64]>>) {
        self.0.insert(sha256.to_owned(), times.into());
    }

    /// Returns whether the times that a load follows are known; always for a load without a trace file.
    #[must_use]
    pub fn has(&self, load: &Load) -> bool {
        match load {
            Load::Trace { trace } => self.0.contains_key(&trace.sha256),
            _ => true,
        }
    }

    /// Returns the times of a load; empty for a load without a trace file.
    #[must_use]
    pub fn times(&self, load: &Load) -> Arc<[u64]> {
        match load {
            Load::Trace { trace } => self.0.get(&trace.sha256).cloned().unwrap_or_default(),
            _ => Arc::default(),
        }
    }

    /// Returns the times of the trace files that streams of an endpoint follow, by the SHA-256 of the file.
    #[must_use]
    pub fn of_endpoint(&self, endpoint: &Endpoint) -> BTreeMap<String, Vec<u64>> {
        let written = endpoint.writers.iter().map(|writer| &writer.stream);
        let streams = written.chain(endpoint.readers.iter().flat_map(|reader| &reader.streams));
        let followed = streams.filter_map(|stream| match &stream.load {
            Some(Load::Trace { trace }) => Some(&trace.sha256),
            _ => None,
        });
        followed.filter_map(|sha256| Some((sha256.clone(), self.0.get(sha256)?.to_vec()))).collect()
    }
}
