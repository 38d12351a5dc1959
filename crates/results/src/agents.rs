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
    /// What it used while measuring.
    pub usage: Usage,
    /// Datagram counters of its network namespace, while measuring.
    pub sockets: Option<Sockets>,
    /// Traffic of the interface, while measuring.
    pub interface: Option<Interface>,
    /// The middleware's own counters by entity (`writer`, `reader`), from its opening to the end of the drain.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// Settings in force by entity (`participant`, `writer`, `reader`), read back.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
}

/// What a process used while measuring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// The time over which it was measured.
    pub elapsed_ns: u64,
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

impl Usage {
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
