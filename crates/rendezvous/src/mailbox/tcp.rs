//! Mailbox over TCP, for drivers without discovery. Subscribers listen; publishers connect to each of them, in any order
//! of start.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    os::fd::AsFd as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{
    MAX_SAMPLE_BYTES, Mailbox, Waker, check_length, closed, no_thread,
    tcp_connection::{Connection, read_sample},
    tcp_greeting::{Strangers, greet},
};
use crate::error::RendezvousError;

pub use super::tcp_greeting::MAX_STRANGERS;

/// First port for control messages, and the number of ports. They are below the ephemeral ports of Linux.
const FIRST_PORT: u16 = 20_000;
const PORTS: u32 = 12_768;
/// Number of ports of a domain.
const IDS: u32 = 50;
/// Maximum number of connections of a process.
const MAX_CONNECTIONS: usize = 512;
/// Maximum time of an attempt to connect, and the pause before the next one.
const CONNECT: Duration = Duration::from_secs(2);
const RETRY: Duration = Duration::from_millis(200);
/// Interval in which threads look whether the mailbox is closed.
const LOOK: Duration = Duration::from_millis(500);
/// Maximum number of samples that wait for the receiver.
const MAX_RECEIVED: usize = 1024;

/// First port on which publisher 0 listens for others, and the number of ports, below those of subscribers.
const FIRST_LEADER_PORT: u16 = 19_700;
const LEADER_PORTS: u32 = 300;
/// Pause between two attempts to find another publisher 0.
const LOOK_FOR_LEADER: Duration = Duration::from_secs(1);

/// Returns the port on which publisher 0 listens in this domain, so that another one finds it.
#[must_use]
pub fn leader_port(domain: u32) -> u16 {
    FIRST_LEADER_PORT + (domain % LEADER_PORTS) as u16
}

/// Returns the port on which the subscriber with this id listens for control messages in this domain.
#[must_use]
pub fn control_port(domain: u32, id: u16) -> u16 {
    let offset = (domain.wrapping_mul(IDS).wrapping_add(u32::from(id))) % PORTS;
    FIRST_PORT + offset as u16
}

/// Mailbox over TCP.
pub struct TcpMailbox {
    hub: Arc<Hub>,
    events: Receiver<Event>,
    waker: Waker,
    threads: Vec<JoinHandle<()>>,
    /// Address on which it listens.
    pub listening: Option<SocketAddr>,
}

enum Event {
    Sample(Vec<u8>),
    Wake,
}

/// Connections of a process. A process that listens also passes each sample on to its other connections, so that
/// publishers reach each other.
struct Hub {
    relays: bool,
    closed: AtomicBool,
    state: Mutex<State>,
    events: SyncSender<Event>,
}

#[derive(Default)]
struct State {
    next: u64,
    connections: BTreeMap<u64, Arc<Connection>>,
    /// Last error of each address to connect to.
    errors: BTreeMap<SocketAddr, String>,
}

impl TcpMailbox {
    /// Creates the mailbox of a subscriber, which listens on this address only. Port 0 lets the kernel choose.
    ///
    /// # Errors
    /// Returns an error if it cannot listen on the address.
    pub fn listen(address: IpAddr, port: u16) -> Result<Self, RendezvousError> {
        let address = SocketAddr::new(address, port);
        let cannot = |error: io::Error| {
            let hint = if error.kind() == io::ErrorKind::AddrInUse {
                "another subscriber with this id and domain runs on this host: end it, or set another `-domain` or \
                 `-sidMultiSubTest` on both sides"
            } else {
                "set `-nic` to an interface or address of this host: `ip -br addr` lists them"
            };
            RendezvousError::new(format!("cannot listen for control messages on {address}: {error}"), hint)
        };
        let listener = TcpListener::bind(address).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let listening = listener.local_addr().map_err(cannot)?;
        let mut mailbox = Self::new(true);
        mailbox.listening = Some(listening);
        let hub = Arc::clone(&mailbox.hub);
        mailbox.spawn("control-accept", move || accept_all(&hub, &listener))?;
        Ok(mailbox)
    }

    /// Creates the mailbox of a publisher, which connects to each of these addresses, and again when a connection ends.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    pub fn connect(addresses: &[SocketAddr]) -> Result<Self, RendezvousError> {
        let mut mailbox = Self::new(false);
        for &address in addresses {
            let hub = Arc::clone(&mailbox.hub);
            mailbox.spawn("control-connect", move || keep_connected(&hub, address))?;
        }
        Ok(mailbox)
    }

    /// Lets publisher 0 find others, which do not listen where subscribers do: listens on `own`, and tries to connect to
    /// `others` as long as it has no connection. A subscriber that is connected has both of them connected.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    pub fn find_leaders(&mut self, own: SocketAddr, others: &[SocketAddr]) -> Result<(), RendezvousError> {
        // Without this port, another publisher on this host has it: that one is found by connecting to it.
        let listener = TcpListener::bind(own).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let is_own = listener.is_ok();
        if let Ok(listener) = listener {
            let hub = Arc::clone(&self.hub);
            self.spawn("control-accept", move || accept_all(&hub, &listener))?;
        }
        for &address in others.iter().filter(|other| !is_own || **other != own) {
            let hub = Arc::clone(&self.hub);
            self.spawn("control-find", move || find_leader(&hub, address))?;
        }
        Ok(())
    }

    fn new(relays: bool) -> Self {
        let (sender, events) = sync_channel(MAX_RECEIVED);
        let wake = sender.clone();
        let waker = Waker::new(move || {
            // A full queue ends the wait, too.
            let _ = wake.try_send(Event::Wake);
        });
        let hub = Hub { relays, closed: AtomicBool::new(false), state: Mutex::default(), events: sender };
        Self { hub: Arc::new(hub), events, waker, threads: Vec::new(), listening: None }
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), RendezvousError> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        self.threads.push(thread.map_err(|error| no_thread(&error))?);
        Ok(())
    }
}

impl Hub {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Serves a connection that this process made.
    fn serve_own(&self, stream: TcpStream) -> io::Result<()> {
        greet(&stream)?;
        self.serve(stream)
    }

    /// Reads samples of a connection, whose sides have greeted, until it ends.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let stream = Arc::new(stream);
        let (connection, number) = {
            let mut state = self.state();
            if self.is_closed() || state.connections.len() >= MAX_CONNECTIONS {
                return Err(io::Error::other("too many connections"));
            }
            let connection = Arc::new(Connection::start(&stream)?);
            state.next += 1;
            let number = state.next;
            state.connections.insert(number, Arc::clone(&connection));
            (connection, number)
        };
        let end = loop {
            match read_sample(&stream, MAX_SAMPLE_BYTES) {
                Ok(sample) => {
                    if self.relays {
                        self.pass_on(&sample, Some(number));
                    }
                    if self.events.send(Event::Sample(sample)).is_err() {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
        };
        self.state().connections.remove(&number);
        connection.close();
        end
    }

    /// Queues a sample for all connections but that from which it came.
    fn pass_on(&self, sample: &[u8], from: Option<u64>) {
        let connections: Vec<Arc<Connection>> = self
            .state()
            .connections
            .iter()
            .filter(|(number, _)| Some(**number) != from)
            .map(|(_, connection)| Arc::clone(connection))
            .collect();
        for connection in connections {
            connection.queue(sample);
        }
    }
}

/// Accepts connections until the mailbox is closed. One has a thread as soon as it has greeted.
fn accept_all(hub: &Arc<Hub>, listener: &TcpListener) {
    let look = PollTimeout::try_from(LOOK).unwrap_or(PollTimeout::MAX);
    let mut strangers = Strangers::default();
    while !hub.is_closed() {
        let accepting = PollFd::new(listener.as_fd(), PollFlags::POLLIN);
        let mut fds: Vec<PollFd<'_>> = strangers.poll_fds().chain([accepting]).collect();
        let _ = poll(&mut fds, look);
        match listener.accept() {
            // A connection that has already failed is dropped.
            Ok((stream, from)) => _ = strangers.add(stream, from.ip()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // Too many open files, or a connection that has already ended.
            Err(_) => thread::sleep(RETRY),
        }
        for stream in strangers.greeted() {
            let hub = Arc::clone(hub);
            // A connection whose thread cannot be started is dropped: its peer connects again.
            let _ = thread::Builder::new().name("control-peer".to_owned()).spawn(move || {
                let _ = stream.set_nonblocking(false).and_then(|()| hub.serve(stream));
            });
        }
    }
}

/// Connects until the mailbox is closed.
fn keep_connected(hub: &Hub, address: SocketAddr) {
    while !hub.is_closed() {
        let connected = TcpStream::connect_timeout(&address, CONNECT);
        if let Err(error) = connected.and_then(|stream| hub.serve_own(stream)) {
            hub.state().errors.insert(address, error.to_string());
        }
        if !hub.is_closed() {
            thread::sleep(RETRY);
        }
    }
}

/// Connects to another publisher 0 while there is no connection.
fn find_leader(hub: &Hub, address: SocketAddr) {
    while !hub.is_closed() {
        if hub.state().connections.is_empty()
            && let Ok(stream) = TcpStream::connect_timeout(&address, CONNECT)
        {
            // Its end is noticed by whoever expects samples of it.
            let _ = hub.serve_own(stream);
        }
        for _ in 0..LOOK_FOR_LEADER.as_millis() / RETRY.as_millis() {
            if hub.is_closed() {
                return;
            }
            thread::sleep(RETRY);
        }
    }
}

impl Mailbox for TcpMailbox {
    fn post(&mut self, sample: &[u8]) -> Result<(), RendezvousError> {
        check_length(sample)?;
        if self.hub.is_closed() {
            return Err(closed());
        }
        self.hub.pass_on(sample, None);
        Ok(())
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Vec<u8>>, RendezvousError> {
        match self.events.recv_timeout(limit) {
            Ok(Event::Sample(sample)) => Ok(Some(sample)),
            Ok(Event::Wake) | Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(closed()),
        }
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn ignored(&self) -> u64 {
        // A connection of another program is closed before its first sample.
        0
    }

    fn diagnosis(&self) -> Vec<String> {
        let state = self.hub.state();
        let connections = format!("{} control connections are open", state.connections.len());
        let listening = self.listening.map(|address| format!("listening for publishers on {address}"));
        let errors = state.errors.iter().map(|(address, error)| format!("last error of {address}: {error}"));
        listening.into_iter().chain([connections]).chain(errors).collect()
    }

    fn close(&mut self, limit: Duration) -> Result<(), RendezvousError> {
        let deadline = Instant::now() + limit;
        let connections: Vec<Arc<Connection>> = self.hub.state().connections.values().cloned().collect();
        for connection in &connections {
            connection.flush(deadline);
        }
        Ok(())
    }
}

impl Drop for TcpMailbox {
    fn drop(&mut self) {
        self.hub.closed.store(true, Ordering::Release);
        let connections = std::mem::take(&mut self.hub.state().connections);
        for connection in connections.into_values() {
            connection.close();
        }
        // A thread that waits for the receiver goes on.
        while self.events.try_recv().is_ok() {}
        for thread in self.threads.drain(..) {
            // Each looks at least every 2 s whether the mailbox is closed.
            let _ = thread.join();
        }
    }
}
