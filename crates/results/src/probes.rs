//! Echo probes inside a stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{median, total};

/// Samples of a stream that were sent back, so that the round trip under load is known (latency kind `rtt`). A probe is a sample
/// of the stream and counts as such in every rate and count; its echo is load beside the stream, in the other direction:
/// `echo_mbps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probes {
    /// One in so many samples was a probe.
    pub every: u64,
    /// Probes accepted by the middleware.
    pub sent: u64,
    /// Probes that the reader got.
    pub came: u64,
    /// Echoes that the reader's middleware accepted.
    pub echoed: u64,
    /// Echoes that came back.
    pub returned: u64,
    /// Probes without an echo: `sent - returned`, lost on either way or not taken for the way back.
    pub lost: u64,
    /// Payload of the echoes, in 10^6 bit/s: what the probes add to the offered load.
    pub echo_mbps: f64,
}

impl Probes {
    /// Of several runs: counts are sums, the rate is the median. None of none.
    #[must_use]
    pub fn sum<'p>(parts: impl Iterator<Item = &'p Self>) -> Option<Self> {
        let parts: Vec<&Self> = parts.collect();
        let sum = |of: fn(&Self) -> u64| total(parts.iter().map(|part| of(part)));
        Some(Self {
            every: parts.first()?.every,
            sent: sum(|part| part.sent),
            came: sum(|part| part.came),
            echoed: sum(|part| part.echoed),
            returned: sum(|part| part.returned),
            lost: sum(|part| part.lost),
            echo_mbps: median(&parts.iter().map(|part| part.echo_mbps).collect::<Vec<_>>())?,
        })
    }
}
