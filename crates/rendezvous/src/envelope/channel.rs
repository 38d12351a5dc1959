//! Messages of one sender to one receiver, or to all.

use std::collections::{BTreeMap, btree_map::Entry};

use super::sample::Sample;

/// Maximum number of messages of a channel that are not delivered yet.
pub(super) const MAX_OPEN_MESSAGES: usize = 64;

/// Message of which chunks have arrived.
#[derive(Debug)]
struct Partial {
    chunks: Vec<Option<Vec<u8>>>,
    missing: usize,
}

impl Partial {
    fn new(chunks: usize) -> Self {
        Self { chunks: vec![None; chunks], missing: chunks }
    }

    /// Returns its size in memory.
    fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(&*self.chunks) + self.length()
    }

    /// Returns the number of bytes of the message that have arrived.
    fn length(&self) -> usize {
        self.chunks.iter().flatten().map(Vec::len).sum()
    }
}

/// Channel: joins chunks, and puts messages in order.
#[derive(Debug)]
pub(super) struct Channel {
    /// Whether messages are delivered without gaps.
    ordered: bool,
    /// Number of the next message: older ones were delivered or replaced.
    next: u64,
    partials: BTreeMap<u64, Partial>,
    bytes: usize,
}

/// Sample that contradicts earlier ones, or has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelFault {
    /// Different numbers of chunks of a message.
    Contradiction,
    /// Too many messages after one that is missing.
    TooManyMessages,
}

impl Channel {
    pub(super) const fn new(ordered: bool) -> Self {
        Self { ordered, next: 0, partials: BTreeMap::new(), bytes: 0 }
    }

    /// Returns the number of bytes in memory.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes a sample, and returns the messages that are complete now.
    pub(super) fn accept(&mut self, sample: &Sample<'_>) -> Result<Vec<Vec<u8>>, ChannelFault> {
        if sample.message < self.next {
            return Ok(Vec::new());
        }
        if !self.partials.contains_key(&sample.message) && self.partials.len() >= MAX_OPEN_MESSAGES {
            if self.ordered {
                return Err(ChannelFault::TooManyMessages);
            }
            self.drop_first();
        }
        let chunks = usize::from(sample.chunks);
        let partial = match self.partials.entry(sample.message) {
            Entry::Occupied(partial) => partial.into_mut(),
            Entry::Vacant(place) => {
                let partial = place.insert(Partial::new(chunks));
                self.bytes += partial.bytes();
                partial
            }
        };
        if partial.chunks.len() != chunks {
            return Err(ChannelFault::Contradiction);
        }
        let place = &mut partial.chunks[usize::from(sample.chunk)];
        if place.is_none() {
            *place = Some(sample.bytes.to_vec());
            partial.missing -= 1;
            self.bytes += sample.bytes.len();
        }
        Ok(self.complete())
    }

    /// Takes all messages that can be delivered.
    fn complete(&mut self) -> Vec<Vec<u8>> {
        let mut complete = Vec::new();
        if self.ordered {
            while self.partials.get(&self.next).is_some_and(|partial| partial.missing == 0) {
                complete.extend(self.take(self.next));
                self.next += 1;
            }
            return complete;
        }
        let newest = self.partials.iter().rev().find(|(_, partial)| partial.missing == 0);
        if let Some(number) = newest.map(|(number, _)| *number) {
            complete.extend(self.take(number));
            while self.partials.first_key_value().is_some_and(|(older, _)| *older < number) {
                self.drop_first();
            }
            self.next = number.saturating_add(1);
        }
        complete
    }

    fn take(&mut self, number: u64) -> Option<Vec<u8>> {
        let partial = self.partials.remove(&number)?;
        self.bytes -= partial.bytes();
        let mut message = Vec::with_capacity(partial.length());
        for chunk in partial.chunks.into_iter().flatten() {
            message.extend(chunk);
        }
        Some(message)
    }

    fn drop_first(&mut self) {
        if let Some((_, partial)) = self.partials.pop_first() {
            self.bytes -= partial.bytes();
        }
    }

    /// Drops all messages that are not complete.
    pub(super) fn drop_all(&mut self) {
        self.partials.clear();
        self.bytes = 0;
    }
}
