//! Packets that arrive at a simulated reader.

/// Packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    /// Time at which it has been read; until the end of a phase, that at which it arrives.
    pub due_ns: u64,
    /// Rank among packets with the same time.
    pub order: u64,
    /// Position of its stream among those of the reader.
    pub position: u32,
    /// Number of its first sample.
    pub sequence: u64,
    /// Number of samples in it.
    pub samples: u64,
    /// Payload of all of them.
    pub bytes: u64,
    /// Start of its write.
    pub tried_ns: u64,
    /// Whether it was sent in the warm-up.
    pub warm_up: bool,
}
