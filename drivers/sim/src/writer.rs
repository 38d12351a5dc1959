//! Writer: the model decides the fate and the due time of each sample.
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use driver_kit::{
    Count, Counter, Counters, Error, MatchRecord, MatchState, Monitor, NoLoan, Qos, QosDuration, Reliability,
    Result, Settings, Status, Writer, WriterConfig, WriterCounts, abi, batch::Batch,
};
use sim_model::{Config, Flow, SampleOutcome};

use crate::{
    TRANSPORT, in_force,
    socket::{MAX_PAYLOAD, Peer, Socket, is_full, is_gone, now_ns},
};

/// Default maximum blocking time of a write.
const DEFAULT_BLOCKING_NS: u64 = 100_000_000;
/// Maximum time for further readers of a sample, in multiples of the limit of a write.
const PATIENCE: u32 = 1_000;
/// Minimum wait for a sleep; a shorter wait is spun, because a sleep would last longer.
const SPIN_NS: u64 = 100_000;

/// State of a writer that the host can query at any time.
pub(crate) struct WriterMonitor {
    matched: MatchRecord,
    qos: Qos,
    counts: WriterCounts,
    retransmitted: Count,
    /// Number of samples lost according to the model, at each reader: accepted, but never sent.
    lost: Count,
}

impl Monitor for WriterMonitor {
    fn matched(&self) -> Result<MatchState> {
        Ok(self.matched.state())
    }

    fn qos(&self) -> Result<Qos> {
        Ok(self.qos.clone())
    }

    fn counters(&self) -> Counters {
        self.counts.counters_with_waits().with(Counter::Retransmitted, self.retransmitted.get())
    }
}

/// Writer of the simulated middleware.
pub(crate) struct SimWriter {
    socket: Socket,
    flow: Flow,
    batch: Option<Batch>,
    readers: Vec<Peer>,
    /// Whether the socket had no room for the last sample: its outcomes apply to the next attempt.
    pending: bool,
    monitor: Arc<WriterMonitor>,
    max_blocking_ns: u64,
    reliable: bool,
    /// Due time of the last sample that a reliable reader must acknowledge.
    unacknowledged_until_ns: u64,
}

impl SimWriter {
    pub(crate) fn open(model: Arc<Config>, run_name: &str, config: &WriterConfig<'_>) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let qos = &config.qos;
        let reliable = qos.reliability == Some(Reliability::Reliable);
        let asked = [
            ("reliability", reliable),
            ("latency_budget", qos.latency_budget_ns.is_some()),
            ("transport_priority", qos.transport_priority.is_some()),
        ];
        let qos_ns = model.qos_ns(asked.into_iter().filter(|(_, asked)| *asked).map(|(name, _)| name));
        let run = hash(&run_name);
        let stream = hash(&(std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let flow = Flow::new(model, reliable, qos_ns, run, stream);
        let max_blocking_ns = qos.max_blocking_ns.map_or(DEFAULT_BLOCKING_NS, QosDuration::raw);
        let batch = Batch::from_config(config, TRANSPORT, MAX_PAYLOAD)?;
        let socket = Socket::open(run_name)?;
        let limit = Duration::from_nanos(max_blocking_ns).max(Duration::from_micros(1));
        socket.set_send_limit((max_blocking_ns != abi::DURATION_INFINITE).then_some(limit))?;
        let monitor = WriterMonitor {
            matched: MatchRecord::new(),
            qos: in_force(qos, max_blocking_ns, true),
            counts: WriterCounts::default(),
            retransmitted: Count::default(),
            lost: Count::default(),
        };
        let monitor = Arc::new(monitor);
        Ok(Self {
            socket,
            flow,
            batch,
            readers: Vec::new(),
            pending: false,
            monitor,
            max_blocking_ns,
            reliable,
            unacknowledged_until_ns: 0,
        })
    }

    /// Determines the fate of a sample at each reader, after waiting for room in the modelled queue. Returns whether the
    /// queue took it.
    fn fate(&mut self, bytes: u64) -> Result<bool> {
        if std::mem::take(&mut self.pending) {
            return Ok(true);
        }
        let begin = now_ns();
        let deadline = begin.saturating_add(self.max_blocking_ns);
        let mut now = begin;
        loop {
            let until_ns = match self.flow.offer(now, bytes) {
                SampleOutcome::Full { until_ns } => until_ns,
                taken => {
                    self.monitor.counts.add_blocked(now - begin);
                    return Ok(taken != SampleOutcome::Dropped);
                }
            };
            if now == begin {
                self.monitor.counts.count_blocked();
            }
            if self.max_blocking_ns == 0 {
                self.monitor.counts.refused.add(1);
                return Err(Error::new(
                    Status::Refused,
                    "the simulated queue is full, and `max_blocking` is 0",
                )
                .hint("increase the option `queue` or `max_blocking`"));
            }
            if until_ns > deadline {
                sleep_until(deadline);
                self.monitor.counts.timed_out.add(1);
                self.monitor.counts.add_blocked(now_ns() - begin);
                return Err(Error::new(Status::TimedOut, "the simulated queue was full for `max_blocking`")
                    .hint("increase the option `queue` or `max_blocking`"));
            }
            sleep_until(until_ns);
            now = now_ns();
        }
    }

    /// Sends a sample or a batch, after waiting for room in the modelled queue: a batch has one fate at each reader.
    /// `bytes` is its payload size.
    fn pass_on(&mut self, packet: &[u8], bytes: u64, samples: u64) -> Result<()> {
        if !self.fate(bytes)? {
            self.monitor.lost.add(samples * self.readers.len() as u64);
            return Ok(());
        }
        if let Err(error) = self.send(packet) {
            self.pending = true;
            return Err(error);
        }
        for outcome in self.flow.outcomes().take(self.readers.len()) {
            let SampleOutcome::Comes { due_ns, retransmissions, .. } = outcome else {
                self.monitor.lost.add(samples);
                continue;
            };
            self.monitor.retransmitted.add(u64::from(retransmissions));
            if self.reliable {
                self.unacknowledged_until_ns = self.unacknowledged_until_ns.max(due_ns);
            }
        }
        Ok(())
    }

    /// Sends the batch; it is kept if that fails.
    fn pass_on_batch(&mut self) -> Result<()> {
        let Some(mut batch) = self.batch.take() else { return Ok(()) };
        let passed = if batch.samples() == 0 {
            Ok(())
        } else {
            self.pass_on(batch.datagram(), batch.payload_bytes() as u64, batch.samples())
        };
        if passed.is_ok() {
            batch.clear();
        }
        self.batch = Some(batch);
        passed
    }

    /// Sends to every reader that does not lose the sample, at its own due time. A reader that has disconnected is no
    /// longer matched. Not accepted if there is no room for the first copy; a started sample is sent completely, unless a
    /// reader receives nothing at all.
    fn send(&mut self, payload: &[u8]) -> Result<()> {
        let mut sent = false;
        let mut gone = None;
        let mut patience = PATIENCE;
        for (index, (reader, outcome)) in self.readers.iter().zip(self.flow.outcomes()).enumerate() {
            let SampleOutcome::Comes { due_ns, twice, .. } = outcome else { continue };
            for _ in 0..=u32::from(twice) {
                loop {
                    match self.socket.send(reader, due_ns, payload) {
                        Ok(()) => {
                            sent = true;
                            self.monitor.counts.count_sent(1, payload.len() as u64);
                        }
                        Err(errno) if is_gone(errno) => gone = Some(index),
                        Err(errno) if is_full(errno) && sent && patience > 0 => {
                            patience -= 1;
                            continue;
                        }
                        Err(errno) if is_full(errno) && sent => {
                            return Err(Error::failed(
                                "one reader has no room for a sample that another reader has received",
                            )
                            .hint("check for a slow reader"));
                        }
                        Err(errno) if is_full(errno) => {
                            self.monitor.counts.timed_out.add(1);
                            return Err(Error::new(
                                Status::TimedOut,
                                "the reader had no room for `max_blocking`: sendmsg() failed",
                            )
                            .hint("check for a slow reader"));
                        }
                        Err(errno) => return Err(Error::os("cannot send a sample: sendmsg() failed", errno)),
                    }
                    break;
                }
            }
        }
        if let Some(index) = gone {
            self.remove_reader(index);
            self.monitor.matched.set(self.readers.len());
        }
        Ok(())
    }
}

impl SimWriter {
    fn remove_reader(&mut self, index: usize) {
        self.readers.remove(index);
        if !self.readers.is_empty() {
            self.flow.remove_reader(index);
        }
    }
}

impl Writer for SimWriter {
    type Monitor = WriterMonitor;
    type Loan = NoLoan;

    fn monitor(&self) -> Arc<WriterMonitor> {
        self.monitor.clone()
    }

    fn write(&mut self, _key: u32, payload: &[u8]) -> Result<()> {
        if self.batch.as_ref().is_some_and(|batch| !batch.has_room(payload.len())) {
            // if this is rejected, so is the sample: nothing has changed, and both can be retried
            self.pass_on_batch()?;
        }
        match &mut self.batch {
            None => self.pass_on(payload, payload.len() as u64, 1),
            Some(batch) => {
                batch.push(payload);
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.pass_on_batch()
    }

    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("address", &self.socket.name());
        Batch::show(self.batch.as_ref(), settings);
        settings.set("mode", &self.flow.mode);
        settings.set("lost_as_configured", &self.monitor.lost.get());
        Ok(())
    }

    /// Waits for acknowledgements: a sample is acknowledged when it is due, because its reader then has it.
    fn wait_acked(&mut self, timeout_ns: u64) -> Result<()> {
        let deadline = now_ns().saturating_add(timeout_ns);
        self.pass_on_batch()?;
        let acknowledged = if self.readers.is_empty() { 0 } else { self.unacknowledged_until_ns };
        sleep_until(acknowledged.min(deadline));
        if acknowledged > deadline {
            return Err(Error::new(Status::TimedOut, "not all samples were acknowledged in time")
                .hint("reduce the option `latency` or the rate"));
        }
        Ok(())
    }

    fn locator(&mut self) -> Result<String> {
        Ok(self.socket.name())
    }

    fn connect(&mut self, reader_locator: &str) -> Result<()> {
        let peer = Peer::parse(reader_locator)?;
        if !self.readers.iter().any(|known| known.locator == peer.locator) {
            // A flow has one reader from the start.
            if !self.readers.is_empty() {
                self.flow.add_reader();
            }
            self.readers.push(peer);
            self.monitor.matched.set(self.readers.len());
        }
        Ok(())
    }
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Sleeps until a time: never less, and not much longer.
pub(crate) fn sleep_until(then_ns: u64) {
    loop {
        let left = then_ns.saturating_sub(now_ns());
        match left {
            0 => return,
            1..=SPIN_NS => thread::yield_now(),
            _ => thread::sleep(Duration::from_nanos(left - SPIN_NS)),
        }
    }
}
