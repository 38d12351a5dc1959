//! Payloads: an incompressible pattern, or the bytes of a file, prepared before the traffic and verified at the reader.
//!
//! A writer cycles through a few buffers with different patterns, and stamps only the header of each sample. The
//! reader derives the same buffers from the seed, or gets the same bytes; the sequence number selects the buffer. A payload that is
//! truncated, mixed up or left over from an earlier sample differs.
//!
//! With loans, samples are written in memory that the driver lends. A program that uses loans puts its data there instead of
//! copying it there. Therefore all samples of the stream have one pattern, which is put into each piece of lent memory once, and
//! only the header is stamped for each sample.

use control::{Configure, PayloadBytes};
use driver_host::{DriverError, WriteOutcome, Writer};
use experiment::{SizeTable, StreamSpec, TraceSamples};

use crate::traffic::header::{HEADER_BYTES, Header};

/// Total size of the buffers in bytes. They should stay in the caches of the core: stamping and sending them in
/// turn evicts the data of the middleware. Documented for other tools in docs/how-to/read-our-samples.md.
const ALL_BUFFERS_BYTES: usize = 32 << 10;
const MIN_BUFFERS: usize = 2;
const MAX_BUFFERS: usize = 16;
/// Size of each of the parts by which lent memory that has the pattern already is recognised.
const MARK_BYTES: usize = 16;

/// Payloads of one writer, or the copy that a reader compares with.
#[derive(Debug)]
pub struct Payloads {
    /// Buffers of the largest size: smaller samples are their first bytes.
    buffers: Vec<Vec<u8>>,
    /// Size of each sample; `None` if all fill a buffer.
    sizes: Option<SizeTable>,
    /// Place where a writer completes its samples.
    place: SamplePlace,
}

/// Place where a writer completes its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SamplePlace {
    /// Buffer of the writer, which the middleware copies.
    Buffer,
    /// Memory that the driver lends, where the content remains.
    Loan,
    /// Memory that the driver lends, to which each sample is copied: samples have different contents.
    CopiedLoan,
}

impl Payloads {
    /// Creates payloads of `size` bytes, at least a header. Equal seeds give equal patterns.
    #[must_use]
    pub fn new(seed: u64, size: usize) -> Self {
        Self::of_pattern(seed, size, (ALL_BUFFERS_BYTES / size.max(1)).clamp(MIN_BUFFERS, MAX_BUFFERS))
    }

    /// Creates this number of payloads.
    fn of_pattern(seed: u64, size: usize, count: usize) -> Self {
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
        Self { buffers, sizes: None, place: SamplePlace::Buffer }
    }

    /// Creates payloads of `size` bytes, at least a header, that carry these bytes in turn.
    #[must_use]
    pub fn of_bytes(bytes: &PayloadBytes, size: usize) -> Self {
        let size = size.max(HEADER_BYTES);
        let mut next = bytes.as_slice().iter().copied().cycle();
        let buffers = (0..bytes.samples(size - HEADER_BYTES))
            .map(|_| [0; HEADER_BYTES].into_iter().chain(next.by_ref().take(size - HEADER_BYTES)).collect())
            .collect();
        Self { buffers, sizes: None, place: SamplePlace::Buffer }
    }

    /// Creates the payloads of a stream in a run.
    #[must_use]
    pub fn of_stream(configure: &Configure, stream: &StreamSpec) -> Self {
        Self::of(configure.payload.as_ref(), configure.seed, stream, &configure.trace_of(stream))
    }

    /// Creates the payloads of a stream: these bytes in turn, or the pattern of a run with this seed. `trace` has the samples of the
    /// trace that it follows.
    #[must_use]
    pub fn of(bytes: Option<&PayloadBytes>, seed: u64, stream: &StreamSpec, trace: &TraceSamples) -> Self {
        let size = stream.size_bytes as usize;
        let seed = seed.wrapping_add(stream.index() as u64);
        let payloads = match (bytes, stream.loans) {
            (Some(bytes), false) => Self::of_bytes(bytes, size),
            (Some(bytes), true) => Self { place: SamplePlace::CopiedLoan, ..Self::of_bytes(bytes, size) },
            (None, false) => Self::new(seed, size),
            (None, true) => Self { place: SamplePlace::Loan, ..Self::of_pattern(seed, size, 1) },
        };
        Self { sizes: stream.flow_sizes().table(trace), ..payloads }
    }

    /// Writes the sample with this sequence number.
    ///
    /// # Errors
    /// Returns the driver's error, except a timeout or a lack of space, which are outcomes.
    #[inline]
    pub fn write(
        &mut self,
        writer: &Writer,
        key: u32,
        sequence: u64,
        header: &Header,
    ) -> Result<WriteOutcome, DriverError> {
        if self.place == SamplePlace::Buffer {
            return writer.write(key, self.stamped(sequence, header));
        }
        let content = self.content(sequence);
        writer.write_lent(key, content.len(), |lent| {
            if self.place == SamplePlace::CopiedLoan || !has_marks(lent, content) {
                lent[HEADER_BYTES..].copy_from_slice(&content[HEADER_BYTES..]);
            }
            header.stamp(lent);
        })
    }

    /// Returns the payload of the sample with this sequence number, with its header stamped.
    #[inline]
    pub fn stamped(&mut self, sequence: u64, header: &Header) -> &[u8] {
        let index = sequence as usize % self.buffers.len();
        let size = self.size(sequence, index);
        let buffer = &mut self.buffers[index][..size];
        header.stamp(buffer);
        buffer
    }

    /// Returns the size of a sample, which is in the buffer with this index.
    #[inline]
    fn size(&self, sequence: u64, index: usize) -> usize {
        match &self.sizes {
            None => self.buffers[index].len(),
            Some(sizes) => sizes.at(sequence as u32) as usize,
        }
    }

    /// Returns the bytes of a sample, with any header.
    #[inline]
    fn content(&self, sequence: u64) -> &[u8] {
        let index = sequence as usize % self.buffers.len();
        &self.buffers[index][..self.size(sequence, index)]
    }

    /// Returns whether all bytes after the header are as sent.
    #[inline]
    #[must_use]
    pub fn is_intact(&self, sequence: u64, payload: &[u8]) -> bool {
        let expected = self.content(sequence);
        payload.len() == expected.len() && payload[HEADER_BYTES..] == expected[HEADER_BYTES..]
    }
}

/// Returns whether lent memory has the parts of a pattern that follow the header, and that are in the middle and at the end.
#[inline]
fn has_marks(lent: &[u8], content: &[u8]) -> bool {
    let (first, end) = (HEADER_BYTES, content.len());
    let last = end.saturating_sub(MARK_BYTES).max(first);
    [first, first.midpoint(last), last].into_iter().all(|from| {
        let mark = from..(from + MARK_BYTES).min(end);
        lent[mark.clone()] == content[mark]
    })
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
    use experiment::{SizeDistribution, Sizes};

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
    fn samples_of_different_sizes_are_the_first_bytes_of_a_buffer() {
        let distribution = SizeDistribution::Values { values: vec![16, 40, 100], weights: vec![1, 2, 3] };
        let stream = StreamSpec {
            writer: 1,
            size_bytes: 100,
            sizes: Some(Sizes { distribution, seed: 5 }),
            ..StreamSpec::default()
        };
        let none = TraceSamples::default();
        let table = stream.flow_sizes().table(&none).expect("a distribution");
        let (mut writer, reader) =
            (Payloads::of(None, 7, &stream, &none), Payloads::of(None, 7, &stream, &none));
        let mut found = std::collections::BTreeSet::new();
        for sequence in (0..200).chain([u64::from(u32::MAX), 1 << 32, (1 << 32) + 5]) {
            let mut payload = writer.stamped(sequence, &HEADER).to_vec();
            assert_eq!(payload.len() as u64, table.at(sequence as u32));
            assert!(reader.is_intact(sequence, &payload));
            found.insert(payload.len());
            payload.push(0);
            assert!(!reader.is_intact(sequence, &payload), "a byte too many");
            payload.truncate(payload.len() - 2);
            assert!(!reader.is_intact(sequence, &payload), "a byte too few");
        }
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [16, 40, 100]);
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
    fn lent_memory_without_the_pattern_is_recognised() {
        for size in [16, 17, 40, 64, 1000] {
            let pattern = Payloads::of_pattern(7, size, 1).buffers.swap_remove(0);
            let mut lent = pattern.clone();
            HEADER.stamp(&mut lent);
            assert!(has_marks(&lent, &pattern), "{size}");
            assert_eq!(has_marks(&vec![0; size], &pattern), size == HEADER_BYTES, "{size}");
            for at in [HEADER_BYTES, (HEADER_BYTES + size) / 2, size - 1] {
                let mut reused = lent.clone();
                reused[at.min(size - 1)] ^= 1;
                assert_eq!(has_marks(&reused, &pattern), size == HEADER_BYTES, "byte {at} of {size}");
            }
        }
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
