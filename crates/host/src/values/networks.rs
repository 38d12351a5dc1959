//! Networks that hosts share.

use std::{collections::BTreeSet, net::Ipv4Addr};

use serde::{Deserialize, Serialize};

/// IPv4 address of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceAddress {
    /// Name of the interface.
    pub interface: String,
    /// Address.
    pub address: Ipv4Addr,
    /// Length of the network's prefix in bits.
    pub prefix: u8,
}

impl InterfaceAddress {
    /// Returns the network: its first address, and the length of its prefix.
    fn network(&self) -> (u32, u8) {
        let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix.min(32))).unwrap_or(0);
        (u32::from(self.address) & mask, self.prefix)
    }
}

/// Host without a single interface in a network that all hosts share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCommonNetwork {
    /// Index of the host.
    pub host: usize,
    /// Interfaces that could be meant, each with its address.
    pub candidates: Vec<String>,
}

/// Returns the interface of each host in the network that all hosts share.
///
/// A network is shared if each host has an address in it, and all of these differ: the bridges of container runtimes have
/// the same address on every host, and lead to no other. If a host has several interfaces in shared networks, or no
/// network is shared and a host has several interfaces, the choice is the user's.
///
/// # Errors
/// Returns an error for the first host without a definite interface.
pub fn common_interfaces(hosts: &[&[InterfaceAddress]]) -> Result<Vec<String>, NoCommonNetwork> {
    let is_shared = |network: (u32, u8)| {
        let of_host = |host: &&[InterfaceAddress]| {
            host.iter().filter(|own| own.network() == network).map(|own| own.address).collect::<Vec<_>>()
        };
        let of_hosts: Vec<Vec<Ipv4Addr>> = hosts.iter().map(of_host).collect();
        let all: Vec<Ipv4Addr> = of_hosts.concat();
        let distinct: BTreeSet<Ipv4Addr> = all.iter().copied().collect();
        of_hosts.iter().all(|own| !own.is_empty()) && distinct.len() == all.len()
    };
    let choice = |(host, addresses): (usize, &&[InterfaceAddress])| {
        let shared: Vec<_> = addresses.iter().filter(|own| is_shared(own.network())).collect();
        let candidates = if shared.is_empty() { addresses.iter().collect() } else { shared };
        let names: BTreeSet<&str> = candidates.iter().map(|own| own.interface.as_str()).collect();
        match names.into_iter().collect::<Vec<_>>().as_slice() {
            [one] => Ok((*one).to_owned()),
            _ => {
                let words = |own: &&InterfaceAddress| format!("{} ({})", own.interface, own.address);
                Err(NoCommonNetwork { host, candidates: candidates.iter().map(words).collect() })
            }
        }
    };
    hosts.iter().enumerate().map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> InterfaceAddress {
        let (interface, rest) = text.split_once(' ').expect("a name");
        let (address, prefix) = rest.split_once('/').expect("a prefix");
        InterfaceAddress {
            interface: interface.to_owned(),
            address: address.parse().expect("an address"),
            prefix: prefix.parse().expect("a number"),
        }
    }

    fn common(hosts: &[&[&str]]) -> Result<Vec<String>, (usize, Vec<String>)> {
        let hosts: Vec<Vec<InterfaceAddress>> =
            hosts.iter().map(|host| host.iter().map(|text| address(text)).collect()).collect();
        let hosts: Vec<&[InterfaceAddress]> = hosts.iter().map(Vec::as_slice).collect();
        common_interfaces(&hosts).map_err(|none| (none.host, none.candidates))
    }

    fn names(names: &[&str]) -> Result<Vec<String>, (usize, Vec<String>)> {
        Ok(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn interface_is_the_one_in_the_network_that_all_hosts_share() {
        let left = ["wlan0 10.0.0.4/24", "eth0 192.168.1.1/24", "docker0 172.17.0.1/16"];
        let right = ["end0 192.168.1.2/24", "docker0 172.17.0.1/16"];
        assert_eq!(common(&[&left, &right]), names(&["eth0", "end0"]));
        // The same address with another prefix is another network.
        assert_eq!(common(&[&["a 10.1.0.1/16", "b 10.2.0.1/24"], &["c 10.2.0.2/24"]]), names(&["b", "c"]));
    }

    #[test]
    fn only_interface_leads_to_other_networks() {
        assert_eq!(common(&[&["eth0 10.0.1.1/24"], &["eth1 10.0.2.1/24"]]), names(&["eth0", "eth1"]));
    }

    #[test]
    fn host_with_several_or_no_interfaces_is_an_error() {
        let several = ["eth0 10.0.1.1/24", "eth1 10.0.3.1/24"];
        let found = common(&[&["eth0 10.0.2.1/24"], &several]);
        assert_eq!(found, Err((1, vec!["eth0 (10.0.1.1)".to_owned(), "eth1 (10.0.3.1)".to_owned()])));
        let twice = ["eth0 10.0.1.1/24", "eth1 10.0.1.2/24"];
        assert_eq!(common(&[&twice, &["eth0 10.0.1.3/24"]]).map_err(|(host, _)| host), Err(0));
        assert_eq!(common(&[&["eth0 10.0.1.1/24"], &[]]), Err((1, Vec::new())));
    }
}
