//! Factors of a cell, and the table of all factors.

pub(crate) mod batch;
mod cells;
pub(crate) mod content_filter;
mod dds_xml;
pub(crate) mod discovery;
pub(crate) mod driver_options;
pub(crate) mod driver_pair;
pub(crate) mod endpoint_qos;
pub(crate) mod fields;
pub(crate) mod flow;
pub(crate) mod flow_sizes;
pub(crate) mod group;
pub(crate) mod in_flight;
pub(crate) mod instances;
pub(crate) mod load;
mod log_normal;
pub(crate) mod offered_load;
pub(crate) mod percent_of_max;
pub(crate) mod placement;
pub(crate) mod policies;
pub(crate) mod policy_values;
mod presets;
mod processes;
pub(crate) mod profiles;
pub(crate) mod qos;
pub(crate) mod queues;
pub(crate) mod rate;
mod reading;
mod rows;
pub(crate) mod scale;
#[cfg(feature = "schema")]
mod schema;
pub(crate) mod sizes;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod topics;
pub(crate) mod topology;
mod value;
mod values;
pub(crate) mod variables;
mod writer_loads;

use std::collections::BTreeMap;

use driver_abi::{description::ReceiveMode, policies::Qos};
use serde::{Deserialize, Serialize};

pub use self::cells::{configuration_names, gather_curves, gather_series};
pub(crate) use self::{
    cells::{Aspect, aspects, ids},
    rows::{DEFAULT_BASE, DEFAULT_PROFILE, LINK_KEYS},
    table::SetValue,
};
pub use self::{
    reading::Matrix,
    rows::FACTORS,
    table::{Baseline, Column, Compared, Factor, Form, Id, Label, Shares},
    value::{FactorType, Kind, Value},
    values::FactorValues,
};
use crate::{
    factors::{
        content_filter::KeyFilter, discovery::Discovery, endpoint_qos::EndpointQos, flow::Flow, load::Load,
        placement::Placement, queues::Queues, scale::Scale, topology::Topology, variables::Variables,
    },
    syntax::{is_default, link::LinkSpec, named::named},
};

/// Values of all factors of a cell: every setting of a run, as it is requested from the driver.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Factors {
    /// Driver name or path as given; `WRITER+READER` if the two endpoints have different drivers.
    pub driver: String,
    /// Name of the transport.
    pub transport: String,
    /// Workload.
    pub workload: Workload,
    /// Numbers of writing and reading endpoints.
    pub topology: Topology,
    /// Whether each reader of a ping echoes it, instead of the first one only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_readers_echo: bool,
    /// Number of samples in flight around a ring. Absent: one.
    pub in_flight: Option<u32>,
    /// Payload of a sample in bytes, including the 16-byte header.
    pub size_bytes: u64,
    /// Number of instances of the keyed type. Absent: a type without key.
    pub instances: Option<u32>,
    /// Number of topics among which each writing endpoint spreads its samples, if there are several.
    pub topics: Option<u32>,
    /// Number of writing endpoints in each process, if there are several.
    pub writers_per_process: Option<u32>,
    /// Offered load of the workload `paced`. Absent for other workloads, and if there are `flows`.
    pub load: Option<Load>,
    /// Factor of the rates of all flows. Absent: 1.
    pub scale: Option<Scale>,
    /// Whether background flows are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_background: bool,
    /// Flows of the workload `paced`, if there are several. `size_bytes` is then the largest of their sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// Maximum payload of a batch in bytes; 0 disables batching. A batch that is given as a number of samples is
    /// that number times `size_bytes`.
    pub batch_bytes: u64,
    /// Component that packs samples into batches.
    pub batching: Batching,
    /// Receive mode.
    pub receive: ReceiveMode,
    /// Hosts of the endpoints. Absent: by default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement: Placement,
    /// Links between the hosts of a lab. Absent without a lab.
    pub link: Option<LinkSpec>,
    /// Name of the network interface; `auto`: the one that each host has of its own.
    pub interface: String,
    /// Whether data is sent by multicast. Absent means `false`.
    #[serde(default)]
    pub multicast: bool,
    /// Whether a thread of the middleware sends the samples. Absent means `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asynchronous: bool,
    /// Whether writers write in memory that the middleware lends. Absent means `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loans: bool,
    /// Condition on the key of the samples that readers receive. Absent: they receive all samples.
    pub content_filter: Option<KeyFilter>,
    /// Whether the middleware runs as shipped: settings that are not requested here are left to it. Absent means
    /// `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vendor_defaults: bool,
    /// Name of the profile, if the experiment has profiles.
    pub profile: Option<String>,
    /// Name of the base that the profile is over, if it is not `default`.
    pub base: Option<String>,
    /// QoS requested of writers and readers. If `qos_of_ends` is present: the QoS requested of both that neither
    /// overrides.
    pub qos: Qos,
    /// QoS requested of each endpoint, if a policy is requested of one of them only.
    pub qos_of_ends: Option<EndpointQos>,
    /// Queue limits, socket buffers, and receive settings of the reader.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queues: Queues,
    /// Endpoints of each participant of the workload `discovery`, participants of each process, and when endpoints
    /// join.
    #[serde(default, skip_serializing_if = "is_default")]
    pub discovery: Discovery,
    /// Driver-specific options by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// Environment variables that only the agents get; `null` removes a variable. All others are inherited.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: Variables,
}

impl Default for Factors {
    /// Returns a cell of the workload `latency` with samples of 1024 bytes, without driver and transport.
    fn default() -> Self {
        Self {
            driver: String::new(),
            transport: String::new(),
            workload: Workload::Latency,
            topology: Topology::PAIR,
            all_readers_echo: false,
            in_flight: None,
            size_bytes: 1024,
            instances: None,
            topics: None,
            writers_per_process: None,
            load: None,
            scale: None,
            no_background: false,
            flows: Vec::new(),
            batch_bytes: 0,
            batching: Batching::None,
            receive: ReceiveMode::Waitset,
            placement: Placement::default(),
            link: None,
            interface: "lo".to_owned(),
            multicast: false,
            asynchronous: false,
            loans: false,
            content_filter: None,
            vendor_defaults: false,
            profile: None,
            base: None,
            qos: Qos::default(),
            qos_of_ends: None,
            queues: Queues::default(),
            discovery: Discovery::default(),
            options: BTreeMap::new(),
            env: Variables::new(),
        }
    }
}

impl Factors {
    /// Returns `, as shipped`, a suffix for descriptions of the configuration; empty if the middleware is tuned.
    #[must_use]
    pub const fn as_shipped(&self) -> &'static str {
        if self.vendor_defaults { ", as shipped" } else { "" }
    }

    /// Returns the number of samples per flush: `floor(batch_bytes / size_bytes)`, at least 1.
    #[must_use]
    pub fn samples_per_flush(&self) -> u64 {
        (self.batch_bytes / self.size_bytes.max(1)).max(1)
    }

    /// Returns the number of writers of samples of a run.
    #[must_use]
    pub fn writers(&self) -> usize {
        match self.topology {
            Topology::Ring { .. } => 1,
            Topology::FullMesh { participants } => {
                usize::from(participants) * self.discovery.endpoints as usize
            }
            Topology::Mesh { .. } if self.is_system() => {
                self.flows.iter().map(|flow| flow.writing_processes().count()).sum()
            }
            Topology::Mesh { writers, .. } => {
                let topics = self.topics.unwrap_or(1) as usize;
                usize::from(writers) * self.streams().len().max(1) * topics
            }
        }
    }

    /// Returns whether the flows name the processes that write and read them.
    #[must_use]
    pub fn is_system(&self) -> bool {
        self.flows.iter().any(Flow::names_processes)
    }

    /// Returns the flows of a paced run: those of the experiment, or the single one of the cell.
    #[must_use]
    pub fn streams(&self) -> Vec<Flow> {
        match &self.load {
            Some(load) if self.flows.is_empty() => {
                vec![Flow::new("data", self.size_bytes, load.clone())]
            }
            _ => self.flows.clone(),
        }
    }
}

/// Workload: the traffic of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    /// Closed loop with one sample in flight.
    Latency,
    /// Open loop without a plan: as fast as back-pressure allows.
    Throughput,
    /// Open loop at planned times.
    Paced,
    /// Search for the highest sustained rate: a series of paced trials.
    Search,
    /// No traffic: participants find each other, and match their writers and readers.
    Discovery,
}

/// Component that packs samples into batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Batching {
    /// No batching: every sample is sent when it is written.
    #[default]
    None,
    /// The middleware.
    Native,
    /// The driver, by concatenating samples.
    Application,
    /// The middleware, in turbo mode: a batch is sent when it is full or when the next sample is not due yet.
    TurboNative,
    /// The driver, in turbo mode.
    TurboApplication,
}

named!(Workload { Latency = "latency", Throughput = "throughput", Paced = "paced", Search = "search", Discovery = "discovery" });
named!(Batching {
    None = "none",
    Native = "native",
    Application = "application",
    TurboNative = "turbo (native)",
    TurboApplication = "turbo (application)",
});
