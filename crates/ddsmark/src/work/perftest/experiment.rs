//! Settings of a test as an experiment: the runner measures it as any other one.

use std::collections::BTreeMap;

use experiment::{ExperimentFile, Pin, Plan, PlanInputs, ReaderDesign, ReceiveMode, RunOrder, SpannedError};
use perftest::{Batch, Durability, History, Mode, Settings, Shared, WaitMethod};

use super::{
    OwnPart, Process,
    distances::{MIN_DISTANCE, Topology, distances},
    file_lines::FileLines,
    qos_file::FileQos,
    queues::queues,
    rates::{Rate, rate},
    receiving::{Receiving, check_filters},
};
use crate::cli::cli_error::{CliError, ExitStatus};

/// Maximum time of each size in s, a day: the control topic keeps all its messages until the end.
pub const MAX_SECONDS: u64 = 86_400;
/// Maximum time of a run in an experiment file in s. [`complete`] sets a longer one.
const FILE_SECONDS: u64 = 3600;

/// Experiment file of a test.
pub struct Text {
    /// The lines of the file, with their options for messages.
    pub lines: FileLines,
    /// The file, read.
    pub file: ExperimentFile,
    /// Differences from the behaviour of the original, for the user.
    pub notes: Vec<String>,
    /// Values that an experiment file cannot have.
    pub exact: Exact,
}

/// Values beyond the limits of an experiment file.
#[derive(Clone, Debug)]
pub struct Exact {
    /// Maximum time of each size in s.
    seconds: u64,
    /// Distance of latency samples of each payload, in samples; empty if the pinger measures latency, or no process does.
    distances: BTreeMap<u64, u32>,
    /// Whether the publisher waits for the echo of each latency sample.
    await_echo: bool,
    /// Settings of receiving of each subscriber, if they differ.
    readers: Vec<ReaderDesign>,
    /// Receive mode of the publisher for echoes, if it differs.
    echo_receive: Option<ReceiveMode>,
}

/// Returns the experiment of a test with a driver and a transport of it. `echoes_in_listener`: whether the driver may send from a listener. `subscribers` are the parts of all
/// subscribers, the one that echoes first. `qos`: policies of the QoS file.
pub fn text(
    settings: &Settings,
    (driver, transport): (&str, &str),
    echoes_in_listener: bool,
    subscribers: &[&OwnPart],
    topology: Topology,
    qos: Option<&FileQos>,
) -> Result<Text, CliError> {
    let Settings { shared, local, .. } = settings;
    let seconds = seconds(shared)?;
    let mut notes = Vec::new();
    // The first one echoes the latency samples of a stream.
    let subscriber = subscribers.first().expect("a test has a subscriber");
    let queues = queues(settings, subscriber, &mut notes)?;
    let distances = if subscribers.iter().all(|part| part.filter.is_none()) {
        distances(settings, topology, queues.send, &mut notes)?
    } else {
        check_filters(shared, shared.mode == Mode::Latency, topology)?;
        match shared.mode {
            Mode::Latency if shared.latency_count == 1 => {}
            Mode::Latency => {
                notes.push("every sample is echoed: `-latencyCount` has no effect with `-cft`".to_owned());
            }
            Mode::Throughput => {
                notes.push("no latency samples are sent: `-cft` excludes some of them".to_owned());
            }
        }
        BTreeMap::new()
    };
    let shortest = distances.values().copied().min();
    let await_echo = shared.mode == Mode::Latency && shortest.is_some();
    if await_echo && local.output.latency_file.is_some() {
        let error = format!("`-latencyFile` is not supported with {} publishers", topology.publishers);
        return Err(CliError::new(
            ExitStatus::WrongUse,
            error,
            "use one publisher, or remove `-latencyFile`",
        ));
    }
    let mut lines = FileLines::default();
    let rate = rate(shared, &mut notes)?;
    let workload = match (shared.mode, &rate) {
        (Mode::Latency, _) if !await_echo => "latency",
        // Between its latency samples, the publisher sends others as in a throughput test.
        (Mode::Latency, _) | (Mode::Throughput, None) => "throughput",
        (Mode::Throughput, Some(_)) => "paced",
    };
    let of_topology: &[_] = &["numSubscribers", "numPublishers"];
    let of_sizes: &[_] = if shared.scan { &["scan"] } else { &["dataLen"] };
    lines.add(&[], "question = \"What does this command line of perftest measure?\"");
    lines.add(&["latencyTest"], format!("workload = {workload:?}"));
    lines.add(&[], "[factors]");
    lines.add(&["driver"], format!("driver = {driver:?}"));
    lines.add(&["transport", "enableSharedMemory", "enableTcpOnly"], format!("transport = {transport:?}"));
    lines.add(of_topology, format!("topology = \"{}-{}\"", topology.publishers, topology.subscribers));
    let (first, others) = shared.sizes.split_first().expect("a test has a size");
    let entry = |size: u64| entry(settings, size, rate.as_ref());
    for (options, value) in entry(*first) {
        lines.add(options, value);
    }
    let others: Vec<String> = others
        .iter()
        .map(|size| {
            let values: Vec<String> = entry(*size).into_iter().map(|(_, value)| value).collect();
            format!("{{ {} }}", values.join(", "))
        })
        .collect();
    if !others.is_empty() {
        lines.add(of_sizes, format!("include = [{}]", others.join(", ")));
    }
    if shared.keyed {
        lines.add(&["instances", "keyed"], format!("instances = {}", shared.instances));
    }
    let waits = shortest.is_some() && !echoes_in_listener;
    let receiving = Receiving::of(settings, subscribers, workload == "latency", waits, &mut notes);
    lines.add(&["useReadThread"], format!("receive = {:?}", receiving.cell.receive.to_string()));
    if let Some(group) = receiving.cell.receive_group {
        let text = format!("receive_group = \"{}/{}us\"", group.samples, group.delay_ns / 1000);
        lines.add(&["waitsetEventCount", "waitsetDelayUsec", "useReadThread"], text);
    }
    if receiving.all_echo {
        lines.add(&["cft"], "all_readers_echo = true");
    }
    let limits: [(&[_], _, _); 4] = [
        (&["sendQueueSize"], "send_queue", queues.send),
        (&["receiveQueueSize"], "receive_queue", queues.receive),
        (&["sendBufferSize"], "send_buffer", local.send_buffer),
        (&["receiveBufferSize"], "receive_buffer", local.receive_buffer),
    ];
    for (options, key, value) in limits {
        if let Some(value) = value {
            lines.add(options, format!("{key} = {value}"));
        }
    }
    if let Some(filter) = receiving.cell.content_filter {
        lines.add(&["cft"], format!("content_filter = \"{filter}\""));
    }
    if local.asynchronous {
        lines.add(&["asynchronous"], "asynchronous = true");
    }
    if shared.zero_copy {
        lines.add(&["zeroCopy"], "loans = true");
    }
    if shared.multicast {
        lines.add(&["multicast"], "multicast = true");
    }
    if !local.raw_transport {
        lines.add(&[], "[qos]");
        if qos.is_none() || !shared.reliable {
            let kind = if shared.reliable { "reliable" } else { "best_effort" };
            lines.add(&["bestEffort"], format!("reliability = {kind:?}"));
        }
        if qos.is_some() || shared.durability != Durability::Volatile {
            lines.add(&["durability"], format!("durability = {:?}", durability(shared.durability)));
        }
        if let History::KeepLast(depth) = shared.history {
            lines.add(&["keepLast"], "history = \"keep_last\"");
            lines.add(&["keepLastDepth", "keepLast"], format!("history_depth = {depth}"));
        }
        if qos.is_some() && shared.reliable {
            // As in the original: a profile decides the reliability of writers only.
            lines.add(&[], "[qos.reader]");
            lines.add(&["bestEffort"], "reliability = \"reliable\"");
        }
    }
    lines.add(&[], "[design]\nblocks = 1\npin = \"none\"\nreference = false");
    lines.add(&["initialBurstSize"], format!("warm_up = {:?}", warm_up(shared)));
    lines.add(&["executionTime"], format!("measure = \"{}s\"", seconds.min(FILE_SECONDS)));
    if let Some(every) = shortest {
        lines.add(&["latencyCount"], format!("probe_every = {}", every.max(MIN_DISTANCE)));
    }
    let mut file = lines.source().read()?;
    if let Some(qos) = qos {
        file.qos = file.qos.over(&qos.policies);
        notes.push(qos.note.clone());
    }
    Ok(Text {
        lines,
        file,
        notes,
        exact: Exact {
            seconds,
            distances,
            await_echo,
            readers: receiving.readers,
            echo_receive: receiving.echo_receive,
        },
    })
}

impl Text {
    /// Returns the plan of the leader. `intervals`: whether a process prints rows during the test.
    pub fn plan(self, leader: &Process, inputs: &PlanInputs<'_>, intervals: bool) -> Result<Plan, CliError> {
        let rejected = |error: SpannedError| self.lines.rejected(&leader.settings, &error);
        let mut plan = self.file.plan(inputs).map_err(rejected)?;
        complete(&mut plan, leader, self.exact, intervals);
        Ok(plan)
    }
}

/// Checks that a publisher has a plan, with a subscriber that has no options of its own: before it meets one.
pub fn check(process: &Process) -> Result<(), CliError> {
    let subscriber = OwnPart {
        receive: Some((ReceiveMode::Listener, 1, 0)),
        filter: None,
        receive_queue: None,
        ..process.own_part()
    };
    let topology = Topology { publishers: 1, subscribers: process.settings.local.partners as usize };
    let text = text(
        &process.settings,
        (&process.settings.driver, &process.test_transport()),
        process.description().echoes_probes_in_listener(),
        &[&subscriber],
        topology,
        process.qos.as_ref(),
    )?;
    let inputs = PlanInputs {
        name: "perftest",
        descriptions: &process.drivers.descriptions,
        installed: &[],
        files: &BTreeMap::new(),
        pin: Pin::None,
        hosts: &[],
        seed: 1,
        least_blocks: &|_| 1,
    };
    text.plan(process, &inputs, false).map(|_| ())
}

/// Completes a plan of the leader with what an experiment file cannot say. `intervals`: whether a process prints rows during the
/// test.
fn complete(plan: &mut Plan, leader: &Process, exact: Exact, intervals: bool) {
    let settings = &leader.settings;
    plan.design.payload.clone_from(&leader.payload);
    plan.design.progress = intervals;
    plan.design.order = RunOrder::Listed;
    plan.design.domain = Some(settings.local.domain);
    plan.design.samples = settings.shared.samples;
    plan.design.warm_up_samples = settings.shared.initial_burst;
    plan.design.write_instance = settings.shared.write_instance;
    if let Some(rate) = settings.shared.pacing.samples_per_s.or(settings.shared.pacing.bits_per_s) {
        plan.design.spin = rate.method == WaitMethod::Spin;
    }
    plan.design.measure_ns = exact.seconds * 1_000_000_000;
    plan.design.probe_every = None;
    plan.design.probe_every_of_size = exact.distances;
    plan.design.await_echo = exact.await_echo;
    plan.design.readers = exact.readers;
    plan.design.echo_receive = exact.echo_receive;
    plan.design.unsupported_quantiles = settings.local.output.numbers;
}

/// Returns the factors that depend on the size.
fn entry(settings: &Settings, size: u64, rate: Option<&Rate>) -> Vec<(&'static [&'static str], String)> {
    let shared = &settings.shared;
    let payload = shared.payload_bytes(size, settings.local.raw_transport);
    let mut values: Vec<(&[&str], String)> = vec![(&["dataLen", "scan"], format!("size = {payload}"))];
    match shared.batch {
        Batch::Off => {}
        Batch::Turbo => values.push((&["enableTurboMode"], "batch_samples = \"turbo\"".to_owned())),
        Batch::Bytes(_) => {
            values.push((&["batchSize"], format!("batch_samples = {}", shared.samples_per_batch(size))));
        }
    }
    match rate {
        None => {}
        Some(Rate::Throttled) => values.push((&["enableAutoThrottle"], "rate = \"throttled\"".to_owned())),
        Some(Rate::Planned(of)) => {
            let options: &[&str] = &["pubRate", "pubRatebps", "sleep", "spin"];
            values.push((options, format!("rate = \"{}\"", of(size))));
        }
    }
    values
}

/// Returns the maximum time of each size in s, or an error if `-executionTime` is longer.
pub fn seconds(shared: &Shared) -> Result<u64, CliError> {
    match shared.execution_time_s {
        Some(seconds) if seconds > MAX_SECONDS => {
            let error = format!("`-executionTime {seconds}` is longer than {MAX_SECONDS} s");
            Err(CliError::new(ExitStatus::WrongUse, error, "use at most a day for each size"))
        }
        Some(seconds) => Ok(seconds),
        None => Ok(MAX_SECONDS),
    }
}

/// Returns the duration of the warm-up. A number of samples ends it earlier.
const fn warm_up(shared: &Shared) -> &'static str {
    match (shared.initial_burst, shared.mode) {
        (Some(_), _) => "600s",
        (None, Mode::Latency) => "300ms",
        (None, Mode::Throughput) => "500ms",
    }
}

const fn durability(kind: Durability) -> &'static str {
    match kind {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient_local",
        Durability::Transient => "transient",
        Durability::Persistent => "persistent",
    }
}
