//! Simulation of a latency run: pings one after the other, from the pinger over all echoes back to it.

use control::TimestampPair;
use experiment::Role;
use sim_model::SampleOutcome;

use crate::{
    HOST_NS,
    late_join::Packet,
    link::{Link, Network},
    reader::Reader,
    reports::Traffic,
    round_trips::{CLOCK_START_NS, Counts, Outcome, RoundTrips, timeout_after},
    series::Recorder,
    setup::RunSetup,
};

/// Pings on their way.
struct Pings<'n> {
    network: &'n mut Network,
    roles: Vec<Role>,
    /// Endpoint that sends pings.
    pinger: usize,
    /// Samples to write: the endpoint, the time, and the number of copies.
    writes: Vec<(usize, u64, u64)>,
    /// By reader: arrival of the ping in flight, and its number of copies; 0 and 0 if it did not arrive.
    arrived: Vec<(u64, u64)>,
}

impl Pings<'_> {
    /// Sends a ping at `now` and follows it over all links.
    fn send(&mut self, now: u64, sequence: u64) {
        self.arrived.fill((0, 0));
        let Network { links, readers } = &mut *self.network;
        self.writes.push((self.pinger, now, 1));
        while let Some((endpoint, at, copies)) = self.writes.pop() {
            let Some(link) = links.iter_mut().find(|link| link.endpoint == endpoint) else { continue };
            if !cross(link, at) {
                continue;
            }
            for ((reader, position), outcome) in link.readers.iter().zip(link.flow.outcomes()) {
                let SampleOutcome::Comes { due_ns, twice, .. } = outcome else { continue };
                let endpoint = readers[*reader].endpoint;
                let copies = copies * (1 + u64::from(twice));
                self.arrived[*reader] = (due_ns, copies);
                match self.roles[endpoint] {
                    Role::Reader => {
                        let packet = Packet {
                            sequence,
                            samples: 1,
                            bytes: link.spec.stream.size_bytes,
                            tried_ns: now,
                        };
                        readers[*reader].add(*position, due_ns, twice, packet);
                    }
                    Role::Echo => self.writes.push((endpoint, due_ns, copies)),
                    Role::Pinger | Role::Writer | Role::Relay | Role::Participant => {}
                }
            }
        }
    }

    /// Returns the readers of the pinger.
    fn returning(&self) -> Vec<usize> {
        let readers = self.network.readers.iter().enumerate();
        readers.filter(|(_, of)| self.roles[of.endpoint] == Role::Pinger).map(|(index, _)| index).collect()
    }
}

/// Sends a sample on a link. Returns whether it is accepted.
fn cross(link: &mut Link, mut at: u64) -> bool {
    loop {
        match link.flow.offer(at, link.spec.stream.size_bytes) {
            // With one ping in flight, only an earlier ping that timed out can occupy the queue.
            SampleOutcome::Full { until_ns } => at = until_ns,
            SampleOutcome::Dropped => return false,
            SampleOutcome::Lost | SampleOutcome::Comes { .. } => return true,
        }
    }
}

/// Simulates the pings of a run.
pub(crate) fn measure(
    trips: &mut RoundTrips,
    recorder: &mut Recorder,
    network: &mut Network,
    run: &RunSetup<'_>,
) -> Traffic {
    let design = run.design;
    let check_every = u64::from(design.check_every.max(1));
    let roles: Vec<Role> = run.topology.endpoints.iter().map(|endpoint| endpoint.role).collect();
    let arrived = vec![(0, 0); network.readers.len()];
    let pinger = roles.iter().position(|role| role.drives()).unwrap_or(0);
    let mut pings = Pings { network, roles, pinger, writes: Vec::new(), arrived };
    let returning = pings.returning();
    trips.clear(returning.len());
    let mut counts = vec![Counts::default(); pings.network.readers.len()];
    let (mut sent, mut in_time) = (0, 0);
    let mut timeout = run.ping_ns;
    let mut warm_up = Vec::new();
    let (mut now, mut begin) = (CLOCK_START_NS, CLOCK_START_NS);
    let most = design.samples.unwrap_or(u64::MAX);
    let most_of_warm_up = design.warm_up_samples.unwrap_or(u64::MAX);
    let phases = [(false, design.warm_up_ns, most_of_warm_up), (true, design.measure_ns, most)];
    for (measured, duration_ns, most) in phases {
        begin = now;
        pings.network.readers.iter_mut().for_each(Reader::begin);
        let mut sequence = 0;
        while now - begin < duration_ns && sequence < most {
            let deadline = now + timeout;
            pings.send(now, sequence);
            let came =
                |reader: &usize| Some(pings.arrived[*reader].0).filter(|at| (1..=deadline).contains(at));
            let last = returning.iter().map(came).try_fold(0, |last: u64, at| Some(last.max(at?)));
            if measured {
                sent += 1;
                in_time += u64::from(last.is_some());
                for (reader, counts) in counts.iter_mut().enumerate() {
                    let (at_ns, copies) = pings.arrived[reader];
                    let trip = returning.iter().position(|of| *of == reader);
                    if trip.is_some() && at_ns > deadline {
                        counts.late_ns.push(at_ns);
                        counts.stamps.push(TimestampPair { first_ns: now, second_ns: 0 });
                        continue;
                    }
                    let first_ns = if trip.is_some() { now } else { at_ns };
                    counts.stamps.push(TimestampPair { first_ns, second_ns: at_ns });
                    counts.came += if trip.is_some() { copies.min(1) } else { copies };
                    counts.duplicate += copies.saturating_sub(1);
                    if let Some(trip) = trip.filter(|_| at_ns > 0) {
                        counts.checked_in_full += u64::from(sequence.is_multiple_of(check_every));
                        trips.record(trip, at_ns - begin, at_ns - now);
                    }
                }
                if let Some(last) = last.filter(|_| returning.len() > 1) {
                    trips.record_last(last - begin, last - now);
                }
            } else {
                warm_up.extend(last.map(|at| at - now));
            }
            sequence += 1;
            now = last.unwrap_or(deadline) + HOST_NS;
        }
        timeout = timeout_after(run.ping_ns, &mut warm_up);
    }
    let outcome = Outcome {
        held_writes: vec![0; pings.roles.len()],
        roles: pings.roles,
        returning,
        counts,
        sent,
        in_time,
        timeout_ns: timeout,
        elapsed_ns: now - begin,
        closed_ns: now,
    };
    outcome.traffic(trips, recorder, network, run)
}
