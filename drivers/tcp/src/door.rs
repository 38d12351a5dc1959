//! Where readers come in: a listening socket. Readers connect to it, and are known by the address that they call from, which
//! the host brings as their locator. Whoever else calls is a stranger, and is sent nothing.
use std::{
    io::ErrorKind,
    net::SocketAddr,
    os::fd::AsRawFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use driver_kit::{Error, Result, Settings, stream::GREETING};
use nix::sys::socket::{MsgFlags, send};
use socket2::Socket;

use crate::socket::{Way, is_quiet, local_address, plain};

/// So many strangers may stand at the door, for they may be readers that were not told of yet; then the first has to go.
const STRANGERS: usize = 64;

/// The door of one writer.
#[derive(Debug)]
pub(crate) struct Door {
    listener: Socket,
    way: Way,
    address: SocketAddr,
    /// Whether a reader is awaited, or one has come in of whom the writer knows nothing.
    busy: AtomicBool,
    guests: Mutex<Guests>,
}

#[derive(Debug, Default)]
struct Guests {
    /// Told of by the host, and not here yet.
    awaited: Vec<SocketAddr>,
    strangers: Vec<(SocketAddr, Socket)>,
    readers: Vec<Arc<Socket>>,
    /// Those of whom the writer knows nothing.
    fresh: Vec<Arc<Socket>>,
}

impl Door {
    pub(crate) fn open(way: Way) -> Result<Self> {
        let listener = way.bound(0)?;
        let failed = |error| Error::os("a socket cannot listen", error);
        listener.set_tcp_nodelay(!way.nagle).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        listener.listen(128).map_err(failed)?;
        let address = local_address(&listener)?;
        Ok(Self { listener, way, address, busy: AtomicBool::new(false), guests: Mutex::default() })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A reader will call from there.
    pub(crate) fn expect(&self, reader: SocketAddr) -> Result<()> {
        let mut guests = self.guests();
        guests.awaited.push(reader);
        self.look(&mut guests)
    }

    /// Whether [`Self::fresh`] has anything to do.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// The readers that came in since this was asked.
    #[cold]
    pub(crate) fn fresh(&self) -> Result<Vec<Arc<Socket>>> {
        let mut guests = self.guests();
        self.look(&mut guests)?;
        let fresh = std::mem::take(&mut guests.fresh);
        self.busy.store(!guests.awaited.is_empty(), Ordering::Release);
        Ok(fresh)
    }

    /// How many readers are here now.
    pub(crate) fn readers(&self) -> Result<usize> {
        let mut guests = self.guests();
        self.look(&mut guests)?;
        guests.readers.retain(|reader| is_quiet(reader));
        Ok(guests.readers.len())
    }

    /// A reader has gone.
    pub(crate) fn forget(&self, reader: &Arc<Socket>) {
        self.guests().readers.retain(|known| !Arc::ptr_eq(known, reader));
    }

    /// Lets in who is awaited.
    fn look(&self, guests: &mut Guests) -> Result<()> {
        guests.strangers.retain(|(_, stranger)| is_quiet(stranger));
        // without anybody to be awaited, who calls waits outside
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
                Err(error) => return Err(Error::os("no reader can be let in", error)),
            }
        }
        self.busy.store(!(guests.awaited.is_empty() && guests.fresh.is_empty()), Ordering::Release);
        Ok(())
    }

    fn welcome(&self, reader: Socket, guests: &mut Guests) {
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        let greeted = reader.set_tcp_nodelay(!self.way.nagle).is_ok()
            && send(reader.as_raw_fd(), &GREETING, flags) == Ok(GREETING.len());
        // who is gone already is not let in
        if greeted {
            let reader = Arc::new(reader);
            guests.fresh.push(reader.clone());
            guests.readers.push(reader);
        }
    }

    /// Shows what is in force on the connection of the first reader; while there is none, on what it will inherit.
    pub(crate) fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        let guests = self.guests();
        let socket = guests.readers.first().map_or(&self.listener, Arc::as_ref);
        let no_delay = socket.tcp_nodelay().map_err(|error| Error::os("TCP_NODELAY", error))?;
        settings.set("nagle", if no_delay { "off" } else { "on" });
        self.way.buffers.show_send(socket, settings)
    }
}
