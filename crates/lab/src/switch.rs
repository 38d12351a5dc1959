//! Userspace switch: forwards frames between the ports of a lab as links with a rate and a delay do.
//!
//! A thread takes the frames that arrive at each port by a packet socket, with the times at which their hosts sent them. A
//! [`VirtualClock`] says when each leaves, and the thread sleeps until then. It does not spin: on few cores, that would take
//! the time of what is measured. The kernel wakes it some µs late, which it records.

use std::{
    cell::Cell,
    io,
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    rc::Rc,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use experiment::{LinkSpec, MAX_MTU};
use hdrhistogram::Histogram;
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, ppoll},
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    sys::{
        eventfd::{EfdFlags, EventFd},
        socket::{MsgFlags, send},
        time::TimeSpec,
    },
    unistd::Pid,
};

use crate::{
    error::LabError,
    layout::{mac, port},
    namespace::{Namespace, NamespaceEntry},
    packet_socket::{self, Batch, HEADER_BYTES},
    virtual_clock::{Destination, Frame, Timing, VirtualClock},
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
/// Time in ps by which frames of a stream may be late, so that the thread does not wake up for each of them; see
/// [`VirtualClock::next_ps`].
const PATIENCE_PS: u64 = 20_000_000;
/// Maximum time in ps without looking at a port, so that its buffer does not fill.
const MAX_PAUSE_PS: u64 = 1_000_000_000;
/// Maximum recorded lateness in ns.
const MAX_LATENESS_NS: u64 = 60_000_000_000;

/// Settings that the owner changes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Settings {
    timing: Timing,
    /// Whether multicast is sent to each host.
    members: Vec<bool>,
}

/// Data that the thread shares with its owner.
#[derive(Debug)]
struct Shared {
    sockets: Vec<OwnedFd>,
    wake: EventFd,
    is_over: AtomicBool,
    settings: Mutex<Settings>,
    /// Whether the settings are newer than those of the thread.
    is_changed: AtomicBool,
    /// Frames from each host that were not taken or kept.
    dropped_out: Vec<AtomicU64>,
    /// Frames to each host that were not sent.
    dropped_in: Vec<AtomicU64>,
    /// Frames to each host that did not fit into the buffer of its port.
    overflows: Vec<AtomicU64>,
    /// Lateness of all frames in ns.
    lateness: Mutex<Histogram<u64>>,
}

/// Frames that a switch dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SwitchDrops {
    /// Frames from the host that were not taken or kept.
    pub(crate) out: u64,
    /// Frames to the host that were not sent.
    pub(crate) into: u64,
    /// Frames to the host that did not fit into the buffer of its port.
    pub(crate) overflows: u64,
}

/// Running switch. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Switch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Switch {
    /// Starts a switch between the ports of a namespace.
    pub(crate) fn start(namespace: &Namespace, members: &[bool], link: &LinkSpec) -> Result<Self, LabError> {
        let entry = namespace.entry()?;
        let failed = |error: io::Error| LabError::system("start the switch", error);
        let settings = Settings { timing: Timing::of_link(link), members: members.to_vec() };
        let (ready, started) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("lab-switch".to_owned())
            .spawn(move || {
                let shared = open(&entry, settings).map(Arc::new);
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

    /// Changes rate and delay of frames that arrive from now on.
    pub(crate) fn set_link(&self, link: &LinkSpec) {
        self.change(|settings| settings.timing = Timing::of_link(link));
    }

    /// Changes the hosts that multicast is sent to.
    pub(crate) fn set_members(&self, members: &[bool]) {
        self.change(|settings| settings.members = members.to_vec());
    }

    fn change(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut lock(&self.shared.settings));
        self.shared.is_changed.store(true, Relaxed);
        let _ = self.shared.wake.write(1);
    }

    /// Returns the rate and the delay of frames that arrive from now on.
    pub(crate) fn timing(&self) -> Timing {
        lock(&self.shared.settings).timing
    }

    /// Returns the dropped frames of the host at an index.
    pub(crate) fn dropped(&self, index: usize) -> SwitchDrops {
        let shared = &self.shared;
        // The kernel resets its number when it is read.
        let overflow = packet_socket::dropped(&shared.sockets[index]).unwrap_or(0);
        SwitchDrops {
            out: shared.dropped_out[index].fetch_add(overflow, Relaxed) + overflow,
            into: shared.dropped_in[index].load(Relaxed),
            overflows: shared.overflows[index].load(Relaxed),
        }
    }

    /// Returns the lateness of all frames so far in ns: how much later than on a link each was sent to its host.
    pub(crate) fn lateness(&self) -> Histogram<u64> {
        lock(&self.shared.lateness).clone()
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

/// Locks a value that is complete at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an empty histogram of lateness in ns.
pub(crate) fn lateness_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_LATENESS_NS, 2).expect("the bounds are valid")
}

/// Opens the sockets of the ports, in the namespace.
fn open(entry: &NamespaceEntry, settings: Settings) -> io::Result<Shared> {
    entry.enter()?;
    let ports = settings.members.len();
    let sockets = (0..ports).map(|index| packet_socket::open(&port(index))).collect::<io::Result<_>>()?;
    let counts = || (0..ports).map(|_| AtomicU64::new(0)).collect();
    Ok(Shared {
        sockets,
        wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
        is_over: AtomicBool::new(false),
        settings: Mutex::new(settings),
        is_changed: AtomicBool::new(true),
        dropped_out: counts(),
        dropped_in: counts(),
        overflows: counts(),
        lateness: Mutex::new(lateness_histogram()),
    })
}

/// Gives the calling thread a fixed priority, if allowed, exact timers, and the last of its cores. The scheduler would leave it on any
/// core: a run in which that is the core of the writer has a sixth of the throughput of one in which it is not.
fn prefer_this_thread() {
    let priority = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: 0 is the calling thread, and `priority` is valid for the call. The kernel's refusal is ignored: then the thread
    // runs with the usual priority.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    let _ = nix::sys::prctl::set_timerslack(1);
    let this = Pid::from_raw(0);
    let _ = sched_getaffinity(this).and_then(|allowed| {
        let last = (0..CpuSet::count()).rfind(|&core| allowed.is_set(core).unwrap_or(false));
        let mut cores = CpuSet::new();
        cores.set(last.unwrap_or(0))?;
        sched_setaffinity(this, &cores)
    });
}

/// Frame with the header of the packet socket. While it waits, its bytes are counted.
struct QueuedFrame {
    bytes: Box<[u8]>,
    queued_bytes: Rc<Cell<usize>>,
}

impl QueuedFrame {
    /// Copies a frame; `None` if too many bytes wait.
    fn new(bytes: &[u8], queued_bytes: &Rc<Cell<usize>>) -> Option<Self> {
        let sum = queued_bytes.get() + bytes.len();
        (sum <= MAX_QUEUED_BYTES).then(|| {
            queued_bytes.set(sum);
            Self { bytes: bytes.into(), queued_bytes: Rc::clone(queued_bytes) }
        })
    }
}

impl Drop for QueuedFrame {
    fn drop(&mut self) {
        self.queued_bytes.set(self.queued_bytes.get() - self.bytes.len());
    }
}

/// Loop of the thread.
struct Forwarder<'a> {
    shared: &'a Shared,
    /// A frame may leave several ports.
    clock: VirtualClock<Rc<QueuedFrame>>,
    begin: Instant,
    queued_bytes: Rc<Cell<usize>>,
    /// Lateness of frames since the histogram was not in use by the owner.
    late_ns: Vec<u64>,
}

impl<'a> Forwarder<'a> {
    fn new(shared: &'a Shared) -> Self {
        let timing = lock(&shared.settings).timing;
        Self {
            shared,
            clock: VirtualClock::new(timing, shared.sockets.len()),
            begin: Instant::now(),
            queued_bytes: Rc::default(),
            late_ns: Vec::new(),
        }
    }

    fn run(mut self) {
        let sockets = self.shared.sockets.iter().map(|socket| socket.as_fd());
        let mut waits: Vec<PollFd<'_>> = sockets
            .chain([self.shared.wake.as_fd()])
            .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
            .collect();
        let mut batch = Batch::new(FRAMES_AT_ONCE, FRAME_BYTES);
        while !self.shared.is_over.load(Relaxed) {
            if self.shared.is_changed.swap(false, Relaxed) {
                let settings = lock(&self.shared.settings).clone();
                self.clock.set_timing(settings.timing);
                self.clock.set_members(&settings.members);
            }
            self.wait(&mut waits);
            // What arrived before now has been taken when it is forwarded.
            let now_ps = self.now_ps();
            for (index, wait) in waits[..self.shared.sockets.len()].iter().enumerate() {
                if wait.events().is_empty() || wait.any().unwrap_or(true) {
                    self.take(index, &mut batch);
                }
            }
            self.clock.forward(now_ps);
            self.deliver();
        }
    }

    /// Waits for frames, for changes, and until the next frame leaves. A port does not wake the thread if what it receives leaves
    /// later than that: for each frame of a stream it would wake up twice.
    fn wait(&self, waits: &mut [PollFd<'_>]) {
        let now_ps = self.now_ps();
        let next_ps = self.clock.next_ps(PATIENCE_PS);
        let sockets = self.shared.sockets.len();
        for (index, wait) in waits[..sockets].iter_mut().enumerate() {
            let limit_ps = self.clock.earliest_ps(index, now_ps).saturating_add(PATIENCE_PS);
            let is_later = next_ps.is_some_and(|next_ps| next_ps <= limit_ps.min(now_ps + MAX_PAUSE_PS));
            wait.set_events(if is_later { PollFlags::empty() } else { PollFlags::POLLIN });
        }
        let left_ps = next_ps.map(|next_ps| next_ps.saturating_sub(now_ps));
        let timeout = left_ps.map(|ps| TimeSpec::from_duration(Duration::from_nanos(ps / 1_000)));
        match ppoll(waits, timeout, None) {
            Ok(_) | Err(Errno::EINTR) => {}
            // The sockets are open until the end, so this is a lack of memory.
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
        if waits[sockets].any() == Some(true) {
            let _ = self.shared.wake.read();
        }
    }

    fn now_ps(&self) -> u64 {
        picoseconds(self.begin.elapsed())
    }

    /// Takes frames that arrived at a port.
    fn take(&mut self, from: usize, batch: &mut Batch) {
        let hosts = self.shared.sockets.len();
        let (clock, queued_bytes, begin) = (&mut self.clock, &self.queued_bytes, self.begin);
        batch.take(&self.shared.sockets[from], |bytes, arrived| {
            let Some(frame) = bytes.and_then(|bytes| QueuedFrame::new(bytes, queued_bytes)) else {
                self.shared.dropped_out[from].fetch_add(1, Relaxed);
                return;
            };
            let at_ps = picoseconds(arrived.saturating_duration_since(begin));
            let to = destination(&frame.bytes, hosts);
            let length = frame.bytes.len().saturating_sub(HEADER_BYTES);
            clock.arrive(at_ps, Frame { from, to, length, content: Rc::new(frame) });
        });
    }

    /// Sends the frames whose time has come.
    fn deliver(&mut self) {
        loop {
            let now_ps = self.now_ps();
            let Some(departure) = self.clock.depart(now_ps) else { break };
            self.late_ns.push((now_ps - departure.at_ps) / 1_000);
            self.send(departure.to, &departure.content.bytes);
        }
        if self.late_ns.is_empty() {
            return;
        }
        for (index, overflows) in self.shared.overflows.iter().enumerate() {
            overflows.store(self.clock.dropped(index), Relaxed);
        }
        if let Ok(mut lateness) = self.shared.lateness.try_lock() {
            self.late_ns.drain(..).for_each(|late_ns| lateness.saturating_record(late_ns.max(1)));
        }
    }

    fn send(&self, to: usize, frame: &[u8]) {
        if send(self.shared.sockets[to].as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT).is_err() {
            self.shared.dropped_in[to].fetch_add(1, Relaxed);
        }
    }
}

fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1_000)
}

/// Returns the hosts that a frame is for. A switch sends to all what it does not know.
fn destination(frame: &[u8], hosts: usize) -> Destination {
    let Some(address) = frame.get(HEADER_BYTES..HEADER_BYTES + 6) else { return Destination::All };
    let number = usize::from(u16::from_be_bytes([address[4], address[5]]));
    match number.checked_sub(1).filter(|index| *index < hosts) {
        Some(index) if address == mac(index) => Destination::Host(index),
        _ if address[0] & 1 == 1 && address != [0xff; 6] => Destination::Members,
        _ => Destination::All,
    }
}

#[cfg(test)]
#[path = "switch_tests.rs"]
mod tests;
