//! IP multicast: groups, interface, and a check that the host can use it.
//!
//! Each topic has its own group and port, the same on every host. A writer passes each datagram to the kernel once,
//! however many readers there are. A reader is bound to its group, so it receives only multicast.
use std::{
    fmt::Display,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6},
};

use driver_kit::{Error, OrFailed, Result, net::Family};
use nix::{errno::Errno, net::if_::if_nametoindex};

use crate::locator::NAMES;

/// Ports below those of participants in RTPS 2.5 (section 9.6.2), and below the ephemeral ports.
const PORTS: std::ops::Range<u16> = 5_120..7_168;
/// Number of ports that a reader tries if some are in use.
pub(crate) const TRIES: u16 = 16;

/// Multicast parameters of a participant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multicast {
    /// Interface index.
    pub(crate) interface: u32,
    /// Address of the interface, which selects it for IPv4.
    pub(crate) address: IpAddr,
    pub(crate) domain: u32,
}

impl Multicast {
    pub(crate) fn new(interface: &str, address: IpAddr, domain: u32) -> Result<Self> {
        let number = if_nametoindex(interface).or_failed(&format!(
            "cannot get the index of interface `{interface}`: if_nametoindex() failed"
        ))?;
        Ok(Self { interface: number, address, domain })
    }

    /// Returns the hop limit: 0 stays on this host, 1 on this link.
    pub(crate) fn hops(&self) -> u32 {
        u32::from(!self.address.is_loopback())
    }

    /// Returns the group of a topic, with the port that its readers try in this attempt.
    pub(crate) fn group(&self, topic: &str, attempt: u16) -> SocketAddr {
        let hash = hash(self.domain, topic);
        let [a, b, c, d, ..] = hash.to_le_bytes();
        let ip = match Family::from_address(self.address) {
            // the local scope of RFC 2365, without its first 256 groups, which DDS uses, and its last ones, which
            // are reserved
            Family::V4 => IpAddr::from(Ipv4Addr::new(239, 255, 1 + a % 254, b)),
            // a transient group (RFC 4291, section 2.7) with interface-local or link-local scope and a dynamic
            // group ID (RFC 3307, section 4.3)
            Family::V6 => {
                let scope = if self.address.is_loopback() { 0xff11 } else { 0xff12 };
                let number = [0x8000 | u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
                IpAddr::from(Ipv6Addr::new(scope, 0, 0, 0, 0, 0, number[0], number[1]))
            }
        };
        let port = (hash >> 48) as u16 % (PORTS.end - PORTS.start);
        let port = PORTS.start + (port + attempt) % (PORTS.end - PORTS.start);
        self.through(SocketAddr::new(ip, port))
    }

    /// Returns the address for sockets of this host: IPv6 requires the interface index.
    pub(crate) fn through(&self, group: SocketAddr) -> SocketAddr {
        match group {
            SocketAddr::V6(v6) => SocketAddrV6::new(*v6.ip(), v6.port(), 0, self.interface).into(),
            v4 => v4,
        }
    }

    /// Returns the error of an interface on which multicast is disabled.
    pub(crate) fn disabled(interface: &str, family: Family) -> Error {
        impossible(interface, family, "multicast is disabled there")
            .hint(format!("enable multicast with `ip link set dev {interface} multicast on`"))
    }

    /// Returns the error of a host that cannot use multicast on the interface.
    pub(crate) fn no_way(&self, interface: &str, family: Family, cause: &Error) -> Error {
        let route = match family {
            Family::V6 if self.address.is_loopback() => {
                "`ip -6 route add local ff00::/8 dev lo table local`".to_owned()
            }
            Family::V6 => {
                format!(
                    "`ip -6 route add multicast ff00::/8 dev {interface} table local`, or check the firewall"
                )
            }
            Family::V4 => format!("`ip route add 224.0.0.0/4 dev {interface}`, or check the firewall"),
        };
        impossible(interface, family, cause).hint(format!("add a route with {route}"))
    }
}

fn impossible(interface: &str, family: Family, cause: impl Display) -> Error {
    let transport = family.pick(NAMES);
    Error::unsupported(format!(
        "multicast over `{transport}` is not possible on interface `{interface}`: {cause}"
    ))
}

/// Returns whether the error means that another socket uses the port exclusively.
pub(crate) fn is_taken(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(Errno::EADDRINUSE as i32)
}

/// Returns the 64-bit FNV-1a hash with mixed low bits: the same in every build and on every host.
fn hash(domain: u32, topic: &str) -> u64 {
    let bytes = domain.to_le_bytes().into_iter().chain(topic.bytes());
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(address: &str, interface: u32) -> Multicast {
        Multicast { interface, address: address.parse().expect("an address"), domain: 7 }
    }

    #[test]
    fn a_topic_has_the_same_group_everywhere_and_another_topic_another() {
        let (here, there) = (over("127.0.0.1", 1), over("10.0.0.2", 4));
        assert_eq!(here.group("a", 0), there.group("a", 0));
        assert_ne!(here.group("a", 0), here.group("b", 0));
        assert_ne!(here.group("a", 0), Multicast { domain: 8, ..here }.group("a", 0));
        assert_eq!((here.hops(), there.hops()), (0, 1));
    }

    #[test]
    fn groups_are_of_a_local_scope_and_ports_out_of_the_way() {
        for topic in (0..2_000).map(|number| format!("topic-{number}")) {
            for way in [over("127.0.0.1", 1), over("::1", 1), over("fd00::1", 2)] {
                let group = way.group(&topic, 3);
                assert!(PORTS.contains(&group.port()), "{group}");
                assert_eq!(group.port(), way.group(&topic, 3).port());
                match group {
                    SocketAddr::V4(v4) => {
                        let [a, b, c, _] = v4.ip().octets();
                        assert!((a, b) == (239, 255) && (1..255).contains(&c), "{group}");
                    }
                    SocketAddr::V6(v6) => {
                        let expected = if way.address.is_loopback() { 0xff11 } else { 0xff12 };
                        assert_eq!((v6.ip().segments()[0], v6.scope_id()), (expected, way.interface));
                        assert!(v6.ip().segments()[6] >= 0x8000, "{group}");
                    }
                }
            }
        }
    }
}
