//! Writers: sending of samples.
use std::{
    net::SocketAddr,
    os::fd::AsFd,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use driver_kit::{
    Count, Counter, Counters, Error, MatchState, Monitor, NoLoan, Qos, QosDuration, Reliability, Result,
    Settings, Status, Writer, WriterConfig, abi,
    batch::{Batch, FRAMING},
};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, ppoll},
    sys::time::TimeSpec,
};
use socket2::Socket;

use crate::{
    acceptor::Acceptor,
    in_force,
    outgoing::{Outgoing, SentSample},
    socket::{NAMES, SocketOptions, text},
};

/// Default maximum blocking time of a reliable write, as in DDS.
const DEFAULT_BLOCKING_NS: u64 = 100_000_000;
/// Minimum buffer size of a batch in bytes, including framing.
const BATCH_ROOM: u64 = 64 << 10;
/// Polling interval for acknowledgements: the kernel does not signal them.
const ACKNOWLEDGED_EVERY: Duration = Duration::from_micros(100);

/// State of a writer that the host can query at any time.
pub(crate) struct WriterMonitor {
    door: Arc<Acceptor>,
    qos: Qos,
    sent: SentSample,
    blocked: Count,
    blocked_ns: Count,
    refused: Count,
    timed_out: Count,
    /// Number of samples dropped because a reader had no room: a best-effort writer does not wait.
    dropped: Count,
}

impl Monitor for WriterMonitor {
    fn matched(&self) -> Result<MatchState> {
        self.door.matched()
    }

    fn qos(&self) -> Result<Qos> {
        Ok(self.qos.clone())
    }

    fn counters(&self) -> Counters {
        Counters::new()
            .with(Counter::PacketsSent, self.sent.packets.get())
            .with(Counter::BytesSent, self.sent.bytes.get())
            .with(Counter::WriteBlocked, self.blocked.get())
            .with(Counter::WriteBlockedNs, self.blocked_ns.get())
            .with(Counter::WriteRefused, self.refused.get())
            .with(Counter::WriteTimedOut, self.timed_out.get())
    }
}

/// Writer: a listening socket, and the connections of its readers.
pub(crate) struct TcpWriter {
    way: SocketOptions,
    outlet: Outlet,
    batch: Option<Batch>,
    known: Vec<SocketAddr>,
    max_payload: usize,
}

impl TcpWriter {
    pub(crate) fn open(way: SocketOptions, config: &WriterConfig<'_>) -> Result<Self> {
        let max_payload = config.max_payload_bytes as usize;
        let max_frame = max_frame(config);
        let batch = Batch::from_config(config, way.family.pick(NAMES), max_frame)?;
        let reliable = config.qos.reliability == Some(Reliability::Reliable);
        let limit = config.qos.max_blocking_ns.map(QosDuration::raw);
        let limit_ns = limit.unwrap_or(if reliable { DEFAULT_BLOCKING_NS } else { 0 });
        let monitor = Arc::new(WriterMonitor {
            door: Arc::new(Acceptor::open(way)?),
            qos: in_force(&config.qos, limit_ns),
            sent: SentSample::default(),
            blocked: Count::default(),
            blocked_ns: Count::default(),
            refused: Count::default(),
            timed_out: Count::default(),
            dropped: Count::default(),
        });
        let outlet = Outlet { readers: Vec::new(), monitor, max_frame, reliable, limit_ns };
        Ok(Self { way, outlet, batch, known: Vec::new(), max_payload })
    }

    /// Sends the batch; it is kept if that fails.
    fn send_batch(&mut self) -> Result<()> {
        match &mut self.batch {
            Some(batch) if batch.samples() > 0 => {
                self.outlet.send(&[], batch.datagram(), batch.samples())?;
                batch.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the maximum frame size: a sample with its length, or a batch of these.
fn max_frame(config: &WriterConfig<'_>) -> usize {
    // for samples of at least 16 bytes, the framing adds at most a fourth
    let batch =
        config.batch_bytes.map_or(0, |bytes| (bytes / 2).saturating_mul(3).clamp(BATCH_ROOM, 1 << 24));
    (config.max_payload_bytes as usize + FRAMING).max(batch as usize)
}

impl Writer for TcpWriter {
    type Monitor = WriterMonitor;
    type Loan = NoLoan;

    fn monitor(&self) -> Arc<WriterMonitor> {
        self.outlet.monitor.clone()
    }

    #[inline]
    fn write(&mut self, _key: u32, payload: &[u8]) -> Result<()> {
        if payload.len() > self.max_payload {
            return Err(Error::too_large("a sample exceeds the maximum size of its writer")
                .hint("open the writer with a larger `max_payload_bytes`"));
        }
        if self.batch.as_ref().is_some_and(|batch| !batch.has_room(payload.len())) {
            // If this is rejected, so is the sample: nothing has changed, and both can be retried.
            self.send_batch()?;
        }
        match &mut self.batch {
            // the maximum payload is far below `u32::MAX`
            None => self.outlet.send(&(payload.len() as u32).to_le_bytes(), payload, 1),
            Some(batch) => {
                batch.push(payload);
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.send_batch()
    }

    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        let monitor = &self.outlet.monitor;
        settings.set("address", &text(monitor.door.address()));
        monitor.door.settings(settings)?;
        Batch::show(self.batch.as_ref(), settings);
        settings.set("samples_dropped", &monitor.dropped.get());
        Ok(())
    }

    /// Waits for acknowledgements: a sample is acknowledged when the kernel of its reader has it.
    fn wait_acked(&mut self, timeout_ns: u64) -> Result<()> {
        let begun = Instant::now();
        loop {
            let held_back = match self.send_batch() {
                Err(error) if matches!(error.status(), Status::TimedOut | Status::Refused) => true,
                sent => sent.map(|()| false)?,
            };
            self.outlet.finish_all();
            if !held_back && self.outlet.readers.iter().all(Outgoing::is_acknowledged) {
                return Ok(());
            }
            if begun.elapsed().as_nanos() >= u128::from(timeout_ns) {
                return Err(Error::new(Status::TimedOut, "not all samples were acknowledged in time")
                    .hint("check for a slow reader"));
            }
            thread::sleep(ACKNOWLEDGED_EVERY);
        }
    }

    fn locator(&mut self) -> Result<String> {
        Ok(text(self.outlet.monitor.door.address()))
    }

    fn connect(&mut self, reader_locator: &str) -> Result<()> {
        let reader = self.way.peer(reader_locator)?;
        if !self.known.contains(&reader) {
            self.outlet.monitor.door.expect(reader)?;
            self.known.push(reader);
        }
        Ok(())
    }

    fn close(mut self) -> Result<()> {
        // accepted samples are sent as far as there is room
        self.outlet.finish_all();
        Ok(())
    }
}

/// Sending part of a writer.
struct Outlet {
    readers: Vec<Outgoing>,
    monitor: Arc<WriterMonitor>,
    max_frame: usize,
    reliable: bool,
    /// Maximum time in ns for which a write waits for room.
    limit_ns: u64,
}

impl Outlet {
    /// Sends the header and the body, which contain `samples` samples, to every reader. Without a reader they are
    /// accepted and discarded, as by any unmatched writer.
    #[inline]
    fn send(&mut self, header: &[u8], body: &[u8], samples: u64) -> Result<()> {
        if self.monitor.door.is_busy() {
            self.let_in()?;
        }
        let mut wait = Wait { limit_ns: self.limit_ns, begun: None };
        let sent = self.send_within(&mut wait, header, body, samples);
        if let Some(begun) = wait.begun {
            self.monitor.blocked_ns.add(begun.elapsed().as_nanos() as u64);
        }
        if self.readers.iter().any(Outgoing::is_gone) {
            self.let_go();
        }
        sent
    }

    #[inline]
    fn send_within(&mut self, wait: &mut Wait, header: &[u8], body: &[u8], samples: u64) -> Result<()> {
        let Self { readers, monitor, reliable, .. } = self;
        // The rest of the previous sample goes first. While a reader still lacks part of it, no reader gets this
        // sample: the others would get it twice after a retry.
        while let Some(full) = first_that(readers, |reader| !reader.finish(&monitor.sent)) {
            if !wait.for_room(full, monitor)? {
                if *reliable {
                    return Err(self.no_room());
                }
                break;
            }
        }
        let length = header.len() + body.len();
        readers.iter_mut().for_each(Outgoing::begin);
        while let Some(full) =
            first_that(readers, |reader| reader.is_free() && !reader.push(header, body, &monitor.sent))
        {
            if !wait.for_room(full, monitor)? {
                break;
            }
        }
        if readers.iter().all(|reader| reader.is_done(length)) {
            return Ok(());
        }
        self.not_all(header, body, samples)
    }

    /// Handles a sample that was not completely sent to all readers within the time limit.
    #[cold]
    fn not_all(&mut self, header: &[u8], body: &[u8], samples: u64) -> Result<()> {
        let begun = self.readers.iter().any(Outgoing::is_begun);
        if self.reliable && !begun {
            return Err(self.no_room());
        }
        let length = header.len() + body.len();
        for reader in self.readers.iter_mut().filter(|reader| !reader.is_done(length)) {
            if self.reliable || reader.is_begun() {
                reader.keep_rest(header, body);
            } else {
                self.monitor.dropped.add(samples);
            }
        }
        Ok(())
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

    fn finish_all(&mut self) {
        for reader in &mut self.readers {
            reader.finish(&self.monitor.sent);
        }
    }

    #[cold]
    fn let_in(&mut self) -> Result<()> {
        let max_frame = self.max_frame;
        let fresh = self.monitor.door.fresh()?;
        self.readers.extend(fresh.into_iter().map(|socket| Outgoing::new(socket, max_frame)));
        Ok(())
    }

    #[cold]
    fn let_go(&mut self) {
        let door = &self.monitor.door;
        self.readers.retain(|reader| {
            if reader.is_gone() {
                door.forget(reader.socket());
            }
            !reader.is_gone()
        });
    }
}

/// Calls `says` for all readers and returns the first for which it is true.
#[inline]
fn first_that(readers: &mut [Outgoing], mut says: impl FnMut(&mut Outgoing) -> bool) -> Option<&Socket> {
    let mut first = None;
    for reader in readers {
        if says(reader) && first.is_none() {
            first = Some(&**reader.socket());
        }
    }
    first
}

/// Time limit of a write that waits for room, and the start of the wait.
struct Wait {
    limit_ns: u64,
    begun: Option<Instant>,
}

impl Wait {
    /// Waits until the connection has room. Returns whether time is left.
    #[cold]
    fn for_room(&mut self, full: &Socket, monitor: &WriterMonitor) -> Result<bool> {
        if self.limit_ns == 0 {
            return Ok(false);
        }
        let begun = *self.begun.get_or_insert_with(|| {
            monitor.blocked.add(1);
            Instant::now()
        });
        let waited = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let left_ns = self.limit_ns.saturating_sub(waited);
        if left_ns == 0 {
            return Ok(false);
        }
        let limit = (self.limit_ns != abi::DURATION_INFINITE)
            .then(|| TimeSpec::from_duration(Duration::from_nanos(left_ns)));
        match ppoll(&mut [PollFd::new(full.as_fd(), PollFlags::POLLOUT)], limit, None) {
            Ok(_) | Err(Errno::EINTR) => Ok(true),
            Err(errno) => Err(Error::os("cannot wait for room in a connection: ppoll() failed", errno)),
        }
    }
}
