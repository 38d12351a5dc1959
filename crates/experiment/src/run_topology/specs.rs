//! Entities of an endpoint as they are requested from its agent: what to open, what to write, and what to expect.

use std::{collections::BTreeMap, sync::Arc};

use driver_abi::{description::ReceiveMode, policies::Qos};
use serde::{Deserialize, Serialize};

use crate::{
    factors::{
        Batching,
        content_filter::KeyFilter,
        flow_sizes::FlowSizes,
        group::ReceiveGroup,
        load::{Load, Trace},
        sizes::Sizes,
    },
    syntax::is_default,
};

/// Participant of an agent. Absent values are left to the driver.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParticipantSpec {
    /// Name of the transport.
    pub transport: String,
    /// Name of the network interface.
    pub interface: String,
    /// Addresses of the hosts of the run, for a middleware with discovery. Empty on one host: the middleware finds its
    /// peers there by itself.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub peers: Arc<[String]>,
    /// Whether data is sent by multicast.
    pub multicast: bool,
    /// Whether the middleware runs as shipped: settings that are not requested here are left to it.
    pub vendor_defaults: bool,
    /// Whether all endpoints of the process that say so share one participant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Driver-specific options by name.
    pub options: BTreeMap<String, String>,
    /// Send buffer of the sockets in bytes.
    pub send_buffer_bytes: Option<u64>,
    /// Receive buffer of the sockets in bytes.
    pub receive_buffer_bytes: Option<u64>,
    /// Queue of a writer in bytes, with each sample as long as the largest one when DDS has serialized it.
    pub send_queue_bytes: Option<u64>,
    /// Number of participants of the run, this one included: limits of the middleware follow from it.
    pub participants: Option<u32>,
}

/// Samples of one writer: what it writes, and what each of its readers expects.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamSpec {
    /// Number of the writer, in the header of every sample: from 1, unique in the run. The pattern of its payloads and
    /// its random send times follow from this number and the seed of the run.
    pub writer: u16,
    /// Index of its flow in the plan, or of its topic.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flow: u32,
    /// Payload of a sample in bytes, including the 16-byte header; that of the largest one if they differ.
    pub size_bytes: u64,
    /// Sizes of the samples, if they are drawn: that of each follows from the sequence number in its header.
    pub sizes: Option<Sizes>,
    /// Number of instances of the keyed type: the key of a sample is the sequence number in its header, modulo this
    /// number. Absent: a type without key.
    pub instances: Option<u32>,
    /// Key of all samples. Absent: the keys of all instances in turn.
    pub write_instance: Option<u32>,
    /// Number of samples that node 1 of a ring keeps in flight. Absent: one.
    pub in_flight: Option<u32>,
    /// Whether the writer completes the samples in memory that its driver lends. They then have one content after the header,
    /// and the type of a fixed size, if the driver has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loans: bool,
    /// Intended send times. Absent: each sample is written as soon as the previous one is, or by a closed loop.
    pub load: Option<Load>,
    /// Delay of the schedule, in ns.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay_ns: u64,
    /// Time from the intended send time of a sample within which it has to arrive, in ns. Absent: none.
    pub deadline_ns: Option<u64>,
}

impl StreamSpec {
    /// Returns the index of the stream, from 0.
    #[inline]
    #[must_use]
    pub const fn index(&self) -> usize {
        self.writer.saturating_sub(1) as usize
    }

    /// Returns the trace file that it follows.
    #[must_use]
    pub fn trace(&self) -> Option<&Trace> {
        self.load.as_ref().and_then(Load::trace)
    }

    /// Returns the sizes of its samples.
    #[must_use]
    pub fn flow_sizes(&self) -> FlowSizes<'_> {
        FlowSizes::new(self.size_bytes, self.sizes.as_ref(), self.load.as_ref())
    }
}

/// Writer of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriterSpec {
    /// Name in reports: `writer`, for further writers of the agent `writer-2` and so on.
    pub name: String,
    /// Topic: letters, digits and `_`.
    pub topic: String,
    /// Requested QoS.
    pub qos: Qos,
    /// Samples that it writes. A writer of echoes sends them back unchanged.
    pub stream: StreamSpec,
    /// Number of the thread of the agent that writes them, from 0; writers of one number share a thread.
    #[serde(default, skip_serializing_if = "is_default")]
    pub thread: u32,
    /// Maximum payload of a batch in bytes; 0: no batching.
    pub batch_bytes: u64,
    /// Component that packs samples into batches.
    pub batching: Batching,
    /// Whether a thread of the middleware sends the samples.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asynchronous: bool,
    /// Whether it writes in memory that the driver lends. A writer of echoes does not: it passes on what it received.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loans: bool,
}

/// Reader of an agent.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReaderSpec {
    /// Name in reports: `reader`, for further readers of the agent `reader-2` and so on.
    pub name: String,
    /// Topic: letters, digits and `_`.
    pub topic: String,
    /// Requested QoS.
    pub qos: Qos,
    /// Samples to expect, by writer.
    pub streams: Vec<StreamSpec>,
    /// Whether its driver unpacks batches that the writer's driver packs.
    pub unpacks_batches: bool,
    /// Receive mode.
    pub receive: ReceiveMode,
    /// Sleep of a polling reader after it found no sample, in ns.
    pub polling_delay_ns: Option<u64>,
    /// Time that the application spends on each sample before it takes the next one, in ns.
    pub processing_ns: Option<u64>,
    /// Group of samples that the application gets together.
    pub receive_group: Option<ReceiveGroup>,
    /// Condition on the key of the samples that it receives. Its driver applies it.
    pub content_filter: Option<KeyFilter>,
}

impl ReaderSpec {
    /// Returns the size of its largest sample in bytes.
    #[must_use]
    pub fn max_size_bytes(&self) -> u64 {
        self.streams.iter().map(|stream| stream.size_bytes).max().unwrap_or(0)
    }
}
