//! Factors of queues and receiving: sample queues, socket buffers, receive groups and polling delays.

use std::ops::RangeInclusive;

use driver_abi::description::ReceiveMode;
use serde::{Deserialize, Serialize};

use crate::{
    factors::{
        Factors,
        group::{GroupSpec, ReceiveGroup},
        table::{Factor, out_of_range},
        value::Value,
        values::FactorValues,
    },
    syntax::{
        spanned_error::{PlanError, fault},
        units::{Size, Time},
    },
};

/// Maximum queue in samples: RESOURCE_LIMITS of DDS are signed 32-bit numbers.
const MAX_SAMPLES: u32 = i32::MAX as u32;
/// Maximum socket buffer in bytes that can be requested from the kernel.
const MAX_BUFFER: u64 = i32::MAX as u64;
/// Serialized sample in XCDR1: bytes before the octets, and the alignment of its length.
const SERIALISED_HEADER: u64 = 8;
const SERIALISED_UNIT: u64 = 4;
/// Valid range of a polling delay in ns. It is short because a run ends only when its reader is idle.
const POLLING_DELAY_NS: RangeInclusive<u64> = 1_000..=100_000_000;

/// Valid range of the processing time of a slow reader in ns; a sleep takes some tens of µs more.
const SLOW_READER_NS: RangeInclusive<u64> = 50_000..=100_000_000;

/// Queue limits, socket buffers and receive settings. If a field is absent, the QoS or the driver decides.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// Maximum number of samples in the writer's queue: `max_samples` of its RESOURCE_LIMITS.
    pub send_samples: Option<u32>,
    /// Maximum number of samples in the reader's queue: `max_samples` of its RESOURCE_LIMITS.
    pub receive_samples: Option<u32>,
    /// Send buffer of the sockets in bytes.
    pub send_buffer_bytes: Option<u64>,
    /// Receive buffer of the sockets in bytes.
    pub receive_buffer_bytes: Option<u64>,
    /// Group of samples that the reader's application gets together. Absent: each sample is passed on when it
    /// arrives.
    pub receive_group: Option<ReceiveGroup>,
    /// Sleep of a polling reader after it found no sample, in ns. Absent: it does not sleep.
    pub polling_delay_ns: Option<u64>,
    /// Time that the application of the last reader spends on each sample, in ns. Absent: it only counts.
    pub slow_reader_ns: Option<u64>,
}

impl Factors {
    /// Returns the send queue in bytes, with each sample as long as the largest one when DDS has serialized it.
    #[must_use]
    pub fn send_queue_bytes(&self) -> Option<u64> {
        let octets = self.size_bytes.div_ceil(SERIALISED_UNIT).saturating_mul(SERIALISED_UNIT);
        Some(u64::from(self.queues.send_samples?).saturating_mul(octets.saturating_add(SERIALISED_HEADER)))
    }
}

/// Step for values that only a stream of samples has.
const USE_STREAM: &str = "use the workload `throughput` or `paced`";

/// Rejects queues out of range.
pub(crate) fn check_queue(row: &Factor, value: &Value, _: &FactorValues) -> Option<PlanError> {
    let number: u32 = value.to();
    if !(1..=MAX_SAMPLES).contains(&number) {
        return out_of_range(row, number, "use 1 to 2147483647 samples");
    }
    None
}

/// Rejects buffers that cannot be requested from a kernel.
pub(crate) fn check_buffer(row: &Factor, value: &Value, _: &FactorValues) -> Option<PlanError> {
    let size: Size = value.to();
    if size.0 > MAX_BUFFER {
        let words = format!("a {} of {size} bytes is out of range", row.key);
        return fault(words, "use up to 2147483647 bytes");
    }
    None
}

/// Rejects groups that no cell can have.
pub(crate) fn check_groups(_: &Factor, _: &Value, all: &FactorValues) -> Option<PlanError> {
    if all.contains("receive_group", &GroupSpec(None).into()) {
        return None;
    }
    if !all.has_stream() {
        let words = "`receive_group` has no effect on `latency`, which has one sample in flight";
        return fault(words, USE_STREAM);
    }
    if !all.contains("receive", &ReceiveMode::Waitset.into()) {
        return fault("`receive_group` needs a waitset", "use `receive = \"waitset\"`");
    }
    None
}

/// Rejects processing times out of range, and those without a stream.
pub(crate) fn check_slow_reader(_: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let time: Time = value.to();
    if time.0 > 0 && !SLOW_READER_NS.contains(&time.0) {
        let words = format!("`slow_reader = \"{time}\"` is out of range");
        return fault(words, "use 50us to 100ms, or 0s for none");
    }
    if time.0 > 0 && !all.has_stream() {
        return fault("`slow_reader` has no effect on `latency`, whose echo answers at once", USE_STREAM);
    }
    None
}

/// Rejects delays out of range, and delays without a polling reader.
pub(crate) fn check_delays(_: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let delay: Time = value.to();
    if delay.0 == 0 {
        return None;
    }
    if !POLLING_DELAY_NS.contains(&delay.0) {
        let words = format!("a polling delay of {delay} is out of range");
        return fault(words, "use 1us to 100ms, or 0s for none");
    }
    if !all.has_stream() {
        let words = "`polling_delay` has no effect on `latency`, whose endpoints poll without a pause";
        return fault(words, USE_STREAM);
    }
    if !all.contains("receive", &ReceiveMode::Polling.into()) {
        let words = "`polling_delay` needs a polling reader";
        return fault(words, "use `receive = \"polling\"`, or remove the delay");
    }
    None
}
