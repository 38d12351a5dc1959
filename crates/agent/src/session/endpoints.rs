//! Participant and endpoints of a run, and monitors of the endpoints.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use control::{Configured, Match, MatchedPeers};
use driver_abi::FEATURE_LOCATORS;
use driver_host::{
    Driver, DriverError, Monitor, Participant, ParticipantConfig, ReaderConfig, TypeKind, WriterConfig,
};
use experiment::{
    DriverDescription, ParticipantSpec, Policy, ReaderSpec, ReceiveMode, StreamSpec, Support,
    ThreadPriorities, WriterSpec, entity_name,
};
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

use crate::base::{
    clock::now_ns, error::AgentError, priority::NamedThread, role::AgentRole, udp_sockets::udp_ports,
};

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
    pub writers: Vec<Monitor>,
    /// Monitors of the readers, in the order of the flows.
    pub readers: Vec<Monitor>,
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
    /// Returns the monitors of all writers, then those of all readers.
    fn all(&self) -> impl Iterator<Item = &Monitor> {
        self.writers.iter().chain(&self.readers)
    }

    /// Returns all monitors in this order, with the names of their entities.
    fn named(&self) -> impl Iterator<Item = (String, &Monitor)> {
        let name = |kind| move |(index, monitor)| (entity_name(kind, index), monitor);
        let writers = self.writers.iter().enumerate().map(name("writer"));
        writers.chain(self.readers.iter().enumerate().map(name("reader")))
    }

    /// Reads back the effective QoS, settings and locators, and the allowed cores.
    pub fn configured(&self, driver: &Driver, participant: &Participant) -> Result<Configured, AgentError> {
        let mut configured = Configured { cpus: allowed_cpus(), ..Configured::default() };
        configured.settings.insert("participant".to_owned(), participant.settings()?);
        configured.ignored = ignored(driver.description());
        for (name, entity) in self.named() {
            configured.effective_qos.insert(name.clone(), entity.qos()?);
            configured.settings.insert(name, entity.settings()?);
        }
        if driver.has(FEATURE_LOCATORS) {
            let locators = |of: &[Monitor]| of.iter().map(Monitor::locator).collect::<Result<_, _>>();
            configured.writer_locators = locators(&self.writers)?;
            configured.reader_locators = locators(&self.readers)?;
        }
        Ok(configured)
    }

    /// Connects endpoints without discovery to their peers.
    pub fn connect(&self, request: &Match) -> Result<(), AgentError> {
        let Match { writers, readers, .. } = request;
        if [writers.len(), readers.len()] != [self.writers.len(), self.readers.len()] {
            return Err(AgentError::Missing("match of an entity"));
        }
        for (entity, peers) in self.all().zip(writers.iter().chain(readers)) {
            peers.locators.iter().try_for_each(|locator| entity.connect(locator))?;
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
        let states: Vec<_> = self.all().map(Monitor::match_state).collect::<Result<_, _>>()?;
        let known: Option<Vec<u64>> = states.iter().map(|state| state.changed_ns).collect();
        Ok(known.and_then(|known| known.into_iter().max()).unwrap_or_else(now_ns))
    }

    /// Returns the first entity that is not matched with all its peers: name, matched number, and expected peers.
    fn unmatched<'r>(
        &self,
        request: &'r Match,
    ) -> Result<Option<(String, u32, &'r MatchedPeers)>, DriverError> {
        for ((name, entity), peers) in self.named().zip(request.writers.iter().chain(&request.readers)) {
            let matched = entity.matched()?;
            if matched < peers.count {
                return Ok(Some((name, matched, peers)));
            }
        }
        Ok(None)
    }

    /// Returns the driver's counters by endpoint.
    pub fn counters(&self) -> Result<BTreeMap<String, BTreeMap<String, u64>>, AgentError> {
        self.named().map(|(name, entity)| Ok((name, entity.counters()?))).collect()
    }
}

/// Pins this thread to these cores. Called before the driver starts threads, which inherit the affinity.
pub fn pin(cpus: &[u32]) -> Result<(), AgentError> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu as usize).map_err(|error| AgentError::Pin { cpu, error })?;
    }
    let cpu = cpus.first().copied().unwrap_or_default();
    sched_setaffinity(Pid::from_raw(0), &set).map_err(|error| AgentError::Pin { cpu, error })
}

/// Returns the cores that the kernel allows to this thread, and to those that the driver starts from it.
fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).map(|cpu| cpu as u32).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn allowed_cores_are_known() {
        assert!(!super::allowed_cpus().is_empty());
    }
}
