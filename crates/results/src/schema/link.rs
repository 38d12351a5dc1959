//! Links of a lab during a run, and what links can carry.

use experiment::LinkSpec;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::schema::counted::counts;

/// Links between the hosts of a lab during a run, read back after they were set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Frames on the links while the agents of the run existed. With two runs at the same time, those of both. Absent if the
    /// links have neither a rate nor a delay nor a loss, or if their counters cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<LinkFrames>,
    /// By how much the switch of the lab sent frames later than these links would. Absent if it sent none: links without a
    /// rate and a delay need no switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<LinkLateness>,
}

/// Lateness of the switch of a lab: each time over its links is longer than on real links by as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkLateness {
    /// Frames that it sent while the agents of the run existed.
    pub frames: u64,
    /// Median in ns.
    pub p50_ns: u64,
    /// 99 % quantile in ns; null with fewer than 1,000 frames.
    pub p99_ns: Option<u64>,
    /// Maximum in ns.
    pub max_ns: u64,
}

/// Minimum number of frames for a 99 % quantile: 10 are beyond it.
const FRAMES_FOR_P99: u64 = 1_000;

/// Reading of the counters of a lab, since it is up.
#[derive(Clone, Debug)]
pub struct LinkReading {
    /// Frames of all hosts.
    pub frames: LinkFrames,
    /// Lateness of the switch for each frame in ns.
    pub lateness: Histogram<u64>,
}

impl LinkReading {
    /// Returns the frames and the lateness since an earlier reading of the same lab.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> (LinkFrames, Option<LinkLateness>) {
        let mut lateness = self.lateness.clone();
        // Fails only if the earlier reading is of another lab.
        let is_later = lateness.subtract(&earlier.lateness).is_ok();
        let frames = lateness.len();
        let lateness = (is_later && frames > 0).then(|| LinkLateness {
            frames,
            p50_ns: lateness.value_at_quantile(0.5),
            p99_ns: (frames >= FRAMES_FOR_P99).then(|| lateness.value_at_quantile(0.99)),
            max_ns: lateness.max(),
        });
        (self.frames.since(&earlier.frames), lateness)
    }
}

/// Ethernet frames of all hosts of a lab. A datagram above the MTU is several frames; discovery, acknowledgments and other
/// programs are counted, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkFrames {
    /// Frames that left a host.
    pub sent: u64,
    /// Frames that the loss of the links dropped.
    pub lost: u64,
    /// Frames that a full queue dropped: of a host, of a port of the switch, or of the switch itself.
    pub queue_drops: u64,
    /// Frames that an interface dropped: longer than its MTU, or the kernel was too busy.
    pub interface_drops: u64,
}

counts! { LinkFrames: sent lost queue_drops interface_drops }

impl LinkFrames {
    /// Returns whether a frame was dropped.
    #[must_use]
    pub const fn has_drops(&self) -> bool {
        self.lost > 0 || self.queue_drops > 0 || self.interface_drops > 0
    }
}

impl LinkRecord {
    /// Creates the record of links that were read back.
    #[must_use]
    pub fn new(link: &LinkSpec) -> Self {
        let LinkSpec { rate_bit_per_s, delay_ns, loss_ppm, mtu_bytes } = *link;
        Self { rate_bit_per_s, delay_ns, loss_ppm, mtu_bytes, frames: None, lateness: None }
    }
}

/// Goodput that the links between the hosts of a cell can carry, by UDP over IPv4 on Ethernet.
///
/// Counted for each fragment of a datagram: preamble 8, Ethernet header 14, checksum 4, gap 12 and IP header 20 bytes, and once
/// the UDP header of 8 bytes. A datagram has one sample, or one batch. Headers of a middleware are not counted, so it stays below
/// the ceiling, unless it packs several samples into one datagram by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkCeiling {
    /// Rate of the slowest link on the wire, in 10^6 bit/s.
    pub link_mbps: f64,
    /// Highest goodput at a reader, in 10^6 bit/s of payload.
    pub goodput_mbps: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_that_since_the_earlier_reading() {
        let reading = |late_ns: &[u64]| {
            let mut lateness = Histogram::new_with_bounds(1, 60_000_000_000, 2).expect("valid bounds");
            late_ns.iter().for_each(|ns| lateness.record(*ns).expect("in range"));
            LinkReading {
                frames: LinkFrames { sent: late_ns.len() as u64, ..LinkFrames::default() },
                lateness,
            }
        };
        let earlier = reading(&[50, 50]);
        let (frames, lateness) = reading(&[50, 50, 10, 20, 100]).since(&earlier);
        assert_eq!(frames.sent, 3);
        assert_eq!(lateness, Some(LinkLateness { frames: 3, p50_ns: 20, p99_ns: None, max_ns: 100 }));
        assert_eq!(earlier.since(&earlier), (LinkFrames::default(), None));
        let many = reading(&(1..=1_000).map(|number| if number > 980 { 120 } else { 7 }).collect::<Vec<_>>());
        assert_eq!(many.since(&reading(&[])).1.and_then(|lateness| lateness.p99_ns), Some(120));
    }
}
