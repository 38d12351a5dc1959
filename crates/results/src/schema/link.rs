//! Links of a lab during a run.

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
