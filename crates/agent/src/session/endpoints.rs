//! Participant and endpoints of a run, and monitors of the endpoints.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use control::{Configured, Match, MatchedPeers};
use driver_abi::FEATURE_LOCATORS;
use driver_host::{
    Driver, DriverError, Participant, ParticipantConfig, ReaderConfig, ReaderMonitor, TypeKind, WriterConfig,
    WriterMonitor,
};
use experiment::{
    DriverDescription, ParticipantSpec, Policy, ReaderSpec, ReceiveMode, StreamSpec, Support,
    ThreadPriorities, WriterSpec, entity_name,
};

use crate::base::{
    clock::now_ns, error::AgentError, priority::NamedThread, role::AgentRole, udp_sockets::udp_ports,
};

/// Prefix of the line in `/proc/thread-self/status` that lists the cores allowed to this thread.
const ALLOWED: &str = "Cpus_allowed_list:";

/// Opens the participant of a run or of a mailbox.
pub fn open_participant(
    driver: &Driver,
    domain: u32,
    run_name: &str,
    spec: &ParticipantSpec,
) -> Result<Participant, AgentError> {
    let participant = driver.open(&ParticipantConfig {
        domain,
        run_name: run_name.to_owned(),
        transport: Some(spec.transport.clone()),
        interface: Some(spec.interface.clone()),
        peers: spec.peers.to_vec(),
        multicast: spec.multicast,
        vendor_defaults: spec.vendor_defaults,
        options: spec.options.clone(),
        send_buffer_bytes: spec.send_buffer_bytes.unwrap_or(0),
        receive_buffer_bytes: spec.receive_buffer_bytes.unwrap_or(0),
        send_queue_bytes: spec.send_queue_bytes.unwrap_or(0),
        participant_count: spec.participants.unwrap_or(0),
    })?;
    Ok(participant)
}

/// Returns the type of the samples of these streams of one topic. Samples that are lent have the type of a fixed size, if the
/// driver has it.
fn type_kind<'s>(driver: &Driver, streams: impl IntoIterator<Item = &'s StreamSpec>) -> TypeKind {
    let (mut keyed, mut lent) = (false, false);
    for stream in streams {
        keyed |= stream.instances.is_some();
        lent |= stream.loans;
    }
    let has_plain = || driver.description().type_kinds.iter().any(|kind| kind == "plain");
    match (keyed, lent) {
        (true, _) => TypeKind::Keyed,
        (false, true) if has_plain() => TypeKind::Plain,
        (false, _) => TypeKind::Octets,
    }
}

/// Sets the priorities of this thread, which executes the role, and of those of the role that receive. Returns them as the
/// kernel has them.
pub fn prioritize(
    priorities: ThreadPriorities,
    drives: bool,
    role: &dyn AgentRole,
) -> Result<BTreeMap<String, String>, AgentError> {
    let (name, priority) = if drives { ("main", priorities.main) } else { ("receive", priorities.receive) };
    let own = (NamedThread::current(name), priority);
    let others = role.receiving_threads().into_iter().map(|thread| (thread, priorities.receive));
    let mut scheduling = BTreeMap::new();
    for (thread, priority) in [own].into_iter().chain(others) {
        thread.set(priority)?;
        scheduling.extend(thread.scheduling());
    }
    Ok(scheduling)
}

/// Returns the configuration of a writer.
pub fn writer_config(driver: &Driver, spec: &WriterSpec) -> WriterConfig {
    WriterConfig {
        topic: spec.topic.clone(),
        type_kind: type_kind(driver, [&spec.stream]),
        qos: spec.qos.clone(),
        max_payload_bytes: spec.stream.size_bytes,
        batch_bytes: spec.batch_bytes,
        async_write: spec.asynchronous,
        loans: spec.loans,
    }
}

/// Returns the configuration of a reader.
pub fn reader_config(driver: &Driver, spec: &ReaderSpec) -> ReaderConfig {
    ReaderConfig {
        topic: spec.topic.clone(),
        type_kind: type_kind(driver, &spec.streams),
        qos: spec.qos.clone(),
        max_payload_bytes: spec.max_size_bytes(),
        batched: spec.unpacks_batches,
        polling: spec.receive == ReceiveMode::Polling,
        content_filter: spec.content_filter.map(|filter| filter.to_string()),
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

/// Returns the policies that a driver accepts without effect, by kind of endpoint.
fn ignored(driver: &DriverDescription) -> BTreeMap<String, Vec<Policy>> {
    let of_end = |index: usize| -> Vec<Policy> {
        let all = Policy::ALL.iter().copied();
        all.filter(|policy| driver.support_of_ends(*policy)[index] == Support::Ignored).collect()
    };
    [("writer", of_end(0)), ("reader", of_end(1))].map(|(end, policies)| (end.to_owned(), policies)).into()
}

impl Monitors {
    /// Reads back the effective QoS, settings and locators, and the allowed cores.
    pub fn configured(&self, driver: &Driver, participant: &Participant) -> Result<Configured, AgentError> {
        let mut configured = Configured { cpus: allowed_cpus(), ..Configured::default() };
        configured.settings.insert("participant".to_owned(), participant.settings()?);
        configured.ignored = ignored(driver.description());
        let locators = driver.has(FEATURE_LOCATORS);
        for (index, writer) in self.writers.iter().enumerate() {
            let name = entity_name("writer", index);
            configured.effective_qos.insert(name.clone(), writer.qos()?);
            configured.settings.insert(name, writer.settings()?);
            configured.writer_locators.extend(locators.then(|| writer.locator()).transpose()?);
        }
        for (index, reader) in self.readers.iter().enumerate() {
            let name = entity_name("reader", index);
            configured.effective_qos.insert(name.clone(), reader.qos()?);
            configured.settings.insert(name, reader.settings()?);
            configured.reader_locators.extend(locators.then(|| reader.locator()).transpose()?);
        }
        Ok(configured)
    }

    /// Connects endpoints without discovery to their peers.
    pub fn connect(&self, request: &Match) -> Result<(), AgentError> {
        let Match { writers, readers, .. } = request;
        if [writers.len(), readers.len()] != [self.writers.len(), self.readers.len()] {
            return Err(AgentError::Missing("match of an entity"));
        }
        for (writer, peers) in self.writers.iter().zip(writers) {
            peers.locators.iter().try_for_each(|locator| writer.connect(locator))?;
        }
        for (reader, peers) in self.readers.iter().zip(readers) {
            peers.locators.iter().try_for_each(|locator| reader.connect(locator))?;
        }
        Ok(())
    }

    /// Waits until each connected writer and reader is matched with all its peers. Calls `pause` between two checks.
    /// Returns the time waited.
    pub fn wait_matched(
        &self,
        request: &Match,
        mut pause: impl FnMut() -> Result<(), AgentError>,
    ) -> Result<Duration, AgentError> {
        let (begin, limit) = (Instant::now(), Duration::from_nanos(request.timeout_ns));
        loop {
            let missing = self.unmatched(request)?;
            let Some((entity, matched, peers)) = missing else { return Ok(begin.elapsed()) };
            if begin.elapsed() >= limit {
                let (expected, peers, ports) = (peers.count, peers.endpoints.clone(), udp_ports());
                return Err(AgentError::NotMatched { entity, matched, expected, peers, ports, limit });
            }
            pause()?;
        }
    }

    /// Returns the time of the last match of an entity in ns: as the driver recorded it, otherwise now.
    pub fn last_matched_ns(&self) -> Result<u64, AgentError> {
        let writers = self.writers.iter().map(WriterMonitor::match_state);
        let states: Vec<_> =
            writers.chain(self.readers.iter().map(ReaderMonitor::match_state)).collect::<Result<_, _>>()?;
        let known: Option<Vec<u64>> = states.iter().map(|state| state.changed_ns).collect();
        Ok(known.and_then(|known| known.into_iter().max()).unwrap_or_else(now_ns))
    }

    /// Returns the first entity that is not matched with all its peers: name, matched number, and expected peers.
    fn unmatched<'r>(
        &self,
        request: &'r Match,
    ) -> Result<Option<(String, u32, &'r MatchedPeers)>, DriverError> {
        for (index, (writer, peers)) in self.writers.iter().zip(&request.writers).enumerate() {
            let matched = writer.matched()?;
            if matched < peers.count {
                return Ok(Some((entity_name("writer", index), matched, peers)));
            }
        }
        for (index, (reader, peers)) in self.readers.iter().zip(&request.readers).enumerate() {
            let matched = reader.matched()?;
            if matched < peers.count {
                return Ok(Some((entity_name("reader", index), matched, peers)));
            }
        }
        Ok(None)
    }

    /// Returns the driver's counters by endpoint.
    pub fn counters(&self) -> Result<BTreeMap<String, BTreeMap<String, u64>>, AgentError> {
        let mut counters = BTreeMap::new();
        for (index, writer) in self.writers.iter().enumerate() {
            counters.insert(entity_name("writer", index), writer.counters()?);
        }
        for (index, reader) in self.readers.iter().enumerate() {
            counters.insert(entity_name("reader", index), reader.counters()?);
        }
        Ok(counters)
    }
}

/// Pins this thread to these cores. Called before the driver starts threads, which inherit the affinity.
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

/// Returns the cores that the kernel allows to this thread, and to those that the driver starts from it.
fn allowed_cpus() -> Vec<u32> {
    let status = std::fs::read_to_string(Path::new("/proc/thread-self/status")).unwrap_or_default();
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
