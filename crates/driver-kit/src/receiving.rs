//! What readers of drivers without discovery have alike: what may be asked of them at any time, who receives, and whom they
//! were connected with. Such a driver writes the two parts that it alone knows: an [`Endpoint`], which is where samples come,
//! and an [`Inlet`], which takes them there; [`LocatedReader`] makes a reader of the two.
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use crate::{
    Deliver, Monitor, Reader, Receive, Sample, Samples, Settings, Sink, Worker,
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

    /// It is matched with one more writer.
    pub fn joined(&self) {
        self.matched.fetch_add(1, Ordering::Relaxed);
    }

    /// A writer has gone.
    pub fn left(&self) {
        self.matched.fetch_sub(1, Ordering::Relaxed);
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

/// Where the samples of a reader come: shared by the reader and whoever receives.
pub trait Endpoint: Send + Sync + 'static {
    /// A writer, as its locator tells.
    type Writer: PartialEq + Send + 'static;

    /// Where it is.
    fn locator(&self) -> String;

    /// Reads the locator of a writer.
    ///
    /// # Errors
    /// It is none, or of one that cannot be reached from here.
    fn writer(&self, locator: &str) -> Result<Self::Writer>;

    /// A writer will send. Called once for each.
    ///
    /// # Errors
    /// There is no way to it.
    fn connect(&self, writer: &Self::Writer) -> Result<()> {
        let _ = writer;
        Ok(())
    }

    /// Wakes an [`Inlet`] that waits, for its reader is being closed.
    fn wake(&self);

    /// Shows what is in force, beside the address and batching.
    ///
    /// # Errors
    /// It cannot be read back.
    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        let _ = settings;
        Ok(())
    }
}

/// What takes samples where they come. Whoever receives has it: the host's thread, or that of the listener.
pub trait Inlet: Send + 'static {
    /// How long a listener waits at most before it looks whether it should stop. It is woken for that; this is for whom a wake
    /// does not reach.
    const NAP_NS: u64 = 100_000_000;

    /// As [`Reader::receive`]; `to` is the host's sink.
    ///
    /// # Errors
    /// Nothing can be received.
    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut impl Deliver) -> Result<()>;
}

/// How many samples a listener takes before it looks whether it should stop.
const LISTENER_SAMPLES: u32 = 64;

/// Who receives: the host, through an inlet, or a thread that has the inlet and calls the host's sink.
#[derive(Debug)]
enum Intake<I> {
    /// The host asks for samples.
    Host { inlet: I, polling: bool },
    /// It is given them.
    Listener(Worker),
}

/// A reader that is matched by locators: its endpoint, and what takes samples there.
#[derive(Debug)]
pub struct LocatedReader<E: Endpoint, I> {
    endpoint: Arc<E>,
    monitor: Arc<ReaderMonitor>,
    intake: Intake<I>,
    writers: Vec<E::Writer>,
    batched: bool,
}

impl<E: Endpoint, I: Inlet> LocatedReader<E, I> {
    /// A reader; a listener begins to receive. `name` is that of its thread. Batches are unpacked by the inlet; `batched` is
    /// shown.
    ///
    /// # Errors
    /// There is no thread to be had.
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

/// Receives and calls the host's sink. It writes nothing and holds no lock, so the sink may write.
fn listen<I: Inlet>(mut inlet: I, sink: Sink, stop: &AtomicBool) -> Result<()> {
    let mut heard = Listening { sink, stop };
    while !stop.load(Ordering::Acquire) {
        inlet.receive(I::NAP_NS, LISTENER_SAMPLES, &mut heard)?;
    }
    Ok(())
}

/// A sink until its reader is closed: what comes of being woken is no sample.
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

impl<E: Endpoint, I: Inlet> Reader for LocatedReader<E, I> {
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
            Intake::Listener(_) => Err(Error::bad_argument("the listener has the samples of this reader")),
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
            // counted first: whoever receives may find at once that it has gone
            self.monitor.joined();
            self.endpoint.connect(&writer).inspect_err(|_| self.monitor.left())?;
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
