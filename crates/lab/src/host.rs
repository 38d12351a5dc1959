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
    /// MTU of its interface in bytes.
    pub mtu_bytes: u32,
}

impl Host {
    /// Returns the name of the lab.
    pub(crate) fn lab(&self) -> &str {
        self.namespace.split('.').next().unwrap_or_default()
    }

    /// Returns the words before a command line that run it in the host: `ip netns exec` and the namespace, which `/sys` then
    /// shows. Unlike [`Host::command`], it keeps the host name and the `/dev/shm` of this host, which several hosts then share.
    #[must_use]
    pub fn prefix(&self) -> [String; 4] {
        ["ip", "netns", "exec", &self.namespace].map(str::to_owned)
    }
}
