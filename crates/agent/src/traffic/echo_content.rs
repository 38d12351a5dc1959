//! Origin and content of the echoes of pings and of probes.

use driver_host::Sample;

use crate::traffic::{
    header::Header,
    identity::{Identity, Origin},
    payload::Payloads,
};

/// Checks of received echoes, and their counts.
#[derive(Debug)]
pub struct EchoContent {
    identity: Identity,
    payloads: Payloads,
    check_every: u64,
    /// Echoes that differ from what was sent.
    pub corrupt: u64,
    /// Samples that are not of this run.
    pub foreign: u64,
    /// Echoes with every byte checked.
    pub checked_in_full: u64,
}

impl EchoContent {
    /// Creates empty counts. Every byte of the echo of each `check_every`-th sample is checked.
    #[must_use]
    pub fn new(identity: Identity, payloads: Payloads, check_every: u64) -> Self {
        let check_every = check_every.max(1);
        Self { identity, payloads, check_every, corrupt: 0, foreign: 0, checked_in_full: 0 }
    }

    /// Returns the header of an echo of this run. Samples of another size or origin are counted.
    #[inline]
    pub fn recognise(&mut self, sample: &Sample<'_>, now_ns: u64) -> Option<Header> {
        match self.identity.origin(sample.payload, now_ns) {
            Origin::Ours(header) => return Some(header),
            Origin::Damaged => self.corrupt += 1,
            Origin::Foreign => self.foreign += 1,
        }
        None
    }

    /// Checks the first echo of a sample; after its arrival was recorded.
    #[inline]
    pub fn check(&mut self, header: &Header, sequence: u64, sample: &Sample<'_>) {
        let wrong_key = !self.identity.keys.matches(header.sequence, sample.key);
        if !header.warm_up && sequence.is_multiple_of(self.check_every) {
            self.checked_in_full += 1;
            let damaged = wrong_key || !self.payloads.is_intact(sequence, sample.payload);
            self.corrupt += u64::from(damaged || !sample.is_intact());
        } else {
            self.corrupt += u64::from(wrong_key || !sample.is_intact());
        }
    }
}
