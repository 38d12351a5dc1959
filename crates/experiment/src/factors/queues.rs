//! Factors of queues and receiving: sample queues, socket buffers, receive groups and polling delays.

use std::ops::RangeInclusive;

use driver_abi::description::ReceiveMode;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    factors::{
        Factors,
        group::{GroupSpec, ReceiveGroup},
        table::Factor,
        value::Value,
        values::FactorValues,
    },
    syntax::{
        one_or_many::{Located, OneOrMany},
        spanned_error::{PlanError, SpannedError},
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// Maximum number of samples in the writer's queue: `max_samples` of its RESOURCE_LIMITS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_samples: Option<u32>,
    /// Maximum number of samples in the reader's queue: `max_samples` of its RESOURCE_LIMITS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_samples: Option<u32>,
    /// Send buffer of the sockets in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer_bytes: Option<u64>,
    /// Receive buffer of the sockets in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer_bytes: Option<u64>,
    /// Group of samples that the reader's application gets together. Absent: each sample is passed on when it
    /// arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_group: Option<ReceiveGroup>,
    /// Sleep of a polling reader after it found no sample, in ns. Absent: it does not sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polling_delay_ns: Option<u64>,
    /// Time that the application of the last reader spends on each sample, in ns. Absent: it only counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_reader_ns: Option<u64>,
}

impl Queues {
    /// Returns whether all fields are absent.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Factors {
    /// Returns the send queue in bytes, with each sample as long as the largest one when DDS has serialized it.
    #[must_use]
    pub fn send_queue_bytes(&self) -> Option<u64> {
        let octets = self.size_bytes.div_ceil(SERIALISED_UNIT).saturating_mul(SERIALISED_UNIT);
        Some(u64::from(self.queues.send_samples?).saturating_mul(octets.saturating_add(SERIALISED_HEADER)))
    }
}

/// Rejects queues out of range.
pub(crate) fn check_queue(
    row: &Factor,
    values: &OneOrMany<Value>,
    _: &FactorValues,
) -> Result<(), SpannedError> {
    for samples in &values.typed::<u32>().0 {
        if !(1..=MAX_SAMPLES).contains(samples.get()) {
            let words = format!("`{} = {}` is out of range", row.key, samples.get());
            let hint = "use 1 to 2147483647 samples";
            return Err(PlanError::Contradiction { words, hint }.at(samples.span()));
        }
    }
    Ok(())
}

/// Rejects buffers that cannot be requested from a kernel.
pub(crate) fn check_buffer(
    row: &Factor,
    values: &OneOrMany<Value>,
    _: &FactorValues,
) -> Result<(), SpannedError> {
    let values: OneOrMany<Size> = values.typed();
    if let Some(large) = values.0.iter().find(|size| size.get().0 > MAX_BUFFER) {
        let words = format!("a {} of {} bytes is out of range", row.key, large.get());
        let hint = "use up to 2147483647 bytes";
        return Err(PlanError::Contradiction { words, hint }.at(large.span()));
    }
    Ok(())
}

/// Rejects groups that no cell can have.
pub(crate) fn check_groups(
    _: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
) -> Result<(), SpannedError> {
    let groups: OneOrMany<GroupSpec> = values.typed();
    let Some(first) = groups.0.first() else { return Ok(()) };
    if groups.values().any(|group| *group == GroupSpec::Each) {
        return Ok(());
    }
    let refused =
        |words: &str, hint| Err(PlanError::Contradiction { words: words.to_owned(), hint }.at(first.span()));
    if !all.has_stream() {
        let words = "`receive_group` has no effect on `latency`, which has one sample in flight";
        return refused(words, "use the workload `throughput` or `paced`");
    }
    if !all.contains("receive", &ReceiveMode::Waitset.into()) {
        return refused("`receive_group` needs a waitset", "use `receive = \"waitset\"`");
    }
    Ok(())
}

/// Rejects processing times out of range, and those without a stream.
pub(crate) fn check_slow_reader(
    _: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
) -> Result<(), SpannedError> {
    for time in &values.typed::<Time>().0 {
        let refused = |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(time.span()));
        let Time(ns) = *time.get();
        if ns > 0 && !SLOW_READER_NS.contains(&ns) {
            let words = format!("`slow_reader = \"{}\"` is out of range", time.get());
            return refused(words, "use 50us to 100ms, or 0s for none");
        }
        if ns > 0 && !all.has_stream() {
            let words = "`slow_reader` has no effect on `latency`, whose echo answers at once".to_owned();
            return refused(words, "use the workload `throughput` or `paced`");
        }
    }
    Ok(())
}

/// Rejects delays out of range, and delays without a polling reader.
pub(crate) fn check_delays(
    _: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
) -> Result<(), SpannedError> {
    let delays: OneOrMany<Time> = values.typed();
    let Some(first) = delays.0.first() else { return Ok(()) };
    let refused =
        |words: String, hint, at: &Located<Time>| Err(PlanError::Contradiction { words, hint }.at(at.span()));
    for delay in &delays.0 {
        let Time(ns) = *delay.get();
        if ns > 0 && !POLLING_DELAY_NS.contains(&ns) {
            let words = format!("a polling delay of {} is out of range", delay.get());
            return refused(words, "use 1us to 100ms, or 0s for none", delay);
        }
    }
    if delays.values().all(|delay| delay.0 == 0) {
        return Ok(());
    }
    if !all.has_stream() {
        let words =
            "`polling_delay` has no effect on `latency`, whose endpoints poll without a pause".to_owned();
        return refused(words, "use the workload `throughput` or `paced`", first);
    }
    if !all.contains("receive", &ReceiveMode::Polling.into()) {
        let words = "`polling_delay` needs a polling reader".to_owned();
        return refused(words, "use `receive = \"polling\"`, or remove the delay", first);
    }
    Ok(())
}
