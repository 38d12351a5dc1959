//! Settings that each process decides.

use std::net::IpAddr;

use experiment::{KeyFilter, ThreadPriorities};
use serde::{Deserialize, Serialize};

use crate::value::{Peer, Rate};

/// Settings of a process alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Local {
    /// Domain.
    pub domain: u32,
    /// Id among the processes of the role.
    pub id: u32,
    /// Processes of the other role to wait for.
    pub partners: u32,
    /// Whether bare sockets are used instead of a middleware.
    pub raw_transport: bool,
    /// Transport, if it is given.
    pub transport: Option<Transport>,
    /// Network interface, if it is given.
    pub nic: Option<Nic>,
    /// Hosts of the other side.
    pub peers: Vec<Peer>,
    /// Samples, or batches, in the queue of a writer; `None`: no limit.
    pub send_queue: Option<u32>,
    /// Samples in the queue of a reader, if given.
    pub receive_queue: Option<u32>,
    /// Send buffer of the sockets in bytes, if given.
    pub send_buffer: Option<u32>,
    /// Receive buffer of the sockets in bytes, if given.
    pub receive_buffer: Option<u32>,
    /// Limit of the rate of a publisher.
    pub pacing: Pacing,
    /// Receive mode.
    pub receive: Receive,
    /// Whether a thread of the middleware sends the samples.
    pub asynchronous: bool,
    /// Priorities of threads, if given.
    pub priorities: Option<ThreadPriorities>,
    /// File with QoS profiles.
    pub qos_file: Option<QosFile>,
    /// Keys that a subscriber receives, if not all.
    pub filter: Option<KeyFilter>,
    /// Bytes of the samples, if they are those of a file.
    pub payload: Option<PayloadFile>,
    /// Output.
    pub output: Output,
    /// Directory for a result of ddsmark.
    pub result: Option<String>,
}

/// Limit of the rate of a publisher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pacing {
    /// Samples per second.
    pub samples_per_s: Option<Rate>,
    /// Bits per second.
    pub bits_per_s: Option<Rate>,
    /// Sleep before each sample in ms; 0: none.
    pub sleep_ms: u64,
    /// Rounds of an empty loop before each sample; 0: none.
    pub spin_count: u64,
    /// Whether the throttle adapts the rate to the subscriber.
    pub throttle: bool,
}

/// Transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Transport {
    /// UDP over IPv4.
    #[serde(rename = "UDPv4")]
    UdpV4,
    /// UDP over IPv6.
    #[serde(rename = "UDPv6")]
    UdpV6,
    /// Shared memory.
    #[serde(rename = "SHMEM")]
    SharedMemory,
    /// TCP over IPv4.
    #[serde(rename = "TCP")]
    Tcp,
}

/// Network interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Nic {
    /// Name, such as `eth0`.
    Name(String),
    /// Address of this host.
    Address(IpAddr),
}

/// Receive mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Receive {
    /// Callback of the middleware.
    Listener,
    /// Thread that waits for data.
    ReadThread {
        /// Samples of a group; 1: each sample at once.
        group_samples: u32,
        /// Longest wait for a group in µs.
        group_us: u32,
    },
}

/// File with QoS profiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QosFile {
    /// Path.
    pub path: String,
    /// Name of the library.
    pub library: String,
}

/// File with the bytes of samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PayloadFile {
    /// Path.
    pub path: String,
    /// Maximum size in bytes.
    pub max_bytes: u64,
}

/// Output of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Format of the rows.
    pub format: OutputFormat,
    /// Whether there are headings.
    pub headings: bool,
    /// Whether there are rows during the test.
    pub intervals: bool,
    /// Whether rows have the CPU usage.
    pub cpu: bool,
    /// Whether each column has a number, also if the samples do not support it.
    pub numbers: bool,
    /// File for the rows instead of standard output.
    pub file: Option<String>,
    /// File for all latencies.
    pub latency_file: Option<String>,
    /// Whether the banner has the limits of queues.
    pub resource_limits: bool,
    /// Amount of messages, 0 to 3.
    pub verbosity: u8,
}

/// Format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputFormat {
    /// Columns with commas.
    Csv,
    /// One JSON document.
    Json,
    /// Labels and values.
    Legacy,
}

impl Transport {
    /// Returns the transport of that name, as `-transport` takes it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::UdpV4, Self::UdpV6, Self::SharedMemory, Self::Tcp];
        all.into_iter().find(|transport| transport.name() == name)
    }

    /// Returns the name, as `-transport` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UdpV4 => "UDPv4",
            Self::UdpV6 => "UDPv6",
            Self::SharedMemory => "SHMEM",
            Self::Tcp => "TCP",
        }
    }

    /// Returns the names that drivers have for it, the preferred one first.
    #[must_use]
    pub const fn driver_names(self) -> &'static [&'static str] {
        match self {
            Self::UdpV4 => &["udp4"],
            Self::UdpV6 => &["udp6"],
            Self::SharedMemory => &["shm", "data_sharing"],
            Self::Tcp => &["tcp4"],
        }
    }

    /// Returns the same names for samples that are not copied.
    #[must_use]
    pub const fn sharing_names(self) -> &'static [&'static str] {
        match self {
            Self::SharedMemory => &["data_sharing", "shm"],
            other => other.driver_names(),
        }
    }
}

impl Nic {
    /// Returns the interface of a text.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Address)
    }
}
