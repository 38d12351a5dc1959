//! Times of the trace files that loads follow.

use std::{collections::BTreeMap, sync::Arc};

use experiment::{Factors, Load};

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

    /// Returns the times of each flow of a cell that follows a trace file, by flow name.
    #[must_use]
    pub fn by_flow(&self, factors: &Factors) -> BTreeMap<String, Vec<u64>> {
        let flows = factors.streams().into_iter().filter(|flow| matches!(flow.load, Load::Trace { .. }));
        flows.map(|flow| (flow.name, self.times(&flow.load).to_vec())).collect()
    }
}
