//! Requests and replies of an agent, as its process sees them while a leader controls it.

use control::{Reply, Request};
use host::SiteError;

/// Observer of a guest's agent. Its methods are called by the threads that pass the messages on, so they return at once.
pub trait GuestObserver: Send + Sync {
    /// Observes each request before the agent gets it: the configuration, and the start of each phase.
    fn requested(&self, _request: &Request) {}

    /// Observes each reply before the leader gets it: the results of each phase, and the report.
    fn replied(&self, _reply: &Reply) {}

    /// Observes a request that is rejected. The agent does not get it, and ends.
    fn rejected(&self, _error: &SiteError) {}
}
