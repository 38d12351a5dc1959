//! Execution of experiments: starts agent processes for each run, leads them through its phases with time limits,
//! then saves what the crate `collector` makes of their reports.
//!
//! ```text
//! ExperimentRunner::execute
//!   for each scheduled run:  Domain lock -> AgentSet (one agent per endpoint) -> RunPhases -> collector::collect -> Directory::save_run
//! ```
//!
//! - Agents run on a [`host::Site`] of the [`Sites`] of the experiment, which starts them and has everything that only makes sense on their host.
//! - An `AgentSet` has the agents of one run. It waits for all of them together: the exit of one agent ends the wait
//!   for another. It ends every process in all cases.
//! - A failed run does not end the experiment. A driver whose first runs all fail alike is given up, see [`ExperimentRunner`].
//! - [`DriverBuild`] builds a driver from its sources against a version of its middleware.
//! - This crate prints nothing, see [`Observer`]. Only the scripts of [`DriverBuild`] print to standard error.

mod agents;
mod drivers;
mod error;
mod run;
mod session;
mod sites;
mod stop_token;
mod version;

pub use control::{CaseInfo, CaseOutcome, OpenOptions, PolicyProbe, Progress as AgentProgress};
pub use drivers::{
    check::{Cases, CheckOptions, cases, check},
    describe::{DriverInspection, describe, inspect, inspect_named},
    install::{DriverBuild, InstalledDriver},
    install_error::InstallError,
    search_path::DriverSearchPath,
    sources::{DriverSource, KnownVersion, Sources},
};
pub use error::RunnerError;
pub use run::endpoint_progress::{EndpointProgress, OnProgress};
pub use session::{
    ExperimentOutcome, ExperimentRunner,
    observer::{Observer, Progress},
    preflight::{Preflight, check_domain, preflight},
};
pub use sites::{HostLinks, SiteHost, Sites};
pub use stop_token::StopToken;
pub use version::{ParseVersionError, Version, split as split_version};
