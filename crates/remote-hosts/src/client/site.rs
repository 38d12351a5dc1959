//! Site of a steward, as the runner uses it.

use std::{
    fs::File,
    io,
    net::SocketAddr,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use control::MonotonicClock;
use host::{
    Agent, AgentCommand, AgentLog, ClockClient, ClockExchange, ClockReading, ClockResponder, Counters,
    DomainClaim, EnvironmentInputs, Facts, Guard, Owner, ProcessExit, ReplySink, Site, SiteError,
};
use results::{Environment, NoiseProbe, NoiseRule, Reference, RunningExperiment};
use serde::de::DeserializeOwned;

use super::{
    agent::StewardAgent,
    agent_state::AgentState,
    link::{Link, PEER_LOST_HINT},
    process::Process,
    steward_command::{StewardCommand, Timeouts},
    stream::{Input, NOISE_LINES, greeted, input_of},
};
use crate::{
    framing::{Frame, FrameError, MAX_FRAME_BYTES, greeting::last_lines, timed_writer::TimedWriter},
    protocol::{Call, Claim, Hello, HelloVersions, HostedSite, ToSteward, Versions},
    start_error::{SAME_VERSION, StartError, quoted},
};

/// Maximum wait for the exit of a steward that ends its agents, and of one that was only started to clean up.
const EXIT_PATIENCE: Duration = Duration::from_secs(40);
const CLEAN_TIMEOUT: Duration = Duration::from_secs(15);
/// Interval of the checks whether a steward has closed its stream.
const LOOK: Duration = Duration::from_millis(10);

/// Site on another host. Dropping it ends its steward and all agents.
pub struct StewardSite {
    link: Arc<Link>,
    timeouts: Timeouts,
    /// Command of the steward; `None` at the other end of given streams.
    command: Option<(StewardCommand, Arc<Mutex<Process>>)>,
    reader: Option<JoinHandle<()>>,
    hosted: HostedSite,
}

impl StewardSite {
    /// Starts a steward.
    ///
    /// # Errors
    /// Returns an error if the command fails, does not greet in time, or is of another version, or if its host has no
    /// agent program.
    pub fn start(steward: StewardCommand) -> Result<Self, StartError> {
        let (process, to_steward, from_steward, _) = Process::start(&steward)?;
        let (host, timeouts) = (steward.host.clone(), steward.timeouts);
        let command = Some((steward, Arc::new(Mutex::new(process))));
        Self::open(&host, timeouts, command, from_steward, to_steward)
    }

    /// Connects to a steward that another process serves, over a stream from it and a stream to it. `host`: its name in
    /// messages. The streams have no heartbeats: their carrier must end them when the other process is lost.
    ///
    /// # Errors
    /// Returns an error if it does not greet in time or is of another version, or if it has no site.
    pub fn connect(
        host: impl Into<String>,
        input: impl Into<OwnedFd>,
        output: impl Into<OwnedFd>,
        timeouts: Timeouts,
    ) -> Result<Self, StartError> {
        let host = host.into();
        let mut input = input_of(input.into().into(), &timeouts);
        greeted(&mut input, &timeouts).map_err(|error| {
            let text = format!("{error}{}", quoted(&last_lines(error.noise(), NOISE_LINES)));
            StartError::of_host(&host, text, Some(PEER_LOST_HINT.to_owned()))
        })?;
        Self::open(&host, timeouts, None, input, output.into().into())
    }

    /// Opens the site of a steward that has greeted.
    fn open(
        host: &str,
        timeouts: Timeouts,
        command: Option<(StewardCommand, Arc<Mutex<Process>>)>,
        mut from_steward: Input,
        to_steward: File,
    ) -> Result<Self, StartError> {
        let hosted = read_hello(&mut from_steward, host)?;
        let cannot = |error: io::Error| StartError::of_host(host, SiteError::no_channel(error), None);
        let to_steward = TimedWriter::new(to_steward, timeouts.silence).map_err(cannot)?;
        let link = Arc::new(Link::new(host.to_owned(), to_steward));
        // Given streams end when their carrier finds no sign of life.
        let silence = command.is_some().then_some(timeouts.silence);
        let hello = ToSteward::Hello { versions: Versions::own(), silence };
        // A steward that is gone is found by the reading thread.
        let _ = link.out.message(&hello);
        let of_reader = Arc::clone(&link);
        from_steward.get_mut().stop = Box::new(move || of_reader.out.is_abandoned());
        from_steward.get_mut().silence = silence;
        if silence.is_some() {
            let beat = Arc::clone(&link);
            thread::Builder::new()
                .name(format!("heartbeat of {host}"))
                .spawn(move || beat.out.beat())
                .map_err(cannot)?;
        }
        let of_link = Arc::clone(&link);
        let process = command.as_ref().map(|(_, process)| Arc::clone(process));
        let read = move || of_link.read(&mut from_steward, process.as_deref());
        let reader = thread::Builder::new().name(format!("host {host}")).spawn(read).map_err(cannot)?;
        Ok(Self { link, timeouts, command, reader: Some(reader), hosted })
    }

    fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, SiteError> {
        Ok(self.link.call(call, self.timeouts.call)?.1)
    }

    /// Returns the effect of a call, which lasts until it is dropped.
    fn effect(&self, id: u64) -> Guard {
        Box::new(Effect { link: Arc::clone(&self.link), id })
    }
}

/// Reads the first message of a steward.
fn read_hello(output: &mut Input, host: &str) -> Result<HostedSite, StartError> {
    let invalid = |error: String| {
        let error = format!("its steward sent an invalid first message: {error}");
        StartError::of_host(host, error, Some(SAME_VERSION.to_owned()))
    };
    let body = match Frame::read(output, MAX_FRAME_BYTES) {
        Ok(Frame::Message(body)) => body,
        Ok(other) => return Err(invalid(FrameError::Invalid(format!("{other:?}")).to_string())),
        Err(error) => return Err(invalid(error.to_string())),
    };
    let HelloVersions { versions } =
        serde_json::from_slice(&body).map_err(|error| invalid(error.to_string()))?;
    let ours = Versions::own();
    if versions != ours {
        return Err(StartError::other_version(host, &versions, &ours));
    }
    let hello: Hello = serde_json::from_slice(&body).map_err(|error| invalid(error.to_string()))?;
    hello.site.map_err(|error| StartError::of_host(host, &error, error.hint()))
}

impl Site for StewardSite {
    fn launch(
        &self,
        command: &AgentCommand,
        log: AgentLog,
        replies: ReplySink,
    ) -> Result<Box<dyn Agent>, SiteError> {
        let (link, number) = (Arc::clone(&self.link), self.link.number());
        let state = Arc::new(AgentState::new(log, command.channels, replies));
        self.link.add(number, Arc::clone(&state));
        let launched: Result<(), SiteError> =
            self.call(Call::Launch { agent: number, command: command.clone() });
        // Dropping it ends an agent whose launch was not answered in time; one that was not launched needs no end.
        let never = launched.as_ref().is_err_and(|error| !matches!(error, SiteError::NoAnswer { .. }));
        if never {
            self.link.remove(number);
        }
        let agent = StewardAgent { link, number, state, ended: never.then_some(ProcessExit::Unknown) };
        launched.map(|()| Box::new(agent) as Box<dyn Agent>)
    }

    fn facts(&self) -> Result<Facts, SiteError> {
        self.call(Call::Facts)
    }

    fn environment(&self, inputs: &EnvironmentInputs) -> Result<Environment, SiteError> {
        self.call(Call::Environment(Box::new(inputs.clone())))
    }

    fn missing_file(&self, value: &str) -> Result<Option<PathBuf>, SiteError> {
        self.call(Call::MissingFile { value: value.to_owned() })
    }

    fn probe(&self, cores: &[u32], rule: &NoiseRule) -> Result<Option<NoiseProbe>, SiteError> {
        self.call(Call::Probe { cores: cores.to_vec(), rule: rule.clone() })
    }

    fn counters(&self, cores: &[u32]) -> Result<Counters, SiteError> {
        self.call(Call::Counters { cores: cores.to_vec() })
    }

    fn reference(
        &self,
        sender_cores: &[u32],
        receiver_cores: &[u32],
        length_ns: u64,
    ) -> Result<Reference, String> {
        let (sender_cores, receiver_cores) = (sender_cores.to_vec(), receiver_cores.to_vec());
        let call = Call::Reference { sender_cores, receiver_cores, length_ns };
        self.call::<Result<Reference, String>>(call).map_err(|error| error.to_string())?
    }

    fn keep_awake(&self) -> Result<Guard, SiteError> {
        let (id, ()) = self.link.call(Call::KeepAwake, self.timeouts.call)?;
        Ok(self.effect(id))
    }

    fn claim_domain(&self, number: u32) -> Result<DomainClaim, SiteError> {
        let (id, claim) = self.link.call(Call::ClaimDomain { number }, self.timeouts.call)?;
        Ok(match claim {
            Claim::Reserved => DomainClaim::Reserved(self.effect(id)),
            Claim::InUse => DomainClaim::InUse,
            Claim::Unsupported => DomainClaim::Unsupported,
        })
    }

    fn announce(&self, directory: &Path) -> Result<(RunningExperiment, Option<Guard>), SiteError> {
        let directory = directory.to_string_lossy().into_owned();
        let (id, running) = self.link.call(Call::Announce { directory }, self.timeouts.call)?;
        Ok((running, Some(self.effect(id))))
    }

    fn announced(&self) -> Result<Vec<RunningExperiment>, SiteError> {
        self.call(Call::Announced)
    }

    fn owner(&self) -> Owner {
        self.hosted.owner.clone()
    }

    fn clean(&self, name: &str) {
        // A steward that cannot be asked cleans up by itself.
        let _ = self.call::<()>(Call::Clean { name: name.to_owned() });
    }

    fn sweep(&self) {
        // As above.
        let _ = self.call::<()>(Call::Sweep);
    }

    fn clock(&self) -> MonotonicClock {
        self.hosted.clock.clone()
    }

    fn clock_responder(&self, responder: &ClockResponder) -> Result<(SocketAddr, Guard), SiteError> {
        let call = Call::ClockResponder(responder.clone());
        let (id, address) = self.link.call(call, self.timeouts.call)?;
        Ok((address, self.effect(id)))
    }

    fn clock_exchange(&self, client: &ClockClient) -> Result<Vec<ClockExchange>, SiteError> {
        self.call(Call::ClockExchange(client.clone()))
    }

    fn clock_reading(&self) -> Result<ClockReading, SiteError> {
        self.call(Call::ClockReading)
    }
}

impl Drop for StewardSite {
    fn drop(&mut self) {
        if self.link.lost().is_some() {
            if let Some((steward, _)) = self.command.take() {
                clean_up(steward);
            }
            return;
        }
        let _ = self.link.out.message(&ToSteward::Bye);
        let Some(reader) = self.reader.take() else { return };
        match &self.command {
            Some((_, process)) => {
                process.lock().unwrap_or_else(PoisonError::into_inner).end(EXIT_PATIENCE);
            }
            None => {
                let end = Instant::now() + EXIT_PATIENCE;
                while !reader.is_finished() && Instant::now() < end {
                    thread::sleep(LOOK);
                }
                self.link.out.close();
            }
        }
        // The stream has ended, or is not read any longer.
        let _ = reader.join();
    }
}

/// Starts a steward that only removes what a killed one left behind: a host that cannot be reached keeps its files until
/// the next one starts.
fn clean_up(mut steward: StewardCommand) {
    steward.timeouts.start = steward.timeouts.start.min(CLEAN_TIMEOUT);
    if let Ok((mut process, to_steward, from_steward, _)) = Process::start(&steward) {
        // It ends with its stream.
        drop((to_steward, from_steward));
        process.end(CLEAN_TIMEOUT);
    }
}

/// Effect of a call on the host.
struct Effect {
    link: Arc<Link>,
    id: u64,
}

impl Drop for Effect {
    fn drop(&mut self) {
        // Without a connection, the effect ends with the steward.
        let _ = self.link.tell(&ToSteward::Release { id: self.id });
    }
}
