//! Writers: copies of samples into the rings of all readers.
use std::{sync::Arc, time::Instant};

use driver_kit::{
    Blocking, Counters, Error, MatchState, Monitor, NoLoan, Qos, Result, Settings, Status, Wait, Writer,
    WriterConfig, WriterCounts, effective_qos,
};

use crate::{
    layout::record,
    locator::{ReaderLocator, WriterId},
    outgoing::{Links, Outgoing},
    ring::Producer,
};

/// Maximum sleep in ns before a writer checks whether the reader lives, and whether there is room for a record although
/// less than half of the ring is free.
const SLEEP_NS: u64 = 20_000_000;
/// A writer that does not wait checks whether a full reader lives at every such attempt.
const CHECK_EVERY: u64 = 256;

/// State of a writer that the host can query at any time.
pub(crate) struct WriterMonitor {
    links: Links,
    qos: Qos,
    counts: WriterCounts,
}

impl WriterMonitor {
    /// Publishes the records of a ring, and counts them as one packet.
    #[inline]
    fn publish(&self, ring: &mut Producer) {
        if let Some(bytes) = ring.publish() {
            self.counts.count_sent(1, bytes);
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
        self.counts.counters_with_waits()
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
    blocking: Blocking,
    /// Number of writes that found a full ring and did not wait.
    full: u64,
}

impl ShmWriter {
    pub(crate) fn open(config: &WriterConfig<'_>) -> Self {
        let blocking = Blocking::from_config(config);
        let monitor = Arc::new(WriterMonitor {
            links: Links::default(),
            qos: effective_qos(&config.qos, blocking.limit_ns),
            counts: WriterCounts::default(),
        });
        Self {
            id: WriterId::next(),
            readers: Vec::new(),
            known: Vec::new(),
            monitor,
            batch: config.batch_bytes.map(|limit| Batch { limit, payload: 0 }),
            max_payload: config.max_payload_bytes as usize,
            blocking,
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
        let mut wait = self.blocking.start();
        let (monitor, full) = (&*self.monitor, &mut self.full);
        let mut has_room = true;
        for reader in &mut self.readers {
            while !reader.link.is_gone() && !reader.ring.has_room(record) {
                // records that the reader cannot see yet take room, too
                monitor.publish(&mut reader.ring);
                if !wait_for_room(&mut wait, reader, record, &monitor.counts, full) {
                    has_room = reader.link.is_gone();
                    break;
                }
            }
            if !has_room && self.blocking.reliable {
                break;
            }
        }
        wait.end(&monitor.counts);
        let before = self.readers.len();
        self.readers.retain(|reader| !reader.link.is_gone());
        if self.readers.len() < before {
            // so that their memory is freed before the next query
            monitor.links.matched();
        }
        if has_room || !self.blocking.reliable {
            Ok(())
        } else {
            Err(self.blocking.no_room(&self.monitor.counts))
        }
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
                self.monitor.counts.dropped.add(1);
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
        settings.set("samples_dropped", &self.monitor.counts.dropped.get());
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

/// Waits until the reader makes room. Returns whether it is worth another look: time is left, and the reader lives.
fn wait_for_room(
    wait: &mut Wait,
    reader: &mut Outgoing,
    record: usize,
    counts: &WriterCounts,
    full: &mut u64,
) -> bool {
    let left_ns = wait.left_ns(counts);
    if left_ns == 0 {
        *full += 1;
        if full.is_multiple_of(CHECK_EVERY) {
            reader.link.check();
        }
        return false;
    }
    if !reader.ring.wait(left_ns.min(SLEEP_NS), |ring| ring.has_room(record)) {
        reader.link.check();
    }
    true
}
