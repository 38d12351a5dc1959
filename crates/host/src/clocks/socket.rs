//! Sockets and clock reads of an exchange.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    os::fd::AsFd as _,
    time::Duration,
};

use nix::{
    ifaddrs::getifaddrs,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::socket::{AddressFamily, SockaddrLike as _, SockaddrStorage, setsockopt, sockopt::BindToDevice},
    time::{ClockId, clock_gettime},
};

use super::packet::PACKET_BYTES;
use crate::values::{clock::monotonic_ns, clock_exchange::ClockReading};

/// Silence after which a side waits in the kernel instead of reading its socket in a loop. A quiet link answers earlier. On a
/// host without a free core, a thread that reads in a loop runs only now and then, and one that waits is preferred.
const SPIN_NS: u64 = 100_000;
/// Attempts to read two clocks without an interruption in between.
const READS: usize = 20;

/// Opens a socket that receives packets of this interface only, at its IPv4 address if it has one.
///
/// # Errors
/// Returns an error if the interface has no address, or if the socket cannot be bound.
pub(super) fn open(interface: &str) -> io::Result<UdpSocket> {
    let address = address(interface)?;
    let socket = UdpSocket::bind(SocketAddr::new(address, 0))?;
    // On kernels before 5.7 only root may do this. The address alone then selects the interface.
    let _ = setsockopt(&socket, BindToDevice, &interface.into());
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Returns the first usable address of an interface.
fn address(interface: &str) -> io::Result<IpAddr> {
    let addresses: Vec<IpAddr> = getifaddrs()?
        .filter(|found| found.interface_name == interface)
        .filter_map(|found| ip_address(&found.address?))
        .collect();
    let v4 = addresses.iter().find(|address| address.is_ipv4());
    v4.or(addresses.first()).copied().ok_or_else(|| {
        io::Error::new(io::ErrorKind::AddrNotAvailable, format!("interface `{interface}` has no IP address"))
    })
}

/// Returns the IP address, except link-local ones of IPv6, which need a scope.
fn ip_address(address: &SockaddrStorage) -> Option<IpAddr> {
    match address.family()? {
        AddressFamily::Inet => Some(IpAddr::V4(address.as_sockaddr_in()?.ip())),
        AddressFamily::Inet6 => {
            let ip = address.as_sockaddr_in6()?.ip();
            (!ip.is_unicast_link_local()).then_some(IpAddr::V6(ip))
        }
        _ => None,
    }
}

/// Receives a packet and reads the clock right after it. Returns `None` after `wait`, at the latest when `is_over`
/// returns true.
///
/// # Errors
/// Returns the error of the socket.
pub(super) fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8; PACKET_BYTES + 1],
    wait: Duration,
    is_over: impl Fn() -> bool,
) -> io::Result<Option<(usize, SocketAddr, u64)>> {
    let begin_ns = monotonic_ns();
    let wait_ns = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
    loop {
        match socket.recv_from(buffer) {
            Ok((length, from)) => return Ok(Some((length, from, monotonic_ns()))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        let waited_ns = monotonic_ns().saturating_sub(begin_ns);
        if waited_ns >= wait_ns || is_over() {
            return Ok(None);
        }
        if waited_ns >= SPIN_NS {
            let rest_ms = (wait_ns - waited_ns).div_ceil(1_000_000).min(20);
            let timeout = PollTimeout::from(rest_ms as u8);
            // Whatever it returns, the socket is read again.
            let _ = poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], timeout);
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Reads the clocks of this process.
pub(crate) fn read_clocks() -> ClockReading {
    let boot_ns = || {
        let now = clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from).unwrap_or_default();
        i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
    };
    let once = |_| {
        let (before_ns, boot_ns, after_ns) = (monotonic_ns(), boot_ns(), monotonic_ns());
        let middle_ns = before_ns + (after_ns - before_ns) / 2;
        ClockReading {
            monotonic_ns: after_ns,
            suspended_ns: boot_ns.saturating_sub_unsigned(middle_ns),
            uncertainty_ns: (after_ns - before_ns).div_ceil(2) + 1,
        }
    };
    let read = (0..READS).map(once).min_by_key(|read| read.uncertainty_ns);
    read.unwrap_or_else(|| once(0))
}
