//! A pair of agents in processes of their own, led through one run in the same way as by a runner.

use std::{
    collections::BTreeMap,
    fs::File,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use agent::base::clock::now_ns;
use control::{
    AgentReport, Configure, Configured, Drain, Inbox, Match, MeasureReply, ReaderReport, Reply, Request,
    WriterReport,
};
use driver_host::{
    Driver, Participant, ParticipantConfig, Reader, ReaderConfig, TypeKind, Writer, WriterConfig,
};
use experiment::{
    Factors, Flow, Load, Pin, Qos, Rate, Reliability, Role, RunTopology, SizeDistribution, Sizes,
    TraceSamples, Workload,
};

pub const MS: u64 = 1_000_000;
/// Lock held during a run: runs disturb each other.
static ALONE: Mutex<()> = Mutex::new(());
/// Time limit of every answer.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Returns the file of a driver of this tree.
pub fn driver(name: &str) -> PathBuf {
    let programs =
        Path::new(env!("CARGO_BIN_EXE_ddsmark-agent")).parent().expect("a program lies in a directory");
    let file = programs.parent().expect("target").join("drivers").join(format!("libddsmark_{name}.so"));
    assert!(file.is_file(), "{} is missing\nhint: `make drivers`, or `make test`", file.display());
    file
}

/// Returns a paced cell of a driver, with one flow.
pub fn cell(driver: &str, load: Load) -> Factors {
    Factors {
        driver: driver.to_owned(),
        transport: if driver == "sim" { "local" } else { "udp4" }.to_owned(),
        workload: Workload::Paced,
        size_bytes: 64,
        load: Some(load),
        ..Factors::default()
    }
}

/// Returns a paced cell of a driver, with several flows.
pub fn cell_of(driver: &str, flows: &[(&str, u64, Load)]) -> Factors {
    let flow = |(name, size_bytes, load): &(&str, u64, Load)| Flow::new(name, *size_bytes, load.clone());
    let largest = flows.iter().map(|flow| flow.1).max().expect("a flow");
    let flows: Vec<_> = flows.iter().map(flow).collect();
    Factors { load: None, size_bytes: largest, flows, ..cell(driver, Load::Max) }
}

/// Returns the configuration of a writer of five flows: one for each kind of schedule, and for each kind of sizes.
pub fn configure_of_each_schedule() -> Configure {
    let rate = Rate::per_second(20_000);
    let flows = [
        ("constant", 64, Load::Constant { rate }),
        ("poisson", 64, Load::Poisson { rate }),
        ("bursts", 64, Load::Burst { rate: Rate { samples: 20, period_ns: MS } }),
        ("sizes", 64, Load::Constant { rate }),
        ("log-normal", 64, Load::Constant { rate }),
    ];
    let mut factors = cell_of("udp", &flows);
    let values = SizeDistribution::Values { values: vec![16, 64], weights: vec![9, 1] };
    let log_normal = SizeDistribution::LogNormal { median_bytes: 30, p99_bytes: 50 };
    factors.flows[3].sizes = Some(Sizes { distribution: values, seed: 1 });
    factors.flows[4].sizes = Some(Sizes { distribution: log_normal, seed: 1 });
    Run::new(factors, 100 * MS).configure(Role::Writer)
}

/// Opens a participant of `udp` in this process.
pub fn participant(run_name: &str) -> Participant {
    let config = ParticipantConfig {
        domain: 77,
        run_name: run_name.to_owned(),
        interface: Some("lo".to_owned()),
        ..ParticipantConfig::default()
    };
    Driver::load(&driver("udp")).expect("the driver loads").open(&config).expect("a participant")
}

pub fn writer_config(topic: &str) -> WriterConfig {
    WriterConfig {
        topic: topic.to_owned(),
        type_kind: TypeKind::Octets,
        qos: Qos::default(),
        max_payload_bytes: 64,
        batch_bytes: 0,
        async_write: false,
        loans: false,
    }
}

pub fn reader_config(topic: &str, polling: bool) -> ReaderConfig {
    ReaderConfig {
        topic: topic.to_owned(),
        type_kind: TypeKind::Octets,
        qos: Qos::default(),
        max_payload_bytes: 64,
        batched: false,
        polling,
        content_filter: None,
    }
}

/// Returns a writer and a reader that is connected to it.
pub fn pair(participant: &Participant, topic: &str, polling: bool) -> (Writer, Reader) {
    let writer = participant.writer(&writer_config(topic)).expect("a writer");
    let reader = participant.reader(&reader_config(topic, polling)).expect("a reader");
    writer.monitor().connect(&reader.monitor().locator().expect("a locator")).expect("connected");
    (writer, reader)
}

pub fn reliable() -> Qos {
    Qos { reliability: Some(Reliability::Reliable), ..Qos::default() }
}

/// Time from the order to the reader until a schedule starts, in ns, unless a test wants another one.
const LEAD_NS: i64 = 400 * MS as i64;

/// Parameters of one run.
pub struct Run {
    pub factors: Factors,
    pub duration_ns: u64,
    /// Maximum number of samples.
    pub samples: Option<u64>,
    /// Samples of trace files, by their SHA-256.
    pub traces: BTreeMap<String, TraceSamples>,
    pub spin: bool,
    pub windows: u32,
    /// Time from the order to the reader until the schedule starts, in ns.
    pub lead_ns: i64,
    /// Called before the traffic, with what writer and reader reported as configured.
    pub disturb: fn(&[Configured; 2], &Configure),
}

/// Result of a run.
#[derive(Debug)]
pub struct Outcome {
    pub begin_ns: u64,
    /// Times in ns by which the writer missed earlier starts.
    pub missed: Vec<u64>,
    pub paced_writer: WriterReport,
    pub read: ReaderReport,
    pub writer: AgentReport,
    pub reader: AgentReport,
    pub configured: [Configured; 2],
}

/// Error and hint of an agent that failed.
pub type Failed = (String, Option<String>);

struct Agent {
    child: Child,
    orders: UnixStream,
    replies: Inbox<Reply>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        // has no effect if the agent has exited
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Agent {
    fn start(driver_file: &Path) -> Self {
        let (mine, its) = UnixStream::pair().expect("a pair of sockets");
        let child = Command::new(env!("CARGO_BIN_EXE_ddsmark-agent"))
            .arg("--driver")
            .arg(driver_file)
            .args(["--control-fd", "0"])
            .stdin(Stdio::from(OwnedFd::from(its)))
            .stdout(Stdio::null())
            .spawn()
            .expect("an agent");
        let replies = Inbox::start(File::from(OwnedFd::from(mine.try_clone().expect("a socket"))), || ());
        let agent = Self { child, orders: mine, replies };
        assert!(matches!(agent.reply(), Reply::Hello(_)));
        agent
    }

    fn reply(&self) -> Reply {
        self.replies.receive(TIME_LIMIT).expect("an answer")
    }

    fn order(&mut self, order: &Request) {
        control::send(&mut self.orders, order).expect("an agent that listens");
    }

    fn ask(&mut self, order: &Request) -> Result<Reply, Failed> {
        self.order(order);
        match self.reply() {
            Reply::Failed { error, hint, .. } => Err((error, hint)),
            reply => Ok(reply),
        }
    }

    fn configure(&mut self, configure: Configure) -> Result<Configured, Failed> {
        match self.ask(&Request::Configure(Box::new(configure)))? {
            Reply::Configured(configured) => Ok(*configured),
            other => panic!("{other:?}"),
        }
    }

    fn report(&mut self) -> Result<AgentReport, Failed> {
        match self.ask(&Request::Report)? {
            Reply::Report(report) => Ok(*report),
            other => panic!("{other:?}"),
        }
    }
}

impl Run {
    pub fn new(factors: Factors, duration_ns: u64) -> Self {
        let nothing = |_: &[Configured; 2], _: &Configure| ();
        Self {
            factors,
            duration_ns,
            samples: None,
            traces: BTreeMap::new(),
            spin: true,
            windows: 20,
            lead_ns: LEAD_NS,
            disturb: nothing,
        }
    }

    /// Returns the endpoints: writer and reader.
    fn topology(&self) -> RunTopology {
        RunTopology::new(&self.factors, &Pin::None, false).in_run("paced")
    }

    pub fn configure(&self, role: Role) -> Configure {
        let mut endpoints = self.topology().endpoints.into_iter();
        let endpoint = endpoints.find(|endpoint| endpoint.role == role).expect("an endpoint");
        Configure {
            role,
            participant: endpoint.participant,
            writers: endpoint.writers,
            readers: endpoint.readers,
            run_name: format!("paced-{}-{:?}", std::process::id(), std::thread::current().id())
                .replace(['(', ')'], "-"),
            run_tag: 0x123,
            seed: 7,
            domain: 77,
            cpus: None,
            priorities: None,
            measure_ns: self.duration_ns,
            windows: self.windows,
            check_every: 1,
            traces: self.traces.clone(),
            payload: None,
            begin_ns: None,
            late_join: None,
            spin: self.spin,
            timeline: None,
            clock_slack_ns: 0,
            ping_timeout_ns: 200_000_000,
            probe_every: None,
            await_echo: false,
        }
    }

    /// Repeats the run until its schedule was kept: the host may be busy for a while.
    pub fn held(&self) -> Outcome {
        self.such_that(|outcome| outcome.paced_writer.flows.iter().all(|flow| flow.planned == flow.accepted))
    }

    /// Repeats the run until it satisfies the condition, at most ten times.
    pub fn such_that(&self, is_such: impl Fn(&Outcome) -> bool) -> Outcome {
        let outcome = (0..10).find_map(|_| self.try_outcome().ok().filter(&is_such));
        outcome.expect("one run in ten: the host is too busy, or the agent is wrong")
    }

    /// Executes the run; panics if an agent failed.
    pub fn outcome(&self) -> Outcome {
        self.try_outcome().unwrap_or_else(|(error, hint)| panic!("{error}; hint: {hint:?}"))
    }

    /// Executes the run, or returns the error of the agent that failed.
    pub fn try_outcome(&self) -> Result<Outcome, Failed> {
        // independent of the failure of another test
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = driver(&self.factors.driver);
        let (mut reader, mut writer) = (Agent::start(&file), Agent::start(&file));
        let of_reader = reader.configure(self.configure(Role::Reader))?;
        let configured = [writer.configure(self.configure(Role::Writer))?, of_reader];
        for (index, agent) in [&mut writer, &mut reader].into_iter().enumerate() {
            let limit_ns = TIME_LIMIT.as_nanos() as u64;
            agent.order(&Request::Match(Match::of(&self.topology().topics(), index, &configured, limit_ns)));
        }
        for agent in [&reader, &writer] {
            assert!(matches!(agent.reply(), Reply::Matched { .. }));
        }
        (self.disturb)(&configured, &self.configure(Role::Writer));
        for agent in [&mut reader, &mut writer] {
            assert_eq!(agent.ask(&Request::WarmUp { duration_ns: 20 * MS, samples: None })?, Reply::WarmedUp);
        }
        let (mut lead_ns, mut missed) = (self.lead_ns, Vec::new());
        let (begin_ns, sent) = loop {
            let begin_ns = now_ns().saturating_add_signed(lead_ns);
            let order = Request::Measure {
                duration_ns: self.duration_ns,
                samples: self.samples,
                begin_ns: Some(begin_ns),
                progress: false,
                join: None,
            };
            assert_eq!(reader.ask(&order)?, Reply::Measured(MeasureReply::default()));
            match writer.ask(&order)? {
                Reply::Measured(measured) => break (begin_ns, measured.sent),
                // As a runner does: both are asked again.
                Reply::Missed { late_ns } if missed.len() < 3 => missed.push(late_ns),
                other => panic!("{other:?}"),
            }
            lead_ns = LEAD_NS;
        };
        for agent in [&mut writer, &mut reader] {
            let drain = Drain { sent, timeout_ns: 10_000 * MS, quiet_ns: 500 * MS, joined_ns: None };
            assert!(matches!(agent.ask(&Request::Drain(drain))?, Reply::Drained { .. }));
        }
        let (of_writer, of_reader) = (writer.report()?, reader.report()?);
        for agent in [&mut writer, &mut reader] {
            assert_eq!(agent.ask(&Request::Exit)?, Reply::Bye);
        }
        Ok(Outcome {
            begin_ns,
            missed,
            paced_writer: of_writer.writer().cloned().expect("of a writer"),
            read: of_reader.reader().cloned().expect("of a reader"),
            writer: of_writer,
            reader: of_reader,
            configured,
        })
    }
}
