//! Participant and endpoints of a run, and monitors of the endpoints.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use control::{Configure, Configured, Match};
use driver_abi::FEATURE_LOCATORS;
use driver_host::{
    Driver, DriverError, Participant, ParticipantConfig, ReaderConfig, ReaderMonitor, TypeKind, WriterConfig,
    WriterMonitor,
};
use experiment::{ReceiveMode, is_pair};

use crate::base::error::AgentError;

/// Prefix of the line in `/proc/self/status` that lists the cores allowed to this process.
const ALLOWED: &str = "Cpus_allowed_list:";

/// Opens the participant of a run.
pub fn open_participant(driver: &Driver, configure: &Configure) -> Result<Participant, AgentError> {
    let factors = &configure.factors;
    let participant = driver.open(&ParticipantConfig {
        domain: configure.domain,
        run_name: configure.run_name.clone(),
        transport: Some(factors.transport.clone()),
        interface: Some(factors.interface.clone()),
        multicast: factors.multicast,
        vendor_defaults: factors.vendor_defaults,
        options: factors.options_of_end(configure.role.drives()),
        send_buffer_bytes: factors.queues.send_buffer_bytes.unwrap_or(0),
        receive_buffer_bytes: factors.queues.receive_buffer_bytes.unwrap_or(0),
        send_queue_bytes: factors.send_queue_bytes().unwrap_or(0),
        ..ParticipantConfig::default()
    })?;
    Ok(participant)
}

/// Returns the configuration of a flow's writer. `stream`: index of the flow from 0; `batched`: whether the cell's
/// batching applies.
pub fn writer_config(
    configure: &Configure,
    stream: usize,
    topic: &str,
    size_bytes: u64,
    batched: bool,
) -> WriterConfig {
    let factors = &configure.factors;
    WriterConfig {
        topic: topic.to_owned(),
        type_kind: TypeKind::Octets,
        qos: factors.writer_qos(stream),
        max_payload_bytes: size_bytes,
        batch_bytes: if batched { factors.batch_bytes } else { 0 },
        loans: false,
    }
}

/// Returns the configuration of a flow's reader; parameters as in [`writer_config`].
pub fn reader_config(
    configure: &Configure,
    stream: usize,
    topic: &str,
    size_bytes: u64,
    batched: bool,
) -> ReaderConfig {
    let factors = &configure.factors;
    ReaderConfig {
        topic: topic.to_owned(),
        type_kind: TypeKind::Octets,
        qos: factors.reader_qos(stream),
        max_payload_bytes: size_bytes,
        // with a pair of drivers, the reader's middleware itself unpacks what the writer's middleware packs
        batched: batched && factors.batch_bytes > 0 && !is_pair(&factors.driver),
        polling: factors.receive == ReceiveMode::Polling,
    }
}

/// Monitors of a role's endpoints, usable while the traffic runs.
#[derive(Clone, Debug, Default)]
pub struct Monitors {
    /// Monitors of the writers, in the order of the flows.
    pub writers: Vec<WriterMonitor>,
    /// Monitors of the readers, in the order of the flows.
    pub readers: Vec<ReaderMonitor>,
}

/// Returns the name of an endpoint in reports: `writer`, `writer-2`, and so on.
pub fn numbered(name: &str, index: usize) -> String {
    if index == 0 { name.to_owned() } else { format!("{name}-{}", index + 1) }
}

impl Monitors {
    /// Reads back the effective QoS, settings and locators, and the allowed cores.
    pub fn configured(&self, driver: &Driver, participant: &Participant) -> Result<Configured, AgentError> {
        let mut configured = Configured { cpus: allowed_cpus(), ..Configured::default() };
        configured.settings.insert("participant".to_owned(), participant.settings()?);
        let locators = driver.has(FEATURE_LOCATORS);
        for (index, writer) in self.writers.iter().enumerate() {
            let name = numbered("writer", index);
            configured.effective_qos.insert(name.clone(), writer.qos()?);
            configured.settings.insert(name, writer.settings()?);
            configured.writer_locators.extend(locators.then(|| writer.locator()).transpose()?);
        }
        for (index, reader) in self.readers.iter().enumerate() {
            let name = numbered("reader", index);
            configured.effective_qos.insert(name.clone(), reader.qos()?);
            configured.settings.insert(name, reader.settings()?);
            configured.reader_locators.extend(locators.then(|| reader.locator()).transpose()?);
        }
        Ok(configured)
    }

    /// Connects endpoints without discovery, then waits until every writer and reader is matched. Returns the time
    /// waited.
    pub fn wait_matched(&self, order: &Match) -> Result<Duration, AgentError> {
        for (writer, locator) in self.writers.iter().cycle().zip(&order.reader_locators) {
            writer.connect(locator)?;
        }
        for (reader, locator) in self.readers.iter().cycle().zip(&order.writer_locators) {
            reader.connect(locator)?;
        }
        let (begin, limit) = (Instant::now(), Duration::from_nanos(order.timeout_ns));
        loop {
            let readers = fewest(self.writers.iter().map(WriterMonitor::matched))?;
            let writers = fewest(self.readers.iter().map(ReaderMonitor::matched))?;
            if [readers, writers].into_iter().flatten().all(|count| count >= order.peers) {
                return Ok(begin.elapsed());
            }
            if begin.elapsed() >= limit {
                return Err(AgentError::NotMatched { readers, writers, expected: order.peers, limit });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the driver's counters by endpoint.
    pub fn counters(&self) -> Result<BTreeMap<String, BTreeMap<String, u64>>, AgentError> {
        let mut counters = BTreeMap::new();
        for (index, writer) in self.writers.iter().enumerate() {
            counters.insert(numbered("writer", index), writer.counters()?);
        }
        for (index, reader) in self.readers.iter().enumerate() {
            counters.insert(numbered("reader", index), reader.counters()?);
        }
        Ok(counters)
    }
}

/// Returns the smallest number of matched peers of any endpoint; `None` without endpoints.
fn fewest(mut counts: impl Iterator<Item = Result<u32, DriverError>>) -> Result<Option<u32>, DriverError> {
    counts.try_fold(None, |least: Option<u32>, count| {
        let count = count?;
        Ok(Some(least.map_or(count, |least| least.min(count))))
    })
}

/// Pins this process to these cores. Called before the driver starts threads, which inherit the affinity.
pub fn pin(cpus: &[u32]) -> Result<(), AgentError> {
    use nix::{
        sched::{CpuSet, sched_setaffinity},
        unistd::Pid,
    };
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu as usize).map_err(|error| AgentError::Pin { cpu, error })?;
    }
    let cpu = cpus.first().copied().unwrap_or_default();
    sched_setaffinity(Pid::from_raw(0), &set).map_err(|error| AgentError::Pin { cpu, error })
}

/// Returns the cores that the kernel allows to this process.
fn allowed_cpus() -> Vec<u32> {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix(ALLOWED)).unwrap_or_default();
    parse_list(list.trim())
}

/// Parses a core list in the format of the kernel, such as `0-3,8`.
fn parse_list(list: &str) -> Vec<u32> {
    list.split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(first.trim().parse::<u32>().ok()?..=last.trim().parse().ok()?)
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn core_lists_of_the_kernel_are_read() {
        assert_eq!(super::parse_list("0-2,5"), [0, 1, 2, 5]);
        assert!(super::parse_list("").is_empty());
        assert!(!super::allowed_cpus().is_empty());
    }
}
