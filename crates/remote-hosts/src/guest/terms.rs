//! Terms of a guest: what a configuration must agree with.

use std::collections::{BTreeMap, BTreeSet};

use control::Configure;
use experiment::ThreadPriorities;
use host::SiteError;
use serde::{Deserialize, Serialize};

use super::limits;

/// Values that a guest was started with. A configuration with other ones is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestTerms {
    /// DDS domain.
    pub domain: u32,
    /// Name of the transport.
    pub transport: String,
    /// Name of the network interface.
    pub interface: String,
    /// Addresses of the peers, in any order and without those of this host; `None`: the leader names them.
    pub peers: Option<Vec<String>>,
    /// Options of the participant, by name.
    pub options: BTreeMap<String, String>,
    /// Cores of the agent; `None`: not pinned.
    pub cores: Option<Vec<u32>>,
    /// Priorities of the threads of the agent; `None`: inherited.
    pub priorities: Option<ThreadPriorities>,
}

impl GuestTerms {
    /// Checks that a configuration agrees with the terms, and that it is within the limits of a guest. `own_addresses`: those
    /// of this host.
    ///
    /// # Errors
    /// Returns an error that names the first item that differs, with both values.
    pub fn check(&self, configure: &Configure, own_addresses: &[String]) -> Result<(), SiteError> {
        let participant = &configure.participant;
        same("domain", Some(&configure.domain.to_string()), Some(&self.domain.to_string()))?;
        same("transport", Some(&participant.transport), Some(&self.transport))?;
        same("interface", Some(&participant.interface), Some(&self.interface))?;
        if let Some(peers) = &self.peers {
            let others = |peers: &[String]| {
                let others: BTreeSet<&str> = peers.iter().map(String::as_str).collect();
                list(others.into_iter().filter(|peer| own_addresses.iter().all(|own| own != peer)))
            };
            same("peers", others(&participant.peers).as_deref(), others(peers).as_deref())?;
        }
        let [leader, guest] = [&participant.options, &self.options];
        for name in leader.keys().chain(guest.keys()) {
            let [leader, guest] = [leader, guest].map(|options| options.get(name).map(String::as_str));
            same(&format!("option `{name}`"), leader, guest)?;
        }
        let cores = |cores: &Option<Vec<u32>>| list(cores.iter().flatten());
        same("cores", cores(&configure.cpus).as_deref(), cores(&self.cores).as_deref())?;
        let priorities = |of: Option<ThreadPriorities>| of.map(|of| format!("{}:{}", of.main, of.receive));
        let [leader, guest] = [configure.priorities, self.priorities].map(priorities);
        same("thread priorities", leader.as_deref(), guest.as_deref())?;
        limits::check(configure)
    }
}

/// Returns a list as text; `None` if it is empty.
fn list<T: ToString>(values: impl Iterator<Item = T>) -> Option<String> {
    let texts: Vec<String> = values.map(|value| value.to_string()).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Checks that both sides have the same value.
fn same(item: &str, leader: Option<&str>, guest: Option<&str>) -> Result<(), SiteError> {
    if leader == guest {
        return Ok(());
    }
    let [leader, guest] = [leader, guest].map(|value| value.unwrap_or("none"));
    let error = format!("different {item}: {leader} at the leader, {guest} at the guest");
    Err(SiteError::failed(error, format!("start leader and guest with the same {item}")))
}
