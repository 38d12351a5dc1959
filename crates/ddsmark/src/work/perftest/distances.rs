//! Distances of latency samples in a stream.

use std::collections::BTreeMap;

use perftest::Settings;

use super::queues::throttle_queue;
use crate::cli::cli_error::{CliError, Result};

/// Distance from which on latency samples are too few to matter: fewer than 1 % of the samples.
const MIN_DISTANCE: u32 = 101;
/// Minimum send queue of a throttle in distances of latency samples.
const THROTTLE_DISTANCES: u64 = 20;

/// Numbers of publishers and subscribers of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Publishers.
    pub publishers: usize,
    /// Subscribers.
    pub subscribers: usize,
}

impl Topology {
    /// Returns the topology of the plan. Options limit both numbers.
    pub fn of_plan(self) -> experiment::Topology {
        let number = |processes: usize| u16::try_from(processes).unwrap_or(u16::MAX);
        experiment::Topology::Mesh { writers: number(self.publishers), readers: number(self.subscribers) }
    }

    const fn is_pair(self) -> bool {
        self.publishers == 1 && self.subscribers == 1
    }
}

/// Returns the distance of latency samples of each payload in samples; empty in a latency test that echoes every sample.
pub fn distances(
    settings: &Settings,
    topology: Topology,
    send_queue: Option<u32>,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<u64, u32>> {
    let Settings { shared, local, .. } = settings;
    // Beside other publishers, whose samples are not echoed, the stream of publisher 0 has its echoes.
    if shared.echoes_every_sample() && topology.publishers == 1 {
        return Ok(BTreeMap::new());
    }
    if local.pacing.throttle && !topology.is_pair() {
        let error = format!(
            "`-enableAutoThrottle` needs one publisher and one subscriber: the test has {} and {}",
            topology.publishers, topology.subscribers
        );
        let hint = "remove it, or start one of each: the rate follows one subscriber";
        return Err(CliError::usage(error, hint));
    }
    let longest = match local.pacing.throttle {
        true => throttle_queue(send_queue) / THROTTLE_DISTANCES,
        false => u64::from(u32::MAX),
    };
    let requested = |size: &u64| shared.samples_per_ping(*size);
    let most = shared.sizes.iter().map(requested).max().unwrap_or(1);
    if local.pacing.throttle && most > longest {
        notes.push(format!(
            "one sample in {longest} is a latency sample, not one in {most}: `-enableAutoThrottle` follows their echoes"
        ));
    }
    let distance = |size: &u64| {
        let distance = requested(size).clamp(1, longest);
        (shared.payload_bytes(*size, local.raw_transport), u32::try_from(distance).unwrap_or(u32::MAX))
    };
    let distances: BTreeMap<u64, u32> = shared.sizes.iter().map(distance).collect();
    let least = distances.values().copied().min();
    if let Some(distance) = least.filter(|every| *every < MIN_DISTANCE && !shared.echoes_every_sample()) {
        notes.push(format!(
            "one sample in {distance} is echoed in full: the echoes add {:.0} % to the traffic, and share the CPU time of both \
             sides",
            100.0 / f64::from(distance)
        ));
    }
    if topology.subscribers > 1 {
        notes.push("the subscriber with the lowest id echoes all latency samples".to_owned());
    }
    Ok(distances)
}
