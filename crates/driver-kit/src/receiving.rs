//! What readers of drivers without discovery have alike: what may be asked of them at any time, and who receives.
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{
    Monitor, Worker,
    counters::{Count, Counter, Counters},
    error::{Error, Result},
    qos::Qos,
};

/// The shared part of a reader of packets: it counts what came, and what of it was worth nothing.
#[derive(Debug)]
pub struct ReaderMonitor {
    matched: AtomicU32,
    qos: Qos,
    packets: Count,
    bytes: Count,
    malformed: Count,
    discarded: Count,
}

impl ReaderMonitor {
    /// Nothing came yet; this QoS is in force.
    pub fn new(qos: Qos) -> Self {
        Self {
            matched: AtomicU32::new(0),
            qos,
            packets: Count::default(),
            bytes: Count::default(),
            malformed: Count::default(),
            discarded: Count::default(),
        }
    }

    /// With how many writers it is matched from now on.
    pub fn set_matched(&self, writers: usize) {
        self.matched.store(u32::try_from(writers).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// A packet of so many bytes came.
    #[inline]
    pub fn came(&self, bytes: usize) {
        self.packets.add(1);
        self.bytes.add(bytes as u64);
    }

    /// So many bytes were thrown away: they are nothing that a writer of this driver sends.
    #[cold]
    pub fn threw_away(&self, bytes: usize) {
        self.malformed.add(1);
        self.discarded.add(bytes as u64);
    }
}

impl Monitor for ReaderMonitor {
    fn matched(&self) -> Result<u32> {
        Ok(self.matched.load(Ordering::Relaxed))
    }

    fn qos(&self) -> Result<Qos> {
        Ok(self.qos.clone())
    }

    fn counters(&self) -> Counters {
        Counters::new()
            .with(Counter::PacketsReceived, self.packets.get())
            .with(Counter::BytesReceived, self.bytes.get())
            .with(Counter::Malformed, self.malformed.get())
            .with(Counter::BytesDiscarded, self.discarded.get())
    }
}

/// Who receives: the host, through an inlet, or a thread that has the inlet and calls the host's sink.
#[derive(Debug)]
pub enum Intake<I> {
    /// The host asks for samples.
    Host(I),
    /// It is given them.
    Listener(Worker),
}

impl<I> Intake<I> {
    /// Where the host's samples come from.
    ///
    /// # Errors
    /// The samples go to a listener.
    #[inline]
    pub fn host(&mut self) -> Result<&mut I> {
        match self {
            Self::Host(inlet) => Ok(inlet),
            Self::Listener(_) => Err(Error::bad_argument("the listener has the samples of this reader")),
        }
    }

    /// Nothing is received any more.
    ///
    /// # Errors
    /// Those of the listener's thread.
    pub fn close(self) -> Result<()> {
        match self {
            Self::Host(_) => Ok(()),
            Self::Listener(listener) => listener.stop(),
        }
    }
}
