//! Leaders that use a guest, and lying ones: each rule of the guest rejects them.

use std::{
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use control::{Configure, Drain, Exchange, OpenOptions, PayloadBytes, Reply, Request};
use experiment::{Plan, StreamSpec, ThreadPriorities, TraceSamples, Variables};
use host::{
    Agent, AgentCommand, AgentLog, ClockClient, ClockResponder, DomainClaim, DriverFile, EnvironmentInputs,
    ExchangeKey, ProcessExit, Site, SiteError,
};
use remote_hosts::{StewardSite, Timeouts, serve};
use results::{NoiseRule, Tool};

use crate::fake_site::{DRIVER, FakeSite, configure, driver, guest, owner};

/// Maximum message of a leader in bytes.
pub const FRAME_BYTES: u32 = 1 << 20;

/// Returns a command of a leader that asks for more than it gets.
pub fn command() -> AgentCommand {
    AgentCommand {
        driver: DriverFile { name: "x".to_owned(), path: "/tmp/theirs.so".into() },
        variables: [("LD_PRELOAD".to_owned(), Some("/tmp/theirs.so".to_owned()))].into(),
        padding_bytes: 4000,
        channels: 1,
    }
}

/// Replies of an agent, with the end of its channel as `None`.
pub type Replies = Arc<Mutex<Vec<Option<Reply>>>>;

/// Launches an agent. Returns it with its replies.
pub fn launch(site: &dyn Site, command: &AgentCommand) -> Result<(Box<dyn Agent>, Replies), SiteError> {
    let replies = Replies::default();
    let kept = Arc::clone(&replies);
    let sink = Box::new(move |_: u32, reply: Result<Box<Reply>, _>| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(reply.ok().map(|reply| *reply));
    });
    Ok((site.launch(command, AgentLog::in_memory()?, sink)?, replies))
}

/// Returns the error and the hint with which a guest rejects a request. The agent gets neither it nor a later one.
pub fn rejection(channel: u32, request: &Request) -> (String, String) {
    let (guest, site, seen) = guest();
    let (agent, replies) = launch(&guest, &command()).expect("an agent");
    agent.send(channel, request).expect("an answer, not an end");
    agent.send(0, &Request::Report).expect("it is ignored");
    assert_eq!(site.calls().requests, [], "{request:?}");
    let replies = replies.lock().expect("no panic");
    let [Some(Reply::Failed { error, hint: Some(hint), refused: true }), None] = &replies[..] else {
        panic!("{replies:?}")
    };
    assert!(seen.texts().contains(&format!("rejected: {error}")), "{:?}", seen.texts());
    (error.clone(), hint.clone())
}

/// Returns the error with which a guest rejects a changed configuration.
pub fn rejected(change: impl FnOnce(&mut Configure)) -> String {
    let mut configure = configure();
    change(&mut configure);
    rejection(0, &Request::Configure(Box::new(configure))).0
}

#[test]
fn guest_launches_its_own_driver_with_the_environment_of_its_process() {
    let (guest, site, _) = guest();
    let (_agent, _) = launch(&guest, &command()).expect("an agent");
    let launched = site.calls().launched.clone();
    let expected =
        AgentCommand { driver: driver(), variables: Variables::new(), padding_bytes: 4000, channels: 1 };
    assert_eq!(launched, [expected]);
}

#[test]
fn guest_has_one_agent_at_a_time() {
    let (guest, site, _) = guest();
    let (first, _) = launch(&guest, &command()).expect("an agent");
    let Err(error) = launch(&guest, &command()) else { panic!("a second agent") };
    assert_eq!(error.to_string(), "a guest rejects a second agent");
    assert!(error.hint().is_some());
    drop(first);
    launch(&guest, &command()).expect("the first one has ended");
    assert_eq!((site.most_agents(), site.calls().launched.len()), (1, 2));
}

#[test]
fn guest_rejects_padding_and_endpoints_beyond_its_limits() {
    let (guest, site, _) = guest();
    for (command, text) in [
        (
            AgentCommand { padding_bytes: 4097, ..command() },
            "a guest rejects the padding of the environment in bytes: 4097, at most 4096",
        ),
        (AgentCommand { channels: 2, ..command() }, "a guest rejects an agent with several endpoints"),
        (AgentCommand { channels: u32::MAX, ..command() }, "a guest rejects an agent with several endpoints"),
    ] {
        let Err(error) = launch(&guest, &command) else { panic!("{command:?}") };
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(site.calls().launched, []);
}

#[test]
fn configuration_that_differs_is_rejected_with_both_values() {
    assert_eq!(
        rejected(|configure| configure.domain = 6),
        "different domain: 6 at the leader, 5 at the guest"
    );
    assert_eq!(
        rejected(|configure| configure.participant.transport = "shm".to_owned()),
        "different transport: shm at the leader, udp at the guest"
    );
    assert_eq!(
        rejected(|configure| configure.participant.interface = "lo".to_owned()),
        "different interface: lo at the leader, eth7 at the guest"
    );
    let write = |configure: &mut Configure| {
        configure.participant.options.insert("trace_file".to_owned(), "/etc/x".to_owned());
    };
    assert_eq!(rejected(write), "different option `trace_file`: /etc/x at the leader, none at the guest");
    assert_eq!(
        rejected(|configure| configure.cpus = Some(vec![2, 3])),
        "different cores: 2, 3 at the leader, none at the guest"
    );
    assert_eq!(
        rejected(|configure| configure.priorities = Some(ThreadPriorities { main: 99, receive: 1 })),
        "different thread priorities: 99:1 at the leader, none at the guest"
    );
}

#[test]
fn configuration_beyond_the_limits_is_rejected() {
    let traces = |configure: &mut Configure| {
        let samples = TraceSamples { times_ns: [1].into(), ..TraceSamples::default() };
        configure.traces.insert("x".to_owned(), samples);
    };
    assert_eq!(rejected(traces), "a guest rejects the times of trace files");
    let long = "ddsmark-".to_owned() + &"1".repeat(300);
    for name in ["", "x", "ddsmark-7/../../etc", "ddsmark-7 8", &long] {
        let error = rejected(|configure| configure.run_name = name.to_owned());
        assert_eq!(error, "a guest rejects a run name that is not one of ddsmark", "{name}");
    }
    let topic = |configure: &mut Configure| configure.readers[0].topic = "/a".to_owned();
    assert!(rejected(topic).starts_with("a guest rejects a topic with other characters"));
    let size = |configure: &mut Configure| configure.readers[0].streams[0].size_bytes = u64::MAX;
    assert!(rejected(size).starts_with("a guest rejects the size of the samples in bytes: 1844"));
    let small = |configure: &mut Configure| {
        configure.payload = PayloadBytes::new(&vec![7; 1 << 19]);
        configure.readers[0].streams[0].size_bytes = 17;
    };
    assert_eq!(rejected(small), "a guest rejects the number of samples of a file: 524288, at most 262144");
    let copies = |configure: &mut Configure| {
        configure.payload = PayloadBytes::new(&vec![7; 1 << 19]);
        let stream = StreamSpec { size_bytes: 1024, ..configure.readers[0].streams[0].clone() };
        configure.readers[0].streams = vec![stream; 3000];
    };
    assert!(rejected(copies).starts_with("a guest rejects the size of the samples of a file in bytes: 16"));
}

#[test]
fn conformance_cases_mailboxes_and_other_channels_are_rejected() {
    let case = Request::Check {
        case: "delivery".to_owned(),
        name: "x".to_owned(),
        domain: 1,
        way: OpenOptions::default(),
        probes: false,
    };
    for request in [Request::Cases, case] {
        assert_eq!(rejection(0, &request).0, "a guest rejects conformance cases");
    }
    assert_eq!(rejection(0, &Request::Exchange(Exchange::default())).0, "a guest rejects a mailbox");
    assert_eq!(rejection(1, &Request::Report).0, "a guest rejects several endpoints");
}

#[test]
fn observer_sees_the_requests_and_replies_of_an_accepted_agent() {
    let (guest, site, seen) = guest();
    let (mut agent, _) = launch(&guest, &command()).expect("an agent");
    let drain = Drain { sent: 7, timeout_ns: 1, quiet_ns: 1, joined_ns: None };
    let requests = [Request::Configure(Box::new(configure())), Request::Drain(drain), Request::Report];
    for request in &requests {
        agent.send(0, request).expect("an answer");
    }
    agent.end(Duration::ZERO);
    assert_eq!(site.calls().requests, requests);
    let expected = [
        "request configure",
        "reply configure",
        "request drain",
        "reply drain",
        "request report",
        "reply report",
    ];
    assert_eq!(seen.texts(), expected);
}

fn inputs() -> EnvironmentInputs {
    let cell = experiment::Cell { id: "x".to_owned(), factors: experiment::Factors::default() };
    let experiment = Plan { cells: vec![cell], ..Plan::default() };
    EnvironmentInputs {
        tool: Tool { name: "x".to_owned(), version: "1".to_owned(), command_line: Vec::new() },
        revision: None,
        host: results::Host::default(),
        experiment,
        interfaces: ["eth0".to_owned()].into(),
        descriptions: std::collections::BTreeMap::new(),
        files: [("x".to_owned(), PathBuf::from("/etc/shadow"))].into(),
        libraries: [("x".to_owned(), vec![PathBuf::from("/etc/shadow")])].into(),
    }
}

#[test]
fn environment_has_no_file_of_the_leader_and_no_value_of_a_variable() {
    let (guest, site, _) = guest();
    let environment = guest.environment(&inputs()).expect("an environment");
    let variables = &environment.fields["variable"];
    let expected = [("SECRET", "(set, not shown)")];
    assert!(variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected));
    let asked = site.calls().environments.remove(0);
    assert!(asked.files.is_empty() && asked.libraries.is_empty() && asked.experiment.cells.is_empty());
    assert!(asked.interfaces.iter().eq(["eth7"]));
    assert_eq!(asked.host.name, "guest");
    assert_eq!(guest.missing_file("file:///etc/shadow"), Ok(None));
}

#[test]
fn calls_that_would_change_the_host_have_no_effect() {
    let (guest, site, _) = guest();
    assert!(matches!(guest.claim_domain(1), Ok(DomainClaim::Unsupported)));
    assert!(guest.keep_awake().is_ok());
    assert!(guest.reference(&[], &[], 1).is_err());
    let rule = NoiseRule {
        gap_ns: 1,
        probe_ns: 1,
        max_stolen_pct: 1.0,
        max_gap_per_rtt: 1.0,
        max_touched_pct: 1.0,
        repeat_noisy: false,
    };
    assert_eq!(guest.probe(&[0], &rule), Ok(None));
    assert!(guest.announce(Path::new("/x")).is_ok_and(|(_, hold)| hold.is_none()));
    assert_eq!(guest.announced(), Ok(Vec::new()));
    guest.sweep();
    let own = owner().run_name(3);
    for name in ["", "a", "ddsmark-", "ddsmark-1-00000000-1", &own] {
        guest.clean(name);
    }
    // Its own sweep, when it was created.
    assert_eq!(site.calls().others, ["sweep"]);
    assert_eq!(site.calls().cleaned, [own]);
}

#[test]
fn clock_is_compared_over_the_own_interface_within_limits() {
    let (guest, site, _) = guest();
    let key = ExchangeKey::from([1; 16]);
    let client = ClockClient {
        interface: "eth7".to_owned(),
        responder: ([10, 0, 0, 1], 1).into(),
        key,
        count: u32::MAX,
        limit: Duration::MAX,
    };
    assert_eq!(guest.clock_exchange(&client).map(|times| times.len()), Ok(1));
    let asked = site.calls().exchanges.remove(0);
    assert_eq!((asked.count, asked.limit), (1_000, Duration::from_secs(10)));
    let other = ClockClient { interface: "eth0".to_owned(), ..client };
    let error = guest.clock_exchange(&other).unwrap_err().to_string();
    assert!(error.contains("the interface of this host is `eth7`, not `eth0`"), "{error}");
    let responder = ClockResponder { interface: "eth7".to_owned(), key, limit: Duration::MAX };
    let mut held: Vec<_> = (0..4).map(|_| guest.clock_responder(&responder).expect("a responder")).collect();
    let Err(error) = guest.clock_responder(&responder) else { panic!("a fifth responder") };
    assert_eq!(error.to_string(), "a guest rejects many responders of clock exchanges");
    held.pop();
    guest.clock_responder(&responder).expect("one has ended");
}

/// Serves a guest over a socket. Returns the leader's end.
pub fn served(timeouts: Timeouts) -> (StewardSite, FakeSite, mpsc::Receiver<String>) {
    let (guest, site, _) = guest();
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let input = theirs.try_clone().expect("a socket");
    let (ended, end) = mpsc::channel();
    thread::spawn(move || {
        let reason = serve(Ok(guest), (input, theirs), FRAME_BYTES, || false);
        let _ = ended.send(reason.to_string());
    });
    let input = ours.try_clone().expect("a socket");
    (StewardSite::connect("peer", input, ours, timeouts).expect("a guest"), site, end)
}

#[test]
fn leader_uses_a_guest_over_given_streams() {
    let (leader, site, end) = served(Timeouts::default());
    assert_eq!(leader.facts().expect("facts").host.name, "guest");
    assert_eq!(leader.owner(), owner());
    let (mut agent, replies) = launch(&leader, &command()).expect("an agent");
    agent.send(0, &Request::Configure(Box::new(configure()))).expect("an answer");
    let wrong = Configure { domain: 77, ..configure() };
    agent.send(0, &Request::Configure(Box::new(wrong))).expect("an answer");
    assert_eq!(agent.end(Duration::from_secs(10)), ProcessExit::Status(0));
    drop((agent, leader));
    assert_eq!(end.recv_timeout(Duration::from_secs(20)).expect("the end"), "the runner said goodbye");
    assert_eq!(site.calls().launched.len(), 1);
    assert_eq!(site.calls().launched[0].driver.path, Path::new(DRIVER));
    let replies = replies.lock().expect("no panic");
    let [Some(Reply::Configured(_)), Some(Reply::Failed { error, .. }), None] = &replies[..] else {
        panic!("{replies:?}")
    };
    assert_eq!(error, "different domain: 77 at the leader, 5 at the guest");
    let own = owner();
    assert!(site.calls().cleaned.iter().all(|name| own.owns(name)));
}

#[test]
fn guest_that_vanishes_is_lost_with_its_name() {
    let (guest, _, _) = guest();
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let input = theirs.try_clone().expect("a socket");
    let closing = theirs.try_clone().expect("a socket");
    thread::spawn(move || serve(Ok(guest), (input, theirs), FRAME_BYTES, || false));
    let input = ours.try_clone().expect("a socket");
    let leader = StewardSite::connect("peer", input, ours, Timeouts::default()).expect("a guest");
    closing.shutdown(std::net::Shutdown::Both).expect("a socket");
    let mut error = leader.facts().expect_err("it is gone");
    for _ in 0..500 {
        if matches!(error, SiteError::Lost { .. }) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
        error = leader.facts().expect_err("it is gone");
    }
    assert_eq!(error.to_string(), "host `peer` is lost: the stream ended");
    assert_eq!(error.hint().as_deref(), Some("check the other process and the network between the hosts"));
}

#[test]
fn silent_peer_is_no_steward() {
    let (ours, _theirs) = UnixStream::pair().expect("a pair");
    let input = ours.try_clone().expect("a socket");
    let timeouts = Timeouts { start: Duration::from_millis(50), ..Timeouts::default() };
    let Err(error) = StewardSite::connect("peer", input, ours, timeouts) else { panic!("no greeting") };
    let waited = error.to_string();
    let waited =
        waited.strip_prefix("host `peer`: no greeting within ").and_then(|rest| rest.strip_suffix(" s"));
    let waited: f64 = waited.and_then(|seconds| seconds.parse().ok()).unwrap_or_else(|| panic!("{error}"));
    assert!(waited >= 0.05, "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn message_above_the_limit_ends_the_connection_before_it_is_read() {
    let (leader, site, end) = served(Timeouts::default());
    let mut variables = command().variables;
    variables.insert("X".to_owned(), Some("x".repeat(FRAME_BYTES as usize)));
    let Err(_) = launch(&leader, &AgentCommand { variables, ..command() }) else { panic!("it is too long") };
    let reason = end.recv_timeout(Duration::from_secs(20)).expect("the end");
    assert!(reason.contains("more than 1048576"), "{reason}");
    assert_eq!(site.calls().launched, []);
}
