//! Payloads: an incompressible pattern, or the bytes of a file, prepared before the traffic and verified at the reader.
//!
//! A writer cycles through a few buffers with different patterns, and stamps only the header of each sample. The
//! reader derives the same buffers from the seed, or gets the same bytes; the sequence number selects the buffer. A payload that is
//! truncated, mixed up or left over from an earlier sample differs.

use control::{Configure, PayloadBytes};
use experiment::StreamSpec;

use crate::traffic::header::{HEADER_BYTES, Header};

/// Total size of the buffers in bytes. They should stay in the caches of the core: stamping and sending them in
/// turn evicts the data of the middleware. Documented for other tools in docs/how-to/read-our-samples.md.
const ALL_BUFFERS_BYTES: usize = 32 << 10;
const MIN_BUFFERS: usize = 2;
const MAX_BUFFERS: usize = 16;

/// Payloads of one writer, or the copy that a reader compares with.
#[derive(Debug)]
pub struct Payloads {
    buffers: Vec<Vec<u8>>,
}

impl Payloads {
    /// Creates payloads of `size` bytes, at least a header. Equal seeds give equal patterns.
    #[must_use]
    pub fn new(seed: u64, size: usize) -> Self {
        let count = (ALL_BUFFERS_BYTES / size.max(1)).clamp(MIN_BUFFERS, MAX_BUFFERS);
        let mut random = SplitMix(seed);
        let buffers = (0..count)
            .map(|_| {
                let mut buffer = vec![0; size.max(HEADER_BYTES)];
                for chunk in buffer.chunks_mut(8) {
                    chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]);
                }
                buffer
            })
            .collect();
        Self { buffers }
    }

    /// Creates payloads of `size` bytes, at least a header, that carry these bytes in turn.
    #[must_use]
    pub fn of_bytes(bytes: &PayloadBytes, size: usize) -> Self {
        let size = size.max(HEADER_BYTES);
        let mut next = bytes.as_slice().iter().copied().cycle();
        let buffers = (0..bytes.samples(size - HEADER_BYTES))
            .map(|_| [0; HEADER_BYTES].into_iter().chain(next.by_ref().take(size - HEADER_BYTES)).collect())
            .collect();
        Self { buffers }
    }

    /// Creates the payloads of a stream in a run.
    #[must_use]
    pub fn of_stream(configure: &Configure, stream: &StreamSpec) -> Self {
        Self::of(configure.payload.as_ref(), configure.seed, stream)
    }

    /// Creates the payloads of a stream: these bytes in turn, or the pattern of a run with this seed.
    #[must_use]
    pub fn of(bytes: Option<&PayloadBytes>, seed: u64, stream: &StreamSpec) -> Self {
        let size = stream.size_bytes as usize;
        match bytes {
            Some(bytes) => Self::of_bytes(bytes, size),
            None => Self::new(seed.wrapping_add(stream.index() as u64), size),
        }
    }

    /// Returns the payload of the sample with this sequence number, with its header stamped.
    #[inline]
    pub fn stamped(&mut self, sequence: u64, header: &Header) -> &[u8] {
        let index = sequence as usize % self.buffers.len();
        let buffer = &mut self.buffers[index];
        header.stamp(buffer);
        buffer
    }

    /// Returns whether all bytes after the header are as sent.
    #[inline]
    #[must_use]
    pub fn is_intact(&self, sequence: u64, payload: &[u8]) -> bool {
        let expected = &self.buffers[sequence as usize % self.buffers.len()];
        payload.len() == expected.len() && payload[HEADER_BYTES..] == expected[HEADER_BYTES..]
    }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
struct SplitMix(u64);

impl SplitMix {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { sequence: 0, writer: 0, tag: 1, warm_up: false, sent_ns: 2 };

    #[test]
    fn payload_check_accepts_its_seed_and_detects_any_flipped_byte() {
        for size in [16, 17, 64, 1000] {
            let (mut writer, reader) = (Payloads::new(7, size), Payloads::new(7, size));
            for sequence in 0..40 {
                let mut payload = writer.stamped(sequence, &HEADER).to_vec();
                assert!(reader.is_intact(sequence, &payload));
                for byte in HEADER_BYTES..size {
                    payload[byte] ^= 1;
                    assert!(!reader.is_intact(sequence, &payload), "byte {byte} of {size}");
                    payload[byte] ^= 1;
                }
            }
        }
    }

    #[test]
    fn samples_carry_the_bytes_of_a_file_in_turn() {
        let file: Vec<u8> = (1..=10).collect();
        let bytes = PayloadBytes::new(&file).expect("bytes");
        let (mut writer, reader) = (Payloads::of_bytes(&bytes, 20), Payloads::of_bytes(&bytes, 20));
        let mut sent = Vec::new();
        for sequence in 0..4 {
            let payload = writer.stamped(sequence, &HEADER).to_vec();
            assert!(reader.is_intact(sequence, &payload));
            assert!(!reader.is_intact(sequence + 1, &payload), "each sample has other bytes");
            sent.extend_from_slice(&payload[HEADER_BYTES..]);
        }
        // The third sample ends with the first bytes of the file, and the fourth one is the first one again.
        assert_eq!(sent, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 1, 2, 3, 4]);
        let mut short = Payloads::of_bytes(&bytes, HEADER_BYTES);
        assert_eq!(short.stamped(3, &HEADER).len(), HEADER_BYTES);
    }

    #[test]
    fn payloads_differ_by_sequence_seed_and_size() {
        let (mut writer, reader) = (Payloads::new(7, 64), Payloads::new(8, 64));
        let payload = writer.stamped(3, &HEADER).to_vec();
        assert!(!reader.is_intact(3, &payload));
        assert!(!Payloads::new(7, 64).is_intact(4, &payload));
        assert!(!Payloads::new(7, 65).is_intact(3, &payload));
    }
}
