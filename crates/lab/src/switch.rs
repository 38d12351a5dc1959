//! Userspace switch: forwards frames between the ports of a lab after a delay.
//!
//! It is for kernels without `netem`. A thread reads the frames that arrive at each port by a packet socket, keeps them for
//! the delay, and sends them to the port of their destination; broadcast and multicast to all other ports. The ports have
//! the same queueing disciplines as behind a bridge. All frames have the same delay, so one queue keeps their order.

use std::{
    collections::VecDeque,
    io,
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use experiment::MAX_MTU;
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, ppoll},
    sys::{
        eventfd::{EfdFlags, EventFd},
        socket::{MsgFlags, recv, send},
        time::TimeSpec,
    },
};

use crate::{
    error::LabError,
    layout::{mac, port},
    namespace::{Namespace, NamespaceEntry},
    packet_socket::{self, HEADER_BYTES},
};

/// Maximum bytes of frames that wait for their time.
const MAX_QUEUED_BYTES: usize = 256 << 20;
/// Maximum frames taken from a port at once.
const FRAMES_AT_ONCE: usize = 32;
/// Longest frame, with its headers: of Ethernet, 18 with a VLAN, and of the packet socket.
const FRAME_BYTES: usize = MAX_MTU as usize + 18 + HEADER_BYTES;
/// Priority of the thread among those with a fixed priority.
const PRIORITY: i32 = 20;
/// Maximum time for the thread to start.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Data that the thread shares with its owner.
#[derive(Debug)]
struct Shared {
    sockets: Vec<OwnedFd>,
    wake: EventFd,
    delay_ns: AtomicU64,
    is_over: AtomicBool,
    /// Frames from each host that were not taken or kept.
    dropped_out: Vec<AtomicU64>,
    /// Frames to each host that were not sent.
    dropped_in: Vec<AtomicU64>,
}

/// Running switch. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Switch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Switch {
    /// Starts a switch between the ports of a namespace.
    pub(crate) fn start(namespace: &Namespace, ports: usize, delay_ns: u64) -> Result<Self, LabError> {
        let entry = namespace.entry()?;
        let failed = |error: io::Error| LabError::system("start the switch", error);
        let (ready, started) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("lab-switch".to_owned())
            .spawn(move || {
                let shared = open(&entry, ports, delay_ns).map(Arc::new);
                let to_run = shared.as_ref().ok().cloned();
                let _ = ready.send(shared);
                if let Some(shared) = to_run {
                    prefer_this_thread();
                    Forwarder::new(&shared).run();
                }
            })
            .map_err(failed)?;
        let shared = started.recv_timeout(START_LIMIT).map_err(|_| LabError::TimedOut {
            what: "the start of the switch".to_owned(),
            seconds: START_LIMIT.as_secs(),
        })?;
        Ok(Self { shared: shared.map_err(failed)?, thread: Some(thread) })
    }

    /// Changes the delay of frames that arrive from now on.
    pub(crate) fn set_delay(&self, delay_ns: u64) {
        self.shared.delay_ns.store(delay_ns, Relaxed);
    }

    /// Returns the delay of frames that arrive from now on.
    pub(crate) fn delay_ns(&self) -> u64 {
        self.shared.delay_ns.load(Relaxed)
    }

    /// Returns the dropped frames of the host at an index: those from it, and those to it.
    pub(crate) fn dropped(&self, index: usize) -> (u64, u64) {
        let shared = &self.shared;
        // The kernel resets its number when it is read.
        let overflow = packet_socket::dropped(&shared.sockets[index]).unwrap_or(0);
        let out = shared.dropped_out[index].fetch_add(overflow, Relaxed) + overflow;
        (out, shared.dropped_in[index].load(Relaxed))
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Relaxed);
        let _ = self.shared.wake.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Opens the sockets of the ports, in the namespace.
fn open(entry: &NamespaceEntry, ports: usize, delay_ns: u64) -> io::Result<Shared> {
    entry.enter()?;
    let sockets = (0..ports).map(|index| packet_socket::open(&port(index))).collect::<io::Result<_>>()?;
    let counts = || (0..ports).map(|_| AtomicU64::new(0)).collect();
    Ok(Shared {
        sockets,
        wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
        delay_ns: AtomicU64::new(delay_ns),
        is_over: AtomicBool::new(false),
        dropped_out: counts(),
        dropped_in: counts(),
    })
}

/// Gives the calling thread a fixed priority, if allowed, and exact timers.
fn prefer_this_thread() {
    let priority = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: 0 is the calling thread, and `priority` is valid for the call. The kernel's refusal is ignored: then the thread
    // runs with the usual priority.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// Frame that waits for its time.
struct Frame {
    due: Instant,
    from: usize,
    bytes: Box<[u8]>,
}

/// Loop of the thread.
struct Forwarder<'a> {
    shared: &'a Shared,
    queue: VecDeque<Frame>,
    queued_bytes: usize,
    buffer: Vec<u8>,
}

impl<'a> Forwarder<'a> {
    fn new(shared: &'a Shared) -> Self {
        Self { shared, queue: VecDeque::new(), queued_bytes: 0, buffer: vec![0; FRAME_BYTES] }
    }

    fn run(mut self) {
        let mut waits: Vec<PollFd<'_>> =
            self.shared.sockets.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
        waits.push(PollFd::new(self.shared.wake.as_fd(), PollFlags::POLLIN));
        while !self.shared.is_over.load(Relaxed) {
            let next = self.queue.front().map(|frame| frame.due.saturating_duration_since(Instant::now()));
            match ppoll(&mut waits, next.map(TimeSpec::from_duration), None) {
                Ok(_) | Err(Errno::EINTR) => {}
                // The sockets are open until the end, so this is a lack of memory.
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
            for (index, wait) in waits[..self.shared.sockets.len()].iter().enumerate() {
                if wait.any().unwrap_or(true) {
                    self.take(index);
                }
            }
            self.deliver();
        }
    }

    /// Takes frames that arrived at a port.
    fn take(&mut self, from: usize) {
        let socket = self.shared.sockets[from].as_raw_fd();
        for _ in 0..FRAMES_AT_ONCE {
            let Ok(length) = recv(socket, &mut self.buffer, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC)
            else {
                return;
            };
            if length > self.buffer.len() || self.queued_bytes + length > MAX_QUEUED_BYTES {
                self.shared.dropped_out[from].fetch_add(1, Relaxed);
                continue;
            }
            let delay = Duration::from_nanos(self.shared.delay_ns.load(Relaxed));
            let due = Instant::now() + delay;
            // A shorter delay does not let a frame overtake another.
            let due = self.queue.back().map_or(due, |last| last.due.max(due));
            self.queued_bytes += length;
            self.queue.push_back(Frame { due, from, bytes: self.buffer[..length].into() });
        }
    }

    /// Sends the frames whose time has come.
    fn deliver(&mut self) {
        while self.queue.front().is_some_and(|frame| frame.due <= Instant::now()) {
            let frame = self.queue.pop_front().expect("the queue has a front");
            self.queued_bytes -= frame.bytes.len();
            match destination(&frame.bytes, self.shared.sockets.len()) {
                Some(to) => self.send(to, &frame),
                None => (0..self.shared.sockets.len()).for_each(|to| self.send(to, &frame)),
            }
        }
    }

    fn send(&self, to: usize, frame: &Frame) {
        if to == frame.from {
            return;
        }
        match send(self.shared.sockets[to].as_raw_fd(), &frame.bytes, MsgFlags::MSG_DONTWAIT) {
            // ENOBUFS: the queueing discipline of the port dropped the frame, and counted it.
            Ok(_) | Err(Errno::ENOBUFS) => {}
            Err(_) => {
                self.shared.dropped_in[to].fetch_add(1, Relaxed);
            }
        }
    }
}

/// Returns the index of the host that a frame is for; `None` for all.
fn destination(frame: &[u8], hosts: usize) -> Option<usize> {
    let address = frame.get(HEADER_BYTES..HEADER_BYTES + 6)?;
    let number = usize::from(u16::from_be_bytes([address[4], address[5]]));
    let index = number.checked_sub(1).filter(|index| *index < hosts)?;
    (address == mac(index)).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_for_the_host_with_their_address() {
        let frame = |address: [u8; 6]| [&[0; HEADER_BYTES][..], &address, &[7; 52]].concat();
        assert_eq!(destination(&frame(mac(0)), 3), Some(0));
        assert_eq!(destination(&frame(mac(2)), 3), Some(2));
        // Not in this lab, broadcast, multicast, another host, too short.
        for other in [mac(3), [0xff; 6], [1, 0, 0x5e, 0, 0, 1], [2, 0x4c, 0x41, 0x43, 0, 1], [0; 6]] {
            assert_eq!(destination(&frame(other), 3), None, "{other:?}");
        }
        assert_eq!(destination(&[0; HEADER_BYTES + 3], 3), None);
    }
}
