//! Late join of a simulated reader: samples written before it has joined do not reach it, except those that its writers keep
//! for it.

use std::sync::Arc;

use collector::LateJoined;
use control::{JoinReception, JoinTimes, ParticipantReport, PastReception, WrittenBeforeJoin};
use experiment::{Durability, History, Join, Qos, Workload};
use sim_model::{Announcements, Config, discover};

use crate::{
    link::{Link, Packet, Reader},
    setup::RunSetup,
};

/// Late join of a reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimJoin {
    pub times: JoinTimes,
    /// Time at which it and all writers are matched.
    pub joined_ns: u64,
    /// Whether this reader is the late one.
    pub is_late: bool,
}

/// Samples that a writer keeps for a late reader, and their counts.
#[derive(Debug, Default)]
pub(crate) struct WriterHistory {
    /// Maximum number of samples that it keeps.
    depth: u64,
    packets: std::collections::VecDeque<Packet>,
    /// Number of samples written before the reader had joined.
    pub before: u64,
    /// Number of these that the writer sent to the reader when it had joined.
    pub replayed: u64,
}

impl WriterHistory {
    /// Creates the empty memory of a writer with this QoS.
    pub fn of(qos: &Qos) -> Self {
        let depth = match (qos.durability, qos.history) {
            (None | Some(Durability::Volatile), _) => 0,
            (_, Some(History::KeepAll)) => u64::MAX,
            _ => qos.history_depth.map_or(1, |depth| u64::from(depth.unsigned_abs())),
        };
        Self { depth, ..Self::default() }
    }

    /// Adds a packet that was written before the reader had joined.
    pub fn keep(&mut self, packet: Packet) {
        self.before += packet.samples;
        self.packets.push_back(packet);
        while self.packets.iter().map(|packet| packet.samples).sum::<u64>() > self.depth {
            self.packets.pop_front();
        }
    }

    /// Returns the packets that the reader gets now that it has joined.
    pub fn replay(&mut self) -> Vec<Packet> {
        let packets: Vec<Packet> = self.packets.drain(..).collect();
        self.replayed += packets.iter().map(|packet| packet.samples).sum::<u64>();
        packets
    }
}

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
    let mut opens = vec![0; run.shape.endpoints.len()];
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
    let id = run.shape.endpoints[reader.endpoint].id.clone();
    Some(LateJoined { reader: id, times: join.times, joined_ns: join.joined_ns })
}

/// Returns what a writer reports of the samples that it wrote before the reader had joined.
pub(crate) fn before(kept: Option<&WriterHistory>) -> Option<WrittenBeforeJoin> {
    kept.map(|kept| WrittenBeforeJoin { samples: kept.before, exact: true })
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

/// Reception around the join, while it is recorded.
pub(crate) struct Reception {
    join: SimJoin,
    longest_gap_ns: [u64; 3],
    last_ns: Option<u64>,
    past: PastReception,
}

impl Reception {
    pub fn of(join: SimJoin) -> Self {
        let past = PastReception { exact: true, ..PastReception::default() };
        Self { join, longest_gap_ns: [0; 3], last_ns: None, past }
    }

    /// Records a distinct sample that was written at `tried_ns` and arrived at `due_ns`.
    pub fn record(&mut self, tried_ns: u64, due_ns: u64) {
        if let Some(last_ns) = self.last_ns.replace(due_ns) {
            let longest = &mut self.longest_gap_ns[self.join.times.period(due_ns)];
            *longest = (*longest).max(due_ns.saturating_sub(last_ns));
        }
        if self.past.first_ns == 0 {
            self.past.first_ns = due_ns;
        }
        if tried_ns < self.join.joined_ns {
            self.past.delivered += 1;
            self.past.last_ns = self.past.last_ns.max(due_ns);
        }
    }

    pub fn report(self) -> JoinReception {
        JoinReception { longest_gap_ns: self.longest_gap_ns, past: self.join.is_late.then_some(self.past) }
    }
}
