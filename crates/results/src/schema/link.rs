//! Links of a lab during a run, and what links can carry.

use experiment::LinkSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Links between the hosts of a lab during a run, read back after they were set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkRecord {
    /// Rate of each direction in bit/s on the wire, with preamble, headers, checksum and gap of each Ethernet frame. Null:
    /// unlimited.
    pub rate_bit_per_s: Option<u64>,
    /// Delay from one host to another in ns.
    pub delay_ns: u64,
    /// Lost IP packets or fragments of 1,000,000.
    pub loss_ppm: u32,
    /// Longest IP packet that fits into a frame, in bytes.
    pub mtu_bytes: u32,
    /// Mechanism of the delay: `netem` of the kernel, or `switch`, a thread of ddsmark. Absent without a delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_by: Option<String>,
    /// Frames on the links while the agents of the run existed. With two runs at the same time, those of both. Absent if the
    /// links have neither a rate nor a delay nor a loss, or if their counters cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<LinkFrames>,
}

/// Ethernet frames of all hosts of a lab. A datagram above the MTU is several frames; discovery, acknowledgments and other
/// programs are counted, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkFrames {
    /// Frames that left a host.
    pub sent: u64,
    /// Frames that the loss of the links dropped.
    pub lost: u64,
    /// Frames that a full queue dropped: of a host, of a port of the switch, or of the thread that delays them.
    pub queue_drops: u64,
    /// Frames that an interface dropped: longer than its MTU, or the kernel was too busy.
    pub interface_drops: u64,
}

impl LinkFrames {
    /// Returns the frames since an earlier reading of the same counters.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            sent: self.sent.saturating_sub(earlier.sent),
            lost: self.lost.saturating_sub(earlier.lost),
            queue_drops: self.queue_drops.saturating_sub(earlier.queue_drops),
            interface_drops: self.interface_drops.saturating_sub(earlier.interface_drops),
        }
    }

    /// Returns whether a frame was dropped.
    #[must_use]
    pub const fn has_drops(&self) -> bool {
        self.lost > 0 || self.queue_drops > 0 || self.interface_drops > 0
    }
}

impl LinkRecord {
    /// Creates the record of links that were read back.
    #[must_use]
    pub fn new(link: &LinkSpec, delay_by: Option<&str>) -> Self {
        let LinkSpec { rate_bit_per_s, delay_ns, loss_ppm, mtu_bytes } = *link;
        let delay_by = delay_by.filter(|_| delay_ns > 0).map(str::to_owned);
        Self { rate_bit_per_s, delay_ns, loss_ppm, mtu_bytes, delay_by, frames: None }
    }
}

/// Goodput that the links between the hosts of a cell can carry, by UDP over IPv4 on Ethernet.
///
/// Counted for each fragment of a datagram: preamble 8, Ethernet header 14, checksum 4, gap 12 and IP header 20 bytes, and once
/// the UDP header of 8 bytes. A datagram has one sample, or one batch. Headers of a middleware are not counted, so it stays below
/// the ceiling, unless it packs several samples into one datagram by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCeiling {
    /// Rate of the slowest link on the wire, in 10^6 bit/s.
    pub link_mbps: f64,
    /// Highest goodput at a reader, in 10^6 bit/s of payload.
    pub goodput_mbps: f64,
}
