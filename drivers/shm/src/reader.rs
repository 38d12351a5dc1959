//! Readers: reception of samples from the rings of all writers.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering};

use driver_kit::{
    Deliver, Endpoint, Error, LocatedReader, ReaderConfig, ReaderMonitor, Result, Sample, SampleReceiver,
    Settings, effective_qos,
};
use nix::errno::Errno;

use crate::{capacity, locator::WriterId, process::Process, ring::Consumer, segment::Segment};

/// Maximum sleep in ns before the reader checks whether its writers live.
const SLEEP_NS: u64 = 100_000_000;
/// Number of receive calls without samples, of a reader that never sleeps, before it checks whether its writers live.
const IDLE_CALLS: u32 = 1 << 20;
/// Maximum number of ended writers that are remembered, in case the reader is connected to them later.
const MAX_ENDED: usize = 1024;

/// Reader with a memory of its own, in which its writers have rings.
pub(crate) type ShmReader = LocatedReader<Memory, Rings>;

pub(crate) fn open(name: &str, asked: Option<u64>, config: ReaderConfig<'_>) -> Result<ShmReader> {
    let capacity = capacity(asked, config.max_payload_bytes);
    let segment = Arc::new(Segment::create(name, capacity, config.max_payload_bytes as usize)?);
    let qos = effective_qos(&config.qos, 0);
    let depth = qos.keep_last();
    let memory = Arc::new(Memory { segment, asked, peers: Mutex::default() });
    let monitor = Arc::new(ReaderMonitor::new(qos));
    let rings = Rings {
        memory: memory.clone(),
        monitor: monitor.clone(),
        rings: Vec::new(),
        next: 0,
        claims: 0,
        depth,
        idle_calls: 0,
    };
    LocatedReader::open("shm-listener", memory, monitor, rings, config.receive, config.batched)
}

/// Memory of a reader, and the writers that the host has announced.
#[derive(Debug)]
pub(crate) struct Memory {
    segment: Arc<Segment>,
    asked: Option<u64>,
    peers: Mutex<Peers>,
}

#[derive(Debug, Default)]
struct Peers {
    /// Announced writers that have not ended.
    connected: Vec<WriterId>,
    /// Writers that ended before they were announced.
    ended: Vec<WriterId>,
}

impl Memory {
    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a writer has ended. Returns whether it was connected.
    fn end(&self, writer: WriterId) -> bool {
        let mut peers = self.peers();
        if let Some(index) = peers.connected.iter().position(|known| *known == writer) {
            peers.connected.swap_remove(index);
            return true;
        }
        if peers.ended.len() < MAX_ENDED {
            peers.ended.push(writer);
        }
        false
    }
}

impl Endpoint for Memory {
    type Writer = WriterId;

    fn locator(&self) -> String {
        self.segment.locator().to_string()
    }

    fn writer(&self, locator: &str) -> Result<WriterId> {
        locator.parse()
    }

    fn connect(&self, writer: &WriterId) -> Result<()> {
        Process::of_peer(writer.pid, &format!("writer `{writer}`"))?;
        let mut peers = self.peers();
        if peers.ended.contains(writer) {
            return Err(Error::failed(format!("writer `{writer}` has ended"))
                .hint("connect the reader before the writer is closed"));
        }
        peers.connected.push(*writer);
        Ok(())
    }

    fn wake(&self) {
        self.segment.control().close();
    }

    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("receive_buffer_bytes", &self.segment.capacity);
        let asked = self.asked.map_or_else(|| "driver default".to_owned(), |bytes| bytes.to_string());
        settings.set("receive_buffer_bytes_asked", &asked);
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.segment.control().close();
    }
}

/// Receiver: the rings that have a writer.
pub(crate) struct Rings {
    memory: Arc<Memory>,
    monitor: Arc<ReaderMonitor>,
    rings: Vec<Ring>,
    /// Ring that is served first.
    next: usize,
    /// Number of claims that are known.
    claims: u32,
    /// Maximum number of samples that are kept, with KEEP_LAST.
    depth: Option<usize>,
    idle_calls: u32,
}

/// Ring of one writer.
struct Ring {
    index: usize,
    writer: WriterId,
    consumer: Consumer,
    /// `None` if the kernel does not tell whether it lives.
    process: Option<Process>,
    is_dead: bool,
    /// Whether the rest of the ring is ignored, because it is broken.
    is_cut_off: bool,
}

impl Ring {
    /// Returns whether the writer has ended, and all that it wrote was received.
    #[inline]
    fn is_finished(&self) -> bool {
        // In this order: a closed writer writes nothing more.
        self.consumer.is_drained() && (self.is_dead || self.consumer.is_closed()) && !self.consumer.has_news()
    }

    #[inline]
    fn needs_care(&self) -> bool {
        self.is_finished() || (self.consumer.broken && !self.is_cut_off)
    }
}

impl SampleReceiver for Rings {
    /// Equal to the maximum sleep: a claim of a ring and the close of the reader wake a listener.
    const NAP_NS: u64 = SLEEP_NS;

    #[inline]
    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut impl Deliver) -> Result<()> {
        if self.give(max_samples, to)? > 0 {
            return Ok(());
        }
        if timeout_ns == 0 {
            self.idle_calls += 1;
            if self.idle_calls == IDLE_CALLS {
                self.idle_calls = 0;
                self.check_writers()?;
            }
            return Ok(());
        }
        let mut left_ns = timeout_ns;
        while left_ns > 0 {
            let slice_ns = left_ns.min(SLEEP_NS);
            if self.sleep(slice_ns) {
                self.give(max_samples, to)?;
                return Ok(());
            }
            left_ns -= slice_ns;
            self.check_writers()?;
        }
        Ok(())
    }
}

impl Rings {
    /// Delivers available samples, at most `most`, and returns their number.
    #[inline]
    fn give(&mut self, most: u32, to: &mut impl Deliver) -> Result<u32> {
        if self.memory.segment.control().claims.load(Ordering::Acquire) != self.claims {
            self.find_claimed()?;
        }
        if let Some(depth) = self.depth {
            self.forget_older(depth);
        }
        let (mut given, mut needs_care) = (0, false);
        for _ in 0..self.rings.len() {
            if self.next >= self.rings.len() {
                self.next = 0;
            }
            let ring = &mut self.rings[self.next];
            self.next += 1;
            given += ring.consumer.drain(most - given, |payload| {
                self.monitor.count_received(payload.len());
                to.deliver(Sample::new(payload));
            });
            needs_care |= ring.needs_care();
            if given == most {
                break;
            }
        }
        if needs_care {
            self.care();
        }
        Ok(given)
    }

    /// Releases all but the last samples, the oldest of the longest ring first.
    fn forget_older(&mut self, depth: usize) {
        // without an allocation, so the counts are not kept
        let count: usize = self.rings.iter_mut().map(|ring| ring.consumer.count()).sum();
        for _ in depth..count {
            let intact = self.rings.iter_mut().filter(|ring| !ring.consumer.broken);
            if let Some(ring) = intact.max_by_key(|ring| ring.consumer.left()) {
                ring.consumer.drain(1, |payload| self.monitor.count_received(payload.len()));
            }
        }
    }

    /// Opens the rings of new writers.
    #[cold]
    fn find_claimed(&mut self) -> Result<()> {
        let segment = &self.memory.segment;
        let control = segment.control();
        self.claims = control.claims.load(Ordering::Acquire);
        for (index, ring) in control.rings.iter().enumerate() {
            let owner = ring.claim.owner.load(Ordering::Acquire);
            if owner == 0 || self.rings.iter().any(|known| known.index == index) {
                continue;
            }
            let writer = WriterId::from_bits(owner);
            let process = Process::open(writer.pid);
            self.rings.push(Ring {
                index,
                writer,
                consumer: Consumer::open(segment, index)?,
                is_dead: process.as_ref().is_err_and(|errno| *errno == Errno::ESRCH),
                process: process.ok(),
                is_cut_off: false,
            });
        }
        Ok(())
    }

    /// Gives back the rings of writers that have ended, and cuts off those that are broken.
    #[cold]
    fn care(&mut self) {
        let (memory, monitor) = (&self.memory, &self.monitor);
        let ended = |ring: &Ring| {
            if !ring.is_cut_off && memory.end(ring.writer) {
                monitor.left();
            }
        };
        for ring in &mut self.rings {
            if ring.consumer.broken && !ring.is_cut_off {
                monitor.threw_away(ring.consumer.left());
                ended(ring);
                ring.is_cut_off = true;
            }
        }
        for ring in self.rings.extract_if(.., |ring| ring.is_finished()) {
            ended(&ring);
            ring.consumer.free();
        }
    }

    /// Sleeps until there is something to do. Returns false after the timeout.
    fn sleep(&self, timeout_ns: u64) -> bool {
        let control = self.memory.segment.control();
        control.bell.sleep(timeout_ns, || {
            control.bell.is_closed()
                || control.claims.load(Ordering::Acquire) != self.claims
                || self.rings.iter().any(|ring| ring.consumer.has_news() || ring.is_finished())
        })
    }

    /// Finds writers whose process has ended.
    #[cold]
    fn check_writers(&mut self) -> Result<()> {
        // a writer may have ended between its claim and the count of it
        self.find_claimed()?;
        for ring in &mut self.rings {
            ring.is_dead |= ring.process.as_ref().is_some_and(|process| !process.is_alive());
        }
        if self.rings.iter().any(Ring::needs_care) {
            self.care();
        }
        Ok(())
    }
}
