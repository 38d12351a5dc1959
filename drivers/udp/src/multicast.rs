//! Data by IP multicast: which group, through which interface, and whether the host has a way to it.
//!
//! A topic has a group and a port of its own, the same on every host: a writer hands each datagram to the kernel once,
//! however many readers there are. A reader is bound to its group, so that nothing but multicast reaches it.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use driver_kit::{Error, Result, net::Family};
use nix::{errno::Errno, net::if_::if_nametoindex};

use crate::locator::NAMES;

/// Ports below those that RTPS 2.5 (section 9.6.2) gives to participants, and below the ephemeral ones.
const PORTS: std::ops::Range<u16> = 5_120..7_168;
/// How many of these a reader tries, where others hold some.
pub(crate) const TRIES: u16 = 16;

/// How a participant sends and receives by multicast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multicast {
    /// The interface, by number.
    pub(crate) interface: u32,
    /// Its address, by which IPv4 knows it.
    pub(crate) address: IpAddr,
    pub(crate) domain: u32,
}

impl Multicast {
    pub(crate) fn new(interface: &str, address: IpAddr, domain: u32) -> Result<Self> {
        let number = if_nametoindex(interface)
            .map_err(|errno| Error::os(&format!("interface `{interface}` has no number"), errno))?;
        Ok(Self { interface: number, address, domain })
    }

    /// How far a datagram goes: not beyond this host, or this link.
    pub(crate) fn hops(&self) -> u32 {
        u32::from(!self.address.is_loopback())
    }

    /// The group of a topic, and the port that its readers try in the given attempt.
    pub(crate) fn group(&self, topic: &str, attempt: u16) -> SocketAddr {
        let hash = hash(self.domain, topic);
        let [a, b, c, d, ..] = hash.to_le_bytes();
        let ip = match Family::of(self.address) {
            // the local scope of RFC 2365, without its first 256 groups, where DDS has its own, and its last ones, which
            // have a fixed meaning
            Family::V4 => IpAddr::from(Ipv4Addr::new(239, 255, 1 + a % 254, b)),
            // a group for a while (RFC 4291, section 2.7), of the interface or of the link, by a number that is not
            // assigned (RFC 3307, section 4.3)
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

    /// The same address, for sockets of this host: IPv6 wants to be told the interface.
    pub(crate) fn through(&self, group: SocketAddr) -> SocketAddr {
        match group {
            SocketAddr::V6(v6) => SocketAddrV6::new(*v6.ip(), v6.port(), 0, self.interface).into(),
            v4 => v4,
        }
    }

    /// Why this host cannot multicast over its interface.
    pub(crate) fn no_way(&self, interface: &str, family: Family, cause: &Error) -> Error {
        let hint = match family {
            Family::V6 if self.address.is_loopback() => {
                "`ip -6 route add local ff00::/8 dev lo table local` gives this host a way".to_owned()
            }
            _ => format!("`ip link set {interface} multicast on`, and look whether a firewall drops it"),
        };
        Error::unsupported(format!(
            "no multicast by {} over interface `{interface}`: {cause}",
            family.pick(NAMES)
        ))
        .hint(hint)
    }
}

/// A port that somebody else has to himself.
pub(crate) fn is_taken(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(Errno::EADDRINUSE as i32)
}

/// FNV-1a over 64 bits, with its last bits spread: the same in every build, on every host.
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
