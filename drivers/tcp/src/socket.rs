//! TCP sockets: creation, and state known only to the kernel.
use std::{
    net::{IpAddr, SocketAddr},
    os::fd::AsRawFd,
};

use driver_kit::{
    Error, OrFailed, Result,
    net::{Buffers, Family, address_of, locator, of_family, of_one_socket},
};
use nix::{
    errno::Errno,
    sys::socket::{MsgFlags, recv},
};
use socket2::{Domain, Socket, Type};

/// Transport names by IP version; the first is the default.
pub(crate) const NAMES: [&str; 2] = ["tcp4", "tcp6"];

/// Socket options of a participant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketOptions {
    pub(crate) family: Family,
    pub(crate) address: IpAddr,
    pub(crate) buffers: Buffers,
    pub(crate) nagle: bool,
}

impl SocketOptions {
    /// Creates a socket bound to this port of the interface; 0 selects a free one. Outgoing connections from one
    /// port share it.
    pub(crate) fn bound(&self, port: u16) -> Result<Socket> {
        let open = || -> std::io::Result<Socket> {
            let address = SocketAddr::new(self.address, port);
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
            socket.set_reuse_address(true)?;
            socket.bind(&address.into())?;
            Ok(socket)
        };
        let socket = open().or_failed(&format!("cannot open a socket at {}", self.address))?;
        // before the connection is established: only then does the window scale allow a large buffer
        self.buffers.ask(&socket)?;
        Ok(socket)
    }

    /// Parses the locator of a peer.
    pub(crate) fn peer(&self, text: &str) -> Result<SocketAddr> {
        of_family(NAMES, of_one_socket(address_of(NAMES, text)?)?, self.family)
    }
}

/// Returns the local address of a socket.
pub(crate) fn local_address(socket: &Socket) -> Result<SocketAddr> {
    let address =
        socket.local_addr().or_failed("cannot get the address of a socket: getsockname() failed")?;
    plain(address.as_socket()).ok_or_else(|| Error::failed("the address of a socket is not an IP address"))
}

/// Returns only address and port, for comparisons.
pub(crate) fn plain(address: Option<SocketAddr>) -> Option<SocketAddr> {
    address.map(|address| SocketAddr::new(address.ip(), address.port()))
}

/// Returns an address as a locator.
pub(crate) fn text(address: SocketAddr) -> String {
    locator(NAMES, address)
}

/// Returns whether the peer, which must not send data, is still connected and has sent nothing.
pub(crate) fn is_quiet(socket: &Socket) -> bool {
    let mut byte = [0];
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    matches!(recv(socket.as_raw_fd(), &mut byte, flags), Err(Errno::EAGAIN | Errno::EINTR))
}

/// Returns the number of sent bytes that the peer has not acknowledged; 0 for a closed connection.
#[allow(unsafe_code)]
pub(crate) fn unacknowledged(socket: &Socket) -> u64 {
    mod call {
        nix::ioctl_read_bad!(outq, nix::libc::TIOCOUTQ, nix::libc::c_int);
    }
    let mut bytes = 0;
    // SAFETY: the descriptor is that of an open socket, for which this call (SIOCOUTQ in tcp(7)) writes an int.
    let outcome = unsafe { call::outq(socket.as_raw_fd(), &raw mut bytes) };
    outcome.map_or(0, |_| u64::try_from(bytes).unwrap_or(0))
}
