//! Flows of a run, as known to writer and reader.

use std::sync::Arc;

use control::{Configure, windows_of_flow};
use experiment::{Flow, Load, Schedule};

use crate::{base::error::AgentError, traffic::payload::Payloads};

/// One flow of a run: its samples and their intended times.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    flow: Flow,
    index: usize,
    seed: u64,
    trace: Arc<[u64]>,
    windows: u32,
}

impl FlowSpec {
    /// Returns all flows, in order.
    ///
    /// # Errors
    /// Returns an error if the number of times received for a trace differs from the plan.
    pub fn all(configure: &Configure) -> Result<Vec<Self>, AgentError> {
        let flows = configure.factors.streams();
        let windows = windows_of_flow(configure.windows, flows.len());
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

    /// Returns the index of the flow, from 0.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of the flow's writer, in the header of every sample.
    #[must_use]
    pub const fn writer(&self) -> u16 {
        self.index as u16 + 1
    }

    /// Returns the payload size in bytes.
    #[must_use]
    pub const fn size_bytes(&self) -> u64 {
        self.flow.size_bytes
    }

    /// Returns the load of the flow.
    #[must_use]
    pub const fn load(&self) -> &Load {
        &self.flow.load
    }

    /// Returns the number of windows of each recorder.
    #[must_use]
    pub const fn windows(&self) -> u32 {
        self.windows
    }

    /// Returns the payloads; each flow has a different pattern.
    #[must_use]
    pub fn payloads(&self) -> Payloads {
        Payloads::new(self.seed.wrapping_add(self.index as u64), self.flow.size_bytes as usize)
    }

    /// Returns the intended times from the first; `None` for a load without intended times.
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        Schedule::new(&self.flow.load, self.seed, self.index, Arc::clone(&self.trace))
    }
}
