//! Echo probes of a flow.

use serde::{Deserialize, Serialize};
use stats::{median, total};

/// Echo probes: samples of a flow that the reader sends back, to measure the RTT under load (latency kind `rtt`). A
/// probe is a sample of the flow and is included in all rates and counts. Its echo is additional load in the
/// opposite direction (`echo_mbps`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeStats {
    /// Endpoint that wrote the probes, by id.
    pub writer: String,
    /// Endpoint that echoed them, by id.
    pub reader: String,
    /// Every Nth sample is a probe.
    pub every: u64,
    /// Number of probes that the writer's middleware accepted.
    pub sent: u64,
    /// Number of probes that the reader received.
    pub came: u64,
    /// Number of echoes that the reader's middleware accepted.
    pub echoed: u64,
    /// Number of echoes that the writer received.
    pub returned: u64,
    /// Number of probes without an echo: `sent - returned`. Lost in either direction, or not accepted for the
    /// return.
    pub lost: u64,
    /// Payload of the echoes, in 10^6 bit/s: load in addition to the offered rate. Over the runs of a cell: the
    /// median.
    pub echo_mbps: f64,
}

impl ProbeStats {
    /// Merges the probes of several runs: counts are sums, the rate is the median. `None` without parts.
    #[must_use]
    pub fn sum<'p>(parts: impl Iterator<Item = &'p Self>) -> Option<Self> {
        let parts: Vec<&Self> = parts.collect();
        let sum = |of: fn(&Self) -> u64| total(parts.iter().map(|part| of(part)));
        let first = parts.first()?;
        Some(Self {
            writer: first.writer.clone(),
            reader: first.reader.clone(),
            every: first.every,
            sent: sum(|part| part.sent),
            came: sum(|part| part.came),
            echoed: sum(|part| part.echoed),
            returned: sum(|part| part.returned),
            lost: sum(|part| part.lost),
            echo_mbps: median(&parts.iter().map(|part| part.echo_mbps).collect::<Vec<_>>())?,
        })
    }
}
