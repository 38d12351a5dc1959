//! UDP sockets, bound to an ephemeral port or to a multicast group, with the options that the standard library
//! lacks (flags, buffer sizes, multicast).
use std::{
    hash::{BuildHasher, RandomState},
    net::{IpAddr, SocketAddr, UdpSocket},
    os::fd::AsRawFd,
    time::Duration,
};

use driver_kit::{
    Error, OrFailed, Result, Settings, abi,
    net::{Buffers, Family},
};
use nix::{
    errno::Errno,
    sys::socket::{
        MsgFlags, Shutdown, SockaddrStorage, getsockopt, recv, send, sendto, setsockopt, shutdown,
        sockopt::{UdpGroSegment, UdpGsoSegment},
    },
};

use socket2::{Domain, InterfaceIndexOrAddress, SockRef, Type};

use crate::{
    locator::Locator,
    multicast::{self, Multicast},
    packing::Load,
    segments,
};

/// UDP socket, bound to an ephemeral port or to a multicast group.
#[derive(Debug)]
pub(crate) struct Socket {
    socket: UdpSocket,
    pub(crate) locator: Locator,
    asked: Buffers,
    /// Multicast parameters, if it uses multicast.
    multicast: Option<Multicast>,
    /// Size of the segments into which the kernel cuts what is sent; 0 if it does not.
    segment: u16,
}

impl Socket {
    /// Creates a socket at an ephemeral port of `address`.
    pub(crate) fn bound(address: IpAddr, asked: Buffers) -> Result<Self> {
        let failed = |error| Error::os(&format!("cannot open a socket at {address}"), error);
        let socket = UdpSocket::bind(SocketAddr::new(address, 0)).map_err(failed)?;
        let locator = Locator::new(socket.local_addr().map_err(failed)?)?;
        Self::with_buffers(socket, locator, asked)
    }

    /// Creates a socket for sending by multicast: through its interface, with its hop limit, and looped back to
    /// this host.
    pub(crate) fn to_groups(way: Multicast, asked: Buffers) -> Result<Self> {
        let socket = Self { multicast: Some(way), ..Self::bound(way.address, asked)? };
        socket
            .send_through(&way)
            .or_failed("cannot set the multicast options of a socket: setsockopt() failed")?;
        Ok(socket)
    }

    fn send_through(&self, way: &Multicast) -> std::io::Result<()> {
        let socket = SockRef::from(&self.socket);
        match way.address {
            IpAddr::V4(address) => {
                socket.set_multicast_if_v4(&address)?;
                socket.set_multicast_ttl_v4(way.hops())?;
                socket.set_multicast_loop_v4(true)
            }
            IpAddr::V6(_) => {
                socket.set_multicast_if_v6(way.interface)?;
                socket.set_multicast_hops_v6(way.hops())?;
                socket.set_multicast_loop_v6(true)
            }
        }
    }

    /// Creates a socket that receives only the group of a topic on its interface.
    pub(crate) fn in_group_of(topic: &str, way: Multicast, asked: Buffers) -> Result<Self> {
        let mut attempt = 0;
        loop {
            let group = way.group(topic, attempt);
            attempt += 1;
            match Self::joined(group, &way) {
                Ok(socket) => {
                    // identifies this reader among all of the group, on all hosts
                    let locator = Locator::of_member(group, RandomState::new().hash_one(std::process::id()))?;
                    return Ok(Self { multicast: Some(way), ..Self::with_buffers(socket, locator, asked)? });
                }
                Err(error) if multicast::is_taken(&error) && attempt < multicast::TRIES => {}
                Err(error) => {
                    return Err(Error::os(&format!("cannot join the multicast group {group}"), error));
                }
            }
        }
    }

    fn joined(group: SocketAddr, way: &Multicast) -> std::io::Result<UdpSocket> {
        let socket = socket2::Socket::new(Domain::for_address(group), Type::DGRAM, None)?;
        // other readers of the topic have the same address
        socket.set_reuse_address(true)?;
        socket.bind(&group.into())?;
        match group.ip() {
            IpAddr::V4(group) => {
                socket.set_multicast_all_v4(false)?;
                socket.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(way.interface))?;
            }
            IpAddr::V6(group) => socket.join_multicast_v6(&group, way.interface)?,
        }
        Ok(socket.into())
    }

    fn with_buffers(socket: UdpSocket, locator: Locator, asked: Buffers) -> Result<Self> {
        asked.ask(&socket)?;
        Ok(Self { socket, locator, asked, multicast: None, segment: 0 })
    }

    /// Reports the send buffer: the requested size, and the size that the kernel granted.
    pub(crate) fn show_send_buffer(&self, settings: &mut Settings<'_>) -> Result<()> {
        self.asked.show_send(&self.socket, settings)
    }

    /// Reports the receive buffer: the requested size, and the size that the kernel granted.
    pub(crate) fn show_receive_buffer(&self, settings: &mut Settings<'_>) -> Result<()> {
        self.asked.show_receive(&self.socket, settings)
    }

    /// Reports the effective multicast settings for sending.
    pub(crate) fn show_way_out(&self, settings: &mut Settings<'_>) -> Result<()> {
        let Some(way) = &self.multicast else {
            settings.set("multicast", "off");
            return Ok(());
        };
        let socket = SockRef::from(&self.socket);
        let failed =
            |error| Error::os("cannot read the multicast options of a socket: getsockopt() failed", error);
        let (through_it, hops, loops) = match way.address {
            IpAddr::V4(address) => (
                socket.multicast_if_v4().map_err(failed)? == address,
                socket.multicast_ttl_v4().map_err(failed)?,
                socket.multicast_loop_v4().map_err(failed)?,
            ),
            IpAddr::V6(_) => (
                socket.multicast_if_v6().map_err(failed)? == way.interface,
                socket.multicast_hops_v6().map_err(failed)?,
                socket.multicast_loop_v6().map_err(failed)?,
            ),
        };
        // it can only be connected to a group
        settings.set("multicast", if through_it { "on" } else { "unknown" });
        settings.set("multicast_hops", &hops);
        settings.set("multicast_loop", &loops);
        Ok(())
    }

    /// Reports whether it receives only a multicast group: then it is bound to one.
    pub(crate) fn show_way_in(&self, settings: &mut Settings<'_>) -> Result<()> {
        let bound =
            self.socket.local_addr().or_failed("cannot get the address of a socket: getsockname() failed")?;
        settings.set("multicast", if bound.ip().is_multicast() { "on" } else { "off" });
        Ok(())
    }

    /// Limits multicast to this host from now on.
    pub(crate) fn keep_on_this_host(&self) -> Result<()> {
        let socket = SockRef::from(&self.socket);
        let kept = match self.locator.family() {
            Family::V4 => socket.set_multicast_ttl_v4(0),
            Family::V6 => socket.set_multicast_hops_v6(0),
        };
        kept.or_failed("cannot limit multicast to this host: setsockopt() failed")
    }

    /// Returns the address of a peer as seen from here. Returns an error if only one of the two uses multicast.
    pub(crate) fn way_to(&self, peer: Locator) -> Result<SocketAddr> {
        match &self.multicast {
            Some(way) if peer.is_multicast() => Ok(way.through(peer.address)),
            None if !peer.is_multicast() => Ok(peer.address),
            _ => Err(Error::bad_argument(format!(
                "only one of the endpoints `{}` and `{peer}` uses multicast",
                self.locator
            ))
            .hint("open writer and reader with the same value of `multicast`")),
        }
    }

    /// Sets the peer that [`Self::send`] sends to.
    pub(crate) fn connect(&self, peer: Locator) -> Result<()> {
        self.socket.connect(self.way_to(peer)?).map_err(|error| {
            Error::os(&format!("cannot connect `{}` with `{peer}`: connect() failed", self.locator), error)
                .hint("open writer and reader on interfaces of the same network")
        })
    }

    /// Limits the time for which a send waits for room; `DURATION_INFINITE` removes the limit.
    pub(crate) fn set_send_limit(&self, limit_ns: u64) -> Result<()> {
        self.socket
            .set_write_timeout(whole_micros(limit_ns))
            .or_failed("cannot set the send timeout: setsockopt(SO_SNDTIMEO) failed")
    }

    /// Returns the effective limit.
    pub(crate) fn send_limit(&self) -> Result<u64> {
        let limit = self
            .socket
            .write_timeout()
            .or_failed("cannot read the send timeout: getsockopt(SO_SNDTIMEO) failed")?;
        Ok(limit.map_or(abi::DURATION_INFINITE, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Limits the time for which a receive waits for a datagram; `DURATION_INFINITE` removes the limit.
    pub(crate) fn set_receive_limit(&self, limit_ns: u64) -> Result<()> {
        self.socket
            .set_read_timeout(whole_micros(limit_ns))
            .or_failed("cannot set the receive timeout: setsockopt(SO_RCVTIMEO) failed")
    }

    /// Lets the kernel cut what is sent into segments of this size; 0 lets it send one datagram per call.
    pub(crate) fn set_segment(&mut self, bytes: u16) -> Result<()> {
        setsockopt(&self.socket, UdpGsoSegment, &bytes.into())
            .or_failed("cannot set the size of segments: setsockopt(UDP_SEGMENT) failed")?;
        self.segment = bytes;
        Ok(())
    }

    /// Reports the size of segments, as the kernel has it.
    pub(crate) fn show_segment(&self, settings: &mut Settings<'_>) -> Result<()> {
        let bytes = getsockopt(&self.socket, UdpGsoSegment)
            .or_failed("cannot read the size of segments: getsockopt(UDP_SEGMENT) failed")?;
        settings.set("udp_segment", &bytes);
        Ok(())
    }

    /// Lets one receive call return several datagrams.
    pub(crate) fn coalesce(&self) -> Result<()> {
        setsockopt(&self.socket, UdpGroSegment, &true)
            .or_failed("cannot receive segments: setsockopt(UDP_GRO) failed")
    }

    /// Reports whether one receive call returns several datagrams, as the kernel has it. A kernel without this option
    /// does not do that.
    pub(crate) fn show_coalescing(&self, settings: &mut Settings<'_>) {
        let coalesces = getsockopt(&self.socket, UdpGroSegment).unwrap_or(false);
        settings.set("udp_gro", if coalesces { "on" } else { "off" });
    }

    /// Returns the maximum payload that reaches the peer without IP fragments.
    pub(crate) fn path_limit(&self) -> Result<usize> {
        segments::path_limit(&self.socket, self.locator.family())
            .or_failed("cannot get the MTU of the path: getsockopt() failed")
    }

    /// Sends to the peer with one call.
    #[inline]
    pub(crate) fn send(&self, load: Load<'_>, flags: MsgFlags) -> Result<usize, Errno> {
        let socket = self.socket.as_raw_fd();
        if self.cuts_itself(load) {
            return send(socket, load.bytes, flags);
        }
        segments::send_to(socket, load.bytes, load.segment, None, flags)
    }

    /// Sends to this address with one call.
    #[inline]
    pub(crate) fn send_to(
        &self,
        load: Load<'_>,
        to: &SockaddrStorage,
        flags: MsgFlags,
    ) -> Result<usize, Errno> {
        let socket = self.socket.as_raw_fd();
        if self.cuts_itself(load) {
            return sendto(socket, load.bytes, to, flags);
        }
        segments::send_to(socket, load.bytes, load.segment, Some(to), flags)
    }

    /// Returns whether the size of segments of this socket is that of the load. No sample is larger than it.
    #[inline]
    fn cuts_itself(&self, load: Load<'_>) -> bool {
        load.segment == 0 || load.segment == self.segment
    }

    /// Receives the next datagram and returns its original length, which may exceed the buffer.
    #[inline]
    pub(crate) fn receive(&self, room: &mut [u8], flags: MsgFlags) -> Result<usize, Errno> {
        recv(self.socket.as_raw_fd(), room, flags | MsgFlags::MSG_TRUNC)
    }

    /// Receives one or more datagrams, as [`segments::receive`].
    #[inline]
    pub(crate) fn receive_segments(&self, room: &mut [u8], flags: MsgFlags) -> Result<(usize, usize), Errno> {
        segments::receive(self.socket.as_raw_fd(), room, flags)
    }

    /// Wakes a thread that waits in [`Self::receive`]: that call and all later ones return an empty datagram.
    pub(crate) fn end_receive(&self) {
        // Returns an error for an unconnected socket, but takes effect nevertheless.
        let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Read);
    }
}

/// Returns the limit in whole microseconds, as the kernel expects: never shorter than requested. `None` is no
/// limit.
fn whole_micros(limit_ns: u64) -> Option<Duration> {
    (limit_ns != abi::DURATION_INFINITE).then(|| Duration::from_micros(limit_ns.div_ceil(1000).max(1)))
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
}
