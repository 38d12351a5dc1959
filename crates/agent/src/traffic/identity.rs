//! Identity of the samples of a run, and classification of received samples.

use experiment::{SizeTable, StreamSpec, TraceSamples};

use crate::{
    base::clock::now_ns,
    traffic::{header::Header, keys::Keys},
};

/// Properties of the samples of this run: tag, writer, size, and a send time between the start of the run and now.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Tag of the run.
    pub tag: u16,
    /// Number of the writer.
    pub writer: u16,
    /// Sizes of the payloads.
    pub size: PayloadSize,
    /// Start of this agent in ns; samples of this run are sent at most 60 s earlier.
    pub since_ns: u64,
    /// Keys of the samples.
    pub keys: Keys,
    /// Maximum difference between the clocks of this agent and of the writer, in ns; `u64::MAX`: unknown.
    pub slack_ns: u64,
}

/// Sizes of the payloads of a stream in bytes.
#[derive(Clone, Debug)]
pub enum PayloadSize {
    /// One size.
    One(usize),
    /// A size for each sample.
    Each(SizeTable),
}

impl PayloadSize {
    /// Returns the sizes of a stream. `trace` has the samples of the trace that it follows.
    #[must_use]
    pub fn of_stream(stream: &StreamSpec, trace: &TraceSamples) -> Self {
        stream.flow_sizes().table(trace).map_or(Self::One(stream.size_bytes as usize), Self::Each)
    }

    /// Returns the size of the sample with these low 32 bits of its sequence number.
    #[inline]
    #[must_use]
    pub fn of_sample(&self, sequence: u32) -> usize {
        match self {
            Self::One(size) => *size,
            Self::Each(sizes) => sizes.at(sequence) as usize,
        }
    }

    /// Returns the largest size.
    #[must_use]
    pub fn largest(&self) -> usize {
        match self {
            Self::One(size) => *size,
            Self::Each(sizes) => sizes.largest_bytes() as usize,
        }
    }

    /// Returns the mean size in whole bytes.
    #[must_use]
    pub fn mean(&self) -> u64 {
        match self {
            Self::One(size) => *size as u64,
            Self::Each(sizes) => sizes.mean_bytes().round() as u64,
        }
    }
}

/// Tolerance for send times before [`Identity::since_ns`] in ns: peers are configured one after the other.
const HEAD_START_NS: u64 = 60_000_000_000;

/// Origin of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Sample of this run with a valid header and the planned size.
    Ours(Header),
    /// Sample of this run with another size.
    Damaged,
    /// Sample that is not of this run.
    Foreign,
}

impl Identity {
    /// Classifies a sample. `now_ns` may be slightly old: the clock is read again before a sample counts as sent in
    /// the future.
    #[inline]
    #[must_use]
    pub fn origin(&self, payload: &[u8], now_ns: u64) -> Origin {
        let Some(header) = Header::read(payload) else { return Origin::Foreign };
        if header.tag != self.tag
            || header.writer != self.writer
            || header.sent_ns < self.since_ns.saturating_sub(HEAD_START_NS.saturating_add(self.slack_ns))
        {
            return Origin::Foreign;
        }
        if header.sent_ns > now_ns && header.sent_ns > self::now_ns().saturating_add(self.slack_ns) {
            return Origin::Foreign;
        }
        if payload.len() == self.size.of_sample(header.sequence) {
            Origin::Ours(header)
        } else {
            Origin::Damaged
        }
    }
}
