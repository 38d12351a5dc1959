//! Model of the host: CPU time per sample, capacities of kernel and interface, and variation between runs.

use std::collections::{BTreeMap, VecDeque};

use results::Reference;
use sim_model::{Config, Random};

use crate::HOST_NS;

/// Reference metrics of an unchanged host.
const REFERENCE_RTT_NS: f64 = 15_000.0;
const REFERENCE_SPS: f64 = 600_000.0;

/// Model of the host. Times are in ns.
#[derive(Clone, Debug, PartialEq)]
pub struct HostModel {
    /// CPU time of the writer's process per write.
    pub write_ns: f64,
    /// CPU time of the writer's process per byte.
    pub write_ns_per_byte: f64,
    /// CPU time of batching, per sample.
    pub pack_ns: f64,
    /// CPU time of the reader's process per sample.
    pub read_ns: f64,
    /// CPU time of the reader's process per byte.
    pub read_ns_per_byte: f64,
    /// Capacity of the receive buffer in packets, including the one in service. When it is full, best effort packets
    /// are dropped and counted, and a reliable writer waits. `None`: unlimited.
    pub receive_buffer: Option<usize>,
    /// Speed of the interface in 10^6 bit/s; `None`: unlimited, as the loopback interface.
    pub link_mbps: Option<u64>,
    /// Bytes of a datagram on the wire in addition to its payload.
    pub overhead_bytes: u64,
    /// Variation between runs.
    pub between: RunVariation,
    /// Change of the host over time, which affects the references of an experiment too.
    pub change: HostChange,
    /// Factor of all times of single endpoints, by id: of a writer, those of its process and its server; of a reader,
    /// those of its process and the latency to it.
    pub endpoints: BTreeMap<String, f64>,
    /// Memory of a process that its participants share, and as much before they are created, in bytes.
    pub process_bytes: u64,
    /// Memory of a participant beyond that, without its peers, in bytes.
    pub participant_bytes: u64,
    /// Memory of a participant for each entity that it has discovered, its own included, in bytes.
    pub peer_bytes: u64,
    /// Factor of all times on the second half of the cores, in a duet.
    pub other_half: f64,
}

/// Variation of the host's speed between runs: one factor applies to all times of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunVariation {
    /// Change of the logarithm of the factor from one run to the next.
    pub drift: f64,
    /// Standard deviation of the logarithm around the drift.
    pub sd: f64,
    /// Correlation of consecutive runs: a first-order autoregressive process, in (-1, 1).
    pub autocorrelation: f64,
}

impl Default for HostModel {
    fn default() -> Self {
        Self {
            write_ns: HOST_NS as f64,
            write_ns_per_byte: 0.0,
            pack_ns: 0.0,
            read_ns: HOST_NS as f64 / 2.0,
            read_ns_per_byte: 0.0,
            receive_buffer: None,
            link_mbps: None,
            // Ethernet 18, IPv4 20, UDP 8.
            overhead_bytes: 46,
            between: RunVariation::default(),
            change: HostChange::default(),
            endpoints: BTreeMap::new(),
            process_bytes: 1 << 20,
            participant_bytes: 1 << 20,
            peer_bytes: 4096,
            other_half: 1.0,
        }
    }
}

/// Simulated change of the host. Time is counted in blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct HostChange {
    /// Time at which the experiment starts.
    pub begins: f64,
    /// Change of the logarithm of all times per block.
    pub trend: f64,
    /// Steps as `(time, change)`: from this time on the logarithm of all times is greater by the change.
    pub steps: Vec<(f64, f64)>,
    /// Elasticity of the middleware: its times scale with the host's factor to this power.
    pub elasticity: f64,
    /// Standard deviation of the logarithm of each reference metric.
    pub reference_sd: f64,
}

impl Default for HostChange {
    fn default() -> Self {
        Self { begins: 0.0, trend: 0.0, steps: Vec::new(), elasticity: 1.0, reference_sd: 0.0 }
    }
}

impl HostChange {
    /// Returns the logarithm of the factor of all times, at a number of blocks after the start of the experiment.
    fn log(&self, blocks: f64) -> f64 {
        let at = self.begins + blocks;
        let steps = self.steps.iter().filter(|(from, _)| *from <= at).map(|(_, log)| log);
        self.trend * at + steps.sum::<f64>()
    }

    /// Returns the factor of the middleware's times in a block, numbered from 1.
    pub(crate) fn factor(&self, block: u32) -> f64 {
        (self.elasticity * self.log(f64::from(block) - 0.5)).exp()
    }

    /// Returns the references before the first block and after each of `blocks` blocks.
    pub(crate) fn references(&self, seed: u64, blocks: u32, length_ns: u64) -> Vec<Reference> {
        let mut random = Random::new(seed, u64::MAX - 1);
        let mut of = |block: u32| {
            let host = self.log(f64::from(block));
            let mut value =
                |typical: f64, log: f64| typical * (log + self.reference_sd * random.normal()).exp();
            Reference {
                length_ns,
                sender_cores: Vec::new(),
                receiver_cores: Vec::new(),
                round_trips: 5_000,
                rtt_p50_ns: value(REFERENCE_RTT_NS, host),
                rtt_p99_ns: Some(value(3.0 * REFERENCE_RTT_NS, host)),
                samples: 100_000,
                rate_sps: value(REFERENCE_SPS, -host),
            }
        };
        (0..=blocks).map(&mut of).collect()
    }
}

impl HostModel {
    /// Returns the host with all CPU times multiplied by `factor`.
    pub(crate) fn slowed(&self, factor: f64) -> Self {
        Self {
            write_ns: self.write_ns * factor,
            write_ns_per_byte: self.write_ns_per_byte * factor,
            pack_ns: self.pack_ns * factor,
            read_ns: self.read_ns * factor,
            read_ns_per_byte: self.read_ns_per_byte * factor,
            ..self.clone()
        }
    }

    /// Returns the factor of all times of an endpoint.
    pub(crate) fn factor_of(&self, endpoint: &str) -> f64 {
        self.endpoints.get(endpoint).copied().unwrap_or(1.0)
    }

    /// Returns the CPU time of the writer for a sample, in whole ns.
    pub(crate) fn write_cost(&self, size_bytes: u64, samples: u64) -> u64 {
        let packing = if samples > 1 { self.pack_ns } else { 0.0 };
        (self.write_ns + self.write_ns_per_byte * size_bytes as f64 + packing).round().max(1.0) as u64
    }

    /// Returns the CPU time of the reader for a packet with samples of this many bytes together, in ns.
    pub(crate) fn read_cost(&self, bytes: u64, samples: u64) -> u64 {
        let sample = self.read_ns + self.read_ns_per_byte * (bytes as f64 / samples.max(1) as f64);
        (sample * samples as f64).round() as u64
    }

    /// Returns the bytes of a packet on the wire, and its number of datagrams.
    pub(crate) fn on_wire(&self, config: &Config, bytes: u64) -> (u64, u64) {
        let datagrams = config.datagrams(bytes);
        (bytes + datagrams * self.overhead_bytes, datagrams)
    }

    /// Limits the bandwidth for packets of `bytes` payload bytes to that of the interface.
    pub(crate) fn limit(&self, config: &mut Config, bytes: u64) {
        let Some(link) = self.link_mbps else { return };
        let (wire, _) = self.on_wire(config, bytes);
        let payload = link as f64 * 1e6 * bytes as f64 / wire.max(1) as f64;
        config.bandwidth = Some(config.bandwidth.map_or(payload, |bandwidth| bandwidth.min(payload)));
    }
}

impl RunVariation {
    /// Returns the factor of a run, by its number from 1. The seed determines all runs together.
    #[must_use]
    pub fn factor(&self, seed: u64, run: u32) -> f64 {
        if *self == Self::default() {
            return 1.0;
        }
        let mut random = Random::new(seed, u64::MAX);
        let kept = self.autocorrelation;
        let mut state = random.normal();
        for _ in 1..run {
            state = kept * state + (1.0 - kept * kept).max(0.0).sqrt() * random.normal();
        }
        (self.drift * f64::from(run.saturating_sub(1)) + self.sd * state).exp()
    }
}

/// Reader's process with the socket buffer before it.
#[derive(Debug)]
pub(crate) struct ReaderQueue {
    capacity: usize,
    /// Completion time of each waiting packet.
    waiting: VecDeque<u64>,
    free_ns: u64,
}

impl ReaderQueue {
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let capacity = capacity.unwrap_or(usize::MAX).max(1);
        Self { capacity, waiting: VecDeque::new(), free_ns: 0 }
    }

    /// Returns when the full buffer has room for a packet that arrives now; `None` if it has room.
    pub(crate) fn full_until(&mut self, now_ns: u64) -> Option<u64> {
        if self.capacity == usize::MAX {
            return None;
        }
        while self.waiting.front().is_some_and(|read| *read <= now_ns) {
            self.waiting.pop_front();
        }
        (self.waiting.len() >= self.capacity).then(|| self.waiting[0])
    }

    /// Adds a packet that arrives at `due_ns` and takes `cost_ns` to read. Returns its completion time.
    pub(crate) fn take(&mut self, due_ns: u64, cost_ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(due_ns).saturating_add(cost_ns);
        if self.capacity < usize::MAX {
            self.waiting.push_back(self.free_ns);
        }
        self.free_ns
    }
}
