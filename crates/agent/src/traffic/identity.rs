//! Identity of the samples of a run, and classification of received samples.

use crate::{
    base::clock::now_ns,
    traffic::{header::Header, keys::Keys},
};

/// Properties of the samples of this run: tag, writer, size, and a send time between the start of the run and now.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// Tag of the run.
    pub tag: u16,
    /// Number of the writer.
    pub writer: u16,
    /// Size of every payload in bytes.
    pub size: usize,
    /// Start of this agent in ns; samples of this run are sent at most 60 s earlier.
    pub since_ns: u64,
    /// Keys of the samples.
    pub keys: Keys,
    /// Maximum difference between the clocks of this agent and of the writer, in ns; `u64::MAX`: unknown.
    pub slack_ns: u64,
}

/// Tolerance for send times before [`Identity::since_ns`] in ns: peers are configured one after the other.
const HEAD_START_NS: u64 = 60_000_000_000;

/// Origin of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Sample of this run with a valid header and the expected size.
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
        if payload.len() == self.size { Origin::Ours(header) } else { Origin::Damaged }
    }
}
