//! Simulated readers: what arrives at each of them, and when it is read.

use collector::TraceFiles;
use control::JoinReception;
use experiment::{Design, ReaderSpec, Reliability, SizeTable};
use results::{Received, SequenceSet, WindowCounts};
use sim_model::Config;

use crate::{
    arrival::Arrival,
    host_model::{HostModel, ReaderQueue},
    late_join::{Packet, Reception, SimJoin},
};

/// Reader of an endpoint, with its thread and the buffer before it.
pub(crate) struct Reader {
    /// Index of its endpoint.
    pub endpoint: usize,
    pub spec: ReaderSpec,
    /// Size of each sample of its streams; `None` if all of a stream have one.
    sizes: Vec<Option<SizeTable>>,
    host: HostModel,
    queue: ReaderQueue,
    /// Whether packets wait at their writers while the buffer is full; otherwise they are dropped. Such a reader reads
    /// in the order of sending.
    holds_up: bool,
    /// Datagrams dropped at the full buffer.
    pub dropped: u64,
    /// Late join of a reader of the run.
    pub join: Option<SimJoin>,
    /// Its arrivals, as memory for the next run.
    pub arrivals: Vec<Arrival>,
}

impl Reader {
    /// Creates a reader that has received nothing. It reuses the memory of `arrivals`.
    pub fn new(
        endpoint: usize,
        spec: &ReaderSpec,
        traces: &TraceFiles,
        host: HostModel,
        mut arrivals: Vec<Arrival>,
    ) -> Self {
        arrivals.clear();
        let is_reliable = spec.qos.reliability == Some(Reliability::Reliable);
        let holds_up = is_reliable && host.receive_buffer.is_some();
        let queue = ReaderQueue::new(host.receive_buffer);
        let sizes = spec.streams.iter().map(|stream| stream.flow_sizes().table(&traces.of_stream(stream)));
        Self {
            endpoint,
            spec: spec.clone(),
            sizes: sizes.collect(),
            host,
            queue,
            holds_up,
            dropped: 0,
            join: None,
            arrivals,
        }
    }

    /// Starts a phase: what was sent before it is the warm-up.
    pub fn begin(&mut self) {
        for arrival in &mut self.arrivals {
            arrival.warm_up = true;
        }
    }

    /// Returns whether samples that are written at this time do not reach it, because it has not joined.
    pub fn is_away(&self, at_ns: u64) -> bool {
        self.join.is_some_and(|join| join.is_late && at_ns < join.joined_ns)
    }

    /// Returns when there is room for a packet; `None` if there is, or if packets do not wait for it.
    pub fn full_until(&mut self, at_ns: u64) -> Option<u64> {
        if self.holds_up { self.queue.full_until(at_ns) } else { None }
    }

    /// Adds a packet of the stream at this position, once or twice.
    pub fn add(&mut self, position: u32, due_ns: u64, twice: bool, packet: Packet) {
        let Packet { sequence, samples, bytes, tried_ns } = packet;
        let due_ns = if self.holds_up { self.take(due_ns, bytes, samples) } else { due_ns };
        for copy in 0..=u64::from(twice) {
            let order = sequence * 2 + copy * 2 * samples;
            let warm_up = false;
            self.arrivals.push(Arrival {
                due_ns,
                order,
                position,
                sequence,
                samples,
                bytes,
                tried_ns,
                warm_up,
            });
        }
    }

    /// Reads a packet that arrives at `due_ns`, and processes its samples. Returns when it has been read.
    fn take(&mut self, due_ns: u64, bytes: u64, samples: u64) -> u64 {
        let processing_ns = self.spec.processing_ns.unwrap_or(0).saturating_mul(samples);
        let cost_ns = self.read_ns(bytes, samples).saturating_add(processing_ns);
        self.queue.take(due_ns, cost_ns).saturating_sub(processing_ns)
    }

    /// Returns the CPU time of reading a packet.
    pub fn read_ns(&self, bytes: u64, samples: u64) -> u64 {
        self.host.read_cost(bytes, samples)
    }

    /// Determines when each packet is read, in the order of arrival. Packets without room in the buffer are removed and
    /// counted. A reader that holds up its writers has read them already. Ends a phase.
    pub fn read(&mut self, config: &Config) {
        if self.holds_up {
            return;
        }
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.sort_unstable();
        arrivals.retain_mut(|arrival| {
            let room = self.queue.full_until(arrival.due_ns).is_none();
            if room {
                arrival.due_ns = self.take(arrival.due_ns, arrival.bytes, arrival.samples);
            } else if !arrival.warm_up {
                self.dropped += config.datagrams(arrival.bytes);
            }
            room
        });
        self.arrivals = arrivals;
    }

    /// Returns the time of each arrival that has been read, with the number of its writer and its number of distinct
    /// samples: none in a duplicate or of the warm-up.
    pub fn arrivals(&self) -> impl Iterator<Item = (u16, (u64, u64))> {
        self.arrivals.iter().map(|arrival| {
            // A duplicate has the rank of the next packet.
            let counts = !arrival.warm_up && arrival.order == 2 * arrival.sequence;
            let writer = self.spec.streams[arrival.position as usize].writer;
            (writer, (arrival.due_ns, if counts { arrival.samples } else { 0 }))
        })
    }

    /// Ends the reading at `closed_ns`.
    pub fn close(&mut self, closed_ns: u64) {
        self.arrivals.retain(|arrival| arrival.due_ns <= closed_ns);
    }

    /// Returns what the agent of this reader counts of the stream at this position. `first` is called for each distinct
    /// sample with the time at which its packet was taken and its sequence number.
    pub fn receive(
        &self,
        position: usize,
        design: &Design,
        mut first: impl FnMut(u64, u64),
    ) -> (Received, Option<JoinReception>) {
        let mut reception = self.join.map(Reception::of);
        let stream = &self.spec.streams[position];
        let sizes = self.sizes[position].as_ref();
        let check_every = u64::from(design.check_every.max(1));
        let mut set = SequenceSet::new();
        let mut windows = WindowCounts::new(design.windows, design.measure_ns);
        let (mut first_ns, mut last_ns, mut quickest_ns) = (None, 0, u64::MAX);
        let (mut given, mut warm_up, mut checked_in_full) = (0, 0, 0);
        let (mut given_bytes, mut bytes) = (0, 0);
        for arrival in self.arrivals.iter().filter(|arrival| arrival.position as usize == position) {
            given_bytes += arrival.bytes;
            if arrival.warm_up {
                (given, warm_up) = (given + arrival.samples, warm_up + arrival.samples);
                continue;
            }
            let taken_ns = arrival.due_ns - self.read_ns(arrival.bytes, arrival.samples);
            for sequence in arrival.sequence..arrival.sequence + arrival.samples {
                given += 1;
                if set.insert(sequence) {
                    first_ns.get_or_insert(arrival.due_ns);
                    last_ns = arrival.due_ns;
                    quickest_ns = quickest_ns.min(arrival.due_ns - arrival.tried_ns);
                    bytes += sizes.map_or(stream.size_bytes, |sizes| sizes.at(sequence as u32));
                    checked_in_full += u64::from(sequence.is_multiple_of(check_every));
                    windows.count(arrival.due_ns);
                    if let Some(reception) = &mut reception {
                        reception.record(arrival.tried_ns, arrival.due_ns);
                    }
                    first(taken_ns, sequence);
                }
            }
        }
        let received = set.received(stream.writer);
        let received = Received {
            given,
            given_bytes,
            taken: Some(given),
            warm_up,
            checked_in_full,
            bytes,
            first_ns: first_ns.unwrap_or(last_ns),
            last_ns,
            window_ns: windows.window_ns(),
            window_delivered: windows.counts(),
            quickest_ns: if received.delivered > 0 { quickest_ns.cast_signed() } else { 0 },
            arrivals: windows.arrivals(),
            ..received
        };
        (received, reception.map(Reception::report))
    }

    /// Returns when the first packet of the measurement is taken.
    pub fn first_taken_ns(&self) -> Option<u64> {
        let measured = self.arrivals.iter().filter(|arrival| !arrival.warm_up);
        measured.map(|arrival| arrival.due_ns - self.read_ns(arrival.bytes, arrival.samples)).min()
    }

    /// Returns the CPU time of all packets of the measurement. Processing is not CPU time of the middleware.
    pub fn reading_ns(&self) -> u64 {
        let measured = self.arrivals.iter().filter(|arrival| !arrival.warm_up);
        measured.map(|arrival| self.read_ns(arrival.bytes, arrival.samples)).sum()
    }
}
