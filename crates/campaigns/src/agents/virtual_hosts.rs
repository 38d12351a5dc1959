//! Virtual hosts: sites whose agents are neither processes nor threads, and send the replies of a script.

use std::{
    cell::Cell,
    collections::BTreeMap,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use control::{MonotonicClock, Reply, Request, receive_line, send};
use results::{Environment, Host, NoiseProbe, NoiseRule, Reference, RunningExperiment};
use site::{
    Agent, AgentCommand, AgentLog, ChannelEnd, ClockClient, ClockExchange, ClockReading, ClockResponder,
    Counters, DomainClaim, EnvironmentInputs, Facts, Hold, LocalSite, Owner, ProcessExit, ReplySink, Site,
    SiteError, monotonic_ns,
};

use super::{
    plan::clock_of,
    script::{PHASES, Script},
};
use crate::Error;

/// Round trip of a packet between two virtual hosts in ns.
const RTT_NS: u64 = 20_000;

/// Fault of a virtual agent: it does not answer from a phase on.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    /// Index of the agent.
    pub agent: usize,
    /// First phase without a reply.
    pub phase: &'static str,
}

/// State shared by the agents of all virtual hosts.
#[derive(Default)]
pub struct Fleet {
    /// Number of agents that were launched, in the order of the endpoints of the run.
    launched: AtomicUsize,
    /// Number of agents that have not ended.
    pub living: AtomicUsize,
    /// Bytes of the requests and of the replies.
    pub request_bytes: AtomicU64,
    pub reply_bytes: AtomicU64,
}

/// Event of an agent, for the thread that answers.
enum Event {
    Launched { agent: usize, replies: ReplySink },
    Requested { agent: usize, phase: &'static str, due: Instant },
    HungUp { agent: usize },
}

/// Virtual host.
pub struct VirtualSite {
    name: String,
    counters: Counters,
    events: Sender<Event>,
    fleet: Arc<Fleet>,
}

/// Creates virtual hosts with these names, whose agents follow a script. One thread answers for all agents, as a steward's
/// connection does.
pub fn virtual_sites(
    names: Vec<String>,
    script: Script,
    silence: Option<Silence>,
) -> Result<(Vec<VirtualSite>, Arc<Fleet>), Error> {
    let (events, requested) = channel();
    let fleet = Arc::new(Fleet::default());
    let answers = Answers { script, silence, fleet: Arc::clone(&fleet), sinks: BTreeMap::new() };
    // It ends when all sites and agents are dropped.
    thread::Builder::new().name("virtual-agents".to_owned()).spawn(move || answers.give(&requested))?;
    // Reading the counters is not a cost of the runner.
    let counters = LocalSite::new("no agent").counters(&[])?;
    let site = |name| VirtualSite {
        name,
        counters: counters.clone(),
        events: events.clone(),
        fleet: Arc::clone(&fleet),
    };
    Ok((names.into_iter().map(site).collect(), fleet))
}

/// Thread that answers for all agents.
struct Answers {
    script: Script,
    silence: Option<Silence>,
    fleet: Arc<Fleet>,
    sinks: BTreeMap<usize, ReplySink>,
}

impl Answers {
    fn give(mut self, events: &Receiver<Event>) {
        for event in events {
            match event {
                Event::Launched { agent, replies } => {
                    self.sinks.insert(agent, replies);
                    self.answer(agent, "hello");
                }
                Event::Requested { agent, phase, due } => {
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    self.answer(agent, phase);
                    if phase == "exit" {
                        self.close(agent);
                    }
                }
                Event::HungUp { agent } => self.close(agent),
            }
        }
    }

    fn answer(&mut self, agent: usize, phase: &'static str) {
        let from = self.silence.filter(|silence| silence.agent == agent).map(|silence| silence.phase);
        let position = |of: &str| PHASES.iter().position(|known| *known == of);
        if from.is_some_and(|from| position(phase) >= position(from)) {
            return;
        }
        let Some(replies) = self.sinks.get_mut(&agent) else { return };
        let reply = match self.script.line(agent, phase) {
            Ok(line) => {
                self.fleet.reply_bytes.fetch_add(line.len() as u64, Relaxed);
                receive_line::<Reply>(&mut &line[..]).map(Box::new).map_err(ChannelEnd::from)
            }
            Err(error) => Err(ChannelEnd::Invalid(error.to_string())),
        };
        replies(0, reply);
    }

    fn close(&mut self, agent: usize) {
        if let Some(mut replies) = self.sinks.remove(&agent) {
            replies(0, Err(ChannelEnd::Gone("the agent closed the control channel".to_owned())));
        }
    }
}

/// Virtual agent.
struct VirtualAgent {
    number: usize,
    /// Whether its role drives the traffic.
    drives: Cell<bool>,
    events: Sender<Event>,
    fleet: Arc<Fleet>,
    log: AgentLog,
    /// Whether it has sent its goodbye.
    dismissed: Cell<bool>,
    ended: bool,
}

impl Agent for VirtualAgent {
    fn send(&self, _channel: u32, request: &Request) -> Result<(), ChannelEnd> {
        send(&mut ByteCount(&self.fleet.request_bytes), request)?;
        let mut due = Instant::now();
        match request {
            Request::Configure(configure) => self.drives.set(configure.role.drives()),
            Request::WarmUp { duration_ns, .. } if self.drives.get() => {
                due += Duration::from_nanos(*duration_ns);
            }
            Request::Measure { duration_ns, begin_ns, .. } if self.drives.get() => {
                let lead_ns = begin_ns.map_or(0, |begin_ns| begin_ns.saturating_sub(monotonic_ns()));
                due += Duration::from_nanos(lead_ns + duration_ns);
            }
            Request::Exit => self.dismissed.set(true),
            _ => {}
        }
        let event = Event::Requested { agent: self.number, phase: request.phase(), due };
        self.events.send(event).map_err(|_| ChannelEnd::Gone("no thread answers".to_owned()))
    }

    fn hang_up(&self) {
        // Without a thread that answers, there is no channel.
        let _ = self.events.send(Event::HungUp { agent: self.number });
    }

    fn end(&mut self, _limit: Duration) -> ProcessExit {
        if !self.ended {
            self.ended = true;
            self.fleet.living.fetch_sub(1, Relaxed);
        }
        if self.dismissed.get() { ProcessExit::Status(0) } else { ProcessExit::Killed }
    }

    fn last_log_lines(&self) -> Vec<String> {
        self.log.last_lines()
    }
}

impl Drop for VirtualAgent {
    fn drop(&mut self) {
        self.hang_up();
        self.end(Duration::ZERO);
    }
}

/// Counter of written bytes.
struct ByteCount<'c>(&'c AtomicU64);

impl Write for ByteCount<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.fetch_add(bytes.len() as u64, Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Site for VirtualSite {
    fn launch(
        &self,
        _command: &AgentCommand,
        log: AgentLog,
        replies: ReplySink,
    ) -> Result<Box<dyn Agent>, SiteError> {
        let number = self.fleet.launched.fetch_add(1, Relaxed);
        self.fleet.living.fetch_add(1, Relaxed);
        // Without a thread that answers, the run fails in its first phase.
        let _ = self.events.send(Event::Launched { agent: number, replies });
        Ok(Box::new(VirtualAgent {
            number,
            drives: Cell::new(false),
            events: self.events.clone(),
            fleet: Arc::clone(&self.fleet),
            log,
            dismissed: Cell::new(false),
            ended: false,
        }))
    }

    fn facts(&self) -> Result<Facts, SiteError> {
        Ok(Facts {
            host: Host { name: self.name.clone(), ..Host::default() },
            cores: Vec::new(),
            interfaces: None,
            addresses: Vec::new(),
            ipv6_addresses: BTreeMap::new(),
            network: None,
        })
    }

    fn environment(&self, _inputs: &EnvironmentInputs) -> Result<Environment, SiteError> {
        Ok(Environment::default())
    }

    fn missing_file(&self, _value: &str) -> Result<Option<PathBuf>, SiteError> {
        Ok(None)
    }

    fn probe(&self, _cores: &[u32], _rule: &NoiseRule) -> Result<Option<NoiseProbe>, SiteError> {
        Ok(None)
    }

    fn counters(&self, _cores: &[u32]) -> Result<Counters, SiteError> {
        Ok(self.counters.clone())
    }

    fn reference(
        &self,
        _sender_cores: &[u32],
        _receiver_cores: &[u32],
        _length_ns: u64,
    ) -> Result<Reference, String> {
        Err("a virtual host has no sockets".to_owned())
    }

    fn keep_awake(&self) -> Result<Hold, SiteError> {
        Ok(Box::new(()))
    }

    fn claim_domain(&self, _number: u32) -> Result<DomainClaim, SiteError> {
        Ok(DomainClaim::Unsupported)
    }

    fn announce(&self, directory: &Path) -> Result<(RunningExperiment, Option<Hold>), SiteError> {
        let Owner { pid, .. } = self.owner();
        let directory = directory.display().to_string();
        Ok((RunningExperiment { pid, directory, since: String::new() }, None))
    }

    fn announced(&self) -> Result<Vec<RunningExperiment>, SiteError> {
        Ok(Vec::new())
    }

    fn owner(&self) -> Owner {
        Owner { pid: std::process::id(), boot: "00000000".to_owned() }
    }

    fn clean(&self, _name: &str) {}

    fn sweep(&self) {}

    fn clock(&self) -> MonotonicClock {
        clock_of(&self.name)
    }

    fn clock_responder(&self, _responder: &ClockResponder) -> Result<(SocketAddr, Hold), SiteError> {
        Ok((SocketAddr::from((Ipv4Addr::LOCALHOST, 1)), Box::new(())))
    }

    fn clock_exchange(&self, client: &ClockClient) -> Result<Vec<ClockExchange>, SiteError> {
        // All virtual hosts have the same time.
        let first_ns = monotonic_ns().saturating_sub(u64::from(client.count) * RTT_NS);
        let exchange = |number: u32| {
            let sent_ns = first_ns + u64::from(number) * RTT_NS;
            let received_ns = sent_ns + RTT_NS / 2;
            ClockExchange { sent_ns, received_ns, replied_ns: received_ns, returned_ns: sent_ns + RTT_NS }
        };
        Ok((0..client.count).map(exchange).collect())
    }

    fn clock_reading(&self) -> Result<ClockReading, SiteError> {
        Ok(ClockReading { monotonic_ns: monotonic_ns(), suspended_ns: 0, uncertainty_ns: 0 })
    }
}
