//! The processes of a run: what each was allowed, what it used, and what its host counted meanwhile.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One process of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecord {
    /// `writer`, `reader`, `pinger` or `ponger`.
    pub role: String,
    /// Process id.
    pub pid: u32,
    /// Cores that it was allowed.
    pub cpus: Vec<u32>,
    /// What it used while traffic flowed.
    pub usage: Usage,
    /// Datagram counters of its network namespace, from before the traffic to its end; of a serving end, to the end of the drain.
    pub sockets: Option<Sockets>,
    /// Traffic of the interface, over the same time.
    pub interface: Option<Interface>,
    /// The middleware's own counters by entity (`writer`, `reader`), from its opening to the end of the drain.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// Settings in force by entity (`participant`, `writer`, `reader`), read back.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
}

/// What a process used while traffic flowed: at a driving end from before its first write to after its last one, with a plan for as long as
/// the plan; at a serving end from at most 2 ms before the first sample, or the begin of the plan, to the first ms without a new
/// sample once the measured time was over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// The time over which all of this was measured.
    pub elapsed_ns: u64,
    /// Samples that were accepted (writer, pinger), received (reader) or echoed (ponger) in that time: CPU time per sample is of these.
    #[serde(default)]
    pub samples: u64,
    /// What it used while it waited without traffic, after the drain. Absent where something was still under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// CPU time in user space, all threads.
    pub user_ns: u64,
    /// CPU time in the kernel, all threads.
    pub system_ns: u64,
    /// Context switches by waiting.
    pub voluntary_switches: u64,
    /// Context switches by force.
    pub involuntary_switches: u64,
    /// Time in which its threads could have run, and waited for a core. Absent where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
    /// Of its driving thread, which writes: time on a core, or waiting for one. Absent where the kernel does not say, and in older
    /// results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driving_ns: Option<u64>,
    /// The core that its driving thread was on when measuring ended. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u32>,
    /// Page faults served without a disk.
    pub minor_faults: u64,
    /// Page faults served from a disk.
    pub major_faults: u64,
    /// Largest resident memory since the process began.
    pub max_resident_bytes: u64,
}

/// What a process used while it waited for samples, and none were under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Idle {
    /// The time over which it was measured.
    pub elapsed_ns: u64,
    /// CPU time of all threads.
    pub used_ns: u64,
    /// Time in which its threads could have run, and waited for a core. Absent where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
}

/// Of a CPU figure: an idle cost up to this is not subtracted.
const NEGLIGIBLE: f64 = 0.05;
/// Of the time in which it was not kept from a core: a process that used more than this while it waited waits by using its core.
const BUSY_WAIT: f64 = 0.5;
/// Of a core: idle use up to this is what a wait and two readings take, and none of the process's own.
const LEAST_IDLE: f64 = 0.003;

/// What of a process's CPU time is idle cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IdleCost {
    /// At most 5 %, or not known: nothing is subtracted.
    Negligible,
    /// This share of it.
    Share(f64),
    /// The process waits by using its core. The time that it would have spent waiting it spends on samples instead, so the cost of
    /// waiting cannot be told from theirs, and nothing is subtracted.
    BusyWait,
}

impl Idle {
    /// Of a core: what it used.
    #[must_use]
    pub fn used(&self) -> f64 {
        self.used_ns as f64 / self.elapsed_ns.max(1) as f64
    }

    fn is_busy_wait(&self) -> bool {
        // others may have had the core; several threads may have waited for it at once
        let had_ns = self.elapsed_ns.saturating_sub(self.run_delay_ns.unwrap_or(0)).max(self.elapsed_ns / 10);
        self.used_ns as f64 > BUSY_WAIT * had_ns as f64
    }
}

impl Usage {
    /// CPU time in user space and in the kernel, of all threads.
    #[must_use]
    pub const fn cpu_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// What of its CPU time is idle cost.
    #[must_use]
    pub fn idle_cost(&self) -> IdleCost {
        let Some(idle) = &self.idle else { return IdleCost::Negligible };
        let share = idle.used() * self.elapsed_ns as f64 / self.cpu_ns().max(1) as f64;
        if share <= NEGLIGIBLE || idle.used() <= LEAST_IDLE {
            IdleCost::Negligible
        } else if idle.is_busy_wait() {
            IdleCost::BusyWait
        } else {
            IdleCost::Share(share)
        }
    }

    /// CPU time per sample, in ns, less the idle cost. None of no samples, and where it used no more than it does idle.
    #[must_use]
    pub fn cpu_ns_per_sample(&self) -> Option<f64> {
        let left = match self.idle_cost() {
            IdleCost::Share(share) => 1.0 - share,
            IdleCost::Negligible | IdleCost::BusyWait => 1.0,
        };
        (self.samples > 0 && left > 0.0).then(|| self.cpu_ns() as f64 * left / self.samples as f64)
    }

    /// Of a core: what its process used, or its driving thread used or waited for, whichever is more.
    #[must_use]
    pub fn saturation(&self) -> f64 {
        self.used().max(self.busy())
    }

    /// Of a core: what its driving thread used or waited for. With less, it was something else that let the thread wait. Where the
    /// kernel tells nothing of a single thread, that of all.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.driving_ns.map_or_else(|| self.used() + self.waited(), |ns| self.of_elapsed([ns]))
    }

    /// Of a core: what all of its threads used.
    #[must_use]
    pub fn used(&self) -> f64 {
        self.of_elapsed([self.user_ns, self.system_ns])
    }

    /// Of a core: for how long its threads together waited for one; more than 1 where several did.
    #[must_use]
    pub fn waited(&self) -> f64 {
        self.of_elapsed(self.run_delay_ns)
    }

    fn of_elapsed(&self, parts: impl IntoIterator<Item = u64>) -> f64 {
        parts.into_iter().map(|ns| ns as f64).sum::<f64>() / self.elapsed_ns.max(1) as f64
    }
}

/// UDP counters of a network namespace (`/proc/self/net/snmp`), as differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sockets {
    /// Datagrams delivered to sockets.
    pub in_datagrams: u64,
    /// Datagrams dropped, for any reason.
    pub in_errors: u64,
    /// Datagrams dropped because the receive buffer was full.
    pub receive_buffer_errors: u64,
    /// Datagrams not sent because the send buffer was full.
    pub send_buffer_errors: u64,
    /// What left by multicast, everybody's. Absent where the kernel does not say, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multicast: Option<MulticastSent>,
}

/// What a network namespace sent by multicast over IPv4 and IPv6 (`/proc/self/net/netstat` and `snmp6`), as differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MulticastSent {
    /// Packets of IP.
    pub packets: u64,
    /// Their bytes, with the headers of IP and UDP.
    pub bytes: u64,
}

/// Counters of a network interface, as differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
}

/// Traffic of a network interface while measuring, with everything else that used it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireBytes {
    /// The interface.
    pub interface: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
}
