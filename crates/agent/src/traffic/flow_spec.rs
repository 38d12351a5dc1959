//! Streams of a run, as known to writer and reader.

use std::sync::Arc;

use control::{Configure, PayloadBytes, windows_of_flow};
use experiment::{KeyFilter, Load, Schedule, StreamSpec};

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
    trace: Arc<[u64]>,
    windows: u32,
    /// Content filter of the reader.
    filter: Option<KeyFilter>,
}

impl FlowSpec {
    /// Creates the specification of a stream that this agent writes or expects.
    ///
    /// # Errors
    /// Returns an error if the number of times received for a trace differs from the plan.
    pub fn new(configure: &Configure, stream: &StreamSpec) -> Result<Self, AgentError> {
        let times = match &stream.load {
            Some(Load::Trace { trace }) => {
                let times = configure.traces.get(&trace.sha256).map_or(&[][..], Vec::as_slice);
                let found = times.len() as u64;
                if found != trace.samples {
                    let (file, expected) = (trace.file.clone(), trace.samples);
                    return Err(AgentError::WrongTrace { file, expected, found });
                }
                times
            }
            _ => &[],
        };
        let windows = windows_of_flow(configure.windows, configure.streams().count());
        let (stream, payload) = (stream.clone(), configure.payload.clone());
        Ok(Self { stream, seed: configure.seed, payload, trace: times.into(), windows, filter: None })
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
        PayloadSize::of_stream(&self.stream)
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
        Payloads::of(self.payload.as_ref(), self.seed, &self.stream)
    }

    /// Returns the intended times from the first; `None` without intended times.
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        let schedule = Schedule::new(self.load()?, self.seed, self.stream.index(), Arc::clone(&self.trace))?;
        Some(schedule.delayed(self.stream.delay_ns))
    }
}
