//! Other hosts: agents that run elsewhere, behind the same traits as those on this host.
//!
//! ```text
//! runner -> StewardSite --frames over stdin and stdout of a command--> steward -> LocalSite -> agents
//!                         ssh HOST ddsmark steward, or ddsmark steward in a host of a lab
//! ```
//!
//! - A *steward* is `ddsmark steward`: it runs a [`site::LocalSite`] on its host, and multiplexes the control channels
//!   and the output of its agents over one stream. When the stream ends or stays silent, it ends its agents, removes
//!   their files and exits. When it is killed, its agents die with it.
//! - [`StewardSite`] implements [`site::Site`] over that stream. When the stream ends or stays silent, every call and
//!   every agent fails with an error that names the host and the cause.
//! - How a steward is started is only a command: [`StewardCommand`]. [`ssh`] makes one, after it has copied the
//!   programs and drivers to the host. [`lab_steward`] makes one for a virtual host, which has them already.

mod client;
pub mod framing;
mod lab_host;
pub mod protocol;
pub mod ssh;
mod start_error;
mod steward;

pub use client::{
    site::StewardSite,
    steward_command::{Patience, StewardCommand},
};
pub use lab_host::lab_steward;
pub use start_error::StartError;
pub use steward::{
    server::{StewardEnd, serve},
    streams::take_streams,
};
