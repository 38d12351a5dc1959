//! The late reader of a simulated run: when it joins, and what its agents and its runner report of that.

use std::sync::Arc;

use collector::LateJoined;
use control::{JoinTimes, ParticipantReport};
use experiment::{Join, Workload};
use sim_model::{Announcements, Config, discover};

use crate::{late_join::SimJoin, link::Link, reader::Reader, setup::RunSetup};

/// Plans the late join of the last reader, if the cell has one, for a measurement that starts at `begin`. Without it: for the
/// warm-up, in which the reader is away.
pub(crate) fn plan(readers: &mut [Reader], run: &RunSetup<'_>, config: &Arc<Config>, begin: Option<u64>) {
    let late = readers.last().map(|reader| reader.endpoint);
    let Some(late) = late.filter(|_| is_late(run)) else { return };
    let times = JoinTimes::of_measurement(begin.unwrap_or(u64::MAX), run.design.measure_ns);
    let joined_ns = begin.map_or(u64::MAX, |_| joined_ns(config, run, times.begin_ns));
    for reader in readers {
        reader.join = Some(SimJoin { times, joined_ns, is_late: reader.endpoint == late });
    }
}

/// Returns the number of samples of a writer that the late reader never gets.
pub(crate) fn missed(link: &Link) -> Option<(u16, u64)> {
    let kept = link.kept.as_ref()?;
    Some((link.spec.stream.writer, kept.before - kept.replayed))
}

fn is_late(run: &RunSetup<'_>) -> bool {
    run.factors.discovery.join == Join::Late && run.factors.workload != Workload::Discovery
}

/// Returns the time at which a participant that opens at `opens_ns` and all others are matched.
fn joined_ns(config: &Arc<Config>, run: &RunSetup<'_>, opens_ns: u64) -> u64 {
    let mut opens = vec![0; run.topology.endpoints.len()];
    if let Some(last) = opens.last_mut() {
        *last = opens_ns;
    }
    let announced = Announcements { endpoints: 1, run: run.design.seed };
    discover(config, announced, &opens).all_matched_ns().max(opens_ns)
}

/// Returns the late join of a run, as its runner observes it.
pub(crate) fn joined(readers: &[Reader], run: &RunSetup<'_>) -> Option<LateJoined> {
    let (reader, join) =
        readers.iter().find_map(|reader| Some((reader, reader.join.filter(|join| join.is_late)?)))?;
    let id = run.topology.endpoints[reader.endpoint].id.clone();
    Some(LateJoined { reader: id, times: join.times, joined_ns: join.joined_ns })
}

/// Returns the report of the participant of a late reader, which opens in no time.
pub(crate) fn participant(reader: Option<&Reader>) -> Option<ParticipantReport> {
    let join = reader?.join.filter(|join| join.is_late)?;
    let begin_ns = join.times.begin_ns;
    Some(ParticipantReport {
        begin_ns,
        opening_ns: begin_ns,
        participant_ns: begin_ns,
        entities_ns: begin_ns,
        ..ParticipantReport::default()
    })
}
