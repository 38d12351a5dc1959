//! Facts about the host of a site.

use std::{collections::BTreeMap, net::Ipv6Addr};

use results::Host;
use serde::{Deserialize, Serialize};

use super::{error::SiteError, networks::InterfaceAddress};

/// Facts about the host of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Properties that influence results.
    pub host: Host,
    /// Cores that agents may use.
    pub cores: Vec<u32>,
    /// Names of the network interfaces; `None` if they cannot be listed.
    pub interfaces: Option<Vec<String>>,
    /// IPv4 addresses of the interfaces that are up, without the loopback interface.
    pub addresses: Vec<InterfaceAddress>,
    /// First IPv6 address of each of these interfaces that has one of more than its link.
    #[serde(default)]
    pub ipv6_addresses: BTreeMap<String, Ipv6Addr>,
    /// Identity of the network namespace; `None` if it cannot be read. Sites in one namespace share its domains.
    pub network: Option<String>,
}

impl Facts {
    /// Checks that agents can be pinned to the given cores.
    ///
    /// # Errors
    /// Returns an error if a core does not exist or agents may not use it.
    pub fn check_cores(&self, cores: &[u32]) -> Result<(), SiteError> {
        match cores.iter().find(|core| !self.cores.contains(core)) {
            Some(core) => {
                let allowed: Vec<String> = self.cores.iter().map(u32::to_string).collect();
                let error = format!("core {core} not found, or not available to this process");
                Err(SiteError::NotFound { error, hint: format!("available: {}", allowed.join(", ")) })
            }
            None => Ok(()),
        }
    }

    /// Returns the IPv4 address of each interface that has one, as text.
    #[must_use]
    pub fn ipv4_texts(&self) -> BTreeMap<String, String> {
        self.addresses.iter().map(|own| (own.interface.clone(), own.address.to_string())).collect()
    }

    /// Returns the IPv6 address of each interface that has one, as text.
    #[must_use]
    pub fn ipv6_texts(&self) -> BTreeMap<String, String> {
        self.ipv6_addresses.iter().map(|(name, address)| (name.clone(), address.to_string())).collect()
    }

    /// Checks that the host has a network interface. Without a list of interfaces, the driver will report an error.
    ///
    /// # Errors
    /// Returns an error if the host does not have it.
    pub fn check_interface(&self, interface: &str) -> Result<(), SiteError> {
        match &self.interfaces {
            Some(known) if known.iter().all(|name| name != interface) => {
                let error = format!("network interface `{interface}` not found");
                Err(SiteError::NotFound { error, hint: format!("available: {}", known.join(", ")) })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::properties::capture_facts;

    #[test]
    fn unknown_interface_is_an_error_with_the_available_ones() {
        let facts = capture_facts();
        facts.check_interface("lo").unwrap();
        let error = facts.check_interface("ddsmark0").unwrap_err();
        assert!(error.hint().unwrap().contains("lo"), "{error:?}");
        let unlisted = Facts { interfaces: None, ..facts };
        unlisted.check_interface("ddsmark0").unwrap();
    }

    #[test]
    fn unavailable_core_is_an_error_with_the_available_ones() {
        let facts = Facts { cores: vec![2, 3], ..capture_facts() };
        facts.check_cores(&[3, 2]).unwrap();
        let error = facts.check_cores(&[2, 4]).unwrap_err();
        assert_eq!(error.hint().as_deref(), Some("available: 2, 3"));
        assert_eq!(error.hint().as_deref(), Some("available: 2, 3"));
    }
}
