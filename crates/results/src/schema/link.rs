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
}

impl LinkRecord {
    /// Creates the record of links that were read back.
    #[must_use]
    pub fn new(link: &LinkSpec, delay_by: Option<&str>) -> Self {
        let LinkSpec { rate_bit_per_s, delay_ns, loss_ppm, mtu_bytes } = *link;
        let delay_by = delay_by.filter(|_| delay_ns > 0).map(str::to_owned);
        Self { rate_bit_per_s, delay_ns, loss_ppm, mtu_bytes, delay_by }
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
