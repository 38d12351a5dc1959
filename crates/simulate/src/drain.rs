//! Drain of a run: how long its readers wait for samples after the last write.

use std::collections::{BTreeMap, BTreeSet};

use control::{IDLE_NS, QUIET_NS};

use crate::reader::Reader;

/// Drain of all endpoints of a run.
#[derive(Debug, Default)]
pub(crate) struct Drain {
    /// By writing endpoint.
    acknowledged: BTreeMap<usize, Acknowledged>,
    /// By reading endpoint.
    drained: BTreeMap<usize, Drained>,
}

impl Drain {
    /// Returns whether all samples of the writers of an endpoint were acknowledged.
    pub fn is_acknowledged(&self, endpoint: usize) -> bool {
        self.acknowledged.get(&endpoint).is_none_or(|of| of.all)
    }

    /// Returns whether all samples arrived at a reading endpoint, and when it is closed.
    pub fn of_reader(&self, endpoint: usize) -> (bool, u64) {
        self.drained.get(&endpoint).map_or((true, u64::MAX), |of| (of.arrived, of.closed_ns))
    }
}

/// Samples and end of the writing of an endpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriterEnd {
    pub endpoint: usize,
    /// Number of accepted samples by writer.
    pub accepted: BTreeMap<u16, u64>,
    /// Number of these samples, by writer, that a late reader never gets.
    pub missed: BTreeMap<u16, u64>,
    pub end_ns: u64,
}

/// Drains a run as runner and agents do: all writers wait for their acknowledgments, and then all readers for their
/// samples, each up to a time limit.
pub(crate) fn drain(readers: &[Reader], written: &[WriterEnd], reliable: bool, limit_ns: u64) -> Drain {
    let mut drain = Drain::default();
    for of in written {
        let expected =
            |reader: &&Reader| reader.spec.streams.iter().any(|it| of.accepted.contains_key(&it.writer));
        let heard = readers.iter().filter(expected);
        let streams = heard.clone().flat_map(|reader| &reader.spec.streams);
        let sent: u64 = streams.filter_map(|stream| of.accepted.get(&stream.writer)).sum();
        let sent = sent - of.missed.values().sum::<u64>();
        let arrivals = heard.flat_map(Reader::arrivals);
        let own = arrivals.filter(|(writer, _)| of.accepted.contains_key(writer)).map(|(_, arrival)| arrival);
        let acknowledged = Acknowledged::wait(own, (sent, reliable), of.end_ns, limit_ns);
        drain.acknowledged.insert(of.endpoint, acknowledged);
    }
    let written_ns = written.iter().map(|of| of.end_ns).max().unwrap_or(0);
    let begin_ns = drain.acknowledged.values().map(|of| of.at_ns).max().unwrap_or(written_ns);
    let endpoints: BTreeSet<usize> = readers.iter().map(|reader| reader.endpoint).collect();
    for endpoint in endpoints {
        let own = || readers.iter().filter(|reader| reader.endpoint == endpoint);
        let streams = own().flat_map(|reader| &reader.spec.streams);
        let accepted = |writer: u16| written.iter().find_map(|of| of.accepted.get(&writer));
        let sent = streams.filter_map(|stream| accepted(stream.writer)).sum();
        let arrivals = own().flat_map(Reader::arrivals).map(|(_, arrival)| arrival);
        let drained = Drained::new(arrivals, sent, (written_ns, begin_ns), limit_ns);
        drain.drained.insert(endpoint, drained);
    }
    drain
}

/// Wait of the writers for their acknowledgments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// Whether all samples of the writer were acknowledged. A best effort writer waits for none.
    pub all: bool,
    /// Time at which the wait ends.
    pub at_ns: u64,
}

impl Acknowledged {
    /// Waits as the agent of a writer does: if it is reliable, until its `sent` samples have arrived, each at every
    /// reader, up to a time limit. `arrivals`: time and number of distinct samples.
    pub fn wait(
        arrivals: impl Iterator<Item = (u64, u64)>,
        (sent, reliable): (u64, bool),
        written_ns: u64,
        limit_ns: u64,
    ) -> Self {
        if !reliable {
            return Self { all: true, at_ns: written_ns };
        }
        let (arrived, last_ns) = arrivals
            .filter(|(_, samples)| *samples > 0)
            .fold((0, written_ns), |(sum, last_ns), (due_ns, samples)| (sum + samples, last_ns.max(due_ns)));
        let longest_ns = written_ns.saturating_add(limit_ns);
        let all = arrived >= sent && last_ns <= longest_ns;
        Self { all, at_ns: if all { last_ns } else { longest_ns } }
    }
}

/// Outcome of the drain of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Whether all samples arrived.
    pub arrived: bool,
    /// Time at which the reader is closed, after its idle measurement.
    pub closed_ns: u64,
}

impl Drained {
    /// Drains a reader from `begin_ns`, when all writers have ended their wait, as its agent does: until all samples
    /// have arrived or none has for a while, up to a time limit. `arrivals`: time and number of distinct samples; 0 for
    /// arrivals that only break the silence.
    pub fn new(
        arrivals: impl Iterator<Item = (u64, u64)>,
        sent: u64,
        (written_ns, begin_ns): (u64, u64),
        limit_ns: u64,
    ) -> Self {
        let (mut recorded, mut late) = (0, Vec::new());
        for (due_ns, samples) in arrivals {
            if due_ns <= written_ns {
                recorded += samples;
            } else {
                late.push((due_ns, samples));
            }
        }
        late.sort_unstable();
        let longest_ns = begin_ns.saturating_add(limit_ns);
        let mut quiet_ns = begin_ns;
        for (due_ns, samples) in late {
            if recorded >= sent || due_ns > quiet_ns.saturating_add(QUIET_NS).min(longest_ns) {
                break;
            }
            recorded += samples;
            quiet_ns = quiet_ns.max(due_ns);
        }
        let arrived = recorded >= sent;
        let drained_ns = if arrived { quiet_ns } else { quiet_ns.saturating_add(QUIET_NS).min(longest_ns) };
        Self { arrived, closed_ns: drained_ns.saturating_add(IDLE_NS) }
    }
}
