//! Samples in: each is given when it is due, not before.
use std::{
    sync::{Arc, atomic::Ordering},
    thread,
    time::Duration,
};

use driver_kit::{
    Deliver, History, Intake, Reader, ReaderConfig, ReaderMonitor, Receive, Result, Sample, Samples,
    Settings, Sink, Worker, batch,
};

use crate::{
    in_force,
    inbox::Inbox,
    socket::{HEADER, MAX_PAYLOAD, Peer, Socket, now_ns, split},
};

/// How long the listener's thread sleeps before it looks whether it should stop, if nothing wakes it.
const LISTENER_NAP_NS: u64 = 50_000_000;
/// A sleep ends that much before a sample is due, and the rest is spun: a sleep alone would end late.
const SPIN_NS: u64 = 100_000;

/// A reader.
pub(crate) struct SimReader {
    socket: Arc<Socket>,
    monitor: Arc<ReaderMonitor>,
    intake: Intake<Inlet>,
    batched: bool,
    polling: bool,
    writers: Vec<String>,
}

impl SimReader {
    pub(crate) fn open(run_name: &str, config: ReaderConfig<'_>) -> Result<Self> {
        let socket = Arc::new(Socket::open(run_name)?);
        let qos = in_force(&config.qos, None, false);
        let depth = match qos.history {
            Some(History::KeepLast(depth)) => usize::try_from(depth).unwrap_or(1),
            _ => usize::MAX,
        };
        let monitor = Arc::new(ReaderMonitor::new(qos));
        let max_payload = config.max_payload_bytes as usize;
        let inlet = Inlet {
            socket: socket.clone(),
            monitor: monitor.clone(),
            // of a batch only the sender knows the size
            room: vec![0; HEADER + if config.batched { MAX_PAYLOAD } else { max_payload }],
            batched: config.batched,
            inbox: Inbox::new(depth),
            max_payload,
        };
        let batched = config.batched;
        let polling = matches!(config.receive, Receive::Polling);
        let intake = match config.receive {
            Receive::Waitset | Receive::Polling => Intake::Host(inlet),
            Receive::Listener(sink) => Intake::Listener(listen(inlet, sink)?),
        };
        Ok(Self { socket, monitor, intake, batched, polling, writers: Vec::new() })
    }
}

impl Reader for SimReader {
    type Monitor = ReaderMonitor;

    fn monitor(&self) -> Arc<ReaderMonitor> {
        self.monitor.clone()
    }

    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut Samples<'_>) -> Result<()> {
        let inlet = self.intake.host()?;
        let deadline = (timeout_ns > 0 && !self.polling).then(|| now_ns().saturating_add(timeout_ns));
        loop {
            inlet.take_in()?;
            inlet.give(max_samples, to);
            let Some(deadline) = deadline.filter(|deadline| to.taken() == 0 && now_ns() < *deadline) else {
                return Ok(());
            };
            inlet.rest(deadline)?;
        }
    }

    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("address", &self.socket.locator());
        settings.set("batching", if self.batched { "application" } else { "none" });
        Ok(())
    }

    fn locator(&mut self) -> Result<String> {
        Ok(self.socket.locator())
    }

    fn connect(&mut self, writer_locator: &str) -> Result<()> {
        let writer = Peer::parse(writer_locator)?.locator;
        if !self.writers.contains(&writer) {
            self.writers.push(writer);
            self.monitor.set_matched(self.writers.len());
        }
        Ok(())
    }

    fn close(self) -> Result<()> {
        self.intake.close()
    }
}

/// The receiving end.
struct Inlet {
    socket: Arc<Socket>,
    monitor: Arc<ReaderMonitor>,
    room: Vec<u8>,
    batched: bool,
    inbox: Inbox,
    max_payload: usize,
}

impl Inlet {
    /// Takes what has come, as long as there is room.
    fn take_in(&mut self) -> Result<()> {
        while !self.inbox.is_full(self.max_payload) {
            let Some(length) = self.socket.receive(&mut self.room)? else { return Ok(()) };
            match self.room.get(..length).and_then(split) {
                Some((due_ns, payload)) if !self.batched => {
                    self.monitor.came(payload.len());
                    self.inbox.push(due_ns, payload);
                }
                Some((due_ns, packed)) => match batch::split(packed, self.max_payload) {
                    Ok(samples) => {
                        self.monitor.came(packed.len());
                        samples.for_each(|sample| self.inbox.push(due_ns, sample));
                    }
                    Err(_) => self.monitor.threw_away(length),
                },
                // what wakes the listener
                None if length == 0 => {}
                None => self.monitor.threw_away(length),
            }
        }
        Ok(())
    }

    /// Gives what is due.
    fn give(&mut self, most: u32, to: &mut impl Deliver) {
        let now = now_ns();
        for _ in 0..most {
            if !self.inbox.give_due(now, |payload| to.deliver(Sample::new(payload))) {
                return;
            }
        }
    }

    /// Sleeps until something comes, something is nearly due, or the deadline.
    fn rest(&self, deadline_ns: u64) -> Result<()> {
        let due = self.inbox.next_due_ns().map_or(u64::MAX, |due| due.saturating_sub(SPIN_NS));
        let now = now_ns();
        let until = deadline_ns.min(due);
        if until <= now {
            thread::yield_now();
            Ok(())
        } else if self.inbox.is_full(self.max_payload) {
            // what comes now has to wait, so nothing is waited for but the time
            thread::sleep(Duration::from_nanos(until - now));
            Ok(())
        } else {
            self.socket.wait(until - now)
        }
    }
}

/// A thread that receives and calls the host's sink. It holds no lock, so the sink may write.
fn listen(mut inlet: Inlet, mut sink: Sink) -> Result<Worker> {
    let socket = inlet.socket.clone();
    Worker::start(
        "sim-listener",
        move || socket.wake(),
        move |stop| {
            while !stop.load(Ordering::Acquire) {
                inlet.take_in()?;
                inlet.give(64, &mut sink);
                inlet.rest(now_ns() + LISTENER_NAP_NS)?;
            }
            Ok(())
        },
    )
}
