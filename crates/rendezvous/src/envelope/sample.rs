//! A sample: header and chunk of a message.
//!
//! ```text
//! offset  bytes
//!  0      8      magic
//!  8      2      version            up to here, and the sender: the same in all versions
//! 10      1      role of the sender
//! 11      1      0
//! 12      2      id of the sender
//! 14      2      number of the chunk, from 0
//! 16      8      process of the sender
//! 24      8      process of the receiver; 0: all
//! 32      8      number of the message, from 0
//! 40      2      number of chunks of the message
//! 42      2      0
//! 44      4      CRC-32 of the rest of the sample
//! 48             chunk
//! ```
//!
//! All numbers are little-endian.

use super::{MAX_CHUNK_BYTES, MAX_CHUNKS, PROTOCOL};
use crate::identity::{PeerAddress, PeerRole, ProcessId};

/// First bytes of each sample.
pub const MAGIC: [u8; 8] = *b"ddsmpeer";
/// Size of the header in bytes.
pub const HEADER_BYTES: usize = 48;

/// Position and size of the fields.
const VERSION: usize = 8;
const ROLE: usize = 10;
const ID: usize = 12;
const CHUNK: usize = 14;
const FROM: usize = 16;
const TO: usize = 24;
const MESSAGE: usize = 32;
const CHUNKS: usize = 40;
const CRC: usize = 44;

/// Valid sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Sender.
    pub from: PeerAddress,
    /// Receiver; `None`: all processes.
    pub to: Option<ProcessId>,
    /// Number of the message among those from this sender to this receiver.
    pub message: u64,
    /// Number of the chunk.
    pub chunk: u16,
    /// Number of chunks of the message, at least 1.
    pub chunks: u16,
    /// Bytes of the message.
    pub bytes: &'a [u8],
}

/// Reasons to reject a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleError {
    /// Sample of another program.
    Stranger,
    /// Sample of another version.
    Version {
        /// Sender.
        from: PeerAddress,
        /// Version.
        version: u16,
    },
    /// Sample whose bytes contradict each other, or that was damaged.
    Invalid,
}

impl<'a> Sample<'a> {
    /// Reads a sample.
    ///
    /// # Errors
    /// Returns an error if it is not a valid sample of this version.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, SampleError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(SampleError::Stranger);
        }
        let (header, chunk) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(SampleError::Invalid)?;
        let from = sender(header).ok_or(SampleError::Invalid)?;
        let version = u16_at(header, VERSION);
        if version != PROTOCOL {
            return Err(SampleError::Version { from, version });
        }
        let sample = Self {
            from,
            to: ProcessId::from_raw(u64_at(header, TO)),
            message: u64_at(header, MESSAGE),
            chunk: u16_at(header, CHUNK),
            chunks: u16_at(header, CHUNKS),
            bytes: chunk,
        };
        // A sample that is not exactly as it would be sent is not one.
        let is_valid = sample.is_consistent() && sample.header() == *header;
        if is_valid { Ok(sample) } else { Err(SampleError::Invalid) }
    }

    /// Returns the bytes of the sample.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        [&self.header(), self.bytes].concat()
    }

    /// All chunks but the last one have the same size, so that a message has only one set of samples.
    fn is_consistent(&self) -> bool {
        let is_last = self.chunk.checked_add(1) == Some(self.chunks);
        let is_full = self.bytes.len() == MAX_CHUNK_BYTES;
        let has_valid_size = if is_last {
            self.bytes.len() <= MAX_CHUNK_BYTES && (self.chunk == 0 || !self.bytes.is_empty())
        } else {
            is_full
        };
        self.chunk < self.chunks && self.chunks <= MAX_CHUNKS && has_valid_size
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(VERSION, &PROTOCOL.to_le_bytes());
        put(ROLE, &[role_number(self.from.role)]);
        put(ID, &self.from.id.to_le_bytes());
        put(CHUNK, &self.chunk.to_le_bytes());
        put(FROM, &self.from.process.raw().to_le_bytes());
        put(TO, &self.to.map_or(0, ProcessId::raw).to_le_bytes());
        put(MESSAGE, &self.message.to_le_bytes());
        put(CHUNKS, &self.chunks.to_le_bytes());
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header[..CRC]);
        crc.update(self.bytes);
        header[CRC..].copy_from_slice(&crc.finalize().to_le_bytes());
        header
    }
}

/// Returns the sender, whose place in the header is the same in all versions.
fn sender(header: &[u8; HEADER_BYTES]) -> Option<PeerAddress> {
    let role = match header[ROLE] {
        0 => PeerRole::Publisher,
        1 => PeerRole::Subscriber,
        _ => return None,
    };
    let process = ProcessId::from_raw(u64_at(header, FROM))?;
    Some(PeerAddress { process, role, id: u16_at(header, ID) })
}

const fn role_number(role: PeerRole) -> u8 {
    match role {
        PeerRole::Publisher => 0,
        PeerRole::Subscriber => 1,
    }
}

fn u16_at(header: &[u8; HEADER_BYTES], at: usize) -> u16 {
    u16::from_le_bytes([header[at], header[at + 1]])
}

fn u64_at(header: &[u8; HEADER_BYTES], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&header[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address(process: u64) -> PeerAddress {
        let process = ProcessId::from_raw(process).expect("a number");
        PeerAddress { process, role: PeerRole::Subscriber, id: 7 }
    }

    fn sample(bytes: &[u8]) -> Sample<'_> {
        Sample { from: address(1), to: ProcessId::from_raw(2), message: 3, chunk: 0, chunks: 1, bytes }
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_are_rejected_or_read_as_they_would_be_sent(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let with_magic = [&MAGIC[..], &bytes].concat();
            for bytes in [bytes, with_magic] {
                if let Ok(sample) = Sample::decode(&bytes) {
                    prop_assert_eq!(sample.encode(), bytes);
                }
            }
        }

        #[test]
        fn damaged_sample_is_rejected(bytes in prop::collection::vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>(), bit in 0..8u32) {
            let mut encoded = sample(&bytes).encode();
            prop_assert_eq!(Sample::decode(&encoded), Ok(sample(&bytes)));
            let at = at.index(encoded.len());
            encoded[at] ^= 1u8 << bit;
            prop_assert!(Sample::decode(&encoded).is_err());
        }
    }

    #[test]
    fn sample_of_another_version_names_its_sender() {
        let mut encoded = sample(b"later").encode();
        encoded[VERSION] = 9;
        encoded.truncate(HEADER_BYTES);
        assert_eq!(Sample::decode(&encoded), Err(SampleError::Version { from: address(1), version: 9 }));
    }

    #[test]
    fn sample_of_another_program_is_a_stranger() {
        for bytes in [&b""[..], b"ddsmpee", &[0; 100]] {
            assert_eq!(Sample::decode(bytes), Err(SampleError::Stranger));
        }
        assert_eq!(Sample::decode(&MAGIC), Err(SampleError::Invalid));
    }

    #[test]
    fn chunk_numbers_and_sizes_that_contradict_each_other_are_rejected() {
        let full = vec![0; MAX_CHUNK_BYTES];
        let long = vec![0; MAX_CHUNK_BYTES + 1];
        for (chunk, chunks, bytes, is_valid) in [
            (0, 1, &b""[..], true),
            (0, 0, b"", false),
            (1, 1, b"", false),
            (0, 2, b"short", false),
            (0, 2, &full, true),
            (1, 2, b"", false),
            (1, 2, b"x", true),
            (0, 1, &long, false),
            (0, MAX_CHUNKS + 1, &full, false),
            (u16::MAX, u16::MAX, b"x", false),
        ] {
            let encoded = Sample { chunk, chunks, ..sample(bytes) }.encode();
            assert_eq!(Sample::decode(&encoded).is_ok(), is_valid, "{chunk} of {chunks}");
        }
    }
}
