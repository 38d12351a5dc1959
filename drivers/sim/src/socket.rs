//! Transport between processes by datagrams of Unix sockets: complete, in order, without loss, and with
//! back-pressure. The names are abstract and disappear with their process.
use std::{
    io::{Error as IoError, IoSlice},
    os::{
        fd::{AsFd, AsRawFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use driver_kit::{Error, OrFailed, Result};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, ppoll},
    sys::{
        socket::{MsgFlags, UnixAddr, recv, sendmsg, setsockopt, sockopt::SndBuf},
        time::TimeSpec,
    },
    time::{ClockId, clock_gettime},
};

/// Maximum payload size: well below the limit of a socket with the kernel's default buffer of 208 KiB.
pub(crate) const MAX_PAYLOAD: usize = 128 << 10;
/// Size of the header of each payload in bytes: a magic number and the due time of the sample, 8 bytes each, little
/// endian.
pub(crate) const HEADER: usize = 16;
const MAGIC: u64 = u64::from_le_bytes(*b"ddsm-sim");
/// Prefix of a locator.
const SCHEME: &str = "sim:";

/// Returns the time in ns of the clock that both ends share.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has this clock");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// Socket with an abstract name.
pub(crate) struct Socket {
    socket: UnixDatagram,
    name: String,
}

/// Destination of samples.
pub(crate) struct Peer {
    pub(crate) locator: String,
    address: UnixAddr,
}

impl Peer {
    pub(crate) fn parse(locator: &str) -> Result<Self> {
        let name = locator.strip_prefix(SCHEME).filter(|name| !name.is_empty()).ok_or_else(|| {
            Error::bad_argument(format!("`{locator}` is not a locator of this driver"))
                .hint("example: `sim:ddsmark-sim-RUN-PID-1`")
        })?;
        let address = UnixAddr::new_abstract(name.as_bytes())
            .or_failed(&format!("the name in locator `{locator}` is not valid"))?;
        Ok(Self { locator: locator.to_owned(), address })
    }
}

impl Socket {
    pub(crate) fn open(run_name: &str) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ddsmark-sim-{run_name}-{}-{number}", std::process::id());
        let failed = |error: IoError| Error::os(&format!("cannot open socket `{name}`"), error);
        let address = SocketAddr::from_abstract_name(&name).map_err(failed)?;
        let socket = UnixDatagram::bind_addr(&address).map_err(failed)?;
        let room = (MAX_PAYLOAD + HEADER) * 2;
        setsockopt(&socket, SndBuf, &room)
            .or_failed("cannot set the send buffer: setsockopt(SO_SNDBUF) failed")?;
        Ok(Self { socket, name })
    }

    /// Returns the locator.
    pub(crate) fn name(&self) -> String {
        format!("{SCHEME}{}", self.name)
    }

    /// Sets the maximum time for which a send waits for room, at least one microsecond.
    pub(crate) fn set_send_limit(&self, limit: Option<Duration>) -> Result<()> {
        self.socket
            .set_write_timeout(limit)
            .or_failed("cannot set the send timeout: setsockopt(SO_SNDTIMEO) failed")
    }

    /// Sends a sample with its due time; waits for room.
    #[inline]
    pub(crate) fn send(&self, to: &Peer, due_ns: u64, payload: &[u8]) -> Result<(), Errno> {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC.to_le_bytes());
        header[8..].copy_from_slice(&due_ns.to_le_bytes());
        let parts = [IoSlice::new(&header), IoSlice::new(payload)];
        loop {
            let flags = MsgFlags::MSG_NOSIGNAL;
            match sendmsg(self.socket.as_raw_fd(), &parts, &[], flags, Some(&to.address)) {
                Err(Errno::EINTR) => {}
                other => return other.map(|_| ()),
            }
        }
    }

    /// Receives the next datagram without waiting and returns its length; `None` if there is none.
    #[inline]
    pub(crate) fn receive(&self, room: &mut [u8]) -> Result<Option<usize>> {
        match recv(self.socket.as_raw_fd(), room, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(Error::os("cannot receive a datagram: recv() failed", errno)),
        }
    }

    /// Sleeps until there is a datagram, for at most `limit_ns`.
    pub(crate) fn wait(&self, limit_ns: u64) -> Result<()> {
        let mut waiting = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        let limit = TimeSpec::from_duration(Duration::from_nanos(limit_ns));
        match ppoll(&mut waiting, Some(limit), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(Error::os("cannot wait for a datagram: ppoll() failed", errno)),
        }
    }

    /// Wakes a waiting receiver.
    pub(crate) fn send_nothing(&self) {
        // an empty datagram to ourselves; if there is no room for it, the receiver is not asleep
        let address = UnixAddr::new_abstract(self.name.as_bytes());
        if let Ok(address) = address {
            let _ = nix::sys::socket::sendto(
                self.socket.as_raw_fd(),
                &[],
                &address,
                MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL,
            );
        }
    }
}

/// Returns the due time and the payload of a datagram; `None` if it does not belong to this driver.
#[inline]
pub(crate) fn split(datagram: &[u8]) -> Option<(u64, &[u8])> {
    let (magic, rest) = datagram.split_first_chunk()?;
    let (due, payload) = rest.split_first_chunk()?;
    (u64::from_le_bytes(*magic) == MAGIC).then_some((u64::from_le_bytes(*due), payload))
}

/// Returns whether the error means that the peer has disconnected.
pub(crate) fn is_gone(errno: Errno) -> bool {
    matches!(errno, Errno::ECONNREFUSED | Errno::ENOENT | Errno::EPIPE | Errno::ECONNRESET)
}

/// Returns whether the error means a lack of room.
pub(crate) fn is_full(errno: Errno) -> bool {
    matches!(errno, Errno::EAGAIN | Errno::ENOBUFS | Errno::ENOMEM)
}
