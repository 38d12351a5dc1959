//! Packet sockets: whole frames of one interface, with the time at which each arrived.

use std::{
    io::{self, IoSliceMut},
    os::fd::{AsRawFd as _, OwnedFd},
    time::{Duration, Instant, SystemTime},
};

use nix::{
    errno::Errno,
    net::if_::if_nametoindex,
    sys::{
        socket::{
            AddressFamily, ControlMessageOwned, MsgFlags, MultiHeaders, SockFlag, SockType, recvmmsg,
            setsockopt, socket, sockopt,
        },
        time::TimeSpec,
    },
};

/// Bytes before each frame: `struct virtio_net_hdr`, which says what of the checksum is still to be computed.
pub(crate) const HEADER_BYTES: usize = 10;

/// Bytes of the buffers of a socket.
const BUFFER_BYTES: usize = 8 << 20;
/// Maximum age of a frame; more is a step of the clock.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Options of `linux/if_packet.h` that `libc` lacks or types otherwise.
const PACKET_STATISTICS: libc::c_int = 6;
const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_QDISC_BYPASS: libc::c_int = 20;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

/// Opens a socket for the frames that arrive at an interface of the namespace of the calling thread.
pub(crate) fn open(interface: &str) -> io::Result<OwnedFd> {
    // Without a protocol: the socket receives nothing before it is bound to its interface.
    let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, sockopt::RcvBufForce, &BUFFER_BYTES)?;
    setsockopt(&socket, sockopt::SndBufForce, &BUFFER_BYTES)?;
    // The thread of the switch may be late; the time of a frame is when the host sent it.
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    for option in [PACKET_VNET_HDR, PACKET_QDISC_BYPASS, PACKET_IGNORE_OUTGOING] {
        set(&socket, option)?;
    }
    let index = if_nametoindex(interface)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET.cast_unsigned().try_into().expect("a family is 16 bits"),
        sll_protocol: u16::try_from(libc::ETH_P_ALL).expect("a protocol is 16 bits").to_be(),
        sll_ifindex: index.cast_signed(),
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = libc::socklen_t::try_from(size_of_val(&address)).expect("an address is short");
    // SAFETY: the socket is open, and `address` is a valid address of `length` bytes for the call.
    let status = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    Errno::result(status)?;
    Ok(socket)
}

/// Switches on an option.
fn set(socket: &OwnedFd, option: libc::c_int) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of_val(&on)).expect("an integer is short");
    // SAFETY: the socket is open, and `on` is valid and has `length` bytes for the call.
    let status = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, (&raw const on).cast(), length)
    };
    Errno::result(status)?;
    Ok(())
}

/// Buffers for the frames that are taken from a socket at once.
pub(crate) struct Batch {
    headers: MultiHeaders<()>,
    buffers: Vec<Vec<u8>>,
}

impl Batch {
    pub(crate) fn new(frames: usize, frame_bytes: usize) -> Self {
        let control = nix::cmsg_space!(TimeSpec);
        Self {
            headers: MultiHeaders::preallocate(frames, Some(control)),
            buffers: vec![vec![0; frame_bytes]; frames],
        }
    }

    /// Takes the frames that have arrived, at most as many as there are buffers, without waiting. Calls `each` with the bytes of
    /// each and when it arrived; without bytes if a frame is longer than a buffer.
    pub(crate) fn take(&mut self, socket: &OwnedFd, mut each: impl FnMut(Option<&[u8]>, Instant)) {
        let mut slices: Vec<_> = self.buffers.iter_mut().map(|buffer| [IoSliceMut::new(buffer)]).collect();
        let found =
            recvmmsg(socket.as_raw_fd(), &mut self.headers, &mut slices, MsgFlags::MSG_DONTWAIT, None);
        let Ok(found) = found else { return };
        // In this order: a pause between the two makes a frame later, never earlier.
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = Instant::now();
        for message in found {
            let time = message.cmsgs().ok().into_iter().flatten().find_map(|control| match control {
                ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time)),
                _ => None,
            });
            let age = since_1970.saturating_sub(time.unwrap_or(since_1970)).min(MAX_AGE);
            let is_whole = !message.flags.contains(MsgFlags::MSG_TRUNC);
            each(message.iovs().next().filter(|_| is_whole), now.checked_sub(age).unwrap_or(now));
        }
    }
}

/// Returns the frames that did not fit into the receive buffer since the last call.
pub(crate) fn dropped(socket: &OwnedFd) -> io::Result<u64> {
    // `struct tpacket_stats`: packets, drops.
    let mut statistics = [0_u32; 2];
    let mut length = libc::socklen_t::try_from(size_of_val(&statistics)).expect("two integers are short");
    // SAFETY: the socket is open; `statistics` has `length` bytes, and both are valid and writable for the call.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    };
    Errno::result(status)?;
    Ok(u64::from(statistics[1]))
}
