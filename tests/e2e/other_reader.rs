//! Independent reader: another library, in another language, with the published type alone.
//!
//! The test leads the writer's agent in the same way as a runner. `reads.py` replaces the reader's agent; it uses
//! the Python binding of Cyclone DDS, which has a library of its own.

use std::{fs, io::Read as _, os::unix::net::UnixStream, process, time::Duration};

use control::{Configure, Drain, Inbox, Match, MatchedPeers, Reply, Request};
use experiment::{Factors, Pin, Role, RunTopology};
use serde_json::Value;

use crate::support::{Running, Scene, count, drivers, list, monotonic_ns, reserved_domain, root};

/// Time limit of every answer.
const TIME_LIMIT: Duration = Duration::from_secs(90);
const TAG: u16 = 0x2a5;
const SEED: u64 = 7;
const SECOND_NS: u64 = 1_000_000_000;
/// Configuration of the reader's participant: loopback only, discovery by unicast.
const ON_LOOPBACK: &str = "<General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>\
    <AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>\
    <MaxAutoParticipantIndex>30</MaxAutoParticipantIndex><Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>";

/// Agent of the writer.
struct Agent {
    channel: UnixStream,
    replies: Inbox<Reply>,
    process: Running,
}

impl Agent {
    fn start(scene: &Scene, driver: &str) -> Self {
        let (channel, theirs) = UnixStream::pair().expect("sockets");
        let file = drivers().join(format!("libddsmark_{driver}.so")).display().to_string();
        let words = ["--driver", &file, "--control-fd", "0"];
        let process = scene.start_reading(theirs, &[], "ddsmark-agent", &words);
        let replies = Inbox::start(channel.try_clone().expect("a socket"), || ());
        let agent = Self { channel, replies, process };
        assert!(matches!(agent.reply(), Reply::Hello(_)));
        agent
    }

    fn reply(&self) -> Reply {
        self.replies.receive(TIME_LIMIT).expect("an answer")
    }

    fn order(&mut self, order: &Request) -> Reply {
        control::send(&mut self.channel, order).expect("the agent listens");
        self.reply()
    }

    /// Runs the phases from the match to the exit. Returns the number of samples sent, or the error of the match.
    fn write(mut self, reader: &mut UnixStream, match_ns: u64) -> Result<u64, String> {
        let peer = MatchedPeers { count: 1, ..MatchedPeers::default() };
        let with = Match { writers: vec![peer], readers: Vec::new(), timeout_ns: match_ns, begin_ns: None };
        let sent = match self.order(&Request::Match(with)) {
            Reply::Matched { .. } => {
                // the match of the writer does not show that the reader has matched, too
                reader.set_read_timeout(Some(TIME_LIMIT)).expect("a socket");
                reader.read_exact(&mut [0]).expect("the reader has matched");
                let warm = self.order(&Request::WarmUp { duration_ns: SECOND_NS / 20, samples: None });
                assert!(matches!(warm, Reply::WarmedUp), "{warm:?}");
                let begin_ns = Some(monotonic_ns() + SECOND_NS / 2);
                let duration_ns = SECOND_NS / 2;
                let measure =
                    Request::Measure { duration_ns, samples: None, begin_ns, progress: false, join: None };
                let measured = self.order(&measure);
                let Reply::Measured(measured) = measured else { panic!("{measured:?}") };
                let drain =
                    Drain { sent: measured.sent, timeout_ns: 30 * SECOND_NS, quiet_ns: 0, joined_ns: None };
                let drained = self.order(&Request::Drain(drain));
                assert!(matches!(drained, Reply::Drained { complete: true }), "{drained:?}");
                Ok(measured.sent)
            }
            Reply::Failed { error, .. } => Err(error),
            other => panic!("{other:?}"),
        };
        if sent.is_ok() {
            assert!(matches!(self.order(&Request::Exit), Reply::Bye));
        }
        let ended = self.process.end();
        assert_eq!(ended.status.success(), sent.is_ok(), "{ended:?}");
        sent
    }
}

/// Written samples, and the properties that the reader assumes.
struct Case {
    driver: &'static str,
    size: u64,
    rate_sps: u64,
    /// Type name, member type and seed that the reader assumes.
    type_name: &'static str,
    member: &'static str,
    seed: u64,
}

impl Case {
    const fn new(driver: &'static str, size: u64, rate_sps: u64) -> Self {
        Self { driver, size, rate_sps, type_name: "Sample", member: "sequence<octet>", seed: SEED }
    }

    /// Returns whether the reader has the type that is written.
    fn matches(&self) -> bool {
        let ours = Self::new(self.driver, self.size, self.rate_sps);
        (self.type_name, self.member) == (ours.type_name, ours.member)
    }

    fn factors(&self, scene: &Scene) -> Factors {
        let text = format!(
            "question = \"?\"\nworkload = \"paced\"\n[factors]\ndriver = \"{}\"\ntransport = \"udp4\"\nsize = {}\nrate = {}\n",
            self.driver, self.size, self.rate_sps
        );
        fs::write(scene.path("f.toml"), text).expect("a file");
        let planned = scene.ddsmark(&["run", "f.toml", "--dry-run", "--json"]);
        planned.assert_status(0);
        let plan: Value = serde_json::from_str(&planned.stdout).expect("JSON");
        serde_json::from_value(plan["cells"][0]["factors"].clone()).expect("factors")
    }

    /// Starts the reader, which ends when the socket is closed.
    fn reader(&self, scene: &Scene, domain: u32, topic: &str) -> (Running, UnixStream) {
        let python = root().join(".sdk/tools/bin/python");
        let backend = scene.start(&python.display().to_string(), &["-m", "cyclonedds.__idlc__"]).end();
        assert!(
            backend.status.success(),
            "the package cyclonedds is missing\nhint: `make setup`: {backend:?}"
        );
        let published = fs::read_to_string(root().join("include/ddsmark/sample.idl")).expect("the type");
        let idl = published
            .replace("struct Sample", &format!("struct {}", self.type_name))
            .replace("sequence<octet>", self.member);
        fs::write(scene.path("sample.idl"), idl).expect("a file");
        // the generator in the package crashes; the library's generator works with the backend of the package
        let fetch = root().join("drivers/cyclonedds/fetch.sh").display().to_string();
        let prefix = scene.start(&fetch, &[]).end();
        let idlc = format!("{}/bin/idlc", prefix.stdout.trim());
        scene.start(&idlc, &["-l", backend.stdout.trim(), "sample.idl"]).end().assert_status(0);
        let (end, theirs) = UnixStream::pair().expect("sockets");
        let script = root().join("tests/e2e/reads.py").display().to_string();
        let words: [&str; 7] = [
            &script,
            &domain.to_string(),
            topic,
            &format!("sample.{}", self.type_name),
            &TAG.to_string(),
            &self.seed.to_string(),
            &self.size.to_string(),
        ];
        let variables =
            [("PYTHONPATH", scene.directory.path().as_os_str()), ("CYCLONEDDS_URI", ON_LOOPBACK.as_ref())];
        (scene.start_reading(theirs, &variables, &python.display().to_string(), &words), end)
    }

    /// Writes for half a second, if both match. Returns the number of samples accepted, or why they do not match,
    /// and the samples received.
    fn run(&self, scene: &Scene) -> (Result<u64, String>, Value) {
        let factors = self.factors(scene);
        let reserved = reserved_domain();
        let domain = reserved.number;
        let name = format!("ddsmark-other-{}", process::id());
        let topic = format!("{}_out", name.replace('-', "_"));
        let (reader, mut end) = self.reader(scene, domain, &topic);
        let mut agent = Agent::start(scene, self.driver);
        let writer = RunTopology::new(&factors, &Pin::None, false).in_run(&name).endpoints.remove(0);
        let configured = agent.order(&Request::Configure(Box::new(Configure {
            role: Role::Writer,
            participant: writer.participant,
            writers: writer.writers,
            readers: writer.readers,
            run_name: name,
            run_tag: TAG,
            seed: SEED,
            domain,
            cpus: None,
            priorities: None,
            payload: None,
            measure_ns: SECOND_NS / 2,
            windows: 5,
            check_every: 1,
            probe_every: None,
            await_echo: false,
            traces: [].into(),
            begin_ns: None,
            late_join: None,
            spin: false,
            timeline: None,
            clock_slack_ns: 0,
            ping_timeout_ns: 200_000_000,
        })));
        assert!(matches!(configured, Reply::Configured(_)), "{configured:?}");
        // a reader that is to match has time to start
        let sent = agent.write(&mut end, if self.matches() { 60 } else { 5 } * SECOND_NS);
        // acknowledged samples may not be taken yet: the reader continues until none is left
        drop(end);
        let outcome = reader.end();
        outcome.assert_status(0);
        (sent, serde_json::from_str(&outcome.stdout).expect("JSON"))
    }
}

/// Checks that all samples arrived: each of them once and intact.
fn all_came(came: &Value, sent: u64) -> Result<(), String> {
    let mut sequences: Vec<u64> = list(&came["sequences"]).iter().map(count).collect();
    sequences.sort_unstable();
    if sequences != (0..sent).collect::<Vec<_>>() {
        return Err(format!("of {sent} samples came {}: {sequences:?}", sequences.len()));
    }
    let broken = list(&came["broken"]);
    if broken.is_empty() { Ok(()) } else { Err(format!("not as they were sent: {broken:?}")) }
}

#[test]
fn foreign_reader_receives_every_sample_intact() {
    let scene = Scene::new();
    for driver in ["cyclonedds", "fastdds"] {
        // samples of one datagram, and of several fragments
        for (size, rate_sps) in [(16, 2000), (1000, 2000), (70_000, 100)] {
            let (sent, came) = Case::new(driver, size, rate_sps).run(&scene);
            let sent = sent.unwrap_or_else(|error| panic!("{driver}, {size}: {error}"));
            assert!(sent > 0, "{driver}, {size}");
            assert_eq!(all_came(&came, sent), Ok(()), "{driver}, {size}");
            assert_eq!(came["foreign"], 0, "{driver}, {size}");
        }
    }
}

#[test]
fn lost_duplicate_or_changed_sample_is_detected() {
    let scene = Scene::new();
    let (sent, came) = Case::new("cyclonedds", 64, 200).run(&scene);
    let sent = sent.expect("a match");
    assert!(sent > 0);
    assert_eq!(all_came(&came, sent), Ok(()));
    assert!(all_came(&came, sent + 1).is_err());
    for index in [0, sent as usize / 2, sent as usize - 1] {
        let mut lost = came.clone();
        lost["sequences"].as_array_mut().expect("a list").remove(index);
        assert!(all_came(&lost, sent).is_err());
        let mut doubled = came.clone();
        doubled["sequences"].as_array_mut().expect("a list").insert(index, 0.into());
        assert!(all_came(&doubled, sent).is_err());
    }
    let other = Case { seed: SEED + 1, ..Case::new("cyclonedds", 64, 200) };
    let (sent, came) = other.run(&scene);
    let error = all_came(&came, sent.expect("a match")).unwrap_err();
    assert!(error.starts_with("not as they were sent"), "{error}");
}

/// Types are compared by name alone if one driver announces nothing else, otherwise by structure.
#[test]
fn reader_with_another_type_does_not_match() {
    let scene = Scene::new();
    for (driver, type_name, member) in
        [("fastdds", "Simple", "sequence<octet>"), ("cyclonedds", "Sample", "sequence<long>")]
    {
        let case = Case { type_name, member, ..Case::new(driver, 64, 200) };
        let (sent, came) = case.run(&scene);
        assert!(sent.is_err_and(|error| error.contains("match")), "{driver}");
        assert_eq!(came["sequences"], Value::Array(Vec::new()), "{driver}");
    }
}

/// Compares the published type with the one that the C driver is built with.
#[test]
fn published_type_equals_the_type_of_drivers() {
    let declared = |file: &str| -> String {
        let text = fs::read_to_string(root().join(file)).expect("a type");
        let lines = text.lines().filter(|line| !line.starts_with("//"));
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(declared("include/ddsmark/sample.idl"), declared("drivers/cyclonedds/Sample.idl"));
}
