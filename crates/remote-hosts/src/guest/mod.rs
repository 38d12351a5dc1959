//! Guest: this host as the site of a leader that is not trusted, because anyone on the network may send its messages.
//!
//! A steward serves a [`GuestSite`](site::GuestSite) as it serves any site. The guest starts only its own driver with its
//! own environment variables, one agent at a time. It passes a configuration on only if it agrees with what this process
//! was started with, its [`GuestTerms`](terms::GuestTerms). The process sees all requests and replies of its agent through
//! a [`GuestObserver`](observer::GuestObserver).

mod agent;
mod error;
mod limits;
pub(crate) mod observer;
pub(crate) mod site;
pub(crate) mod terms;

pub use error::GuestError;
