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

mod agent;
mod awake;
mod check;
mod cores;
mod crew;
mod describe;
mod domain;
mod drivers;
mod environment;
mod error;
mod ethtool;
mod host;
mod install;
mod launcher;
mod leftovers;
mod maxima;
mod meeting;
mod noise;
mod observer;
mod pair;
mod reference;
mod rehearse;
mod run;
mod search;
mod session;
mod stop;
mod tally;
mod traces;
mod variables;
mod version;

pub use awake::KeepAwake;
pub use check::{cases, check};
pub use control::{CaseInfo, Verdict, Way};
pub use cores::{allowed_cores, check_cores};
pub use describe::{Inspected, describe, inspect_named};
pub use drivers::{DriverFile, DriverPath};
pub use environment::{Parts, capture_environment};
pub use error::{CanBeBuilt, RunnerError};
pub use host::{capture_host, check_interface, host_warnings};
pub use install::{Build, DriverSource, InstallError, Installed, KnownVersion, Sources};
pub use launcher::{AgentProcess, Ending, Launch, Launcher, LocalLauncher};
pub use leftovers::{Found, SharedList};
pub use observer::{Observer, Progress};
pub use rehearse::rehearse;
pub use session::{Outcome, Session};
pub use stop::Stop;
pub use variables::missing_file;
pub use version::{NoVersion, Version, split as split_version};
