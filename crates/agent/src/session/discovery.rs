//! Measurement of discovery: the common start, the matches of all entities, and memory.

use control::{EntityMatch, InterfaceReading, ParticipantReport, TrafficAhead};
use driver_host::{DriverError, MatchState, Monitor};

use super::endpoints::Monitors;
use crate::base::{
    clock::{from_monotonic, now_ns},
    counters::interface_counters,
    memory::memory_bytes,
    sleep_spin_timer::sleep_until,
};

/// Time before the common start at which the interface counters are read, in ns: reading them takes long.
const AHEAD_NS: u64 = 5_000_000;

/// Measurement of discovery by one participant.
pub struct DiscoveryRecorder {
    interface: String,
    report: ParticipantReport,
}

impl DiscoveryRecorder {
    /// Waits for the common start, and records the state before it.
    pub fn wait_until(begin_ns: u64, interface: &str) -> Self {
        let memory_before_bytes = memory_bytes();
        let early = reading(interface);
        let before = reading_before(begin_ns, interface);
        let ahead = early.zip(before.as_ref()).map(|(early, before)| TrafficAhead {
            elapsed_ns: before.at_ns.saturating_sub(early.at_ns),
            tx_packets: before.counters.tx_packets.saturating_sub(early.counters.tx_packets),
        });
        sleep_until(begin_ns, now_ns());
        let report = ParticipantReport {
            begin_ns,
            opening_ns: now_ns(),
            memory_before_bytes,
            before,
            ahead,
            ..ParticipantReport::default()
        };
        Self { interface: interface.to_owned(), report }
    }

    /// Records that the participant was created.
    pub fn opened_participant(&mut self) {
        self.report.participant_ns = now_ns();
    }

    /// Records that all entities were created.
    pub fn opened_entities(&mut self) {
        self.report.entities_ns = now_ns();
    }

    /// Records that times count from the start of a late participant. Waits almost until then.
    pub fn restart(&mut self, begin_ns: u64) {
        self.report.begin_ns = begin_ns;
        self.report.before = reading_before(begin_ns, &self.interface);
    }

    /// Records the matches of all entities, which are complete, and the traffic until now.
    pub fn matched(&mut self, monitors: &Monitors) -> Result<(), DriverError> {
        self.report.found_matched_ns = now_ns();
        self.report.after = reading(&self.interface);
        (self.report.writers, self.report.readers) = states(monitors)?;
        Ok(())
    }

    /// Records the memory when all participants are matched.
    pub fn settled(&mut self) {
        self.report.memory_matched_bytes = memory_bytes();
    }

    /// Returns the measurements, with the number of entities whose matches changed since.
    pub fn report(&self, monitors: &Monitors) -> Result<ParticipantReport, DriverError> {
        let (writers, readers) = states(monitors)?;
        let now = writers.iter().chain(&readers);
        let then = self.report.writers.iter().chain(&self.report.readers);
        let changed_later = now.zip(then).filter(|(now, then)| now != then).count();
        Ok(ParticipantReport { changed_later: changed_later as u32, ..self.report.clone() })
    }
}

/// Waits almost until `begin_ns`, and returns the last reading before it. On a busy host the wait may end too late: then
/// it is the reading before the wait.
fn reading_before(begin_ns: u64, interface: &str) -> Option<InterfaceReading> {
    let early = reading(interface);
    sleep_until(begin_ns.saturating_sub(AHEAD_NS), now_ns());
    reading(interface).filter(|late| late.at_ns <= begin_ns).or(early)
}

fn reading(interface: &str) -> Option<InterfaceReading> {
    let counters = interface_counters(interface)?;
    Some(InterfaceReading { at_ns: now_ns(), counters })
}

/// Returns the matches of all writers and readers.
fn states(monitors: &Monitors) -> Result<(Vec<EntityMatch>, Vec<EntityMatch>), DriverError> {
    let entity = |MatchState { count, changed_ns }| EntityMatch {
        matched: count,
        changed_ns: changed_ns.map(from_monotonic),
    };
    let states =
        |of: &[Monitor]| of.iter().map(|one| one.match_state().map(entity)).collect::<Result<_, _>>();
    Ok((states(&monitors.writers)?, states(&monitors.readers)?))
}
