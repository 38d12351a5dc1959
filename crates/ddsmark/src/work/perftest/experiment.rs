//! Settings of a test as an experiment: the runner measures it as any other one.

use std::{collections::BTreeMap, fmt::Write as _, hint::black_box, time::Instant};

use experiment::{ExperimentFile, KeyFilter, Plan, ReceiveMode, RunOrder, Source};
use perftest::{Batch, Durability, History, Mode, Settings, Shared, WaitMethod};

use super::{OwnPart, Process, qos_file::FileQos};
use crate::cli::cli_error::{CliError, ExitStatus};

/// Maximum time of each size in s, a day: the control topic keeps all its messages until the end.
pub const MAX_SECONDS: u64 = 86_400;
/// Maximum time of a run in an experiment file in s. [`complete`] sets a longer one.
const FILE_SECONDS: u64 = 3600;
/// Rounds of an empty loop by which `-spin` is calibrated.
const CALIBRATION_ROUNDS: u64 = 20_000_000;
/// Minimum distance of latency samples in an experiment file. [`complete`] sets shorter ones.
const MIN_DISTANCE: u32 = 101;
/// Minimum send queue of a throttle, and its length in distances of latency samples: in samples.
const THROTTLE_QUEUE: u64 = 4000;
const THROTTLE_DISTANCES: u64 = 20;

/// Experiment file of a test.
pub struct Text {
    /// The file, with its text for messages.
    pub source: Source,
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
}

/// Numbers of publishers and subscribers of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Publishers.
    pub publishers: usize,
    /// Subscribers.
    pub subscribers: usize,
}

impl Topology {
    const fn is_pair(self) -> bool {
        self.publishers == 1 && self.subscribers == 1
    }
}

/// Returns the experiment of a test with a driver and a transport of it. `echoes_in_listener`: whether the driver may send from a listener. `subscriber` is the part of a
/// subscriber that the plan needs. `qos`: policies of the QoS file.
pub fn text(
    settings: &Settings,
    (driver, transport): (&str, &str),
    echoes_in_listener: bool,
    subscriber: &OwnPart,
    topology: Topology,
    qos: Option<&FileQos>,
) -> Result<Text, CliError> {
    let Settings { shared, local, .. } = settings;
    let seconds = seconds(shared)?;
    let mut notes = Vec::new();
    let distances = match subscriber.filter {
        None => distances(settings, topology, &mut notes)?,
        Some(_) => {
            notes.push("no latency samples are sent: `-cft` excludes some of them".to_owned());
            BTreeMap::new()
        }
    };
    let shortest = distances.values().copied().min();
    let await_echo = shared.mode == Mode::Latency && shortest.is_some();
    let mut text = String::new();
    let mut line = |text_of: String| {
        let _ = writeln!(text, "{text_of}");
    };
    let rate = rate(shared, &mut notes)?;
    let workload = match (shared.mode, &rate) {
        (Mode::Latency, _) if !await_echo => "latency",
        // Between its latency samples, the publisher sends others as in a throughput test.
        (Mode::Latency, _) | (Mode::Throughput, None) => "throughput",
        (Mode::Throughput, Some(_)) => "paced",
    };
    line("question = \"What does this command line of perftest measure?\"".to_owned());
    line(format!("workload = {workload:?}"));
    line("[factors]".to_owned());
    line(format!("driver = {driver:?}"));
    line(format!("transport = {transport:?}"));
    line(format!("topology = \"{}-{}\"", topology.publishers, topology.subscribers));
    let (first, others) = shared.sizes.split_first().expect("a test has a size");
    let entry = |size: u64| entry(settings, size, rate.as_ref());
    for value in entry(*first) {
        line(value);
    }
    let others: Vec<String> =
        others.iter().map(|size| format!("{{ {} }}", entry(*size).join(", "))).collect();
    if !others.is_empty() {
        line(format!("include = [{}]", others.join(", ")));
    }
    if shared.keyed {
        line(format!("instances = {}", shared.instances));
    }
    let (mut receive, group_samples, group_us) = subscriber.receive.unwrap_or((ReceiveMode::Listener, 1, 0));
    if receive == ReceiveMode::Listener && shortest.is_some() && !echoes_in_listener {
        receive = ReceiveMode::Waitset;
        notes.push(format!(
            "a listener of driver `{driver}` must not wait, so the subscriber echoes latency samples from a thread that \
             waits, as with `-useReadThread`"
        ));
    }
    line(format!("receive = {:?}", receive.to_string()));
    if group_samples > 1 && receive == ReceiveMode::Waitset {
        line(format!("receive_group = \"{group_samples}/{}us\"", group_us.max(1)));
    }
    for (key, value) in [
        ("send_queue", send_queue(shared, local.send_queue, &mut notes)),
        ("receive_queue", subscriber.receive_queue.or(local.receive_queue)),
        ("send_buffer", local.send_buffer),
        ("receive_buffer", local.receive_buffer),
    ] {
        if let Some(value) = value {
            line(format!("{key} = {value}"));
        }
    }
    if let Some(filter) = subscriber.filter {
        line(format!("content_filter = \"{filter}\""));
    }
    if local.asynchronous {
        line("asynchronous = true".to_owned());
    }
    if shared.zero_copy {
        line("loans = true".to_owned());
    }
    if shared.multicast {
        line("multicast = true".to_owned());
    }
    if !local.raw_transport {
        line("[qos]".to_owned());
        if qos.is_none() || !shared.reliable {
            line(format!("reliability = {:?}", if shared.reliable { "reliable" } else { "best_effort" }));
        }
        if qos.is_some() || shared.durability != Durability::Volatile {
            line(format!("durability = {:?}", durability(shared.durability)));
        }
        if let History::KeepLast(depth) = shared.history {
            line(format!("history = \"keep_last\"\nhistory_depth = {depth}"));
        }
        if qos.is_some() && shared.reliable {
            // As in the original: a profile decides the reliability of writers only.
            line("[qos.reader]\nreliability = \"reliable\"".to_owned());
        }
    }
    line("[design]\nblocks = 1\npin = \"none\"\nreference = false".to_owned());
    line(format!("warm_up = {:?}", warm_up(shared)));
    line(format!("measure = \"{}s\"", seconds.min(FILE_SECONDS)));
    if let Some(every) = shortest {
        line(format!("probe_every = {}", every.max(MIN_DISTANCE)));
    }
    let source = Source { path: "perftest".to_owned(), text, sets: Vec::new() };
    let mut file = source.read()?;
    if let Some(qos) = qos {
        file.qos = file.qos.over(&qos.policies);
        notes.push(qos.note.clone());
    }
    Ok(Text { source, file, notes, exact: Exact { seconds, distances, await_echo } })
}

/// Completes a plan of the leader with what an experiment file cannot say. `intervals`: whether a process prints rows during the
/// test.
pub fn complete(plan: &mut Plan, leader: &Process, exact: Exact, intervals: bool) {
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
    plan.design.unsupported_quantiles = settings.local.output.numbers;
}

/// Returns the factors that depend on the size.
fn entry(settings: &Settings, size: u64, rate: Option<&Rate>) -> Vec<String> {
    let shared = &settings.shared;
    let mut values = vec![format!("size = {}", shared.payload_bytes(size, settings.local.raw_transport))];
    match shared.batch {
        Batch::Off => {}
        Batch::Turbo => values.push("batch_samples = \"turbo\"".to_owned()),
        Batch::Bytes(_) => values.push(format!("batch_samples = {}", shared.samples_per_batch(size))),
    }
    match rate {
        None => {}
        Some(Rate::Throttled) => values.push("rate = \"throttled\"".to_owned()),
        Some(Rate::PerSecond(of)) => values.push(format!("rate = \"{}/s\"", of(size))),
    }
    values
}

enum Rate {
    /// Rate that follows the subscriber.
    Throttled,
    /// Samples per second of a size.
    PerSecond(Box<dyn Fn(u64) -> u64>),
}

/// Returns the limit of the rate; `None` if there is none.
fn rate(shared: &Shared, notes: &mut Vec<String>) -> Result<Option<Rate>, CliError> {
    let pacing = &shared.pacing;
    if pacing.throttle {
        return Ok(Some(Rate::Throttled));
    }
    if shared.mode == Mode::Latency {
        return Ok(None);
    }
    if pacing.samples_per_s.is_some() || pacing.bits_per_s.is_some() {
        let shared = shared.clone();
        let of = move |size| shared.samples_per_s(size).map_or(1, |rate| rate.round().max(1.0) as u64);
        return Ok(Some(Rate::PerSecond(Box::new(of))));
    }
    let mut interval_ns = 0;
    if pacing.sleep_ms > 0 {
        interval_ns += pacing.sleep_ms.saturating_mul(1_000_000);
        notes.push(format!("`-sleep {}` is a schedule with that interval", pacing.sleep_ms));
    }
    if pacing.spin_count > 0 {
        let spin_ns = (round_ns() * pacing.spin_count as f64) as u64;
        interval_ns += spin_ns;
        notes.push(format!(
            "`-spin {}` is a schedule with an interval of {spin_ns} ns, the time of that loop on this host",
            pacing.spin_count
        ));
    }
    match interval_ns {
        0 => Ok(None),
        10.. => {
            let per_second = (1_000_000_000 / interval_ns).max(1);
            Ok(Some(Rate::PerSecond(Box::new(move |_| per_second))))
        }
        _ => {
            let error = format!("`-spin {}` is too short for a schedule", pacing.spin_count);
            Err(CliError::new(ExitStatus::WrongUse, error, "increase it, or remove it"))
        }
    }
}

/// Returns the time of one round of an empty loop in ns: the shortest of three measurements.
fn round_ns() -> f64 {
    let once = || {
        let begin = Instant::now();
        for round in 0..CALIBRATION_ROUNDS {
            black_box(round);
        }
        begin.elapsed().as_nanos() as f64 / CALIBRATION_ROUNDS as f64
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
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

/// Returns why a test cannot have this filter of a subscriber, and the next step.
pub fn unfit_filter(shared: &Shared, filter: KeyFilter) -> Option<(&'static str, &'static str)> {
    let excludes_all = match shared.write_instance {
        Some(only) => !filter.includes(only),
        None => u64::from(filter.first) >= u64::from(shared.instances),
    };
    if shared.mode == Mode::Latency {
        Some((
            "`-cft` is not supported with `-latencyTest`: every sample has to be echoed",
            "remove one of them",
        ))
    } else if shared.pacing.throttle {
        Some((
            "`-cft` is not supported with `-enableAutoThrottle`, which follows echoes",
            "remove one of them",
        ))
    } else if excludes_all {
        let hint = "choose keys that `-instances` and `-writeInstance` have: they begin with 0";
        Some(("`-cft` excludes all samples", hint))
    } else {
        None
    }
}

/// Returns the distance of latency samples of each payload in samples; empty in a latency test that echoes every sample.
fn distances(
    settings: &Settings,
    topology: Topology,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<u64, u32>, CliError> {
    let Settings { shared, local, .. } = settings;
    if shared.echoes_every_sample() {
        return Ok(BTreeMap::new());
    }
    if shared.pacing.throttle && !topology.is_pair() {
        let error = format!(
            "`-enableAutoThrottle` is not supported with {} publishers and {} subscribers",
            topology.publishers, topology.subscribers
        );
        let hint = "remove it, or use one publisher and one subscriber: the rate follows one subscriber";
        return Err(CliError::new(ExitStatus::WrongUse, error, hint));
    }
    let longest = match shared.pacing.throttle {
        true => throttle_queue(local.send_queue) / THROTTLE_DISTANCES,
        false => u64::from(u32::MAX),
    };
    let requested = |size: &u64| shared.samples_per_ping(*size);
    let most = shared.sizes.iter().map(requested).max().unwrap_or(1);
    if shared.pacing.throttle && most > longest {
        notes.push(format!(
            "one sample in {longest} is a latency sample, not one in {most}: `-enableAutoThrottle` follows their echoes"
        ));
    }
    let distance = |size: &u64| {
        let distance = requested(size).clamp(1, longest);
        (shared.payload_bytes(*size, local.raw_transport), u32::try_from(distance).unwrap_or(u32::MAX))
    };
    let distances: BTreeMap<u64, u32> = shared.sizes.iter().map(distance).collect();
    if let Some(distance) = distances.values().copied().min().filter(|distance| *distance < MIN_DISTANCE) {
        notes.push(format!(
            "one sample in {distance} is echoed in full: the echoes add {:.0} % to the traffic, and share the CPU time of both \
             sides",
            100.0 / f64::from(distance)
        ));
    }
    if topology.subscribers > 1 {
        notes.push("the subscriber with the lowest id echoes all latency samples".to_owned());
    }
    Ok(distances)
}

/// Returns the queue of a throttle in samples.
fn throttle_queue(send_queue: Option<u32>) -> u64 {
    send_queue.map_or(THROTTLE_QUEUE, |queue| u64::from(queue).max(THROTTLE_QUEUE))
}

/// Returns the send queue of the publisher in samples, or in batches; `None`: no limit.
fn send_queue(shared: &Shared, send_queue: Option<u32>, notes: &mut Vec<String>) -> Option<u32> {
    let queue = send_queue?;
    let needed = u32::try_from(throttle_queue(send_queue)).unwrap_or(u32::MAX);
    if !shared.pacing.throttle || queue >= needed {
        return send_queue;
    }
    notes.push(format!(
        "the send queue has {needed} samples, not {queue}: `-enableAutoThrottle` needs room between its marks"
    ));
    Some(needed)
}

const fn durability(kind: Durability) -> &'static str {
    match kind {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient_local",
        Durability::Transient => "transient",
        Durability::Persistent => "persistent",
    }
}
