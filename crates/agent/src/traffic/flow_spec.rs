//! Streams of a run, as known to writer and reader.

use std::sync::Arc;

use control::{Configure, PayloadBytes, windows_of_flow};
use experiment::{KeyFilter, Load, Schedule, StreamSpec, TraceSamples};

use crate::{
    base::error::AgentError,
    traffic::{filtered::FilteredStream, identity::PayloadSize, keys::Keys, payload::Payloads},
};

/// Samples of one writer, and their intended times.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    stream: StreamSpec,
    seed: u64,
    /// Bytes of the samples, if they are those of a file.
    payload: Option<PayloadBytes>,
    /// Samples of the trace that it follows.
    trace: TraceSamples,
    windows: u32,
    /// Content filter of the reader.
    filter: Option<KeyFilter>,
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
        let (stream, payload) = (stream.clone(), configure.payload.clone());
        Ok(Self { stream, seed: configure.seed, payload, trace, windows, filter: None })
    }

    /// Sets the content filter of the reader that expects the stream.
    #[must_use]
    pub fn to_reader(self, filter: Option<KeyFilter>) -> Self {
        Self { filter, ..self }
    }

    /// Returns the samples that the reader expects, if it does not expect all.
    #[must_use]
    pub fn filtered(&self) -> Option<FilteredStream> {
        self.filter.map(|filter| FilteredStream::new(&self.stream, filter))
    }

    /// Returns the number of the writer, in the header of every sample.
    #[must_use]
    pub const fn writer(&self) -> u16 {
        self.stream.writer
    }

    /// Returns the sizes of the payloads.
    #[must_use]
    pub fn payload_size(&self) -> PayloadSize {
        PayloadSize::of_stream(&self.stream, &self.trace)
    }

    /// Returns the keys of the samples.
    #[inline]
    #[must_use]
    pub fn keys(&self) -> Keys {
        Keys::of_stream(&self.stream)
    }

    /// Returns the load; `None`: each sample is written as soon as the previous one is.
    #[must_use]
    pub const fn load(&self) -> Option<&Load> {
        self.stream.load.as_ref()
    }

    /// Returns the deadline of the samples in ns; `None` without one.
    #[must_use]
    pub const fn deadline_ns(&self) -> Option<u64> {
        self.stream.deadline_ns
    }

    /// Returns the number of windows of each recorder.
    #[must_use]
    pub const fn windows(&self) -> u32 {
        self.windows
    }

    /// Returns the payloads; each writer has a different pattern.
    #[must_use]
    pub fn payloads(&self) -> Payloads {
        Payloads::of(self.payload.as_ref(), self.seed, &self.stream, &self.trace)
    }

    /// Returns the intended times from the first; `None` without intended times.
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        let times_ns = Arc::clone(&self.trace.times_ns);
        let schedule = Schedule::new(self.load()?, self.seed, self.stream.index(), times_ns)?;
        Some(schedule.delayed(self.stream.delay_ns))
    }
}
