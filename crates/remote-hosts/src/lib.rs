//! Other hosts: agents that run elsewhere, behind the same traits as those on this host.
//!
//! ```text
//! runner -> StewardSite --frames over stdin and stdout of a command--> steward -> LocalSite -> agents
//!                         ssh HOST ddsmark steward, srun -w NODE ddsmark steward, or one in a host of a lab
//! ```
//!
//! - A *steward* is `ddsmark steward`: it runs a [`host::LocalSite`] on its host, and multiplexes the control channels
//!   and the output of its agents over one stream. When the stream ends or stays silent, it ends its agents, removes
//!   their files and exits. When it is killed, its agents die with it.
//! - [`StewardSite`] implements [`host::Site`] over that stream. When the stream ends or stays silent, every call and
//!   every agent fails with an error that names the host and the cause.
//! - How a steward is started is only a command: [`StewardCommand`]. [`remote::deploy`] makes one, after it has copied the
//!   programs and drivers to the host. All that it needs is a [`remote::RemoteShell`], which executes commands there:
//!   [`ssh`] and [`slurm`] have one each. [`lab_steward`] makes one for a virtual host, which has them already.
//! - Streams of any other kind lead to a steward, too: [`StewardSite::connect`] uses it, and [`serve`] is one. It serves
//!   any site. A [`GuestSite`] is one for a runner that is not trusted, its leader.

mod client;
pub mod framing;
mod guest;
mod lab_host;
pub mod protocol;
pub mod remote;
pub mod slurm;
pub mod ssh;
mod start_error;
mod steward;

pub use client::{
    site::StewardSite,
    steward_command::{StewardCommand, Timeouts},
};
pub use guest::{observer::GuestObserver, site::GuestSite, terms::GuestTerms};
pub use lab_host::lab_steward;
pub use start_error::StartError;
pub use steward::{
    server::{StewardEnd, serve},
    streams::take_streams,
};
