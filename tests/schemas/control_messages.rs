//! The schema of control messages describes them: each real message is valid, and a wrong one is not.

use std::fs;

use control::{
    AgentReport, Configure, Configured, Drain, EntityMatch, Exchange, Exchanged, Hello, InterfaceReading,
    JoinTimes, LateJoin, MailboxMessage, Match, MeasureReply, OpenMailbox, PROTOCOL, ParticipantReport,
    PayloadBytes, Reply, Request, RoleReport, TimestampLog, TimestampPair,
};
use experiment::{
    Factors, Flow, Load, Pin, Rate, RunTopology, ThreadPriorities, Topology, Trace, TraceSamples, Workload,
};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{errors, root, schema};

fn validator() -> Validator {
    schema("control")
}

#[track_caller]
fn assert_valid(validator: &Validator, message: &impl serde::Serialize) {
    let message = serde_json::to_value(message).expect("JSON");
    let errors = errors(validator, &message);
    assert!(errors.is_empty(), "{message:#}\n{errors:?}");
}

/// Returns the samples of a trace file.
fn samples() -> TraceSamples {
    TraceSamples { times_ns: [0, 1].into(), sizes_bytes: [64, 16].into() }
}

/// Returns the configure requests of all endpoints of a cell.
fn configures(factors: &Factors, probed: bool) -> Vec<Request> {
    let run_topology = RunTopology::new(factors, &Pin::Cores(vec![0], vec![1]), probed).in_run("run-1");
    let configure = |endpoint: experiment::Endpoint| Configure {
        role: endpoint.role,
        run_name: "run-1".to_owned(),
        run_tag: 5,
        seed: 6,
        domain: 7,
        participant: endpoint.participant,
        writers: endpoint.writers,
        readers: endpoint.readers,
        cpus: endpoint.place.cpus,
        priorities: Some(ThreadPriorities { main: 80, receive: 50 }),
        measure_ns: 8,
        windows: 9,
        check_every: 10,
        probe_every: probed.then_some(200),
        await_echo: probed,
        traces: [("ab".to_owned(), samples())].into(),
        payload: PayloadBytes::new(&[1, 2, 3]),
        begin_ns: Some(11),
        late_join: Some(LateJoin::Late {
            times: JoinTimes { begin_ns: 1, period_ns: 2 },
            schedule_ns: Some(3),
        }),
        spin: true,
        timeline: Some(control::Timeline { offset_ns: -5, slope: 1e-6, t0_ns: 7, error_ns: 9 }),
        clock_slack_ns: 11,
        ping_timeout_ns: 12,
    };
    run_topology
        .endpoints
        .into_iter()
        .map(|endpoint| Request::Configure(Box::new(configure(endpoint))))
        .collect()
}

#[test]
fn requests_follow_the_schema() {
    let validator = validator();
    let latency = Factors { workload: Workload::Latency, ..Factors::default() };
    let throughput = Factors { workload: Workload::Throughput, ..Factors::default() };
    let sizes = samples().sizes();
    let trace = Trace { file: "t".to_owned(), sha256: "ab".to_owned(), samples: 2, length_ns: 1, sizes };
    let rate = Rate::per_second(10);
    let flows = [Load::Trace { trace }, Load::Poisson { rate }, Load::Burst { rate }, Load::Max];
    let flow = |load| Flow::new("f", 64, load);
    let paced = Factors { workload: Workload::Paced, flows: flows.map(flow).into(), ..Factors::default() };
    let discovery = Factors {
        workload: Workload::Discovery,
        topology: Topology::FullMesh { participants: 2 },
        ..Factors::default()
    };
    let pipelined = Factors { topology: Topology::Ring { nodes: 3 }, in_flight: Some(4), ..latency.clone() };
    let requests = [
        configures(&latency, false),
        configures(&pipelined, false),
        configures(&throughput, true),
        configures(&paced, false),
        configures(&discovery, false),
    ];
    let run_topology = RunTopology::new(&latency, &Pin::None, false);
    let others = [
        Request::Match(Match::of(
            &run_topology.topics(),
            0,
            &[Configured::default(), Configured::default()],
            5,
        )),
        Request::WarmUp { duration_ns: 1, samples: Some(1) },
        Request::Measure {
            duration_ns: 1,
            samples: Some(3),
            begin_ns: Some(2),
            progress: true,
            join: Some(JoinTimes { begin_ns: 1, period_ns: 2 }),
        },
        Request::Progress,
        Request::Drain(Drain { sent: 1, timeout_ns: 2, quiet_ns: 3, joined_ns: Some(4) }),
        Request::Report,
        Request::Exit,
        Request::OpenMailbox(Box::new(OpenMailbox {
            domain: 7,
            run_name: "run-1".to_owned(),
            participant: run_topology.endpoints[0].participant.clone(),
            topic: "ddsmark_control".to_owned(),
            max_message_bytes: 8192,
        })),
        Request::Exchange(Exchange { post: vec![MailboxMessage(vec![0, 1, 255])], wait_ns: 9 }),
    ];
    for request in requests.iter().flatten().chain(&others) {
        assert_valid(&validator, request);
    }
}

#[test]
fn replies_follow_the_schema() {
    let validator = validator();
    let mut hello: Value = line("replies/hello");
    hello["protocol"] = PROTOCOL.into();
    let reply: Reply = serde_json::from_value(hello).expect("a hello");
    let Reply::Hello(hello) = &reply else { panic!("{reply:?}") };
    let mut stamps = TimestampLog::with_capacity(2);
    stamps.record(1, TimestampPair { first_ns: 3, second_ns: 4 });
    let echo = control::EchoReport {
        duplicate: 0,
        received: 1,
        echoed: 1,
        timed_out: 0,
        refused: 0,
        overwritten: 0,
        wrong_size: 0,
        foreign: 0,
        echoed_in_listener: Some(1),
        stamps,
    };
    let participant = ParticipantReport {
        writers: vec![EntityMatch { matched: 2, changed_ns: Some(3) }],
        readers: vec![EntityMatch::default()],
        memory_before_bytes: Some(4),
        before: Some(InterfaceReading::default()),
        ahead: Some(control::TrafficAhead::default()),
        ..ParticipantReport::default()
    };
    let replies = [
        Reply::Hello(Box::new(Hello { pid: 1, ..*hello.clone() })),
        Reply::Configured(Box::default()),
        Reply::Matched { waited_ns: 1, at_ns: 2 },
        Reply::WarmedUp,
        Reply::Measured(MeasureReply { sent: 1 }),
        Reply::Missed { late_ns: 2 },
        Reply::Drained { complete: true },
        Reply::Report(Box::new(AgentReport { role: RoleReport::Echo(echo), ..AgentReport::default() })),
        Reply::Report(Box::new(AgentReport { participant: Some(participant), ..AgentReport::default() })),
        Reply::Bye,
        Reply::MailboxOpened(Box::default()),
        Reply::Exchanged(Exchanged {
            posted: 1,
            received: vec![MailboxMessage(vec![2])],
            matched: 3,
            ignored: 4,
        }),
        Reply::Failed { error: "e".to_owned(), hint: None, refused: false },
    ];
    for reply in &replies {
        assert_valid(&validator, reply);
    }
}

/// Returns the first line of a file of the fuzz corpus.
fn line(file: &str) -> Value {
    let text = fs::read_to_string(root().join("fuzz/corpus").join(file)).expect("a file");
    serde_json::from_str(text.lines().next().expect("a line")).expect("JSON")
}

#[test]
fn wrong_messages_do_not_follow_the_schema() {
    let validator = validator();
    let wrong = [
        json!({"request": "configure"}),
        json!({"request": "measure", "duration_ns": -1}),
        json!({"request": "start"}),
        json!({"request": "exchange", "post": [[1, 2]], "wait_ns": 1}),
        json!({"reply": "matched"}),
        json!({"reply": "hello", "protocol": PROTOCOL}),
        json!({}),
    ];
    for message in wrong {
        assert!(!validator.is_valid(&message), "{message}");
    }
}

#[test]
fn corpus_of_the_fuzz_targets_has_messages_of_this_version() {
    let configure: Request = serde_json::from_value(line("requests/latency-run")).expect("a request");
    assert!(matches!(configure, Request::Configure(_)));
    let configure: Request = serde_json::from_value(line("requests/throughput-run")).expect("a request");
    assert!(matches!(configure, Request::Configure(_)));
    let report: Reply = serde_json::from_value(line("replies/report-of-pinger")).expect("a reply");
    assert!(matches!(report, Reply::Report(_)));
}
