//! The address of a network interface.
use std::net::IpAddr;

use driver_kit::{Error, Result};
use nix::{ifaddrs::getifaddrs, sys::socket::SockaddrStorage};

use crate::locator::Family;

/// The first address of `family` that the interface has. Link-local ones do not count: they mean nothing to another
/// host without the number of its interface.
pub(crate) fn address(interface: &str, family: Family) -> Result<IpAddr> {
    let all = getifaddrs().map_err(|errno| Error::os("the interfaces cannot be listed", errno))?;
    let mut exists = false;
    for entry in all.filter(|entry| entry.interface_name == interface) {
        exists = true;
        if let Some(ip) = entry.address.as_ref().and_then(ip_of).filter(|ip| usable(*ip, family)) {
            return Ok(ip);
        }
    }
    Err(if exists {
        let version = match family {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        };
        Error::bad_argument(format!("interface `{interface}` has no {version} address to bind"))
            .hint("`ip -br address` lists the addresses of this host; link-local ones are not used")
    } else {
        Error::bad_argument(format!("interface `{interface}` does not exist"))
            .hint("`ip -br link` lists the interfaces of this host")
    })
}

fn ip_of(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
}

fn usable(ip: IpAddr, family: Family) -> bool {
    let link_local = matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
    Family::of(ip) == family && !link_local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_the_loopback_address() {
        assert_eq!(address("lo", Family::V4), Ok(IpAddr::from([127, 0, 0, 1])));
    }

    #[test]
    fn link_local_addresses_are_not_used() {
        let ip = |text: &str| text.parse().expect("an address");
        assert!(!usable(ip("fe80::1"), Family::V6));
        assert!(usable(ip("fd00::1"), Family::V6) && !usable(ip("fd00::1"), Family::V4));
        assert!(usable(ip("169.254.0.1"), Family::V4), "an IPv4 one needs no interface number");
    }
}
