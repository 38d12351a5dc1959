//! Endpoints of a run: what they opened, their cores and network counters; and the resource usage of a process.

use std::collections::BTreeMap;

use experiment::Qos;
use serde::{Deserialize, Serialize};

use crate::schema::counted::counts;

/// Endpoint of a run: one participant with one role, and what it opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointRecord {
    /// Name, unique in the run: that of the role, with a number from 1 if several endpoints have it.
    pub id: String,
    /// Role: `writer`, `reader`, `pinger`, `echo` or `participant`.
    pub role: String,
    /// Name of its host.
    pub host: String,
    /// Name of its driver.
    pub driver: String,
    /// Number of its process: that of an element of `processes`, which has the usage of CPU and memory. Endpoints with the
    /// same number share a process.
    pub process: u32,
    /// Cores that its threads may use.
    pub cpus: Vec<u32>,
    /// Time from the request to match until all its entities were matched, in ns.
    pub matched_ns: u64,
    /// Effective QoS, read back from the middleware, by entity (`writer`, `reader`).
    pub effective_qos: BTreeMap<String, Qos>,
    /// UDP counters of the network namespace: from before the traffic to its end, for a reader or echo to the end
    /// of the drain.
    pub sockets: Option<Sockets>,
    /// Counters of the network interface, over the same time.
    pub interface: Option<Interface>,
    /// Counters that the middleware reports, by entity (`writer`, `reader`), from opening to the end of the drain.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// Effective settings, read back, by entity (`participant`, `writer`, `reader`).
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
    /// Maximum error of its times on the common clock of the run, in ns: 0 on the reference host. Absent if its clock is
    /// not known well enough: times between it and other hosts are then not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ns: Option<u64>,
    /// Samples that it received while they were measured. Absent if it received none of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reception: Option<Reception>,
    /// Echoes that a listener sent itself, of the `samples` in `reception`. It handed the others, with a copy, to a thread. Absent
    /// without a listener that echoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echoed_in_listener: Option<u64>,
}

/// Samples that an endpoint received, by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reception {
    /// Number of distinct samples of all writers.
    pub samples: u64,
    /// Time from the first to the last one in ns. For an echo: the time over which its usage was measured.
    pub length_ns: u64,
    /// Number of intervals between samples in this time: one less than `samples`. For an echo: as many.
    pub intervals: u64,
}

impl Reception {
    /// Returns the number of samples per second; 0 without an interval.
    #[must_use]
    pub fn samples_per_s(&self) -> f64 {
        if self.length_ns == 0 { 0.0 } else { self.intervals as f64 * 1e9 / self.length_ns as f64 }
    }
}

/// Resource usage of a process while traffic flowed. For a writer or pinger: from before its first write to after
/// its last one, with a schedule for the duration of the schedule. For a reader or echo: from at most 2 ms before
/// the first sample, or from the start of the schedule, to the first ms without a new sample after the measurement.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Time over which the usage was measured, in ns.
    pub elapsed_ns: u64,
    /// Number of samples accepted (writer, pinger), received (reader) or echoed (echo) in this time: the divisor of
    /// CPU time per sample.
    pub samples: u64,
    /// Usage while the process waited without traffic, after the drain. Absent if traffic had not ended.
    pub idle: Option<Idle>,
    /// CPU time in user space in ns, all threads.
    pub user_ns: u64,
    /// CPU time in the kernel in ns, all threads.
    pub system_ns: u64,
    /// Number of voluntary context switches.
    pub voluntary_switches: u64,
    /// Number of involuntary context switches.
    pub involuntary_switches: u64,
    /// Time in which its threads were runnable and waited for a core, in ns, summed over threads. Absent if the
    /// kernel does not report it.
    pub run_delay_ns: Option<u64>,
    /// Time in which the driving thread, which writes, was on a core or waited for one, in ns. Absent if the kernel
    /// does not report it.
    pub driving_ns: Option<u64>,
    /// Core of the driving thread at the end of the measurement. Absent in older results.
    pub core: Option<u32>,
    /// Number of page faults without disk access.
    pub minor_faults: u64,
    /// Number of page faults with disk access.
    pub major_faults: u64,
    /// Maximum resident memory of the process in bytes. Absent if the kernel does not report it. Older results have
    /// `max_resident_bytes`, which could be that of the runner, and is not read.
    pub peak_memory_bytes: Option<u64>,
}

/// Resource usage of a process while it waited for samples without traffic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Idle {
    /// Time over which the usage was measured, in ns.
    pub elapsed_ns: u64,
    /// CPU time in ns, all threads.
    pub used_ns: u64,
    /// Time in which its threads were runnable and waited for a core, in ns, summed over threads. Absent if the
    /// kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
}

/// Maximum idle cost that is not subtracted, as a share of CPU time.
const NEGLIGIBLE: f64 = 0.05;
/// Threshold of spinning: CPU time of an idle process, as a share of the time in which it was not kept from a core.
const BUSY_WAIT: f64 = 0.5;
/// Maximum idle use, as a share of a core, that a wait and two readings alone cause.
const LEAST_IDLE: f64 = 0.003;

/// Idle cost in the CPU time of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IdleCost {
    /// At most 5 %, or unknown: nothing is subtracted.
    Negligible,
    /// Share of the CPU time, above 0.05. It can exceed 1.
    Share(f64),
    /// The process waits by spinning. With traffic it spends this time on samples, so idle cost cannot be
    /// separated, and nothing is subtracted.
    BusyWait,
}

impl Idle {
    /// Returns the used share of a core; can exceed 1.
    #[must_use]
    pub fn used(&self) -> f64 {
        self.used_ns as f64 / self.elapsed_ns.max(1) as f64
    }

    fn is_busy_wait(&self) -> bool {
        // other processes may have had the core; several threads may have waited for it at once
        let had_ns = self.elapsed_ns.saturating_sub(self.run_delay_ns.unwrap_or(0)).max(self.elapsed_ns / 10);
        self.used_ns as f64 > BUSY_WAIT * had_ns as f64
    }
}

counts! {
    Usage: user_ns system_ns voluntary_switches involuntary_switches minor_faults major_faults
    | elapsed_ns samples idle run_delay_ns driving_ns core peak_memory_bytes
}

impl Usage {
    /// Returns the CPU time in user space and in the kernel in ns, all threads.
    #[must_use]
    pub const fn cpu_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// Returns the idle cost in the CPU time.
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

    /// Returns the CPU time per sample in ns, less the idle cost; `None` without samples, or if the idle cost is
    /// all of it.
    #[must_use]
    pub fn cpu_ns_per_sample(&self) -> Option<f64> {
        let left = match self.idle_cost() {
            IdleCost::Share(share) => 1.0 - share,
            IdleCost::Negligible | IdleCost::BusyWait => 1.0,
        };
        (self.samples > 0 && left > 0.0).then(|| self.cpu_ns() as f64 * left / self.samples as f64)
    }

    /// Returns the share of a core that the process used, or that its driving thread used or waited for, whichever
    /// is more.
    #[must_use]
    pub fn saturation(&self) -> f64 {
        self.used().max(self.busy())
    }

    /// Returns the share of a core that the driving thread used or waited for. If it is low, something else blocked
    /// the thread. If the kernel does not report single threads, it is the share of all threads.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.driving_ns.map_or_else(|| self.used() + self.waited(), |ns| self.of_elapsed([ns]))
    }

    /// Returns the share of a core that all threads used; can exceed 1.
    #[must_use]
    pub fn used(&self) -> f64 {
        self.of_elapsed([self.user_ns, self.system_ns])
    }

    /// Returns the share of a core that all threads waited for; can exceed 1.
    #[must_use]
    pub fn waited(&self) -> f64 {
        self.of_elapsed(self.run_delay_ns)
    }

    fn of_elapsed(&self, parts: impl IntoIterator<Item = u64>) -> f64 {
        parts.into_iter().map(|ns| ns as f64).sum::<f64>() / self.elapsed_ns.max(1) as f64
    }
}

/// UDP counters of a network namespace (`/proc/self/net/snmp`), as differences.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sockets {
    /// Number of datagrams delivered to sockets.
    pub in_datagrams: u64,
    /// Number of received datagrams dropped for any reason.
    pub in_errors: u64,
    /// Number of received datagrams dropped because the receive buffer was full, of all programs.
    pub receive_buffer_errors: u64,
    /// Number of received datagrams that the kernel dropped at the sockets of this process (`/proc/self/net/udp`), most of them
    /// because the receive buffer was full. Absent if the kernel does not list them.
    pub own_drops: Option<u64>,
    /// Number of datagrams not sent because the send buffer was full.
    pub send_buffer_errors: u64,
    /// Multicast traffic sent by all programs. Absent if the kernel does not report it.
    pub multicast: Option<MulticastSent>,
}

/// Multicast traffic that a network namespace sent over IPv4 and IPv6 (`/proc/self/net/netstat` and `snmp6`), as
/// differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MulticastSent {
    /// Number of IP packets.
    pub packets: u64,
    /// Bytes of these packets, including IP and UDP headers.
    pub bytes: u64,
}

counts! { Sockets: in_datagrams in_errors receive_buffer_errors send_buffer_errors | own_drops multicast }
counts! { MulticastSent: packets bytes }
counts! { Interface: rx_bytes rx_packets tx_bytes tx_packets | name }

/// Counters of a network interface, as differences. They include other programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interface {
    /// Name of the interface.
    pub name: String,
    /// Number of bytes received.
    pub rx_bytes: u64,
    /// Number of packets received.
    pub rx_packets: u64,
    /// Number of bytes sent.
    pub tx_bytes: u64,
    /// Number of packets sent.
    pub tx_packets: u64,
}

/// Traffic of a network interface during a run, including that of other programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WireBytes {
    /// Name of the interface; of several hosts, all different names.
    pub interface: String,
    /// Number of bytes received.
    pub rx_bytes: u64,
    /// Number of packets received.
    pub rx_packets: u64,
    /// Number of bytes sent.
    pub tx_bytes: u64,
    /// Number of packets sent.
    pub tx_packets: u64,
}
