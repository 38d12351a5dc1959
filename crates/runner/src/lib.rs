//! Execution of experiments: starts agent processes for each run, leads them through its phases with time limits,
//! then saves what the crate `collector` makes of their reports.
//!
//! ```text
//! Session::execute
//!   for each scheduled run:  Domain lock -> Crew (two agents) -> pair phases -> collector::collect -> Directory::save_run
//! ```
//!
//! - [`Launcher`] abstracts where agents run: [`LocalLauncher`] starts them on this host.
//! - A crew is the set of agents of one run. It waits for all of them together: the exit of one agent ends the wait
//!   for another. It ends every process in all cases.
//! - A failed run does not end the experiment. A driver whose first runs all fail alike is given up, see [`Session`].
//! - [`Build`] builds a driver from its sources against a version of its middleware.
//! - This crate prints nothing, see [`Observer`]. Only the scripts of [`Build`] print to standard error.

mod agents;
mod drivers;
mod error;
mod host;
mod meeting;
mod run;
mod session;
mod stop;
mod version;

pub use agents::{
    launcher::{AgentProcess, Ending, Launch, Launcher, LocalLauncher},
    leftovers::{Found, SharedList},
};
pub use control::{CaseInfo, Verdict, Way};
pub use drivers::{
    check::{cases, check},
    describe::{Inspected, describe, inspect_named},
    install::{Build, Installed},
    install_error::InstallError,
    search_path::{DriverFile, DriverPath},
    sources::{DriverSource, KnownVersion, Sources},
};
pub use error::{CanBeBuilt, RunnerError};
pub use host::{
    awake::KeepAwake,
    cores::{allowed_cores, check_cores},
    environment::{Parts, capture_environment},
    properties::{capture_host, check_interface, host_warnings},
    variables::missing_file,
};
pub use session::{
    Outcome, Session,
    observer::{Observer, Progress},
    rehearse::rehearse,
};
pub use stop::Stop;
pub use version::{NoVersion, Version, split as split_version};
