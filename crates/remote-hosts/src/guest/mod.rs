//! Guest: this host as the site of a leader that is not trusted, because anyone on the network may send its messages.
//!
//! A steward serves a [`GuestSite`](site::GuestSite) as it serves any site. The guest starts only its own driver with the
//! environment of its process, one agent at a time. It passes a configuration on only if it agrees with what this process
//! was started with, its [`GuestTerms`](terms::GuestTerms). The process sees all requests and replies of its agent through
//! a [`GuestObserver`](observer::GuestObserver).

mod agent;
mod limits;
pub(crate) mod observer;
pub(crate) mod site;
pub(crate) mod terms;

use host::SiteError;

/// Next step for requests that no leader of this build sends.
const SAME_BUILD: &str =
    "use the same build of ddsmark on both hosts; if it is the same, another program sends requests";

/// Returns the error of a request that a guest never accepts. Both sides report it.
fn forbidden(item: &str) -> SiteError {
    SiteError::failed(format!("a guest rejects {item}"), SAME_BUILD)
}

/// Checks that a value of a request is within the limit of a guest.
fn at_most(item: &str, value: u64, most: u64) -> Result<(), SiteError> {
    if value <= most {
        return Ok(());
    }
    Err(SiteError::failed(format!("a guest rejects {item}: {value}, at most {most}"), SAME_BUILD))
}
