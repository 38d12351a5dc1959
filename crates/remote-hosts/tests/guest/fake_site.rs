//! Site that starts no process: its agents answer at once, and every call is recorded.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use control::{
    AgentReport, CaseOutcome, Configure, Configured, Exchanged, MeasureReply, MonotonicClock, Progress,
    Reply, Request,
};
use experiment::{Factors, Pin, RunTopology};
use host::{
    Agent, AgentCommand, AgentLog, ChannelEnd, ClockClient, ClockExchange, ClockReading, ClockResponder,
    Counters, DomainClaim, DriverFile, EnvironmentInputs, Facts, Guard, InterfaceAddress, LocalSite, Owner,
    ProcessExit, ReplySink, Site, SiteError,
};
use remote_hosts::{GuestObserver, GuestSite, GuestTerms};
use results::{Environment, EnvironmentFields, Host, NoiseProbe, NoiseRule, Reference, RunningExperiment};

/// Calls of a fake site, shared with the test.
#[derive(Default)]
pub struct Calls {
    pub launched: Vec<AgentCommand>,
    pub requests: Vec<Request>,
    pub cleaned: Vec<String>,
    pub environments: Vec<EnvironmentInputs>,
    pub exchanges: Vec<ClockClient>,
    /// Names of all other calls.
    pub others: Vec<&'static str>,
}

#[derive(Clone, Default)]
pub struct FakeSite {
    calls: Arc<Mutex<Calls>>,
    /// Number of running agents, and the highest one.
    running: Arc<AtomicU32>,
    most: Arc<AtomicU32>,
}

impl FakeSite {
    pub fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn most_agents(&self) -> u32 {
        self.most.load(Ordering::SeqCst)
    }

    fn other(&self, name: &'static str) {
        self.calls().others.push(name);
    }
}

/// Path of the driver of the guest.
pub const DRIVER: &str = "/opt/own/libddsmark_own.so";

/// Returns the terms of the guest.
pub fn terms() -> GuestTerms {
    GuestTerms { domain: 5, transport: "udp".to_owned(), interface: "eth7".to_owned(), priorities: None }
}

/// Returns the driver of the guest.
pub fn driver() -> DriverFile {
    DriverFile { name: "own".to_owned(), path: DRIVER.into() }
}

/// Returns a guest, its site, and its observer.
pub fn guest() -> (GuestSite<FakeSite>, FakeSite, Arc<SeenMessages>) {
    let (site, seen) = (FakeSite::default(), Arc::<SeenMessages>::default());
    (GuestSite::new(site.clone(), driver(), terms(), Arc::clone(&seen) as Arc<dyn GuestObserver>), site, seen)
}

/// Returns a configuration that agrees with the terms.
pub fn configure() -> Configure {
    let run_name = owner().run_name(1);
    let topology = RunTopology::new(&Factors::default(), &Pin::None, false).in_run(&run_name);
    let reader = topology.endpoints.last().expect("a reader").clone();
    let GuestTerms { domain, transport, interface, .. } = terms();
    let mut participant = reader.participant;
    (participant.transport, participant.interface) = (transport, interface);
    participant.peers = ["10.0.0.2", "10.0.0.1"].map(ToOwned::to_owned).into();
    Configure {
        role: reader.role,
        run_name,
        run_tag: 1,
        seed: 1,
        domain,
        participant,
        writers: reader.writers,
        readers: reader.readers,
        cpus: None,
        priorities: None,
        measure_ns: 1,
        windows: 1,
        check_every: 1,
        probe_every: None,
        await_echo: false,
        traces: BTreeMap::new(),
        payload: None,
        begin_ns: None,
        late_join: None,
        spin: false,
        timeline: None,
        clock_slack_ns: 0,
        ping_timeout_ns: 200_000_000,
    }
}

/// Returns the owner of the names of the guest: this process.
pub fn owner() -> Owner {
    LocalSite::new("/none").owner()
}

/// Observer that keeps what it sees, as text.
#[derive(Default)]
pub struct SeenMessages(Mutex<Vec<String>>);

impl SeenMessages {
    pub fn texts(&self) -> Vec<String> {
        self.0.lock().expect("no panic").clone()
    }

    fn add(&self, text: String) {
        self.0.lock().expect("no panic").push(text);
    }
}

impl GuestObserver for SeenMessages {
    fn requested(&self, request: &Request) {
        self.add(format!("request {}", request.phase()));
    }

    fn replied(&self, reply: &Reply) {
        self.add(format!("reply {}", reply.phase()));
    }

    fn rejected(&self, error: &SiteError) {
        self.add(format!("rejected: {error}"));
    }
}

struct FakeAgent {
    site: FakeSite,
    replies: Mutex<Option<ReplySink>>,
}

impl Agent for FakeAgent {
    fn send(&self, channel: u32, request: &Request) -> Result<(), ChannelEnd> {
        self.site.calls().requests.push(request.clone());
        let reply = match request {
            Request::Configure(_) => Reply::Configured(Box::<Configured>::default()),
            Request::Match(_) => Reply::Matched { waited_ns: 0, at_ns: 0 },
            Request::WarmUp { .. } => Reply::WarmedUp,
            Request::Measure { .. } => Reply::Measured(MeasureReply::default()),
            Request::Progress => Reply::Progress(Progress::default()),
            Request::Drain(_) => Reply::Drained { complete: true },
            Request::Report => Reply::Report(Box::<AgentReport>::default()),
            Request::Exit => Reply::Bye,
            Request::Cases => {
                Reply::Cases { cases: Vec::new(), probes: Vec::new(), rejection: String::new() }
            }
            Request::Check { .. } => Reply::Checked(CaseOutcome::Passed),
            Request::OpenMailbox(_) => Reply::MailboxOpened(Box::<Configured>::default()),
            Request::Exchange(_) => Reply::Exchanged(Exchanged::default()),
        };
        if let Some(replies) = self.replies.lock().expect("no panic").as_mut() {
            replies(channel, Ok(Box::new(reply)));
        }
        Ok(())
    }

    fn hang_up(&self) {
        if let Some(mut replies) = self.replies.lock().expect("no panic").take() {
            replies(0, Err(ChannelEnd::Gone("closed".to_owned())));
        }
    }

    fn end(&mut self, _limit: Duration) -> ProcessExit {
        self.hang_up();
        ProcessExit::Status(0)
    }

    fn last_log_lines(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Drop for FakeAgent {
    fn drop(&mut self) {
        self.site.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Site for FakeSite {
    fn launch(
        &self,
        command: &AgentCommand,
        _log: AgentLog,
        replies: ReplySink,
    ) -> Result<Box<dyn Agent>, SiteError> {
        self.calls().launched.push(command.clone());
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Ok(Box::new(FakeAgent { site: self.clone(), replies: Mutex::new(Some(replies)) }))
    }

    fn facts(&self) -> Result<Facts, SiteError> {
        let own = InterfaceAddress {
            interface: "eth7".to_owned(),
            address: Ipv4Addr::new(10, 0, 0, 2),
            prefix: 24,
        };
        let host = Host { name: "guest".to_owned(), ..Host::default() };
        Ok(Facts {
            host,
            cores: vec![2, 3],
            interfaces: None,
            addresses: vec![own],
            ipv6_addresses: BTreeMap::new(),
            network: None,
        })
    }

    fn environment(&self, inputs: &EnvironmentInputs) -> Result<Environment, SiteError> {
        self.calls().environments.push(inputs.clone());
        let fields = [("SECRET", "s"), ("SECRET/etc/y", "hash")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Environment::new(EnvironmentFields::from([("variable".to_owned(), fields.into())])))
    }

    fn missing_file(&self, _value: &str) -> Result<Option<PathBuf>, SiteError> {
        self.other("missing_file");
        Ok(Some("/there".into()))
    }

    fn probe(&self, _cores: &[u32], _rule: &NoiseRule) -> Result<Option<NoiseProbe>, SiteError> {
        self.other("probe");
        Ok(None)
    }

    fn counters(&self, _cores: &[u32]) -> Result<Counters, SiteError> {
        LocalSite::new("/none").counters(&[])
    }

    fn reference(&self, _sender: &[u32], _receiver: &[u32], _length_ns: u64) -> Result<Reference, String> {
        self.other("reference");
        Err(String::new())
    }

    fn keep_awake(&self) -> Result<Guard, SiteError> {
        self.other("keep_awake");
        Ok(Box::new(()))
    }

    fn claim_domain(&self, _number: u32) -> Result<DomainClaim, SiteError> {
        self.other("claim_domain");
        Ok(DomainClaim::Reserved(Box::new(())))
    }

    fn announce(&self, _directory: &Path) -> Result<(RunningExperiment, Option<Guard>), SiteError> {
        self.other("announce");
        Err(SiteError::no_channel(""))
    }

    fn announced(&self) -> Result<Vec<RunningExperiment>, SiteError> {
        self.other("announced");
        Ok(Vec::new())
    }

    fn owner(&self) -> Owner {
        owner()
    }

    fn clean(&self, name: &str) {
        self.calls().cleaned.push(name.to_owned());
    }

    fn sweep(&self) {
        self.other("sweep");
    }

    fn clock(&self) -> MonotonicClock {
        MonotonicClock::of_children()
    }

    fn clock_responder(&self, _responder: &ClockResponder) -> Result<(SocketAddr, Guard), SiteError> {
        Ok((SocketAddr::from(([10, 0, 0, 2], 1)), Box::new(())))
    }

    fn clock_exchange(&self, client: &ClockClient) -> Result<Vec<ClockExchange>, SiteError> {
        self.calls().exchanges.push(client.clone());
        let times = ClockExchange { sent_ns: 1, received_ns: 2, replied_ns: 3, returned_ns: 4 };
        Ok(vec![times])
    }

    fn clock_reading(&self) -> Result<ClockReading, SiteError> {
        Ok(ClockReading { monotonic_ns: 1, suspended_ns: 0, uncertainty_ns: 0 })
    }
}
