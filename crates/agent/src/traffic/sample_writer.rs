//! Writer of the samples of one stream: stamps, fills and writes them.

use control::Configure;
use driver_host::{WriteOutcome, Writer};
use experiment::StreamSpec;

use super::{header::Header, keys::Keys, payload::Payloads};
use crate::base::error::AgentError;

/// Writer of one stream.
#[derive(Debug)]
pub struct SampleWriter {
    /// `None` once it is closed.
    writer: Option<Writer>,
    payloads: Payloads,
    /// Number of the writer.
    number: u16,
    tag: u16,
    keys: Keys,
}

impl SampleWriter {
    /// Creates the writer of a stream.
    #[must_use]
    pub fn new(configure: &Configure, stream: &StreamSpec, writer: Writer) -> Self {
        let (tag, payloads) = (configure.run_tag, Payloads::of_stream(configure, stream));
        Self { writer: Some(writer), payloads, number: stream.writer, tag, keys: Keys::of_stream(stream) }
    }

    /// Returns the writer of the driver.
    ///
    /// # Errors
    /// Returns an error if it is closed.
    #[inline]
    pub fn writer(&self) -> Result<&Writer, AgentError> {
        self.writer.as_ref().ok_or(AgentError::Closed)
    }

    /// Returns the key of the sample with this sequence number.
    #[inline]
    #[must_use]
    pub fn key(&self, sequence: u64) -> u32 {
        self.keys.of(sequence as u32)
    }

    /// Tries to write the sample with this sequence number. `sent_ns`: time of the first attempt.
    ///
    /// # Errors
    /// Returns the driver's error, except a timeout or a lack of space, which are outcomes.
    #[inline]
    pub fn write(&mut self, sequence: u64, warm_up: bool, sent_ns: u64) -> Result<WriteOutcome, AgentError> {
        let key = self.key(sequence);
        let header =
            Header { sequence: sequence as u32, writer: self.number, tag: self.tag, warm_up, sent_ns };
        let writer = self.writer.as_ref().ok_or(AgentError::Closed)?;
        Ok(self.payloads.write(writer, key, sequence, &header)?)
    }

    /// Closes the writer, if it is open.
    ///
    /// # Errors
    /// Returns the driver's error if the close fails.
    pub fn close(&mut self) -> Result<(), AgentError> {
        Ok(self.writer.take().map_or(Ok(()), Writer::close)?)
    }
}
