//! Virtual hosts.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// Virtual host of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Name of the host, `h1` and so on.
    pub name: String,
    /// Name of its network namespace, as `ip netns` lists it.
    pub namespace: String,
    /// IPv4 address of its interface.
    pub address: Ipv4Addr,
    /// Name of its interface, `eth0`.
    pub interface: String,
}
