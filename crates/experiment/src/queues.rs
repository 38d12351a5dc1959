//! Factors of queues and receiving: sample queues, socket buffers, receive groups and polling delays.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    DriverDescription, Factors, PlanError, Policy, ReceiveGroup, ReceiveMode, Refusal, Support, Workload,
    WrittenGroup,
    ends::End,
    many::{At, Many},
    matrix::all_distinct,
    units::{Size, Time},
    written::{Matrix, Selection, Written},
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

/// Queue limits, socket buffers and receive settings. If a field is absent, the QoS or the driver decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Formats a time as one word.
pub(crate) fn short(ns: u64) -> String {
    Time(ns).to_string().replace(' ', "")
}

/// Values of these factors.
#[derive(Clone, Default)]
pub(crate) struct QueueAxes {
    send_queue: Option<Many<u32>>,
    receive_queue: Option<Many<u32>>,
    send_buffer: Option<Many<Size>>,
    receive_buffer: Option<Many<Size>>,
    receive_group: Option<Many<WrittenGroup>>,
    polling_delay: Option<Many<Time>>,
}

impl QueueAxes {
    pub(crate) fn of(factors: &Matrix) -> Self {
        Self {
            send_queue: factors.send_queue.clone(),
            receive_queue: factors.receive_queue.clone(),
            send_buffer: factors.send_buffer.clone(),
            receive_buffer: factors.receive_buffer.clone(),
            receive_group: factors.receive_group.clone(),
            polling_delay: factors.polling_delay.clone(),
        }
    }

    /// Replaces values by those of the selection.
    pub(crate) fn with(self, selection: &Selection) -> Self {
        Self {
            send_queue: selection.send_queue.clone().or(self.send_queue),
            receive_queue: selection.receive_queue.clone().or(self.receive_queue),
            send_buffer: selection.send_buffer.clone().or(self.send_buffer),
            receive_buffer: selection.receive_buffer.clone().or(self.receive_buffer),
            receive_group: selection.receive_group.clone().or(self.receive_group),
            polling_delay: selection.polling_delay.clone().or(self.polling_delay),
        }
    }

    /// Rejects invalid queues and buffers, and queues that contradict the QoS.
    pub(crate) fn check(&self, written: &Written) -> Result<(), Refusal> {
        for (name, queue) in self.queues() {
            all_distinct(name, queue)?;
            if queue.0.is_empty() {
                return Err(PlanError::Nothing(name).at(0..0));
            }
            for samples in &queue.0 {
                let of =
                    |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(samples.span()));
                if !(1..=MAX_SAMPLES).contains(samples.get()) {
                    let words = format!("`{name} = {}` is no queue", samples.get());
                    return of(words, "use 1 to 2147483647 samples");
                }
                let limit = i32::try_from(*samples.get()).unwrap_or(i32::MAX);
                let end = if name == "send_queue" { End::Writer } else { End::Reader };
                for (_, policies) in written.all_policies().filter(|(of, _)| *of == end) {
                    if policies.max_samples.is_some() {
                        let words = format!("`{name}` and the policy `max_samples` are the same limit");
                        return of(words, "leave one of them out");
                    }
                    let least = [&policies.history_depth, &policies.max_samples_per_instance];
                    if let Some(more) = least.into_iter().flatten().map(At::get).find(|least| **least > limit)
                    {
                        let words =
                            format!("`{name} = {limit}` has no room for the {more} samples of the policies");
                        return of(words, "DDS 1.4 section 2.2.3.19 wants max_samples the larger one");
                    }
                }
            }
        }
        for (name, buffer) in [("send_buffer", &self.send_buffer), ("receive_buffer", &self.receive_buffer)] {
            let Some(buffer) = buffer else { continue };
            all_distinct(name, buffer)?;
            if buffer.0.is_empty() {
                return Err(PlanError::Nothing(name).at(0..0));
            }
            if let Some(large) = buffer.0.iter().find(|size| size.get().0 > MAX_BUFFER) {
                let words = format!("a {name} of {} bytes cannot be asked of a kernel", large.get());
                let hint = "use up to 2147483647 bytes";
                return Err(PlanError::Contradiction { words, hint }.at(large.span()));
            }
        }
        Ok(())
    }

    /// Returns the send queues in samples.
    pub(crate) fn send_queues(&self) -> Vec<u64> {
        let given = self.send_queue.iter().flat_map(Many::values);
        given.map(|samples| u64::from(*samples)).collect()
    }

    /// Rejects groups that no cell can have.
    pub(crate) fn check_groups(
        &self,
        workloads: &Many<Workload>,
        receives: &Many<ReceiveMode>,
    ) -> Result<(), Refusal> {
        let Some(groups) = &self.receive_group else { return Ok(()) };
        all_distinct("receive_group", groups)?;
        let Some(first) = groups.0.first() else { return Err(PlanError::Nothing("receive_group").at(0..0)) };
        if groups.values().any(|group| *group == WrittenGroup::Each) {
            return Ok(());
        }
        let refused = |words: &str, hint| {
            Err(PlanError::Contradiction { words: words.to_owned(), hint }.at(first.span()))
        };
        if workloads.values().all(|workload| *workload == Workload::Latency) {
            let words =
                "`latency` has one sample in flight: there is nothing for a `receive_group` to wait for";
            return refused(words, "use the workload `throughput` or `paced`");
        }
        if receives.values().all(|receive| *receive != ReceiveMode::Waitset) {
            return refused("a `receive_group` is what a waitset waits for", "use `receive = \"waitset\"`");
        }
        Ok(())
    }

    /// Rejects delays out of range, and delays without a polling reader.
    pub(crate) fn check_delays(
        &self,
        workloads: &Many<Workload>,
        receives: &Many<ReceiveMode>,
    ) -> Result<(), Refusal> {
        let Some(delays) = &self.polling_delay else { return Ok(()) };
        all_distinct("polling_delay", delays)?;
        let Some(first) = delays.0.first() else { return Err(PlanError::Nothing("polling_delay").at(0..0)) };
        let refused =
            |words: String, hint, at: &At<Time>| Err(PlanError::Contradiction { words, hint }.at(at.span()));
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
        if workloads.values().all(|workload| *workload == Workload::Latency) {
            let words =
                "`polling_delay` says nothing of `latency`, whose ends ask without a pause".to_owned();
            return refused(words, "use the workload `throughput` or `paced`", first);
        }
        if receives.values().all(|receive| *receive != ReceiveMode::Polling) {
            let words = "a `polling_delay` is of a reader that polls".to_owned();
            return refused(words, "receive by `polling`, or leave the delay out", first);
        }
        Ok(())
    }

    /// Rejects groups that are too large for samples of this size.
    pub(crate) fn have_room(&self, size_bytes: u64) -> Result<(), Refusal> {
        for group in self.receive_group.iter().flat_map(|groups| &groups.0) {
            if let Some(words) = group.get().fault(size_bytes) {
                let hint = "make the group smaller, or measure the large samples by themselves";
                return Err(PlanError::Contradiction { words, hint }.at(group.span()));
            }
        }
        Ok(())
    }

    fn queues(&self) -> impl Iterator<Item = (&'static str, &Many<u32>)> {
        let both = [("send_queue", &self.send_queue), ("receive_queue", &self.receive_queue)];
        both.into_iter().filter_map(|(name, queue)| Some((name, queue.as_ref()?)))
    }

    /// Checks the queues against the driver's support. Returns a note for the user, if any.
    pub(crate) fn held_against(
        &self,
        driver: &str,
        description: &DriverDescription,
    ) -> Result<Option<String>, Refusal> {
        let Some((field, queue)) = self.queues().next() else { return Ok(None) };
        let policy = Policy::ResourceLimits;
        match description.support(policy) {
            Support::Unsupported => {
                let at = queue.0.first().map_or(0..0, At::span);
                Err(PlanError::NoPolicy { driver: driver.to_owned(), policy, field }.at(at))
            }
            Support::Ignored => Ok(Some(format!("driver `{driver}` accepts policy {policy} without effect"))),
            _ => Ok(None),
        }
    }

    pub(crate) fn count(&self) -> usize {
        let counts = [
            self.send_queue.as_ref().map(|many| many.0.len()),
            self.receive_queue.as_ref().map(|many| many.0.len()),
            self.send_buffer.as_ref().map(|many| many.0.len()),
            self.receive_buffer.as_ref().map(|many| many.0.len()),
            self.receive_group.as_ref().map(|many| many.0.len()),
            self.polling_delay.as_ref().map(|many| many.0.len()),
        ];
        counts.into_iter().flatten().fold(1, usize::saturating_mul)
    }

    /// Returns every combination.
    pub(crate) fn all(&self) -> Vec<Queues> {
        fn each<T: Clone, R>(many: Option<&Many<T>>, of: impl Fn(T) -> Option<R>) -> Vec<Option<R>> {
            many.map_or_else(|| vec![None], |many| many.values().cloned().map(of).collect())
        }
        // A buffer of 0 is the driver's default.
        let bytes = |size: Size| (size.0 > 0).then_some(size.0);
        let mut all = vec![Queues::default()];
        let mut vary = |change: &dyn Fn(&Queues) -> Vec<Queues>| all = all.iter().flat_map(change).collect();
        let (send, receive) = (each(self.send_queue.as_ref(), Some), each(self.receive_queue.as_ref(), Some));
        vary(&|q| send.iter().map(|&send_samples| Queues { send_samples, ..q.clone() }).collect());
        vary(&|q| receive.iter().map(|&receive_samples| Queues { receive_samples, ..q.clone() }).collect());
        let (send, receive) =
            (each(self.send_buffer.as_ref(), bytes), each(self.receive_buffer.as_ref(), bytes));
        vary(&|q| send.iter().map(|&send_buffer_bytes| Queues { send_buffer_bytes, ..q.clone() }).collect());
        vary(&|q| {
            receive.iter().map(|&receive_buffer_bytes| Queues { receive_buffer_bytes, ..q.clone() }).collect()
        });
        let groups = each(self.receive_group.as_ref(), WrittenGroup::meant);
        vary(&|q| groups.iter().map(|&receive_group| Queues { receive_group, ..q.clone() }).collect());
        let delays = each(self.polling_delay.as_ref(), |Time(ns)| (ns > 0).then_some(ns));
        vary(&|q| delays.iter().map(|&polling_delay_ns| Queues { polling_delay_ns, ..q.clone() }).collect());
        all
    }
}

/// Returns whether a cell has one of the selected values of each selected factor.
pub(crate) fn selects(selection: &Selection, queues: &Queues) -> bool {
    let samples = |asked: &Option<Many<u32>>, value: Option<u32>| {
        asked.as_ref().is_none_or(|many| many.values().any(|asked| Some(*asked) == value))
    };
    let bytes = |asked: &Option<Many<Size>>, value: Option<u64>| {
        asked.as_ref().is_none_or(|many| many.values().any(|asked| asked.0 == value.unwrap_or(0)))
    };
    samples(&selection.send_queue, queues.send_samples)
        && samples(&selection.receive_queue, queues.receive_samples)
        && bytes(&selection.send_buffer, queues.send_buffer_bytes)
        && bytes(&selection.receive_buffer, queues.receive_buffer_bytes)
        && selection
            .receive_group
            .as_ref()
            .is_none_or(|many| many.values().any(|asked| asked.is_of(queues.receive_group)))
        && selection
            .polling_delay
            .as_ref()
            .is_none_or(|many| many.values().any(|asked| asked.0 == queues.polling_delay_ns.unwrap_or(0)))
}
