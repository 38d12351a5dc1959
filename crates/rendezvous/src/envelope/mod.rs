//! Envelope of messages: splits them into samples, with addresses and numbers, and joins samples that arrive. Samples are
//! untrusted: memory is bounded, and a message is delivered only if each byte of it is the sender's.
//!
//! A process numbers its messages to all others from 0, and so its messages to each single one. Messages to one process
//! are delivered in order, without gaps. Of the messages to all, newer ones replace older ones that are not complete.
//! Messages to other processes, and so those of earlier sessions, are ignored.

mod channel;
mod reassembly;
mod sample;
mod splitter;

pub use reassembly::{Arrival, Reassembly};
pub use sample::{HEADER_BYTES, MAGIC, Sample, SampleError};
pub use splitter::Splitter;

use crate::mailbox::MAX_SAMPLE_BYTES;

/// Version of the samples and messages. All processes of a test must have the same.
pub const PROTOCOL: u16 = 1;
/// Maximum size of a message in bytes.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// Maximum number of bytes of a message in a sample.
pub const MAX_CHUNK_BYTES: usize = MAX_SAMPLE_BYTES - HEADER_BYTES;
/// Maximum number of samples of a message.
pub const MAX_CHUNKS: u16 = MAX_MESSAGE_BYTES.div_ceil(MAX_CHUNK_BYTES) as u16;
