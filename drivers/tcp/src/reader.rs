//! Readers: reception of samples.
use std::{
    net::{Shutdown, SocketAddr},
    os::fd::AsRawFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use driver_kit::{
    Deliver, Endpoint, Error, LocatedReader, OrFailed, ReaderConfig, ReaderMonitor, Result, Sample,
    SampleReceiver, Settings, abi, effective_qos,
    stream::{Frames, FramingError},
};
use nix::{
    errno::Errno,
    sys::{
        epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout},
        socket::{MsgFlags, recv},
    },
};
use socket2::Socket;

use crate::{
    keep_last::KeepLast,
    socket::{SocketOptions, local_address, text},
};

/// Timeout of a reader for connecting to a writer.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// Maximum sleep of a reader without writers, in ns.
const ALONE_NS: u64 = 100_000_000;
/// Maximum number of bytes that a KEEP_LAST reader receives before it delivers samples, because a writer may be
/// faster.
const MOST_AT_ONCE: usize = 64 << 20;

/// Reader that connects to its writers and receives from them.
pub(crate) type TcpReader = LocatedReader<Caller, Streams>;

pub(crate) fn open(way: SocketOptions, config: ReaderConfig<'_>) -> Result<TcpReader> {
    let place = way.bound(0)?;
    let address = local_address(&place)?;
    let caller =
        Arc::new(Caller { place, way, address, lines: Mutex::default(), called: AtomicBool::new(false) });
    let qos = effective_qos(&config.qos, 0);
    let kept = qos.keep_last().map(KeepLast::new);
    let monitor = Arc::new(ReaderMonitor::new(qos));
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)
        .or_failed("cannot wait for connections: epoll_create1() failed")?;
    let writers = Writers {
        caller: caller.clone(),
        monitor: monitor.clone(),
        lines: Vec::new(),
        epoll,
        max_payload: config.max_payload_bytes as usize,
    };
    let inlet = Streams { writers, kept };
    LocatedReader::open("tcp-listener", caller, monitor, inlet, config.receive, config.batched)
}

/// Source address of a reader: one port for all its writers, which identify the reader by it.
#[derive(Debug)]
pub(crate) struct Caller {
    /// Unconnected socket that reserves the port.
    place: Socket,
    way: SocketOptions,
    address: SocketAddr,
    lines: Mutex<Lines>,
    /// Whether there are new connections that are not received from yet.
    called: AtomicBool,
}

#[derive(Debug, Default)]
struct Lines {
    all: Vec<Arc<Socket>>,
    fresh: Vec<Arc<Socket>>,
}

impl Caller {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn fresh(&self) -> Vec<Arc<Socket>> {
        let mut lines = self.lines();
        self.called.store(false, Ordering::Release);
        std::mem::take(&mut lines.fresh)
    }

    fn forget(&self, line: &Arc<Socket>) {
        self.lines().all.retain(|known| !Arc::ptr_eq(known, line));
    }
}

impl Endpoint for Caller {
    type Writer = SocketAddr;

    fn locator(&self) -> String {
        text(self.address)
    }

    fn writer(&self, locator: &str) -> Result<SocketAddr> {
        self.way.peer(locator)
    }

    fn connect(&self, writer: &SocketAddr) -> Result<()> {
        let line = self.way.bound(self.address.port())?;
        line.connect_timeout(&(*writer).into(), CONNECT_LIMIT).map_err(|error| {
            Error::os(
                &format!(
                    "cannot connect `{}` with `{}`: connect() failed",
                    text(self.address),
                    text(*writer)
                ),
                error,
            )
            .hint("open the writer first, and both on interfaces of the same network")
        })?;
        let line = Arc::new(line);
        let mut lines = self.lines();
        lines.all.push(line.clone());
        lines.fresh.push(line);
        self.called.store(true, Ordering::Release);
        Ok(())
    }

    fn wake(&self) {
        for line in &self.lines().all {
            // the receiving thread gets an end of stream from now on
            let _ = line.shutdown(Shutdown::Read);
        }
    }

    /// Reports the settings of the first connection; before that, those that it will have.
    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        let lines = self.lines();
        let socket = lines.all.first().map_or(&self.place, Arc::as_ref);
        self.way.buffers.show_receive(socket, settings)
    }
}

/// Receiver: the connections to all writers, and the KEEP_LAST queue.
pub(crate) struct Streams {
    writers: Writers,
    kept: Option<KeepLast>,
}

impl SampleReceiver for Streams {
    /// Maximum delay until a first connection is detected.
    const NAP_NS: u64 = 20_000_000;

    #[inline]
    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut impl Deliver) -> Result<()> {
        let Self { writers, kept } = self;
        if writers.caller.called.load(Ordering::Acquire) {
            writers.begin()?;
        }
        let Some(kept) = kept else {
            // samples received earlier are delivered first
            if writers.give(max_samples, to) == 0 && writers.take_in(timeout_ns)? > 0 {
                writers.give(max_samples, to);
            }
            return Ok(());
        };
        let mut came = 0;
        while came < MOST_AT_ONCE {
            match writers.take_in(if kept.is_empty() && came == 0 { timeout_ns } else { 0 })? {
                0 => break,
                bytes => came += bytes,
            }
            writers.give(u32::MAX, kept);
        }
        kept.give(max_samples, to);
        Ok(())
    }
}

/// Connections to all writers.
struct Writers {
    caller: Arc<Caller>,
    monitor: Arc<ReaderMonitor>,
    lines: Vec<Line>,
    /// Waits for data on several connections.
    epoll: Epoll,
    max_payload: usize,
}

/// Connection to one writer.
struct Line {
    socket: Arc<Socket>,
    frames: Frames,
    /// Current receive timeout of the socket.
    limit_ns: u64,
}

/// Result of a receive call.
enum Incoming {
    Bytes(usize),
    Nothing,
    /// End of the stream.
    End,
}

impl Writers {
    /// Starts to receive from new connections.
    #[cold]
    fn begin(&mut self) -> Result<()> {
        for socket in self.caller.fresh() {
            self.epoll
                .add(&*socket, EpollEvent::new(EpollFlags::EPOLLIN, 0))
                .or_failed("cannot wait for samples of a connection: epoll_ctl() failed")?;
            let frames = Frames::new(self.max_payload);
            self.lines.push(Line { socket, frames, limit_ns: abi::DURATION_INFINITE });
        }
        Ok(())
    }

    /// Delivers complete samples, at most `most`, and returns their number.
    #[inline]
    fn give(&mut self, most: u32, to: &mut impl Deliver) -> u32 {
        let mut given = 0;
        let mut index = 0;
        while given < most
            && let Some(line) = self.lines.get_mut(index)
        {
            match line.frames.next() {
                Ok(Some(payload)) => {
                    to.deliver(Sample::new(payload));
                    given += 1;
                }
                Ok(None) => index += 1,
                Err(FramingError) => self.cut_off(index),
            }
        }
        given
    }

    /// Receives available data, after waiting for at most `timeout_ns`, and returns the number of bytes. Called
    /// when no complete sample is left.
    #[inline]
    fn take_in(&mut self, timeout_ns: u64) -> Result<usize> {
        match self.lines.len() {
            0 => {
                thread::sleep(Duration::from_nanos(timeout_ns.min(ALONE_NS)));
                Ok(0)
            }
            // like a loop around a single connection
            1 => self.take_from(0, timeout_ns),
            _ => {
                let bytes = self.take_from_all()?;
                if bytes > 0 || timeout_ns == 0 {
                    return Ok(bytes);
                }
                let limit_ms = i32::try_from(timeout_ns.div_ceil(1_000_000)).unwrap_or(i32::MAX);
                let limit = EpollTimeout::try_from(limit_ms).unwrap_or(EpollTimeout::MAX);
                match self.epoll.wait(&mut [EpollEvent::empty()], limit) {
                    Ok(0) | Err(Errno::EINTR) => Ok(0),
                    Ok(_) => self.take_from_all(),
                    Err(errno) => Err(Error::os("cannot wait for samples: epoll_wait() failed", errno)),
                }
            }
        }
    }

    fn take_from_all(&mut self) -> Result<usize> {
        let mut bytes = 0;
        // backwards: the last connection, which was already read, replaces one that is closed
        for index in (0..self.lines.len()).rev() {
            bytes += self.take_from(index, 0)?;
        }
        Ok(bytes)
    }

    #[inline]
    fn take_from(&mut self, index: usize, timeout_ns: u64) -> Result<usize> {
        match self.lines[index].receive(timeout_ns)? {
            Incoming::Bytes(bytes) => {
                self.monitor.count_received(bytes);
                Ok(bytes)
            }
            Incoming::Nothing => Ok(0),
            Incoming::End => {
                self.cut_off(index);
                Ok(0)
            }
        }
    }

    /// Closes a connection. Its incomplete data is discarded.
    #[cold]
    fn cut_off(&mut self, index: usize) {
        let line = self.lines.swap_remove(index);
        if line.frames.pending_bytes() > 0 {
            self.monitor.threw_away(line.frames.pending_bytes());
        }
        let _ = self.epoll.delete(&*line.socket);
        // informs the writer, if it is one
        let _ = line.socket.shutdown(Shutdown::Both);
        self.caller.forget(&line.socket);
        self.monitor.left();
    }
}

impl Line {
    #[inline]
    fn receive(&mut self, timeout_ns: u64) -> Result<Incoming> {
        let mut flags = MsgFlags::empty();
        if timeout_ns == 0 {
            flags = MsgFlags::MSG_DONTWAIT;
        } else if timeout_ns != self.limit_ns {
            self.set_limit(timeout_ns)?;
        }
        match recv(self.socket.as_raw_fd(), self.frames.room(), flags) {
            Ok(0) => Ok(Incoming::End),
            Ok(bytes) => {
                self.frames.extend(bytes);
                Ok(Incoming::Bytes(bytes))
            }
            // a signal ends the wait early: the host calls again
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(Incoming::Nothing),
            // reset or timed out
            Err(_) => Ok(Incoming::End),
        }
    }

    #[cold]
    fn set_limit(&mut self, timeout_ns: u64) -> Result<()> {
        // the kernel expects whole microseconds, and 0 would disable the limit; never shorter than requested
        let limit = (timeout_ns != abi::DURATION_INFINITE)
            .then(|| Duration::from_micros(timeout_ns.div_ceil(1000).max(1)));
        self.socket
            .set_read_timeout(limit)
            .or_failed("cannot set the receive timeout: setsockopt(SO_RCVTIMEO) failed")?;
        self.limit_ns = timeout_ns;
        Ok(())
    }
}
