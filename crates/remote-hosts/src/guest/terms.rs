//! Terms of a guest: what a configuration must agree with.

use control::Configure;
use experiment::ThreadPriorities;
use host::SiteError;

use super::limits;

/// Values that a guest was started with. A configuration with other ones is rejected. The agent has no options, and is not pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestTerms {
    /// DDS domain.
    pub domain: u32,
    /// Name of the transport.
    pub transport: String,
    /// Name of the network interface.
    pub interface: String,
    /// Priorities of the threads of the agent; `None`: inherited.
    pub priorities: Option<ThreadPriorities>,
}

impl GuestTerms {
    /// Checks that a configuration agrees with the terms, and that it is within the limits of a guest.
    ///
    /// # Errors
    /// Returns an error that names the first item that differs, with both values.
    pub fn check(&self, configure: &Configure) -> Result<(), SiteError> {
        let participant = &configure.participant;
        same("domain", Some(&configure.domain.to_string()), Some(&self.domain.to_string()))?;
        same("transport", Some(&participant.transport), Some(&self.transport))?;
        same("interface", Some(&participant.interface), Some(&self.interface))?;
        for (name, value) in &participant.options {
            same(&format!("option `{name}`"), Some(value), None)?;
        }
        let cores = configure.cpus.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join(", ");
        same("cores", Some(cores.as_str()).filter(|cores| !cores.is_empty()), None)?;
        let priorities = |of: Option<ThreadPriorities>| of.map(|of| format!("{}:{}", of.main, of.receive));
        let [leader, guest] = [configure.priorities, self.priorities].map(priorities);
        same("thread priorities", leader.as_deref(), guest.as_deref())?;
        limits::check(configure)
    }
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
