//! Hosts where agents run, and everything that only makes sense there.
//!
//! ```text
//! runner -> Site   launch, facts, environment, probe, clean, clock ...   one per host
//!        -> Agent  send a request, end; replies arrive at a sink         one per process
//! ```
//!
//! - The runner uses the traits [`Site`] and [`Agent`] only. Nothing in them assumes that a site is on the host of the
//!   runner: all values serialize, and process ids, paths and times are those of the site.
//! - [`LocalSite`] is this host: agents are child processes.
//! - Everything that a run creates has a name with the [`Owner`] of its site. [`Site::sweep`] removes leftovers only
//!   if it knows that their owner has ended.

mod agents;
mod barrier;
mod clocks;
mod domains;
mod local_site;
mod machine;
mod site;
mod values;

pub use control::Timeline;

pub use agents::{
    cleanup::{ManifestMatch, ShmManifest},
    log::AgentLog,
    process::await_exit,
};
pub use barrier::{BarrierGuard, RunBarrier};
pub use clocks::{
    estimate::{ClockFault, ClockOffset, ClockPoint, MAX_DRIFT_PPM, drift_within_ns, error_of_run, timeline},
    measure::{ClockEnd, RunTimeline, SiteClock, measure_clock},
    packet::{ClockPacket, PACKET_BYTES},
};
pub use domains::{Domain, Domains};
pub use local_site::LocalSite;
pub use machine::{
    cores::allowed_cores, counters::Counters, environment::EnvironmentInputs, keep_awake::KeepAwake,
    lab_limits::lab_warnings, limits::limit_warnings, loopback::LoopbackCapacity, properties::host_warnings,
};
pub use site::{Agent, DomainClaim, Guard, ReplySink, Site};
pub use values::{
    agent_command::{AgentCommand, DriverFile},
    clock::{monotonic_ns, unix_ns},
    clock_exchange::{ClockClient, ClockExchange, ClockReading, ClockResponder, ExchangeKey},
    error::SiteError,
    facts::Facts,
    networks::{InterfaceAddress, NoCommonNetwork, common_interfaces},
    owner::Owner,
    process_exit::{ChannelEnd, ProcessExit},
};
