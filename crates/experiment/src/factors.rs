//! The factors that make a cell.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Flow, Load, Qos, QosOfEnds, Queues, Variables};

/// One combination of factors: everything that is chosen about a run, as it will be asked of the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Factors {
    /// The driver, as given on the command line; `WRITER+READER` where the two ends have different ones.
    pub driver: String,
    /// One of the driver's transports.
    pub transport: String,
    /// What the roles do.
    pub workload: Workload,
    /// Who writes to whom.
    pub topology: Topology,
    /// Payload bytes of a sample, the 16-byte header included.
    pub size_bytes: u64,
    /// When samples are to leave, of the workload `paced`. Absent of the others, and where `flows` say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Streams of the workload `paced`, where there are several. `size_bytes` is then the largest of theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// Ceiling on payload bytes per flush; 0: every sample leaves when written. A batch of so many samples is so many times
    /// their size.
    pub batch_bytes: u64,
    /// Who packs samples, if anybody.
    pub batching: Batching,
    /// How samples are received.
    pub receive: ReceiveMode,
    /// Network interface.
    pub interface: String,
    /// Whether data is to go by multicast. Absent in older results, where none did.
    #[serde(default)]
    pub multicast: bool,
    /// Whether the middleware runs as it is shipped: what is not asked for here is left to it. Absent in older results, where none
    /// did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vendor_defaults: bool,
    /// Name of the set of policies that distinguishes this cell, where the experiment has such sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// QoS asked of writers and readers, where `qos_of_ends` is absent; else what is asked of both, as far as neither is asked for
    /// something else.
    pub qos: Qos,
    /// QoS asked of each end, where something is asked of one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos_of_ends: Option<QosOfEnds>,
    /// How much either end may hold.
    #[serde(default, skip_serializing_if = "Queues::is_default")]
    pub queues: Queues,
    /// The driver's own options.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// Environment variables that only the agents are given; `null` removes a variable. What is not named is inherited.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: Variables,
}

impl Factors {
    /// What is said behind the configuration of a middleware that runs as it is shipped: `, as shipped`. Else nothing.
    #[must_use]
    pub const fn as_shipped(&self) -> &'static str {
        if self.vendor_defaults { ", as shipped" } else { "" }
    }

    /// How many samples the writer packs before it flushes: `floor(batch_bytes / size_bytes)`, at least 1.
    #[must_use]
    pub fn samples_per_flush(&self) -> u64 {
        (self.batch_bytes / self.size_bytes.max(1)).max(1)
    }

    /// The streams of samples of a run with a plan: those written, or the only one.
    #[must_use]
    pub fn streams(&self) -> Vec<Flow> {
        match &self.load {
            Some(load) if self.flows.is_empty() => {
                let (name, load) = ("data".to_owned(), load.clone());
                vec![Flow { name, size_bytes: self.size_bytes, load, qos: None, qos_of_ends: None }]
            }
            _ => self.flows.clone(),
        }
    }
}

/// What the roles do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    /// Closed loop: strictly one sample in flight.
    Latency,
    /// As fast as back-pressure allows.
    Throughput,
    /// Open loop: at planned times.
    Paced,
    /// The highest rate of an open loop that is sustained: many trials of one, at rates that follow from each other.
    Search,
}

/// Who writes to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// One writer and one reader (latency: a pinger and a ponger).
    Pair,
}

/// Who packs samples into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Batching {
    /// Nobody: every sample leaves when written.
    None,
    /// The middleware.
    Native,
    /// The driver, by concatenation.
    Application,
    /// The middleware, as many samples as are due: a batch leaves as soon as the next one is not due yet, or is full.
    TurboNative,
    /// The driver, likewise.
    TurboApplication,
}

/// How samples are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReceiveMode {
    /// A thread sleeps until there is data.
    Waitset,
    /// A thread asks again and again, without sleeping.
    Polling,
    /// The middleware calls from a thread of its own.
    Listener,
}

macro_rules! named {
    ($type:ty { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $type {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word for it in flags and files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use named;

named!(Workload { Latency = "latency", Throughput = "throughput", Paced = "paced", Search = "search" });
named!(Topology { Pair = "pair" });
named!(Batching {
    None = "none",
    Native = "native",
    Application = "application",
    TurboNative = "turbo (native)",
    TurboApplication = "turbo (application)",
});
named!(ReceiveMode { Waitset = "waitset", Polling = "polling", Listener = "listener" });
