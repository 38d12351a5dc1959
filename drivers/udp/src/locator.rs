//! Locators as text: `udp4:127.0.0.1:40123`, `udp6:[::1]:40123`. The locator of a multicast reader is its group and
//! a number that identifies it in the group: `udp4:239.255.3.4:5120#00f3a1b2c3d4e5f6`.
use std::{fmt, net::SocketAddr, str::FromStr};

use driver_kit::{
    Error,
    net::{Family, address_of, locator, of_family, of_one_socket},
};

/// Transport names by IP version; the first is the default.
pub(crate) const NAMES: [&str; 2] = ["udp4", "udp6"];

/// Address of a socket, or of a multicast group and one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locator {
    pub(crate) address: SocketAddr,
    /// Number of the member, in a group.
    member: Option<u64>,
}

impl Locator {
    /// Creates the locator of a unicast address. Returns an error for other addresses.
    pub(crate) fn new(address: SocketAddr) -> Result<Self, Error> {
        let address = of_one_socket(address)?;
        Ok(Self { address, member: None })
    }

    /// Creates the locator of a member of a group. Returns an error if the address is not multicast.
    pub(crate) fn of_member(mut group: SocketAddr, member: u64) -> Result<Self, Error> {
        if !group.ip().is_multicast() || group.port() == 0 {
            return Err(Error::bad_argument(format!("`{group}` is not the address of a multicast group"))
                .hint("use a multicast address and a port"));
        }
        if let SocketAddr::V6(group) = &mut group {
            // an interface index has no meaning on another host
            group.set_scope_id(0);
        }
        Ok(Self { address: group, member: Some(member) })
    }

    pub(crate) fn family(self) -> Family {
        Family::from_address(self.address.ip())
    }

    pub(crate) fn is_multicast(self) -> bool {
        self.member.is_some()
    }

    /// Parses the locator of a peer, which must have the same IP version.
    pub(crate) fn of_peer(text: &str, family: Family) -> Result<Self, Error> {
        let locator: Self = text.parse()?;
        of_family(NAMES, locator.address, family)?;
        Ok(locator)
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&locator(NAMES, self.address))?;
        self.member.map_or(Ok(()), |member| write!(f, "#{member:016x}"))
    }
}

impl FromStr for Locator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (address, member) = match text.split_once('#') {
            Some((address, member)) => (address, Some(u64::from_str_radix(member, 16).ok())),
            None => (text, None),
        };
        let address = address_of(NAMES, address)?;
        match member {
            None => Self::new(address),
            Some(Some(member)) => Self::of_member(address, member),
            Some(None) => {
                Err(Error::bad_argument(format!("`{text}` has no hexadecimal number after the `#`"))
                    .hint("example: `udp4:239.255.3.4:5120#00000000000000ff`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_of_both_families() {
        for text in [
            "udp4:127.0.0.1:40123",
            "udp6:[::1]:40123",
            "udp6:[fd00::2]:1",
            "udp4:239.255.3.4:5120#00000000000000ff",
            "udp6:[ff11::8001:2]:5120#fedcba9876543210",
        ] {
            assert_eq!(text.parse::<Locator>().map(|locator| locator.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_member_of_a_group_is_refused() {
        for text in ["udp4:127.0.0.1:5#1", "udp6:[ff11::1]:0#1", "udp4:239.1.1.1:5#", "udp4:239.1.1.1:5#x"] {
            assert!(text.parse::<Locator>().is_err(), "{text}");
        }
        let error = Locator::of_peer("udp6:[::1]:1", Family::V4).expect_err("other family").to_string();
        assert!(error.contains("cannot be reached over transport `udp4`"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_parses_or_is_rejected(text in ".*") {
            let _ = text.parse::<Locator>();
        }

        #[test]
        fn near_valid_locators_parse_or_are_rejected(text in "udp[46]:\\[?[0-9a-f:.%]{0,30}\\]?:[0-9]{0,6}") {
            if let Ok(locator) = text.parse::<Locator>() {
                prop_assert_eq!(locator.to_string().parse(), Ok(locator));
            }
        }

        #[test]
        fn what_is_written_is_read(bits in any::<u32>(), wide in any::<u128>(), port in 1u16..) {
            for ip in [IpAddr::V4(Ipv4Addr::from(bits)), IpAddr::V6(Ipv6Addr::from(wide))] {
                if let Ok(locator) = Locator::new(SocketAddr::new(ip, port)) {
                    prop_assert_eq!(locator.to_string().parse(), Ok(locator));
                }
            }
        }
    }
}
