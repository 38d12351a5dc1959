//! One TCP socket: how it is opened, and what only the kernel can tell of it.
use std::{
    net::{IpAddr, SocketAddr},
    os::fd::AsRawFd,
};

use driver_kit::{
    Error, Result,
    net::{Buffers, Family, address_of, locator, of_family, of_one_socket},
};
use nix::{
    errno::Errno,
    sys::socket::{MsgFlags, recv},
};
use socket2::{Domain, Socket, Type};

/// The transports, by version of IP; the default first.
pub(crate) const NAMES: [&str; 2] = ["tcp4", "tcp6"];

/// How the sockets of a participant are opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) family: Family,
    pub(crate) address: IpAddr,
    pub(crate) buffers: Buffers,
    pub(crate) nagle: bool,
}

impl Way {
    /// A socket at this port of the interface; 0: at one that is free. Those that call from one port share it.
    pub(crate) fn bound(&self, port: u16) -> Result<Socket> {
        let open = || {
            let address = SocketAddr::new(self.address, port);
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
            socket.set_reuse_address(true)?;
            socket.bind(&address.into())?;
            Ok(socket)
        };
        let socket = open().map_err(|error: std::io::Error| {
            Error::os(&format!("a socket at {} cannot be opened", self.address), error)
        })?;
        // before it is connected: only so does it announce a window for a large buffer
        self.buffers.ask(&socket)?;
        Ok(socket)
    }

    /// The address that the text of a peer's locator tells.
    pub(crate) fn peer(&self, text: &str) -> Result<SocketAddr> {
        of_family(NAMES, of_one_socket(address_of(NAMES, text)?)?, self.family)
    }
}

/// Where a socket is.
pub(crate) fn local_address(socket: &Socket) -> Result<SocketAddr> {
    let address = socket.local_addr().map_err(|error| Error::os("a socket has no address", error))?;
    plain(address.as_socket()).ok_or_else(|| Error::failed("a socket has no address of IP"))
}

/// Address and port, and nothing else, so that they can be compared.
pub(crate) fn plain(address: Option<SocketAddr>) -> Option<SocketAddr> {
    address.map(|address| SocketAddr::new(address.ip(), address.port()))
}

/// The same as text.
pub(crate) fn text(address: SocketAddr) -> String {
    locator(NAMES, address)
}

/// Whether the other end of a connection, which is to send nothing, is there and has sent nothing.
pub(crate) fn is_quiet(socket: &Socket) -> bool {
    let mut byte = [0];
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    matches!(recv(socket.as_raw_fd(), &mut byte, flags), Err(Errno::EAGAIN | Errno::EINTR))
}

/// How many bytes of what was sent the other end has not acknowledged; none of a connection that is no more.
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
