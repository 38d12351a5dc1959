//! Joining of samples that arrive.

use std::collections::{BTreeMap, btree_map::Entry};

use super::{
    MAX_MESSAGE_BYTES,
    channel::{Channel, ChannelFault},
    sample::{Sample, SampleError},
};
use crate::identity::{PeerAddress, ProcessId};

/// Maximum number of senders that are remembered.
const MAX_SENDERS: usize = 1024;
/// Maximum number of bytes of incomplete messages of one sender, and of all of them.
const MAX_SENDER_BYTES: usize = 4 * MAX_MESSAGE_BYTES;
const MAX_BYTES: usize = 64 << 20;

/// Result of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Message.
    Message {
        /// Sender.
        from: PeerAddress,
        /// Whether it was sent to all processes.
        to_all: bool,
        /// Bytes of the message.
        bytes: Vec<u8>,
    },
    /// Process of another version.
    OtherVersion {
        /// Sender.
        from: PeerAddress,
        /// Version.
        version: u16,
    },
    /// Sender whose messages to this process can no longer be put in order.
    Broken {
        /// Sender.
        from: PeerAddress,
        /// Cause.
        cause: &'static str,
    },
}

/// Messages of all senders to this process.
#[derive(Debug)]
pub struct Reassembly {
    own: ProcessId,
    senders: BTreeMap<ProcessId, Sender>,
    /// Number of bytes of incomplete messages.
    pub bytes: usize,
    clock: u64,
    /// Number of samples of other programs.
    pub strangers: u64,
    /// Number of invalid samples.
    pub invalid: u64,
}

#[derive(Debug)]
struct Sender {
    address: PeerAddress,
    to_all: Channel,
    to_this: Channel,
    /// Time of its last sample, in samples.
    last: u64,
    broken: bool,
}

impl Sender {
    const fn bytes(&self) -> usize {
        self.to_all.bytes() + self.to_this.bytes()
    }
}

impl Reassembly {
    /// Creates the reassembly of this process.
    #[must_use]
    pub const fn new(own: ProcessId) -> Self {
        Self { own, senders: BTreeMap::new(), bytes: 0, clock: 0, strangers: 0, invalid: 0 }
    }

    /// Takes a sample. Returns what is complete now.
    pub fn accept(&mut self, bytes: &[u8]) -> Vec<Arrival> {
        self.clock += 1;
        let sample = match Sample::decode(bytes) {
            Ok(sample) => sample,
            Err(SampleError::Version { from, version }) => {
                return vec![Arrival::OtherVersion { from, version }];
            }
            Err(SampleError::Stranger) => {
                self.strangers += 1;
                return Vec::new();
            }
            Err(SampleError::Invalid) => {
                self.invalid += 1;
                return Vec::new();
            }
        };
        let is_for_this = sample.to.is_none_or(|to| to == self.own);
        if sample.from.process == self.own || !is_for_this {
            return Vec::new();
        }
        self.make_room_for(sample.from.process);
        let (to_all, from) = (sample.to.is_none(), sample.from);
        let sender = match self.senders.entry(from.process) {
            Entry::Occupied(sender) => sender.into_mut(),
            Entry::Vacant(place) => place.insert(Sender {
                address: from,
                to_all: Channel::new(false),
                to_this: Channel::new(true),
                last: 0,
                broken: false,
            }),
        };
        sender.last = self.clock;
        if sender.address != from || sender.broken && !to_all {
            // A process does not change its role; and what follows a gap is not delivered.
            self.invalid += 1;
            return Vec::new();
        }
        let before = sender.bytes();
        let is_over = before + sample.bytes.len() > MAX_SENDER_BYTES;
        let channel = if to_all { &mut sender.to_all } else { &mut sender.to_this };
        let accepted = if is_over { Err(None) } else { channel.accept(&sample).map_err(Some) };
        let arrivals = match accepted {
            Ok(messages) => {
                let arrival = |bytes| Arrival::Message { from, to_all, bytes };
                messages.into_iter().map(arrival).collect()
            }
            // The next message to all replaces it.
            Err(_) if to_all => {
                self.invalid += 1;
                sender.to_all.drop_all();
                Vec::new()
            }
            Err(fault) => {
                sender.broken = true;
                sender.to_this.drop_all();
                let cause = match fault {
                    None => "its incomplete messages need too much memory",
                    Some(ChannelFault::Contradiction) => "its samples contradict each other",
                    Some(ChannelFault::TooManyMessages) => "a message of it is missing",
                };
                vec![Arrival::Broken { from, cause }]
            }
        };
        self.bytes = self.bytes - before + sender.bytes();
        arrivals
    }

    /// Forgets the senders whose last samples are the oldest, if there are too many, or if their messages need too much
    /// memory.
    fn make_room_for(&mut self, process: ProcessId) {
        let is_new = !self.senders.contains_key(&process);
        while (is_new && self.senders.len() >= MAX_SENDERS) || self.bytes > MAX_BYTES - MAX_MESSAGE_BYTES {
            let others = self.senders.iter().filter(|(other, _)| **other != process);
            let oldest = others.min_by_key(|(_, sender)| sender.last).map(|(other, _)| *other);
            let Some(sender) = oldest.and_then(|oldest| self.senders.remove(&oldest)) else { return };
            self.bytes -= sender.bytes();
        }
    }
}
