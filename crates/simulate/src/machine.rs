//! The simulated host: what samples cost its processors, what its kernel and its interface hold, and how it changes from
//! run to run.

use std::collections::VecDeque;

use results::Reference;
use sim_model::{Config, Random};

use crate::HOST_NS;

/// Figures of a reference on an unchanged host.
const REFERENCE_RTT_NS: f64 = 15_000.0;
const REFERENCE_SPS: f64 = 600_000.0;

/// What the host does besides the middleware. Times are in ns.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Processor time of the writer's process for a write.
    pub write_ns: f64,
    /// For each byte of it.
    pub write_ns_per_byte: f64,
    /// For packing it, where several samples make a batch.
    pub pack_ns: f64,
    /// Processor time of the reader's process for a sample.
    pub read_ns: f64,
    /// For each byte of it.
    pub read_ns_per_byte: f64,
    /// Packets that wait before the reader, the one being read included. Best effort: more are dropped, and counted.
    /// Reliable: the writer waits. None: any number.
    pub receive_buffer: Option<usize>,
    /// Speed of the interface in 10^6 bit/s, which no traffic exceeds. None: without limit, as the loopback interface.
    pub link_mbps: Option<u64>,
    /// What a datagram has on the wire besides payload.
    pub overhead_bytes: u64,
    /// How runs differ.
    pub between: Between,
    /// How the host itself changes over time: the references of an experiment see it too.
    pub host: HostChange,
    /// How many times as long everything takes on the second half of the cores, in a duet.
    pub other_half: f64,
}

/// How the speed of the host changes from run to run: all times of a run are multiplied by one factor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Between {
    /// Of the logarithm of the factor, from one run to the next.
    pub drift: f64,
    /// Standard deviation of the logarithm around the drift.
    pub sd: f64,
    /// Correlation of a run with the one before: an autoregressive process of first order, -1 to 1, both exclusive.
    pub autocorrelation: f64,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            write_ns: HOST_NS as f64,
            write_ns_per_byte: 0.0,
            pack_ns: 0.0,
            read_ns: HOST_NS as f64 / 2.0,
            read_ns_per_byte: 0.0,
            receive_buffer: None,
            link_mbps: None,
            // Ethernet 18, IPv4 20, UDP 8
            overhead_bytes: 46,
            between: Between::default(),
            host: HostChange::default(),
            other_half: 1.0,
        }
    }
}

/// Planted change of the host. Time is counted in blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct HostChange {
    /// Time at which the experiment begins.
    pub begins: f64,
    /// Change of the logarithm of all times per block.
    pub trend: f64,
    /// Steps: from this time on the logarithm of all times is greater by this.
    pub steps: Vec<(f64, f64)>,
    /// Elasticity of the middleware: its times are multiplied by the host's factor to this power.
    pub elasticity: f64,
    /// Standard deviation of the logarithm of each figure of a reference.
    pub reference_sd: f64,
}

impl Default for HostChange {
    fn default() -> Self {
        Self { begins: 0.0, trend: 0.0, steps: Vec::new(), elasticity: 1.0, reference_sd: 0.0 }
    }
}

impl HostChange {
    /// Logarithm of the factor of all times, so many blocks after the begin of the experiment.
    fn log(&self, blocks: f64) -> f64 {
        let at = self.begins + blocks;
        let steps = self.steps.iter().filter(|(from, _)| *from <= at).map(|(_, log)| log);
        self.trend * at + steps.sum::<f64>()
    }

    /// Factor of the middleware's times in a block, numbered from 1.
    pub(crate) fn factor(&self, block: u32) -> f64 {
        (self.elasticity * self.log(f64::from(block) - 0.5)).exp()
    }

    /// References before the first of so many blocks and after each.
    pub(crate) fn references(&self, seed: u64, blocks: u32, length_ns: u64) -> Vec<Reference> {
        let mut random = Random::new(seed, u64::MAX - 1);
        let mut of = |block: u32| {
            let host = self.log(f64::from(block));
            let mut figure =
                |typical: f64, log: f64| typical * (log + self.reference_sd * random.normal()).exp();
            Reference {
                length_ns,
                sender_cores: Vec::new(),
                receiver_cores: Vec::new(),
                round_trips: 5_000,
                rtt_p50_ns: figure(REFERENCE_RTT_NS, host),
                rtt_p99_ns: Some(figure(3.0 * REFERENCE_RTT_NS, host)),
                samples: 100_000,
                rate_sps: figure(REFERENCE_SPS, -host),
            }
        };
        (0..=blocks).map(&mut of).collect()
    }
}

impl Machine {
    /// The same where everything takes so many times as long.
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

    /// Of a sample at the writer; time passes in whole ns.
    pub(crate) fn write_cost(&self, size_bytes: u64, samples: u64) -> u64 {
        let packing = if samples > 1 { self.pack_ns } else { 0.0 };
        (self.write_ns + self.write_ns_per_byte * size_bytes as f64 + packing).round().max(1.0) as u64
    }

    /// Of a packet at the reader.
    pub(crate) fn read_cost(&self, size_bytes: u64, samples: u64) -> u64 {
        let sample = self.read_ns + self.read_ns_per_byte * size_bytes as f64;
        (sample * samples as f64).round() as u64
    }

    /// What a packet of so many payload bytes is on the wire, and its datagrams.
    pub(crate) fn on_wire(&self, config: &Config, bytes: u64) -> (u64, u64) {
        let datagrams = config.datagrams(bytes);
        (bytes + datagrams * self.overhead_bytes, datagrams)
    }

    /// What moves packets of so many payload bytes: the server of the middleware or the interface, whichever is slower.
    pub(crate) fn limit(&self, config: &mut Config, bytes: u64) {
        let Some(link) = self.link_mbps else { return };
        let (wire, _) = self.on_wire(config, bytes);
        let payload = link as f64 * 1e6 * bytes as f64 / wire.max(1) as f64;
        config.bandwidth = Some(config.bandwidth.map_or(payload, |bandwidth| bandwidth.min(payload)));
    }
}

impl Between {
    /// The factor of a run, by its number from 1. The seed decides all runs together.
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

/// A reader's process, and the socket buffer before it.
#[derive(Debug)]
pub(crate) struct Intake {
    capacity: usize,
    /// When each packet that waits is read.
    waiting: VecDeque<u64>,
    free_ns: u64,
}

impl Intake {
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let capacity = capacity.unwrap_or(usize::MAX).max(1);
        Self { capacity, waiting: VecDeque::new(), free_ns: 0 }
    }

    /// When there is room for a packet that comes now; none if there is.
    pub(crate) fn full_until(&mut self, now_ns: u64) -> Option<u64> {
        if self.capacity == usize::MAX {
            return None;
        }
        while self.waiting.front().is_some_and(|read| *read <= now_ns) {
            self.waiting.pop_front();
        }
        (self.waiting.len() >= self.capacity).then(|| self.waiting[0])
    }

    /// Takes a packet that comes then, and is read in so long; when that is done.
    pub(crate) fn take(&mut self, due_ns: u64, cost_ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(due_ns).saturating_add(cost_ns);
        if self.capacity < usize::MAX {
            self.waiting.push_back(self.free_ns);
        }
        self.free_ns
    }
}
