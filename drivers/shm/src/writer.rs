//! Writers: copies of samples into the rings of all readers.
use std::{sync::Arc, time::Instant};

use driver_kit::{
    Count, Counter, Counters, Error, MatchState, Monitor, NoLoan, Qos, QosDuration, Reliability, Result,
    Settings, Status, Writer, WriterConfig,
};

use crate::{
    in_force,
    layout::record,
    locator::{ReaderLocator, WriterId},
    outgoing::{Links, Outgoing},
    ring::Producer,
};

/// Default maximum blocking time of a reliable write, as in DDS.
const DEFAULT_BLOCKING_NS: u64 = 100_000_000;
/// Maximum sleep in ns before a writer checks whether the reader lives, and whether there is room for a record although
/// less than half of the ring is free.
const SLEEP_NS: u64 = 20_000_000;
/// A writer that does not wait checks whether a full reader lives at every such attempt.
const CHECK_EVERY: u64 = 256;

/// State of a writer that the host can query at any time.
pub(crate) struct WriterMonitor {
    links: Links,
    qos: Qos,
    packets: Count,
    bytes: Count,
    blocked: Count,
    blocked_ns: Count,
    refused: Count,
    timed_out: Count,
    /// Number of samples dropped because a reader had no room: a best-effort writer does not wait.
    dropped: Count,
}

impl WriterMonitor {
    /// Publishes the records of a ring, and counts them as one packet.
    #[inline]
    fn publish(&self, ring: &mut Producer) {
        if let Some(bytes) = ring.publish() {
            self.packets.add(1);
            self.bytes.add(bytes);
        }
    }
}

impl Monitor for WriterMonitor {
    fn matched(&self) -> Result<MatchState> {
        Ok(self.links.matched())
    }

    fn qos(&self) -> Result<Qos> {
        Ok(self.qos.clone())
    }

    fn counters(&self) -> Counters {
        Counters::new()
            .with(Counter::PacketsSent, self.packets.get())
            .with(Counter::BytesSent, self.bytes.get())
            .with(Counter::WriteBlocked, self.blocked.get())
            .with(Counter::WriteBlockedNs, self.blocked_ns.get())
            .with(Counter::WriteRefused, self.refused.get())
            .with(Counter::WriteTimedOut, self.timed_out.get())
    }
}

/// Batch: records that were copied, but are not published yet.
struct Batch {
    /// Maximum payload in bytes, unless a single sample is larger.
    limit: u64,
    payload: u64,
}

/// Writer: its rings in the memories of its readers.
pub(crate) struct ShmWriter {
    id: WriterId,
    readers: Vec<Outgoing>,
    known: Vec<ReaderLocator>,
    monitor: Arc<WriterMonitor>,
    batch: Option<Batch>,
    max_payload: usize,
    reliable: bool,
    /// Maximum time in ns for which a write waits for room.
    limit_ns: u64,
    /// Number of writes that found a full ring and did not wait.
    full: u64,
}

impl ShmWriter {
    pub(crate) fn open(config: &WriterConfig<'_>) -> Self {
        let reliable = config.qos.reliability == Some(Reliability::Reliable);
        let limit = config.qos.max_blocking_ns.map(QosDuration::raw);
        let limit_ns = limit.unwrap_or(if reliable { DEFAULT_BLOCKING_NS } else { 0 });
        let monitor = Arc::new(WriterMonitor {
            links: Links::default(),
            qos: in_force(&config.qos, limit_ns),
            packets: Count::default(),
            bytes: Count::default(),
            blocked: Count::default(),
            blocked_ns: Count::default(),
            refused: Count::default(),
            timed_out: Count::default(),
            dropped: Count::default(),
        });
        Self {
            id: WriterId::next(),
            readers: Vec::new(),
            known: Vec::new(),
            monitor,
            batch: config.batch_bytes.map(|limit| Batch { limit, payload: 0 }),
            max_payload: config.max_payload_bytes as usize,
            reliable,
            limit_ns,
            full: 0,
        }
    }

    /// Publishes the records of the batch.
    fn publish(&mut self) {
        for reader in &mut self.readers {
            self.monitor.publish(&mut reader.ring);
        }
        if let Some(batch) = &mut self.batch {
            batch.payload = 0;
        }
    }

    /// Waits until all readers have room for a record, and removes those that have gone.
    #[cold]
    fn make_room(&mut self, record: usize) -> Result<()> {
        let mut wait = Wait { limit_ns: self.limit_ns, begun: None };
        let (monitor, full) = (&*self.monitor, &mut self.full);
        let mut has_room = true;
        for reader in &mut self.readers {
            while !reader.link.is_gone() && !reader.ring.has_room(record) {
                // records that the reader cannot see yet take room, too
                monitor.publish(&mut reader.ring);
                if !wait.for_room(reader, record, monitor, full) {
                    has_room = reader.link.is_gone();
                    break;
                }
            }
            if !has_room && self.reliable {
                break;
            }
        }
        if let Some(begun) = wait.begun {
            monitor.blocked_ns.add(begun.elapsed().as_nanos() as u64);
        }
        let before = self.readers.len();
        self.readers.retain(|reader| !reader.link.is_gone());
        if self.readers.len() < before {
            // so that their memory is freed before the next query
            monitor.links.matched();
        }
        if has_room || !self.reliable { Ok(()) } else { Err(self.no_room()) }
    }

    /// Returns the error of a reliable write that was not accepted. Its text is not allocated.
    #[cold]
    fn no_room(&self) -> Error {
        if self.limit_ns == 0 {
            self.monitor.refused.add(1);
            return Error::new(Status::Refused, "a reader has no room, and `max_blocking` is 0")
                .hint("increase `max_blocking`, or check for a slow reader");
        }
        self.monitor.timed_out.add(1);
        Error::new(Status::TimedOut, "a reader had no room for `max_blocking`")
            .hint("increase `max_blocking`, or check for a slow reader")
    }
}

impl Writer for ShmWriter {
    type Monitor = WriterMonitor;
    type Loan = NoLoan;

    fn monitor(&self) -> Arc<WriterMonitor> {
        self.monitor.clone()
    }

    /// Writes to the ring of every reader. Without a reader the sample is accepted and discarded, as by any unmatched
    /// writer.
    #[inline]
    fn write(&mut self, _key: u32, payload: &[u8]) -> Result<()> {
        if payload.len() > self.max_payload {
            return Err(Error::too_large("a sample exceeds the maximum size of its writer")
                .hint("open the writer with a larger `max_payload_bytes`"));
        }
        let size = payload.len() as u64;
        if self.batch.as_ref().is_some_and(|batch| batch.payload > 0 && batch.payload + size > batch.limit) {
            self.publish();
        }
        let record = record(payload.len());
        // Before the first copy: a sample is accepted for all readers or for none.
        let mut is_ready = true;
        for reader in &mut self.readers {
            is_ready &= !reader.link.is_gone() && reader.ring.has_room(record);
        }
        if !is_ready {
            self.make_room(record)?;
        }
        for reader in &mut self.readers {
            if is_ready || reader.ring.has_room(record) {
                reader.ring.push(payload);
                if self.batch.is_none() {
                    self.monitor.publish(&mut reader.ring);
                }
            } else {
                self.monitor.dropped.add(1);
            }
        }
        if let Some(batch) = &mut self.batch {
            batch.payload += size;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.publish();
        Ok(())
    }

    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("address", &self.id);
        settings.set("batching", if self.batch.is_some() { "application" } else { "none" });
        if let Some(batch) = &self.batch {
            settings.set("batch_bytes", &batch.limit);
        }
        settings.set("samples_dropped", &self.monitor.dropped.get());
        Ok(())
    }

    /// Waits for acknowledgements: a sample is acknowledged when its reader has released it.
    fn wait_acked(&mut self, timeout_ns: u64) -> Result<()> {
        self.publish();
        let begun = Instant::now();
        for reader in &mut self.readers {
            while !reader.ring.is_taken() && !reader.link.is_gone() {
                let waited_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
                let left_ns = timeout_ns.saturating_sub(waited_ns);
                if left_ns == 0 && !reader.link.check() {
                    return Err(Error::new(Status::TimedOut, "not all samples were acknowledged in time")
                        .hint("check for a slow reader"));
                }
                if !reader.ring.wait(left_ns.min(SLEEP_NS), Producer::is_taken) {
                    reader.link.check();
                }
            }
        }
        Ok(())
    }

    fn locator(&mut self) -> Result<String> {
        Ok(self.id.to_string())
    }

    fn connect(&mut self, reader_locator: &str) -> Result<()> {
        let locator: ReaderLocator = reader_locator.parse()?;
        if !self.known.contains(&locator) {
            let reader = Outgoing::connect(&locator, self.id, self.max_payload, &self.monitor.links)?;
            self.readers.push(reader);
            self.known.push(locator);
        }
        Ok(())
    }
}

/// Time limit of a write that waits for room, and the start of the wait.
struct Wait {
    limit_ns: u64,
    begun: Option<Instant>,
}

impl Wait {
    /// Waits until the reader makes room. Returns whether it is worth another look: time is left, and the reader lives.
    fn for_room(
        &mut self,
        reader: &mut Outgoing,
        record: usize,
        monitor: &WriterMonitor,
        full: &mut u64,
    ) -> bool {
        if self.limit_ns == 0 {
            *full += 1;
            if full.is_multiple_of(CHECK_EVERY) {
                reader.link.check();
            }
            return false;
        }
        let begun = *self.begun.get_or_insert_with(|| {
            monitor.blocked.add(1);
            Instant::now()
        });
        let waited_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let left_ns = self.limit_ns.saturating_sub(waited_ns);
        if left_ns == 0 {
            return false;
        }
        if !reader.ring.wait(left_ns.min(SLEEP_NS), |ring| ring.has_room(record)) {
            reader.link.check();
        }
        true
    }
}
