//! Splitting of messages into samples.

use std::collections::BTreeMap;

use super::{MAX_CHUNK_BYTES, MAX_MESSAGE_BYTES, sample::Sample};
use crate::{
    error::RendezvousError,
    identity::{PeerAddress, ProcessId},
};

/// Numbers the messages of this process, and splits them.
#[derive(Debug)]
pub struct Splitter {
    /// Address of this process.
    pub own: PeerAddress,
    /// Number of the next message to each receiver.
    next: BTreeMap<Option<ProcessId>, u64>,
}

impl Splitter {
    /// Creates the splitter of this process.
    #[must_use]
    pub const fn new(own: PeerAddress) -> Self {
        Self { own, next: BTreeMap::new() }
    }

    /// Splits a message to a process, or to all.
    ///
    /// # Errors
    /// Returns an error if the message is longer than [`MAX_MESSAGE_BYTES`].
    pub fn split(&mut self, to: Option<ProcessId>, message: &[u8]) -> Result<Vec<Vec<u8>>, RendezvousError> {
        if message.len() > MAX_MESSAGE_BYTES {
            let length = message.len();
            let text =
                format!("a control message of {length} bytes is too long: at most {MAX_MESSAGE_BYTES}");
            return Err(RendezvousError::with(text, None));
        }
        let next = self.next.entry(to).or_default();
        let number = *next;
        *next += 1;
        // An empty message has one sample, too.
        let mut parts: Vec<&[u8]> = message.chunks(MAX_CHUNK_BYTES).collect();
        if parts.is_empty() {
            parts.push(&[]);
        }
        let chunks = parts.len() as u16;
        let sample =
            |(chunk, bytes)| Sample { from: self.own, to, message: number, chunk, chunks, bytes }.encode();
        Ok((0..).zip(parts).map(sample).collect())
    }
}
