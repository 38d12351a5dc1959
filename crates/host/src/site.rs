//! Interfaces of a site and of its agents.

use std::{
    any::Any,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use control::{MonotonicClock, Reply, Request};
use results::{Environment, NoiseProbe, NoiseRule, Reference, RunningExperiment};

use crate::{
    agents::log::AgentLog,
    machine::{counters::Counters, environment::EnvironmentInputs},
    values::{
        agent_command::AgentCommand,
        clock_exchange::{ClockClient, ClockExchange, ClockReading, ClockResponder},
        error::SiteError,
        facts::Facts,
        owner::Owner,
        process_exit::{ChannelEnd, ProcessExit},
    },
};

/// Host where agents run. The two runs of a duet use it from two threads.
///
/// Process ids, cores, paths and times in its values are those of that host. Values serialize; agents and holds are
/// handles of the process that uses the site. A function with an error returns one if the host does not answer.
pub trait Site: Sync {
    /// Starts an agent, which ends no later than the calling thread or the connection to its host. The site passes each
    /// reply to `replies`, from threads of its own, and last the end of each control channel. All output of the agent is
    /// written to `log`.
    ///
    /// # Errors
    /// Returns an error if the agent cannot be started.
    fn launch(
        &self,
        command: &AgentCommand,
        log: AgentLog,
        replies: ReplySink,
    ) -> Result<Box<dyn Agent>, SiteError>;

    /// Returns facts about the host.
    fn facts(&self) -> Result<Facts, SiteError>;

    /// Returns everything outside an experiment that may influence its results. Values that cannot be read are absent.
    fn environment(&self, inputs: &EnvironmentInputs) -> Result<Environment, SiteError>;

    /// Returns the first file that the value of an environment variable names by URI and that does not exist. Some
    /// middleware ignores it silently.
    fn missing_file(&self, value: &str) -> Result<Option<PathBuf>, SiteError>;

    /// Measures interruptions of all given cores at the same time. Returns `None` if a core cannot be probed.
    fn probe(&self, cores: &[u32], rule: &NoiseRule) -> Result<Option<NoiseProbe>, SiteError>;

    /// Returns the kernel's counters of other activity.
    fn counters(&self, cores: &[u32]) -> Result<Counters, SiteError>;

    /// Measures round trip and rate of a bare UDP socket for `length_ns`, between threads on these cores; without
    /// cores the scheduler chooses. Blocks for about that time; on a busy host for at most 2 s.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started or pinned, if datagrams do not arrive, or if the host does not
    /// answer.
    fn reference(
        &self,
        sender_cores: &[u32],
        receiver_cores: &[u32],
        length_ns: u64,
    ) -> Result<Reference, String>;

    /// Keeps the cores awake as long as the hold lives.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started, pinned, or given the policy `SCHED_IDLE`.
    fn keep_awake(&self) -> Result<Guard, SiteError>;

    /// Reserves a DDS domain in the network of the host.
    fn claim_domain(&self, number: u32) -> Result<DomainClaim, SiteError>;

    /// Announces an experiment with this results directory to others on the host. Returns it as they see it, and the
    /// announcement, which lasts until it is dropped; `None` if the host has no announcements.
    fn announce(&self, directory: &Path) -> Result<(RunningExperiment, Option<Guard>), SiteError>;

    /// Returns all experiments that are announced on the host now. One whose process has ended is not.
    fn announced(&self) -> Result<Vec<RunningExperiment>, SiteError>;

    /// Returns the owner of the names of runs on this host.
    fn owner(&self) -> Owner;

    /// Removes the files whose names contain the name of a run or conformance case. On a host that does not answer,
    /// whatever manages its agents removes them.
    fn clean(&self, name: &str);

    /// Removes the files of owners that no longer exist, for example after SIGKILL.
    fn sweep(&self);

    /// Returns the monotonic clock that the agents read.
    fn clock(&self) -> MonotonicClock;

    /// Starts to answer the packets of a clock exchange. Returns the address, and what ends the responder when it is
    /// dropped.
    ///
    /// # Errors
    /// Returns an error if the interface has no address, if the agents read another clock than the site, or if the host
    /// does not answer.
    fn clock_responder(&self, responder: &ClockResponder) -> Result<(SocketAddr, Guard), SiteError>;

    /// Exchanges packets with the responder of another site. Returns the times of those with a reply, possibly none.
    /// Blocks for at most the limit.
    ///
    /// # Errors
    /// Returns an error if no packet can be sent, if the agents read another clock than the site, or if the host does
    /// not answer.
    fn clock_exchange(&self, client: &ClockClient) -> Result<Vec<ClockExchange>, SiteError>;

    /// Reads the clocks of the host.
    fn clock_reading(&self) -> Result<ClockReading, SiteError>;
}

/// Receiver of the replies of an agent, each with the index of its control channel, and last of the end of each channel.
pub type ReplySink = Box<dyn FnMut(u32, Result<Box<Reply>, ChannelEnd>) + Send>;

/// Running agent: a process with a control channel for each of its endpoints. Dropping it ends the process.
pub trait Agent: Send {
    /// Sends a request over the control channel with this index.
    ///
    /// # Errors
    /// Returns an error if the request cannot be sent.
    fn send(&self, channel: u32, request: &Request) -> Result<(), ChannelEnd>;

    /// Closes the control channels, upon which the agent exits immediately.
    fn hang_up(&self);

    /// Waits for the exit of the process, kills it after `limit`, and kills all processes that it has left. No process
    /// remains.
    fn end(&mut self, limit: Duration) -> ProcessExit;

    /// Returns the last non-empty lines of the agent's output.
    fn last_log_lines(&self) -> Vec<String>;

    /// Returns the cause if the host of the agent is lost. This host never is.
    fn lost(&self) -> Option<SiteError> {
        None
    }
}

/// Effect on a site that lasts until this is dropped.
pub type Guard = Box<dyn Any + Send>;

/// Outcome of the reservation of a domain.
#[derive(Debug)]
pub enum DomainClaim {
    /// Reserved until the hold is dropped.
    Reserved(Guard),
    /// Reserved by another experiment.
    InUse,
    /// Reservation not possible on this host.
    Unsupported,
}
