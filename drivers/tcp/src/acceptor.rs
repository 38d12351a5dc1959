//! Listening socket of a writer. Readers connect to it and are identified by their source address, which the host
//! passes as their locator. Other connections are accepted, but get no data.
use std::{
    io::ErrorKind,
    net::SocketAddr,
    os::fd::AsRawFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use driver_kit::{Error, MatchRecord, MatchState, OrFailed, Result, Settings, stream::GREETING};
use nix::sys::socket::{MsgFlags, send};
use socket2::Socket;

use crate::socket::{SocketOptions, is_quiet, local_address, plain};

/// Maximum number of unidentified connections. They may be readers whose locator is not known yet. The oldest is
/// closed for a new one.
const STRANGERS: usize = 64;

/// Listening socket of one writer.
#[derive(Debug)]
pub(crate) struct Acceptor {
    listener: Socket,
    way: SocketOptions,
    pub(crate) address: SocketAddr,
    /// Whether a reader is expected, or a connected one is still unknown to the writer.
    busy: AtomicBool,
    guests: Mutex<Guests>,
    /// Number of connected readers.
    matched: MatchRecord,
}

#[derive(Debug, Default)]
struct Guests {
    /// Readers announced by the host that are not connected yet.
    awaited: Vec<SocketAddr>,
    strangers: Vec<(SocketAddr, Socket)>,
    readers: Vec<Arc<Socket>>,
    /// Connected readers that the writer does not know yet.
    fresh: Vec<Arc<Socket>>,
}

impl Acceptor {
    pub(crate) fn open(way: SocketOptions) -> Result<Self> {
        let listener = way.bound(0)?;
        let failed = |error| Error::os("cannot listen for connections", error);
        listener.set_tcp_nodelay(!way.nagle).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        listener.listen(128).map_err(failed)?;
        let address = local_address(&listener)?;
        let (guests, matched) = (Mutex::default(), MatchRecord::new());
        Ok(Self { listener, way, address, busy: AtomicBool::new(false), guests, matched })
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Expects a reader from this address.
    pub(crate) fn expect(&self, reader: SocketAddr) -> Result<()> {
        let mut guests = self.guests();
        guests.awaited.push(reader);
        self.look(&mut guests)
    }

    /// Returns whether [`Self::fresh`] has work to do.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// Returns the readers that connected since the last call.
    #[cold]
    pub(crate) fn fresh(&self) -> Result<Vec<Arc<Socket>>> {
        let mut guests = self.guests();
        self.look(&mut guests)?;
        let fresh = std::mem::take(&mut guests.fresh);
        self.busy.store(!guests.awaited.is_empty(), Ordering::Release);
        Ok(fresh)
    }

    /// Returns the connected readers, and when their number last changed: when one was accepted, or found to be gone.
    pub(crate) fn matched(&self) -> Result<MatchState> {
        let mut guests = self.guests();
        self.look(&mut guests)?;
        guests.readers.retain(|reader| is_quiet(reader));
        self.matched.set(guests.readers.len());
        Ok(self.matched.state())
    }

    /// Removes a reader that has disconnected.
    pub(crate) fn forget(&self, reader: &Arc<Socket>) {
        let mut guests = self.guests();
        guests.readers.retain(|known| !Arc::ptr_eq(known, reader));
        self.matched.set(guests.readers.len());
    }

    /// Accepts expected readers.
    fn look(&self, guests: &mut Guests) -> Result<()> {
        guests.strangers.retain(|(_, stranger)| is_quiet(stranger));
        // connections wait in the backlog while no reader is expected
        while !guests.awaited.is_empty() {
            let known = |(from, _): &(SocketAddr, Socket)| guests.awaited.contains(from);
            if let Some(index) = guests.strangers.iter().position(known) {
                let (from, reader) = guests.strangers.swap_remove(index);
                guests.awaited.retain(|awaited| *awaited != from);
                self.welcome(reader, guests);
                continue;
            }
            match self.listener.accept() {
                Ok((caller, from)) => {
                    if guests.strangers.len() == STRANGERS {
                        guests.strangers.remove(0);
                    }
                    guests.strangers.extend(plain(from.as_socket()).map(|from| (from, caller)));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(error) => {
                    return Err(Error::os(
                        "cannot accept the connection of a reader: accept() failed",
                        error,
                    ));
                }
            }
        }
        self.busy.store(!(guests.awaited.is_empty() && guests.fresh.is_empty()), Ordering::Release);
        Ok(())
    }

    fn welcome(&self, reader: Socket, guests: &mut Guests) {
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        let greeted = reader.set_tcp_nodelay(!self.way.nagle).is_ok()
            && send(reader.as_raw_fd(), &GREETING, flags) == Ok(GREETING.len());
        // a reader that has already disconnected is not added
        if greeted {
            let reader = Arc::new(reader);
            guests.fresh.push(reader.clone());
            guests.readers.push(reader);
            self.matched.set(guests.readers.len());
        }
    }

    /// Reports the effective settings of the first reader's connection; before that, those that it will inherit.
    pub(crate) fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        let guests = self.guests();
        let socket = guests.readers.first().map_or(&self.listener, Arc::as_ref);
        let no_delay = socket.tcp_nodelay().or_failed("cannot read TCP_NODELAY: getsockopt() failed")?;
        settings.set("nagle", if no_delay { "off" } else { "on" });
        self.way.buffers.show_send(socket, settings)
    }
}
