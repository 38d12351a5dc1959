//! Packing of batches: the samples of a batch share a datagram, or one system call sends a datagram for each.
use driver_kit::{Error, ParticipantConfig, Result, Settings, WriterConfig, batch::Batch, net::Family};

use crate::locator::NAMES;

/// Returns the maximum payload size of a datagram: 65535 minus the UDP header, and minus the IP header where the
/// total length includes it (RFC 791, but not RFC 8200).
pub(crate) const fn max_datagram(family: Family) -> usize {
    family.pick([65_535 - 20 - 8, 65_535 - 8])
}

/// Name of the option.
pub(crate) const PACKING: &str = "packing";
/// Its values; the first is the default.
const VALUES: [&str; 2] = ["datagram", "segments"];

/// Packing of the batches of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// The samples of a batch share a datagram, each after its length.
    Datagram,
    /// Each sample is a datagram without a header. One system call sends at most `most` of them.
    Segments {
        /// Maximum number of datagrams per call.
        most: usize,
    },
}

impl Packing {
    /// Returns the requested packing; `most` determines what the kernel supports.
    pub(crate) fn from_config(
        config: &ParticipantConfig<'_>,
        most: impl FnOnce() -> Result<usize>,
    ) -> Result<Self> {
        match config.option(PACKING) {
            None | Some("datagram") => Ok(Self::Datagram),
            Some("segments") => Ok(Self::Segments { most: most()? }),
            Some(other) => Err(Error::bad_argument(format!("invalid value `{other}` of option `{PACKING}`"))
                .hint(format!("available: {}", VALUES.join(", ")))),
        }
    }
}

/// Bytes for one send call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load<'a> {
    pub(crate) bytes: &'a [u8],
    /// Size of each datagram but the last, which may be smaller; 0 if all bytes are one datagram.
    pub(crate) segment: u16,
    pub(crate) datagrams: u64,
}

impl<'a> Load<'a> {
    /// Creates the load of one datagram.
    #[inline]
    pub(crate) fn datagram(bytes: &'a [u8]) -> Self {
        Self { bytes, segment: 0, datagrams: 1 }
    }
}

/// Batch of a writer.
#[derive(Debug)]
pub(crate) enum Packed {
    Datagram(Batch),
    Segments(Segments),
}

impl Packed {
    /// Creates the batch of a writer; `None` without batching.
    pub(crate) fn from_config(
        config: &WriterConfig<'_>,
        family: Family,
        packing: Packing,
    ) -> Result<Option<Self>> {
        let max_datagram = max_datagram(family);
        Ok(match packing {
            Packing::Datagram => {
                Batch::from_config(config, family.pick(NAMES), max_datagram)?.map(Self::Datagram)
            }
            Packing::Segments { most } => {
                config.batch_bytes.map(|bytes| Self::Segments(Segments::new(bytes, max_datagram, most)))
            }
        })
    }

    /// Reports the batching of a writer as settings.
    pub(crate) fn show(batch: Option<&Self>, settings: &mut Settings<'_>) {
        match batch {
            None => Batch::show(None, settings),
            Some(Self::Datagram(batch)) => {
                Batch::show(Some(batch), settings);
                settings.set(PACKING, VALUES[0]);
            }
            Some(Self::Segments(batch)) => {
                settings.set("batching", "application");
                settings.set("batch_bytes", &batch.limit);
                settings.set(PACKING, VALUES[1]);
                settings.set("max_segments", &batch.most);
            }
        }
    }

    /// Returns whether a sample of this size can be added.
    #[inline]
    pub(crate) fn has_room(&self, size: usize) -> bool {
        match self {
            Self::Datagram(batch) => batch.has_room(size),
            Self::Segments(batch) => batch.has_room(size),
        }
    }

    /// Adds a sample, for which there must be room.
    #[inline]
    pub(crate) fn push(&mut self, sample: &[u8]) {
        match self {
            Self::Datagram(batch) => batch.push(sample),
            Self::Segments(batch) => batch.push(sample),
        }
    }

    /// Returns what is to be sent; `None` without samples.
    #[inline]
    pub(crate) fn load(&self) -> Option<Load<'_>> {
        match self {
            Self::Datagram(batch) => (batch.samples() > 0).then(|| Load::datagram(batch.datagram())),
            Self::Segments(batch) => batch.load(),
        }
    }

    /// Removes all samples after they were sent.
    #[inline]
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Datagram(batch) => batch.clear(),
            Self::Segments(batch) => batch.clear(),
        }
    }
}

/// Batch of samples that become one datagram each. They have the same size, except that the last one may be smaller:
/// it completes the batch.
#[derive(Debug)]
pub(crate) struct Segments {
    buffer: Vec<u8>,
    samples: usize,
    /// Size of the first sample.
    segment: usize,
    complete: bool,
    /// Maximum size in bytes, unless a single sample is larger.
    limit: usize,
    /// Maximum number of samples.
    most: usize,
    /// Maximum sample size that the path carries without IP fragments. A larger sample is a batch of its own, because
    /// the kernel does not fragment segments.
    path_limit: usize,
}

impl Segments {
    fn new(batch_bytes: u64, max_datagram: usize, most: usize) -> Self {
        Self {
            buffer: Vec::with_capacity(max_datagram),
            samples: 0,
            segment: 0,
            complete: false,
            limit: usize::try_from(batch_bytes).map_or(max_datagram, |bytes| bytes.min(max_datagram)),
            most,
            path_limit: max_datagram,
        }
    }

    /// Sets the maximum sample size that a path carries without IP fragments, if it is less than those of other
    /// paths. The batch must be empty. Returns the minimum of all paths.
    pub(crate) fn limit_path(&mut self, bytes: usize) -> usize {
        debug_assert!(self.samples == 0);
        self.path_limit = self.path_limit.min(bytes);
        self.path_limit
    }

    #[inline]
    fn has_room(&self, size: usize) -> bool {
        self.samples == 0
            || (!self.complete
                && 0 < size
                && size <= self.segment
                && self.samples < self.most
                && self.buffer.len() + size <= self.limit)
    }

    #[inline]
    fn push(&mut self, sample: &[u8]) {
        debug_assert!(self.has_room(sample.len()));
        if self.samples == 0 {
            self.segment = sample.len();
            // The kernel has no empty segments.
            self.complete = sample.is_empty() || sample.len() > self.path_limit;
        } else {
            self.complete = sample.len() < self.segment;
        }
        self.buffer.extend_from_slice(sample);
        self.samples += 1;
    }

    #[inline]
    fn load(&self) -> Option<Load<'_>> {
        // The size fits: a datagram is shorter than `u16::MAX`.
        let segment = if self.samples > 1 { self.segment as u16 } else { 0 };
        (self.samples > 0).then_some(Load { bytes: &self.buffer, segment, datagrams: self.samples as u64 })
    }

    #[inline]
    fn clear(&mut self) {
        self.buffer.clear();
        self.samples = 0;
        self.complete = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Returns the sizes of the samples of each batch.
    fn batches(mut batch: Segments, sizes: &[usize]) -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        for size in sizes {
            if !batch.has_room(*size) {
                batch.clear();
                all.push(vec![]);
            }
            batch.push(&vec![0; *size]);
            all.last_mut().expect("a batch").push(*size);
        }
        all
    }

    #[test]
    fn segments_of_a_batch_have_one_size_and_only_the_last_is_smaller() {
        let of = |sizes: &[usize]| batches(Segments::new(1000, 65_507, 64), sizes);
        assert_eq!(of(&[9, 9, 9]), [vec![9, 9, 9]]);
        assert_eq!(of(&[9, 9, 5, 5, 9]), [vec![9, 9, 5], vec![5], vec![9]]);
        assert_eq!(of(&[5, 9, 9]), [vec![5], vec![9, 9]]);
        assert_eq!(of(&[0, 9, 0, 0]), [vec![0], vec![9], vec![0], vec![0]]);
        assert_eq!(of(&[400, 400, 400]), [vec![400, 400], vec![400]]);
        assert_eq!(of(&[2000, 10, 10]), [vec![2000], vec![10, 10]], "above the limit it goes alone");
    }

    #[test]
    fn a_batch_respects_the_limits_of_the_kernel() {
        let of = |sizes: &[usize]| -> Vec<_> {
            batches(Segments::new(u64::MAX, 65_507, 64), sizes).iter().map(Vec::len).collect()
        };
        assert_eq!(of(&[10; 130]), [64, 64, 2]);
        assert_eq!(of(&[1400; 50]), [46, 4], "65,507 bytes");
    }

    #[test]
    fn samples_above_the_mtu_leave_alone() {
        let mut batch = Segments::new(u64::MAX, 65_507, 64);
        assert_eq!(batch.limit_path(1472), 1472);
        assert_eq!(batch.limit_path(9000), 1472, "the smallest of all paths");
        assert_eq!(
            batches(batch, &[1472, 1472, 1473, 1473, 10]),
            [vec![1472, 1472], vec![1473], vec![1473], vec![10]]
        );
    }

    proptest! {
        #[test]
        fn segments_are_the_samples(samples in vec(vec(any::<u8>(), 0..4), 1..40)) {
            let mut batch = Segments::new(20, 65_507, 5);
            let mut seen = Vec::new();
            let mut send = |batch: &mut Segments| {
                let load = batch.load().expect("samples");
                let before = seen.len();
                if load.segment == 0 {
                    seen.push(load.bytes.to_vec());
                } else {
                    seen.extend(load.bytes.chunks(load.segment as usize).map(<[u8]>::to_vec));
                }
                assert_eq!((seen.len() - before) as u64, load.datagrams);
                batch.clear();
                assert_eq!(batch.load(), None);
            };
            for sample in &samples {
                if !batch.has_room(sample.len()) {
                    send(&mut batch);
                }
                batch.push(sample);
            }
            send(&mut batch);
            prop_assert_eq!(seen, samples);
        }
    }
}
