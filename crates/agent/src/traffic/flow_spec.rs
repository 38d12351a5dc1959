//! Streams of a run, as known to writer and reader.

use std::sync::Arc;

use control::{Configure, windows_of_flow};
use experiment::{Load, Schedule, StreamSpec, TraceSamples};

use crate::base::error::AgentError;

/// Samples of one writer, and their intended times.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    pub(crate) stream: StreamSpec,
    seed: u64,
    /// Samples of the trace that it follows.
    trace: TraceSamples,
    /// Number of windows of each recorder.
    pub(crate) windows: u32,
}

impl FlowSpec {
    /// Creates the specification of a stream that this agent writes or expects.
    ///
    /// # Errors
    /// Returns an error if the number of times received for a trace, or their sizes, differ from the plan.
    pub fn new(configure: &Configure, stream: &StreamSpec) -> Result<Self, AgentError> {
        let trace = configure.trace_of(stream);
        if let Some(planned) = stream.trace() {
            let found = trace.times_ns.len() as u64;
            if found != planned.samples {
                let (file, expected) = (planned.file.clone(), planned.samples);
                return Err(AgentError::WrongTrace { file, expected, found });
            }
            if trace.sizes() != planned.sizes {
                return Err(AgentError::WrongSizes { file: planned.file.clone() });
            }
        }
        let windows = windows_of_flow(configure.windows, configure.streams().count());
        Ok(Self { stream: stream.clone(), seed: configure.seed, trace, windows })
    }

    /// Returns the load; `None`: each sample is written as soon as the previous one is.
    #[must_use]
    pub const fn load(&self) -> Option<&Load> {
        self.stream.load.as_ref()
    }

    /// Returns the intended times from the first; `None` without intended times.
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        let times_ns = Arc::clone(&self.trace.times_ns);
        let schedule = Schedule::new(self.load()?, self.seed, self.stream.index(), times_ns)?;
        Some(schedule.delayed(self.stream.delay_ns))
    }
}
