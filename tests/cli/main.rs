//! The command as users see it: exact output and exit status.
//!
//! Each case is compared with a file of `snapshots/`; `INSTA_UPDATE=always` rewrites these files. Needs the agent and the
//! `udp` driver: `make drivers` once, and a build of the workspace.

mod agreement;
mod comparisons;
mod control_characters;
mod errors;
mod experiments;
mod formats;
mod generated;
mod imports;
mod installation;
#[path = "../../crates/results/tests/sample/mod.rs"]
mod sample;
mod support;
mod words;
