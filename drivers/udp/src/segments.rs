//! Segments: one call sends several datagrams (`UDP_SEGMENT`, since Linux 4.18), and one call receives several
//! (`UDP_GRO`, since Linux 5.0). The kernel cuts the bytes; on the network the datagrams are separate.
use std::{
    io::IoSliceMut,
    net::{IpAddr, SocketAddr, UdpSocket},
    os::fd::{AsRawFd, RawFd},
    time::Duration,
};

use driver_kit::{Error, Result, net::Family};
use nix::{
    errno::Errno,
    libc,
    sys::socket::{
        ControlMessageOwned, MsgFlags, SockaddrLike, SockaddrStorage, recvmsg, send, setsockopt,
        sockopt::{UdpGroSegment, UdpGsoSegment},
    },
};

/// Maximum numbers of segments per call: of Linux since 6.10, and before.
const MOST: [usize; 2] = [128, 64];
/// Timeout of the probe in this host.
const PROBE: Duration = Duration::from_millis(500);

/// Returns the maximum number of segments per call. Sends that many datagrams of one byte within this host, and checks
/// that they arrive as such.
pub(crate) fn probe(address: IpAddr) -> Result<usize> {
    let failed = |error| Error::os("cannot send segments within this host", error);
    let bound = || UdpSocket::bind(SocketAddr::new(address, 0)).map_err(failed);
    let (from, to) = (bound()?, bound()?);
    setsockopt(&from, UdpGsoSegment, &1).map_err(|errno| lacks("UDP_SEGMENT", "4.18", errno))?;
    setsockopt(&to, UdpGroSegment, &true).map_err(|errno| lacks("UDP_GRO", "5.0", errno))?;
    from.connect(to.local_addr().map_err(failed)?).map_err(failed)?;
    to.set_read_timeout(Some(PROBE)).map_err(failed)?;
    let bytes = [0; MOST[0]];
    for most in MOST {
        match send(from.as_raw_fd(), &bytes[..most], MsgFlags::empty()) {
            Ok(_) => {
                let mut room = [0; MOST[0] + 1];
                return match receive(to.as_raw_fd(), &mut room, MsgFlags::empty()) {
                    Ok((_, 1)) => Ok(most),
                    Ok((length, _)) => Err(Error::unsupported(format!(
                        "the kernel sent {most} segments of 1 byte as a datagram of {length} bytes"
                    ))
                    .hint(HINT)),
                    Err(errno) => Err(failed(errno.into()).hint(HINT)),
                };
            }
            Err(Errno::EINVAL) => {}
            Err(errno) => return Err(failed(errno.into()).hint(HINT)),
        }
    }
    Err(failed(Errno::EINVAL.into()).hint(HINT))
}

const HINT: &str = "use `packing` = `datagram`";

/// Returns the error of a kernel without a socket option.
fn lacks(option: &str, since: &str, errno: Errno) -> Error {
    Error::unsupported(format!(
        "`packing` = `segments` is not possible: the kernel lacks {option}: setsockopt() failed: {errno}"
    ))
    .hint(format!("use Linux {since} or later, or `packing` = `datagram`"))
}

/// Control message with the size of segments: a header and its data.
#[repr(C)]
struct SegmentSize {
    header: libc::cmsghdr,
    bytes: u16,
}

// The data follow the header without a gap, and the whole has the size that the kernel steps over.
#[allow(unsafe_code, reason = "the functions of libc are unsafe")]
const _: () = {
    // SAFETY: both only compute a size.
    let (length, space) = unsafe { (libc::CMSG_LEN(2) as usize, libc::CMSG_SPACE(2) as usize) };
    assert!(std::mem::offset_of!(SegmentSize, bytes) + 2 == length && size_of::<SegmentSize>() == space);
};

/// Sends bytes as datagrams of `segment` bytes with one call, whatever size the socket has.
#[allow(unsafe_code, reason = "`sendmsg` of nix allocates memory for a control message")]
#[inline]
pub(crate) fn send_to(
    socket: RawFd,
    bytes: &[u8],
    segment: u16,
    to: Option<&SockaddrStorage>,
    flags: MsgFlags,
) -> Result<usize, Errno> {
    // SAFETY: both are plain C structures, for which zeros are valid.
    let (mut size, mut message) = unsafe { std::mem::zeroed::<(SegmentSize, libc::msghdr)>() };
    size.bytes = segment;
    size.header.cmsg_level = libc::SOL_UDP;
    size.header.cmsg_type = libc::UDP_SEGMENT;
    size.header.cmsg_len = (std::mem::offset_of!(SegmentSize, bytes) + size_of::<u16>()) as _;
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if let Some(to) = to {
        message.msg_name = to.as_ptr().cast_mut().cast();
        message.msg_namelen = to.len();
    }
    message.msg_control = (&raw mut size).cast();
    message.msg_controllen = size_of::<SegmentSize>() as _;
    // SAFETY: the message refers to `part`, `bytes`, `to` and `size`, which outlive the call; the lengths are theirs, and
    // the kernel only reads them.
    Errno::result(unsafe { libc::sendmsg(socket, &raw const message, flags.bits()) })
        .map(|sent| sent as usize)
}

/// Receives one or more datagrams of one sender. Returns the number of bytes, which may exceed the buffer, and the size of
/// each datagram but the last, which may be smaller.
#[inline]
pub(crate) fn receive(socket: RawFd, room: &mut [u8], flags: MsgFlags) -> Result<(usize, usize), Errno> {
    /// Room for the control message, aligned as its header.
    #[repr(align(8))]
    struct Control([u8; 64]);
    let mut control = Control([0; 64]);
    let mut parts = [IoSliceMut::new(room)];
    let message = recvmsg::<()>(socket, &mut parts, Some(&mut control.0), flags | MsgFlags::MSG_TRUNC)?;
    let segment = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::UdpGroSegments(bytes) => usize::try_from(bytes).ok(),
        _ => None,
    });
    Ok((message.bytes, segment.unwrap_or(message.bytes)))
}

/// Returns the maximum payload that the path to the peer of a connected socket carries without IP fragments.
#[allow(unsafe_code, reason = "nix lacks `IPV6_MTU`")]
pub(crate) fn path_limit(socket: &UdpSocket, family: Family) -> std::io::Result<usize> {
    let (level, option) =
        family.pick([(libc::IPPROTO_IP, libc::IP_MTU), (libc::IPPROTO_IPV6, libc::IPV6_MTU)]);
    let (mut mtu, mut length) = (0 as libc::c_int, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: the kernel writes at most `length` bytes, the size of `mtu`; both pointers are valid during the call.
    let status = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, (&raw mut mtu).cast(), &raw mut length)
    };
    Errno::result(status)?;
    // headers of IP and UDP
    Ok(usize::try_from(mtu).unwrap_or(0).saturating_sub(family.pick([20, 40]) + 8))
}

#[cfg(test)]
mod tests {
    use driver_kit::Status;

    use super::*;

    fn sockets() -> (UdpSocket, UdpSocket) {
        let bound = || UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let (from, to) = (bound(), bound());
        from.connect(to.local_addr().expect("an address")).expect("connected");
        to.set_read_timeout(Some(PROBE)).expect("set");
        (from, to)
    }

    #[test]
    fn a_kernel_without_the_option_is_explained() {
        let error = lacks("UDP_SEGMENT", "4.18", Errno::ENOPROTOOPT);
        assert_eq!(error.status(), Status::Unsupported);
        assert_eq!(
            error.to_string(),
            "`packing` = `segments` is not possible: the kernel lacks UDP_SEGMENT: setsockopt() failed: \
             ENOPROTOOPT: Protocol not available; hint: use Linux 4.18 or later, or `packing` = `datagram`"
        );
    }

    #[test]
    fn this_kernel_sends_as_many_segments_as_the_probe_returns() {
        let most = probe([127, 0, 0, 1].into()).expect("possible");
        assert!(MOST.contains(&most), "{most}");
        let (from, _to) = sockets();
        let sent = |count: usize| send_to(from.as_raw_fd(), &vec![0; count * 3], 3, None, MsgFlags::empty());
        assert_eq!((sent(most), sent(most + 1)), (Ok(most * 3), Err(Errno::EINVAL)));
    }

    #[test]
    fn segments_arrive_together_or_one_by_one() {
        let (from, to) = sockets();
        let place = SockaddrStorage::from(to.local_addr().expect("an address"));
        let mut room = [0; 100];
        for (coalesced, peer) in [(false, None), (true, None), (true, Some(&place))] {
            setsockopt(&to, UdpGroSegment, &coalesced).expect("set");
            let sent = send_to(from.as_raw_fd(), b"abcabcab", 3, peer, MsgFlags::empty());
            assert_eq!(sent, Ok(8));
            let mut next = || receive(to.as_raw_fd(), &mut room, MsgFlags::empty());
            if coalesced {
                assert_eq!(next(), Ok((8, 3)));
            } else {
                assert_eq!([next(), next(), next()], [Ok((3, 3)), Ok((3, 3)), Ok((2, 2))]);
            }
        }
        assert_eq!(path_limit(&from, Family::V4).expect("read"), 65_507, "of `lo`");
    }
}
