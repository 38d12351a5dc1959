//! Writers: sending of samples.
use std::{
    net::SocketAddr,
    os::fd::AsFd,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use driver_kit::{
    Blocking, Counters, Error, MatchState, Monitor, NoLoan, Qos, Result, Settings, Status, Wait, Writer,
    WriterConfig, WriterCounts,
    batch::{Batch, FRAMING},
    effective_qos,
};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, ppoll},
    sys::time::TimeSpec,
};
use socket2::Socket;

use crate::{
    acceptor::Acceptor,
    outgoing::Outgoing,
    socket::{NAMES, SocketOptions, text},
};

/// Minimum buffer size of a batch in bytes, including framing.
const BATCH_ROOM: u64 = 64 << 10;
/// Polling interval for acknowledgements: the kernel does not signal them.
const ACKNOWLEDGED_EVERY: Duration = Duration::from_micros(100);

/// State of a writer that the host can query at any time.
pub(crate) struct WriterMonitor {
    door: Arc<Acceptor>,
    qos: Qos,
    counts: WriterCounts,
}

impl Monitor for WriterMonitor {
    fn matched(&self) -> Result<MatchState> {
        self.door.matched()
    }

    fn qos(&self) -> Result<Qos> {
        Ok(self.qos.clone())
    }

    fn counters(&self) -> Counters {
        self.counts.counters_with_waits()
    }
}

/// Writer: a listening socket, and the connections of its readers.
pub(crate) struct TcpWriter {
    way: SocketOptions,
    outlet: Outlet,
    batch: Option<Batch>,
    known: Vec<SocketAddr>,
}

impl TcpWriter {
    pub(crate) fn open(way: SocketOptions, config: &WriterConfig<'_>) -> Result<Self> {
        let max_frame = max_frame(config);
        let batch = Batch::from_config(config, way.family.pick(NAMES), max_frame)?;
        let blocking = Blocking::from_config(config);
        let monitor = Arc::new(WriterMonitor {
            door: Arc::new(Acceptor::open(way)?),
            qos: effective_qos(&config.qos, blocking.limit_ns),
            counts: WriterCounts::default(),
        });
        let outlet = Outlet { readers: Vec::new(), monitor, max_frame, blocking };
        Ok(Self { way, outlet, batch, known: Vec::new() })
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
        settings.set("address", &text(monitor.door.address));
        monitor.door.settings(settings)?;
        Batch::show(self.batch.as_ref(), settings);
        settings.set("samples_dropped", &monitor.counts.dropped.get());
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
        Ok(text(self.outlet.monitor.door.address))
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
    blocking: Blocking,
}

impl Outlet {
    /// Sends the header and the body, which contain `samples` samples, to every reader. Without a reader they are
    /// accepted and discarded, as by any unmatched writer.
    #[inline]
    fn send(&mut self, header: &[u8], body: &[u8], samples: u64) -> Result<()> {
        if self.monitor.door.is_busy() {
            self.let_in()?;
        }
        let mut wait = self.blocking.start();
        let sent = self.send_within(&mut wait, header, body, samples);
        wait.end(&self.monitor.counts);
        if self.readers.iter().any(|reader| reader.gone) {
            self.let_go();
        }
        sent
    }

    #[inline]
    fn send_within(&mut self, wait: &mut Wait, header: &[u8], body: &[u8], samples: u64) -> Result<()> {
        let Self { readers, monitor, blocking, .. } = self;
        let counts = &monitor.counts;
        // The rest of the previous sample goes first. While a reader still lacks part of it, no reader gets this
        // sample: the others would get it twice after a retry.
        while let Some(full) = first_that(readers, |reader| !reader.finish(counts)) {
            if !wait_for_room(wait, full, counts)? {
                if blocking.reliable {
                    return Err(blocking.no_room(counts));
                }
                break;
            }
        }
        let length = header.len() + body.len();
        readers.iter_mut().for_each(Outgoing::begin);
        while let Some(full) =
            first_that(readers, |reader| reader.is_free() && !reader.push(header, body, counts))
        {
            if !wait_for_room(wait, full, counts)? {
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
        if self.blocking.reliable && !begun {
            return Err(self.blocking.no_room(&self.monitor.counts));
        }
        let length = header.len() + body.len();
        for reader in self.readers.iter_mut().filter(|reader| !reader.is_done(length)) {
            if self.blocking.reliable || reader.is_begun() {
                reader.keep_rest(header, body);
            } else {
                self.monitor.counts.dropped.add(samples);
            }
        }
        Ok(())
    }

    fn finish_all(&mut self) {
        for reader in &mut self.readers {
            reader.finish(&self.monitor.counts);
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
            if reader.gone {
                door.forget(&reader.socket);
            }
            !reader.gone
        });
    }
}

/// Calls `says` for all readers and returns the first for which it is true.
#[inline]
fn first_that(readers: &mut [Outgoing], mut says: impl FnMut(&mut Outgoing) -> bool) -> Option<&Socket> {
    let mut first = None;
    for reader in readers {
        if says(reader) && first.is_none() {
            first = Some(&*reader.socket);
        }
    }
    first
}

/// Waits until the connection has room. Returns whether time is left.
#[cold]
fn wait_for_room(wait: &mut Wait, full: &Socket, counts: &WriterCounts) -> Result<bool> {
    let left_ns = wait.left_ns(counts);
    if left_ns == 0 {
        return Ok(false);
    }
    let limit = TimeSpec::from_duration(Duration::from_nanos(left_ns));
    match ppoll(&mut [PollFd::new(full.as_fd(), PollFlags::POLLOUT)], Some(limit), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(true),
        Err(errno) => Err(Error::os("cannot wait for room in a connection: ppoll() failed", errno)),
    }
}
