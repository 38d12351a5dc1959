//! The flows of a run with a plan, as both ends know them.

use std::sync::Arc;

use control::Configure;
use experiment::{Flow, Load, Schedule};

use crate::{payload::Payloads, session::AgentError};

/// One flow of a run: what is written, and when.
#[derive(Clone, Debug)]
pub struct Plan {
    flow: Flow,
    index: usize,
    seed: u64,
    trace: Arc<[u64]>,
    windows: u32,
}

impl Plan {
    /// Of all flows, in their order.
    ///
    /// # Errors
    /// The times of a file did not come with the order.
    pub fn all(configure: &Configure) -> Result<Vec<Self>, AgentError> {
        let flows = configure.factors.streams();
        // histograms are large: several flows share the memory of one
        let windows = configure.windows.div_ceil(flows.len().max(1) as u32);
        let plan = |(index, flow): (usize, Flow)| {
            let trace = configure.traces.get(&flow.name).map_or(&[][..], Vec::as_slice);
            let found = trace.len() as u64;
            match &flow.load {
                Load::Trace { trace } if trace.samples != found => {
                    let expected = trace.samples;
                    Err(AgentError::WrongTrace { flow: flow.name, expected, found })
                }
                _ => Ok(Self { flow, index, seed: configure.seed, trace: trace.into(), windows }),
            }
        };
        flows.into_iter().enumerate().map(plan).collect()
    }

    /// Its place among the flows, from 0.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Number of its writer, in the header of every sample.
    #[must_use]
    pub const fn writer(&self) -> u16 {
        self.index as u16 + 1
    }

    /// Payload bytes of a sample.
    #[must_use]
    pub const fn size_bytes(&self) -> u64 {
        self.flow.size_bytes
    }

    /// When its samples are to leave.
    #[must_use]
    pub const fn load(&self) -> &Load {
        &self.flow.load
    }

    /// Windows of what is recorded.
    #[must_use]
    pub const fn windows(&self) -> u32 {
        self.windows
    }

    /// Its payloads; no two flows have the same.
    #[must_use]
    pub fn payloads(&self) -> Payloads {
        Payloads::new(self.seed.wrapping_add(self.index as u64), self.flow.size_bytes as usize)
    }

    /// Its intended times from the first. None: it has none, each sample leaves when the one before is written.
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        Schedule::new(&self.flow.load, self.seed, self.index, Arc::clone(&self.trace))
    }
}
