//! Common parts of drivers over IP: IP versions, interface addresses, locators as text, and socket buffers.
use std::{
    net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6},
    os::fd::AsFd,
};

use nix::{
    ifaddrs::getifaddrs,
    net::if_::InterfaceFlags,
    sys::socket::{
        GetSockOpt, SetSockOpt, SockaddrStorage, getsockopt, setsockopt,
        sockopt::{RcvBuf, SndBuf},
    },
};

use crate::{
    config::ParticipantConfig,
    error::{Error, OrFailed, Result},
    table::Settings,
};

/// IP version; a driver has one transport for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Both versions.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// Returns the IP version of an address.
    #[must_use]
    pub const fn from_address(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    /// Returns the element for this version, such as the name of its transport.
    #[must_use]
    pub const fn pick<T: Copy>(self, both: [T; 2]) -> T {
        both[self as usize]
    }

    /// Returns the IP version of the configured transport.
    ///
    /// # Errors
    /// Returns an error if the transport is neither of the two.
    pub fn from_config(config: &ParticipantConfig<'_>, transports: [&'static str; 2]) -> Result<Self> {
        Self::ALL.into_iter().find(|family| family.pick(transports) == config.transport).ok_or_else(|| {
            Error::bad_argument(format!("unknown transport `{}`", config.transport))
                .hint(format!("available: {}", transports.join(", ")))
        })
    }
}

/// Returns the first address of `family` of the interface. Link-local addresses are excluded, because another host
/// cannot use them without an interface index of its own.
///
/// # Errors
/// Returns an error if the interface does not exist or has no such address.
pub fn interface_address(interface: &str, family: Family) -> Result<IpAddr> {
    let all = getifaddrs().or_failed("cannot list the interfaces of this host: getifaddrs() failed")?;
    let mut exists = false;
    for entry in all.filter(|entry| entry.interface_name == interface) {
        exists = true;
        if let Some(ip) = entry.address.as_ref().and_then(ip_of).filter(|ip| usable(*ip, family)) {
            return Ok(ip);
        }
    }
    Err(if exists {
        let version = family.pick(["IPv4", "IPv6"]);
        Error::bad_argument(format!("interface `{interface}` has no {version} address to bind"))
            .hint("list the addresses with `ip -br address`; link-local addresses are not used")
    } else {
        Error::bad_argument(format!("interface `{interface}` does not exist"))
            .hint("list the interfaces with `ip -br link`")
    })
}

/// Returns whether multicast is enabled on the interface. The loopback interface needs no flag. The kernel delivers
/// multicast within a host even without the flag, so only the flag shows what other hosts get.
///
/// # Errors
/// Returns an error if the interfaces of this host cannot be listed.
pub fn multicast_enabled(interface: &str) -> Result<bool> {
    let all = getifaddrs().or_failed("cannot list the interfaces of this host: getifaddrs() failed")?;
    let either = InterfaceFlags::IFF_MULTICAST | InterfaceFlags::IFF_LOOPBACK;
    Ok(all.filter(|entry| entry.interface_name == interface).any(|entry| entry.flags.intersects(either)))
}

fn ip_of(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
}

fn usable(ip: IpAddr, family: Family) -> bool {
    let link_local = matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
    Family::from_address(ip) == family && !link_local
}

/// Returns an address as a locator: `udp4:127.0.0.1:40123`, `udp6:[::1]:40123`, if `transports` are `udp4` and
/// `udp6`.
#[must_use]
pub fn locator(transports: [&str; 2], address: SocketAddr) -> String {
    format!("{}:{address}", Family::from_address(address.ip()).pick(transports))
}

/// Parses a locator.
///
/// # Errors
/// Returns an error if the text is not a locator of these transports.
pub fn address_of(transports: [&str; 2], text: &str) -> Result<SocketAddr> {
    let address = match text.split_once(':') {
        Some((name, rest)) if name == transports[0] => rest.parse::<SocketAddrV4>().ok().map(SocketAddr::V4),
        Some((name, rest)) if name == transports[1] => rest.parse::<SocketAddrV6>().ok().map(SocketAddr::V6),
        _ => None,
    };
    let [v4, v6] = transports;
    address.ok_or_else(|| {
        Error::bad_argument(format!("`{text}` is not a locator of this driver"))
            .hint(format!("example: `{v4}:127.0.0.1:40123` or `{v6}:[::1]:40123`"))
    })
}

/// Returns the address if it is that of a single socket.
///
/// # Errors
/// Returns an error if it is a multicast, broadcast or unspecified address, or has no port.
pub fn of_one_socket(address: SocketAddr) -> Result<SocketAddr> {
    let ip = address.ip();
    let broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    if ip.is_unspecified() || ip.is_multicast() || broadcast || address.port() == 0 {
        return Err(Error::bad_argument(format!("`{address}` is not the address of one socket"))
            .hint("use a unicast address and a port"));
    }
    Ok(address)
}

/// Returns the address if this transport can reach it.
///
/// # Errors
/// Returns an error if the address has the other IP version.
pub fn of_family(transports: [&str; 2], address: SocketAddr, family: Family) -> Result<SocketAddr> {
    if Family::from_address(address.ip()) != family {
        let text = locator(transports, address);
        return Err(Error::bad_argument(format!(
            "`{text}` cannot be reached over transport `{}`",
            family.pick(transports)
        ))
        .hint("open writer and reader with the same transport"));
    }
    Ok(address)
}

/// Requested sizes of socket buffers in bytes; `None` keeps the default of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// Send buffer.
    pub send: Option<u64>,
    /// Receive buffer.
    pub receive: Option<u64>,
}

impl Buffers {
    /// Creates the sizes from the configuration.
    #[must_use]
    pub const fn from_config(config: &ParticipantConfig<'_>) -> Self {
        Self { send: config.send_buffer_bytes, receive: config.receive_buffer_bytes }
    }

    /// Sets the buffer sizes of a socket.
    ///
    /// # Errors
    /// Returns an error if a size is out of range or the kernel rejects it.
    pub fn ask(&self, socket: &impl AsFd) -> Result<()> {
        ask_one(socket, SndBuf, self.send, "send", "SO_SNDBUF")?;
        ask_one(socket, RcvBuf, self.receive, "receive", "SO_RCVBUF")
    }

    /// Reports the send buffer: the requested size, and the size that the kernel granted.
    ///
    /// # Errors
    /// Returns an error if the kernel does not report the size.
    pub fn show_send(&self, socket: &impl AsFd, settings: &mut Settings<'_>) -> Result<()> {
        show_one(socket, SndBuf, self.send, "send", "SO_SNDBUF", settings)
    }

    /// Reports the receive buffer: the requested size, and the size that the kernel granted.
    ///
    /// # Errors
    /// Returns an error if the kernel does not report the size.
    pub fn show_receive(&self, socket: &impl AsFd, settings: &mut Settings<'_>) -> Result<()> {
        show_one(socket, RcvBuf, self.receive, "receive", "SO_RCVBUF", settings)
    }
}

/// Sets one of the two buffer sizes of a socket, if it is requested.
fn ask_one(
    socket: &impl AsFd,
    option: impl SetSockOpt<Val = usize>,
    bytes: Option<u64>,
    what: &str,
    name: &str,
) -> Result<()> {
    let Some(bytes) = bytes else { return Ok(()) };
    let size = i32::try_from(bytes).map(|bytes| bytes as usize).map_err(|_| {
        Error::bad_argument(format!("`{what}_buffer` is out of range: {bytes} bytes"))
            .hint(format!("use at most {} bytes", i32::MAX))
    })?;
    setsockopt(socket, option, &size)
        .or_failed(&format!("cannot set the {what} buffer: setsockopt({name}) failed"))
}

/// Reports one of the two buffers of a socket.
fn show_one(
    socket: &impl AsFd,
    option: impl GetSockOpt<Val = usize>,
    requested: Option<u64>,
    what: &str,
    name: &str,
    settings: &mut Settings<'_>,
) -> Result<()> {
    let granted = getsockopt(socket, option)
        .or_failed(&format!("cannot read the {what} buffer: getsockopt({name}) failed"))?;
    settings.set(&format!("{what}_buffer_bytes"), &granted);
    let requested = requested.map_or_else(|| "kernel default".to_owned(), |bytes| bytes.to_string());
    settings.set(&format!("{what}_buffer_bytes_asked"), &requested);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 2] = ["tcp4", "tcp6"];

    #[test]
    fn the_loopback_interface_has_the_loopback_address() {
        assert_eq!(interface_address("lo", Family::V4), Ok(IpAddr::from([127, 0, 0, 1])));
    }

    #[test]
    fn link_local_addresses_are_not_used() {
        let ip = |text: &str| text.parse().expect("an address");
        assert!(!usable(ip("fe80::1"), Family::V6));
        assert!(usable(ip("fd00::1"), Family::V6) && !usable(ip("fd00::1"), Family::V4));
        assert!(usable(ip("169.254.0.1"), Family::V4), "an IPv4 one needs no interface number");
    }

    #[test]
    fn locators_of_both_families() {
        for text in ["tcp4:127.0.0.1:40123", "tcp6:[::1]:40123", "tcp6:[fd00::2]:1"] {
            assert_eq!(address_of(NAMES, text).map(|address| locator(NAMES, address)), Ok(text.to_owned()));
        }
    }

    #[test]
    fn errors_name_the_text_and_the_form() {
        for text in [
            "",
            "tcp4",
            "tcp4:",
            "tcp4:127.0.0.1",
            "tcp4:127.0.0.1:",
            "tcp4:127.0.0.1:65536",
            "tcp4:127.0.0.1:-1",
            "tcp4: 127.0.0.1:1",
            "tcp4:127.1:1",
            "tcp4:localhost:1",
            "tcp4:[::1]:1",
            "tcp6:127.0.0.1:1",
            "tcp6:::1:1",
            "udp4:127.0.0.1:1",
            "127.0.0.1:1",
        ] {
            let error = address_of(NAMES, text).expect_err(text).to_string();
            assert!(
                error.starts_with(&format!("`{text}` is not a locator of this driver; hint: ")),
                "{error}"
            );
        }
        for text in [
            "tcp4:0.0.0.0:1",
            "tcp4:127.0.0.1:0",
            "tcp4:239.1.1.1:5",
            "tcp4:255.255.255.255:5",
            "tcp6:[::]:1",
        ] {
            let error = address_of(NAMES, text).and_then(of_one_socket).expect_err(text).to_string();
            assert!(error.contains("is not the address of one socket"), "{error}");
        }
        let address = address_of(NAMES, "tcp6:[::1]:1").expect("an address");
        let error = of_family(NAMES, address, Family::V4).expect_err("other family").to_string();
        assert!(error.contains("`tcp6:[::1]:1` cannot be reached over transport `tcp4`"), "{error}");
    }

    #[test]
    fn oversized_buffers_are_rejected() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        let buffers = Buffers { send: Some(1 << 31), receive: None };
        let error = buffers.ask(&socket).expect_err("refused").to_string();
        assert_eq!(
            error,
            "`send_buffer` is out of range: 2147483648 bytes; hint: use at most 2147483647 bytes"
        );
    }

    proptest! {
        #[test]
        fn any_text_parses_or_is_rejected(text in ".*") {
            let _ = address_of(NAMES, &text);
        }

        #[test]
        fn near_valid_locators_parse_or_are_rejected(text in "tcp[46]:\\[?[0-9a-f:.%]{0,30}\\]?:[0-9]{0,6}") {
            if let Ok(address) = address_of(NAMES, &text) {
                prop_assert_eq!(address_of(NAMES, &locator(NAMES, address)), Ok(address));
            }
        }
    }
}
