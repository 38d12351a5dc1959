//! Application-level batching: several samples in one datagram, each preceded by its length (u32, little endian).
//! Without batching there is no framing.
use crate::{
    config::WriterConfig,
    error::{Error, Result},
    table::Settings,
};

/// Length of the header of each sample in bytes.
pub const FRAMING: usize = size_of::<u32>();

/// Batch of samples for one datagram.
#[derive(Debug)]
pub struct Batch {
    buffer: Vec<u8>,
    /// Payload size in bytes, without framing.
    payload: usize,
    samples: u64,
    /// Maximum payload size in bytes, unless a single sample is larger.
    limit: usize,
    /// Maximum size in bytes including framing.
    max_datagram: usize,
}

impl Batch {
    /// Creates the batch of a writer with this configuration and this maximum datagram size; `None` without
    /// batching.
    ///
    /// # Errors
    /// Returns an error if the largest sample of the writer does not fit into a datagram.
    pub fn from_config(
        config: &WriterConfig<'_>,
        transport: &str,
        max_datagram: usize,
    ) -> Result<Option<Self>> {
        let Some(bytes) = config.batch_bytes else { return Ok(None) };
        let (max_payload, most) = (config.max_payload_bytes as usize, max_datagram - FRAMING);
        if max_payload > most {
            return Err(Error::too_large(format!(
                "samples of {max_payload} bytes exceed the maximum of transport `{transport}` with batching"
            ))
            .hint(format!("use samples of at most {most} bytes")));
        }
        let limit = usize::try_from(bytes).map_or(most, |bytes| bytes.min(most));
        Ok(Some(Self::new(limit, max_datagram)))
    }

    fn new(limit: usize, max_datagram: usize) -> Self {
        Self { buffer: Vec::with_capacity(max_datagram), payload: 0, samples: 0, limit, max_datagram }
    }

    /// Reports the batching of a writer as settings.
    pub fn show(batch: Option<&Self>, settings: &mut Settings<'_>) {
        settings.set("batching", if batch.is_some() { "application" } else { "none" });
        if let Some(batch) = batch {
            settings.set("batch_bytes", &batch.limit);
        }
    }

    /// Returns whether a sample of this size fits into this batch. Always false for a sample that fits into no
    /// datagram.
    #[inline]
    pub fn has_room(&self, size: usize) -> bool {
        let fits = self.buffer.len() + FRAMING + size <= self.max_datagram;
        fits && (self.buffer.is_empty() || self.payload + size <= self.limit)
    }

    /// Appends a sample, for which there must be room.
    #[inline]
    pub fn push(&mut self, sample: &[u8]) {
        debug_assert!(self.has_room(sample.len()));
        // The length fits: a datagram is far shorter than `u32::MAX`.
        self.buffer.extend_from_slice(&(sample.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(sample);
        self.payload += sample.len();
        self.samples += 1;
    }

    /// Returns the datagram: the samples with their framing. Empty without samples.
    pub fn datagram(&self) -> &[u8] {
        &self.buffer
    }

    /// Empties the batch after it was sent.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.payload = 0;
        self.samples = 0;
    }

    /// Returns the payload size in bytes, without framing.
    pub fn payload_bytes(&self) -> usize {
        self.payload
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }
}

/// Error of a datagram that is not a sequence of framed samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Splits a datagram into its samples. All lengths are checked first: a malformed datagram yields no samples. There
/// is at least one sample, and none is larger than `max_payload`.
///
/// # Errors
/// Returns an error if the datagram is malformed.
pub fn split(datagram: &[u8], max_payload: usize) -> Result<Unpacked<'_>, Malformed> {
    let mut rest = datagram;
    loop {
        let (sample, behind) = first(rest).ok_or(Malformed)?;
        if sample.len() > max_payload {
            return Err(Malformed);
        }
        if behind.is_empty() {
            return Ok(Unpacked(datagram));
        }
        rest = behind;
    }
}

/// Returns the first sample and the bytes after it.
#[inline]
fn first(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<FRAMING>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// Iterator over the samples of a datagram, created by [`split`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked<'a>(&'a [u8]);

impl<'a> Iterator for Unpacked<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let (sample, rest) = first(self.0)?;
        self.0 = rest;
        Some(sample)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn datagram(samples: &[&[u8]]) -> Vec<u8> {
        let mut batch = Batch::new(usize::MAX, 1 << 20);
        for sample in samples {
            assert!(batch.has_room(sample.len()));
            batch.push(sample);
        }
        batch.datagram().to_vec()
    }

    #[test]
    fn batch_has_the_documented_layout() {
        assert_eq!(datagram(&[b"ab", b"", b"c"]), b"\x02\0\0\0ab\0\0\0\0\x01\0\0\0c");
    }

    #[test]
    fn a_batch_is_full_at_its_limit_of_payload_or_at_the_datagram() {
        let mut batch = Batch::new(10, 100);
        batch.push(&[1; 5]);
        assert!(batch.has_room(5) && !batch.has_room(6));
        batch.push(&[1; 5]);
        assert!(!batch.has_room(1));
        batch.clear();
        assert!(batch.has_room(96), "one sample over the limit goes alone");
        assert!(!batch.has_room(97), "but not over the datagram");
        let mut batch = Batch::new(100, 20);
        batch.push(&[1; 8]);
        assert!(batch.has_room(4) && !batch.has_room(5), "framing counts against the datagram");
    }

    #[test]
    fn malformed_datagrams_give_nothing() {
        let whole = datagram(&[b"abc", b"de"]);
        let given: Vec<_> = split(&whole, 3).expect("fine").collect();
        assert_eq!(given, [b"abc".as_slice(), b"de"]);
        assert_eq!(split(&whole, 2), Err(Malformed), "larger than any sample may be");
        assert_eq!(split(&[], 9), Err(Malformed), "no sample at all");
        for end in (1..whole.len()).filter(|end| *end != 7) {
            assert_eq!(split(&whole[..end], 9), Err(Malformed), "cut at {end}");
        }
        assert_eq!(split(b"\xff\xff\xff\xff", usize::MAX), Err(Malformed));
        assert_eq!(split(b"\0\0\0\0x", 9), Err(Malformed));
    }

    proptest! {
        #[test]
        fn batch_is_split_into_its_samples(samples in vec(vec(any::<u8>(), 0..50), 1..40)) {
            let slices: Vec<_> = samples.iter().map(Vec::as_slice).collect();
            let whole = datagram(&slices);
            let given: Vec<_> = split(&whole, 50).expect("well formed").collect();
            prop_assert_eq!(given, slices);
        }

        #[test]
        fn any_bytes_are_split_or_rejected(bytes in vec(prop_oneof![Just(0u8), 0u8..8, any::<u8>()], 0..200)) {
            if let Ok(samples) = split(&bytes, 100) {
                let total: usize = samples.map(|sample| {
                    assert!(sample.len() <= 100);
                    sample.len() + FRAMING
                }).sum();
                prop_assert_eq!(total, bytes.len(), "every byte belongs to a sample");
            }
        }
    }
}
