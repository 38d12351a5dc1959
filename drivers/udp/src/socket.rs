//! One UDP socket, bound to an ephemeral port: what the standard library has of it, and what only the kernel's own
//! calls have (flags, buffer sizes).
use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    os::fd::AsRawFd,
    time::Duration,
};

use driver_kit::{Error, Result, Settings, abi};
use nix::{
    errno::Errno,
    sys::socket::{
        MsgFlags, Shutdown, SockaddrStorage, getsockopt, recv, send, sendto, setsockopt, shutdown,
        sockopt::{RcvBuf, SndBuf},
    },
};

use crate::locator::Locator;

/// What to ask of the kernel; `None`: nothing, its default stays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    pub(crate) send: Option<u64>,
    pub(crate) receive: Option<u64>,
}

/// See above.
#[derive(Debug)]
pub(crate) struct Socket {
    socket: UdpSocket,
    locator: Locator,
    asked: Buffers,
}

impl Socket {
    /// A socket at an ephemeral port of `address`.
    pub(crate) fn bound(address: IpAddr, asked: Buffers) -> Result<Self> {
        let failed = |error| Error::os(&format!("a socket at {address} cannot be opened"), error);
        let socket = UdpSocket::bind(SocketAddr::new(address, 0)).map_err(failed)?;
        let locator = Locator::new(socket.local_addr().map_err(failed)?)?;
        if let Some(bytes) = asked.send {
            let bytes = buffer_size(bytes, "send")?;
            setsockopt(&socket, SndBuf, &bytes).map_err(|errno| Error::os("SO_SNDBUF", errno))?;
        }
        if let Some(bytes) = asked.receive {
            let bytes = buffer_size(bytes, "receive")?;
            setsockopt(&socket, RcvBuf, &bytes).map_err(|errno| Error::os("SO_RCVBUF", errno))?;
        }
        Ok(Self { socket, locator, asked })
    }

    pub(crate) fn locator(&self) -> Locator {
        self.locator
    }

    /// Shows the buffers: what was asked for, and what the kernel says that it granted.
    pub(crate) fn show_send_buffer(&self, settings: &mut Settings<'_>) -> Result<()> {
        let granted = getsockopt(&self.socket, SndBuf).map_err(|errno| Error::os("SO_SNDBUF", errno))?;
        show_buffer(settings, "send_buffer_bytes", granted, self.asked.send);
        Ok(())
    }

    /// As above.
    pub(crate) fn show_receive_buffer(&self, settings: &mut Settings<'_>) -> Result<()> {
        let granted = getsockopt(&self.socket, RcvBuf).map_err(|errno| Error::os("SO_RCVBUF", errno))?;
        show_buffer(settings, "receive_buffer_bytes", granted, self.asked.receive);
        Ok(())
    }

    /// Fixes the peer that [`Self::send`] sends to.
    pub(crate) fn connect(&self, peer: Locator) -> Result<()> {
        self.socket.connect(peer.address()).map_err(|error| {
            Error::os(&format!("no way from {} to {peer}", self.locator), error)
                .hint("open both ends on interfaces of the same network")
        })
    }

    /// Limits how long a send may wait for room. 0 is no limit.
    pub(crate) fn set_send_limit(&self, limit_ns: u64) -> Result<()> {
        self.socket.set_write_timeout(whole_micros(limit_ns)).map_err(|error| Error::os("SO_SNDTIMEO", error))
    }

    /// That limit as the kernel has it.
    pub(crate) fn send_limit(&self) -> Result<u64> {
        let limit = self.socket.write_timeout().map_err(|error| Error::os("SO_SNDTIMEO", error))?;
        Ok(limit.map_or(abi::DURATION_INFINITE, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Limits how long a receive may wait for a datagram.
    pub(crate) fn set_receive_limit(&self, limit_ns: u64) -> Result<()> {
        self.socket.set_read_timeout(whole_micros(limit_ns)).map_err(|error| Error::os("SO_RCVTIMEO", error))
    }

    #[inline]
    pub(crate) fn send(&self, datagram: &[u8], flags: MsgFlags) -> Result<usize, Errno> {
        send(self.socket.as_raw_fd(), datagram, flags)
    }

    #[inline]
    pub(crate) fn send_to(
        &self,
        datagram: &[u8],
        to: &SockaddrStorage,
        flags: MsgFlags,
    ) -> Result<usize, Errno> {
        sendto(self.socket.as_raw_fd(), datagram, to, flags)
    }

    /// The next datagram, and its true length, which may be more than there is room for.
    #[inline]
    pub(crate) fn receive(&self, room: &mut [u8], flags: MsgFlags) -> Result<usize, Errno> {
        recv(self.socket.as_raw_fd(), room, flags | MsgFlags::MSG_TRUNC)
    }

    /// Wakes a thread that waits in [`Self::receive`]: it gets an empty datagram, as do all receives that follow.
    pub(crate) fn wake(&self) {
        // Says that an unconnected socket is not connected, and does it all the same.
        let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Read);
    }
}

/// The kernel takes whole microseconds, and 0 as no limit; ours is never shorter than what was asked for.
fn whole_micros(limit_ns: u64) -> Option<Duration> {
    (limit_ns != abi::DURATION_INFINITE).then(|| Duration::from_micros(limit_ns.div_ceil(1000).max(1)))
}

fn buffer_size(bytes: u64, what: &str) -> Result<usize> {
    i32::try_from(bytes).map(|bytes| bytes as usize).map_err(|_| {
        Error::bad_argument(format!(
            "a {what} buffer of {bytes} bytes; the kernel takes at most {}",
            i32::MAX
        ))
    })
}

fn show_buffer(settings: &mut Settings<'_>, name: &str, granted: usize, asked: Option<u64>) {
    settings.set(name, &granted);
    let asked = asked.map_or_else(|| "kernel default".to_owned(), |bytes| bytes.to_string());
    settings.set(&format!("{name}_asked"), &asked);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_never_shorter_than_asked() {
        assert_eq!(whole_micros(1), Some(Duration::from_micros(1)));
        assert_eq!(whole_micros(1_500), Some(Duration::from_micros(2)));
        assert_eq!(whole_micros(2_000_000), Some(Duration::from_millis(2)));
        assert_eq!(whole_micros(abi::DURATION_INFINITE), None);
    }

    #[test]
    fn absurd_buffers_are_refused() {
        let error = buffer_size(1 << 31, "send").expect_err("refused").to_string();
        assert_eq!(error, "a send buffer of 2147483648 bytes; the kernel takes at most 2147483647");
    }
}
