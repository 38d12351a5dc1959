//! Common parts of readers without discovery: monitor, receiving thread and connected writers. A driver implements
//! an [`Endpoint`], where samples arrive, and an [`SampleReceiver`], which receives them there. [`LocatedReader`] combines
//! both into a reader.
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use driver_abi::policies::Qos;

use crate::{
    Monitor, Reader,
    config::Receive,
    counters::{Count, Counter, Counters},
    error::{Error, Result},
    matching::{MatchRecord, MatchState},
    sink::{Deliver, Sample, Samples, Sink},
    table::Settings,
    worker::Worker,
};

/// Monitor of a reader of packets: counts received packets, and malformed ones.
#[derive(Debug)]
pub struct ReaderMonitor {
    matched: MatchRecord,
    qos: Qos,
    packets: Count,
    bytes: Count,
    malformed: Count,
    discarded: Count,
}

impl ReaderMonitor {
    /// Creates a monitor with zero counts and this effective QoS.
    pub fn new(qos: Qos) -> Self {
        Self {
            matched: MatchRecord::new(),
            qos,
            packets: Count::default(),
            bytes: Count::default(),
            malformed: Count::default(),
            discarded: Count::default(),
        }
    }

    /// Counts a newly matched writer.
    pub fn joined(&self) {
        self.matched.joined();
    }

    /// Counts a writer that has left.
    pub fn left(&self) {
        self.matched.left();
    }

    /// Counts a received packet of `bytes` bytes.
    #[inline]
    pub fn count_received(&self, bytes: usize) {
        self.packets.add(1);
        self.bytes.add(bytes as u64);
    }

    /// Counts `bytes` discarded bytes that no writer of this driver can have sent.
    #[cold]
    pub fn threw_away(&self, bytes: usize) {
        self.malformed.add(1);
        self.discarded.add(bytes as u64);
    }
}

impl Monitor for ReaderMonitor {
    fn matched(&self) -> Result<MatchState> {
        Ok(self.matched.state())
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

/// Endpoint at which the samples of a reader arrive, shared by the reader and the receiving thread.
pub trait Endpoint: Send + Sync + 'static {
    /// Identity of a writer, from its locator.
    type Writer: PartialEq + Send + 'static;

    /// Returns the locator of the reader.
    fn locator(&self) -> String;

    /// Parses the locator of a writer.
    ///
    /// # Errors
    /// Returns an error if the locator is invalid or cannot be reached from here.
    fn writer(&self, locator: &str) -> Result<Self::Writer>;

    /// Prepares the reception from a writer. Called once for each.
    ///
    /// # Errors
    /// Returns an error if the writer cannot be reached.
    fn connect(&self, writer: &Self::Writer) -> Result<()> {
        let _ = writer;
        Ok(())
    }

    /// Wakes a waiting [`SampleReceiver`], because its reader is being closed.
    fn wake(&self);

    /// Reports the effective settings other than locator and batching.
    ///
    /// # Errors
    /// Returns an error if a setting cannot be read back.
    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        let _ = settings;
        Ok(())
    }
}

/// Receiver of the samples of an endpoint, owned by the receiving thread: that of the host, or that of the
/// listener.
pub trait SampleReceiver: Send + 'static {
    /// Maximum time in ns for which a listener waits before it checks for a stop request. Normally the request
    /// wakes it; this is the fallback.
    const NAP_NS: u64 = 100_000_000;

    /// Receives like [`Reader::receive`]; `to` is the host's sink.
    ///
    /// # Errors
    /// Returns an error if the reception fails.
    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut impl Deliver) -> Result<()>;
}

/// Number of samples that a listener receives before it checks for a stop request.
const LISTENER_SAMPLES: u32 = 64;

/// Receiving thread: the host's, or a listener thread that owns the inlet and calls the host's sink.
#[derive(Debug)]
enum Intake<I> {
    /// The host calls `receive`.
    Host { inlet: I, polling: bool },
    /// A listener thread calls the sink.
    Listener(Worker),
}

/// Reader that is matched by locators: its endpoint and its inlet.
#[derive(Debug)]
pub struct LocatedReader<E: Endpoint, I> {
    endpoint: Arc<E>,
    monitor: Arc<ReaderMonitor>,
    intake: Intake<I>,
    writers: Vec<E::Writer>,
    batched: bool,
}

impl<E: Endpoint, I: SampleReceiver> LocatedReader<E, I> {
    /// Opens a reader; in listener mode it starts to receive. `name` is that of the listener thread. The inlet
    /// unpacks batches; `batched` is only reported.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be started.
    pub fn open(
        name: &str,
        endpoint: Arc<E>,
        monitor: Arc<ReaderMonitor>,
        inlet: I,
        receive: Receive,
        batched: bool,
    ) -> Result<Self> {
        let intake = match receive {
            Receive::Waitset => Intake::Host { inlet, polling: false },
            Receive::Polling => Intake::Host { inlet, polling: true },
            Receive::Listener(sink) => {
                let woken = endpoint.clone();
                Intake::Listener(Worker::start(name, move || woken.wake(), |stop| listen(inlet, sink, stop))?)
            }
        };
        Ok(Self { endpoint, monitor, intake, writers: Vec::new(), batched })
    }
}

/// Receives samples and calls the host's sink. It neither writes nor holds a lock, so the sink may write.
fn listen<I: SampleReceiver>(mut inlet: I, sink: Sink, stop: &AtomicBool) -> Result<()> {
    let mut listening = Listening { sink, stop };
    while !stop.load(Ordering::Acquire) {
        inlet.receive(I::NAP_NS, LISTENER_SAMPLES, &mut listening)?;
    }
    Ok(())
}

/// Sink that drops samples once its reader is being closed.
struct Listening<'a> {
    sink: Sink,
    stop: &'a AtomicBool,
}

impl Deliver for Listening<'_> {
    #[inline]
    fn deliver(&mut self, sample: Sample<'_>) {
        if !self.stop.load(Ordering::Acquire) {
            self.sink.deliver(sample);
        }
    }
}

impl<E: Endpoint, I: SampleReceiver> Reader for LocatedReader<E, I> {
    type Monitor = ReaderMonitor;

    fn monitor(&self) -> Arc<ReaderMonitor> {
        self.monitor.clone()
    }

    #[inline]
    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut Samples<'_>) -> Result<()> {
        match &mut self.intake {
            Intake::Host { inlet, polling } => {
                inlet.receive(if *polling { 0 } else { timeout_ns }, max_samples, to)
            }
            Intake::Listener(_) => {
                Err(Error::bad_argument("reader_receive() was called on a reader with a listener")
                    .hint("open the reader with the receive mode `waitset` or `polling`"))
            }
        }
    }

    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("address", &self.endpoint.locator());
        self.endpoint.settings(settings)?;
        settings.set("batching", if self.batched { "application" } else { "none" });
        Ok(())
    }

    fn locator(&mut self) -> Result<String> {
        Ok(self.endpoint.locator())
    }

    fn connect(&mut self, writer_locator: &str) -> Result<()> {
        let writer = self.endpoint.writer(writer_locator)?;
        if !self.writers.contains(&writer) {
            self.endpoint.connect(&writer)?;
            self.monitor.joined();
            self.writers.push(writer);
        }
        Ok(())
    }

    fn close(self) -> Result<()> {
        match self.intake {
            Intake::Host { .. } => Ok(()),
            Intake::Listener(listener) => listener.stop(),
        }
    }
}
