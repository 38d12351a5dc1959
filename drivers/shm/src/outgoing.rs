//! Readers of a writer: their memories, and whether they live.
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use driver_kit::{Error, MatchRecord, MatchState, Result};

use crate::{
    locator::{ReaderLocator, WriterId},
    process::Process,
    ring::Producer,
    segment::Segment,
};

/// Reader as known to its writer.
#[derive(Debug)]
pub(crate) struct Link {
    segment: Arc<Segment>,
    process: Process,
    is_dead: AtomicBool,
}

impl Link {
    /// Returns whether the reader was closed, or was found to be dead.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.segment.control().bell.is_closed() || self.is_dead.load(Ordering::Relaxed)
    }

    /// Returns whether the reader was closed or its process has ended.
    #[cold]
    pub(crate) fn check(&self) -> bool {
        if !self.is_gone() && !self.process.is_alive() {
            self.is_dead.store(true, Ordering::Relaxed);
        }
        self.is_gone()
    }
}

/// Readers of a writer, for its monitor.
#[derive(Debug, Default)]
pub(crate) struct Links {
    links: Mutex<Vec<Arc<Link>>>,
    matched: MatchRecord,
}

impl Links {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, link: Arc<Link>) {
        let mut links = self.lock();
        links.push(link);
        self.matched.set(links.len());
    }

    /// Returns the number of readers that live, and when it last changed: when one was connected, or found to be gone.
    pub(crate) fn matched(&self) -> MatchState {
        let mut links = self.lock();
        links.retain(|link| !link.check());
        self.matched.set(links.len());
        self.matched.state()
    }
}

/// Ring of a writer in the memory of one of its readers.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) link: Arc<Link>,
    pub(crate) ring: Producer,
}

impl Outgoing {
    /// Opens the memory of a reader and claims a ring there.
    pub(crate) fn connect(
        reader: &ReaderLocator,
        writer: WriterId,
        max_payload: usize,
        links: &Links,
    ) -> Result<Self> {
        // Before its memory is opened: if that succeeds, the process with this number was the reader's.
        let process = Process::of_peer(reader.pid, &format!("reader `{reader}`"))?;
        let segment = Arc::new(Segment::attach(reader)?);
        if max_payload > segment.max_payload {
            return Err(Error::bad_argument(format!(
                "samples of {max_payload} bytes exceed the maximum of reader `{reader}`, {} bytes",
                segment.max_payload
            ))
            .hint("open the reader with the `max_payload_bytes` of the writer"));
        }
        let ring = Producer::claim(&segment, writer)?;
        let link = Arc::new(Link { segment, process, is_dead: AtomicBool::new(false) });
        links.add(link.clone());
        Ok(Self { link, ring })
    }
}
