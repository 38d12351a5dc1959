//! Settings of a test as an experiment: the runner measures it as any other one.

use std::collections::BTreeMap;

use ::experiment::{
    BatchSamples, Design, DriverDescription, Durability, EndpointPolicies, ExperimentFile, FactorValues,
    FilterSpec, GroupSpec, Located, OneOrMany, Pin, Plan, PlanInputs, PlannedHost, Policies, RateSpec,
    ReaderDesign, ReceiveMode, Reliability, ReliabilityChoice, RunOrder, Size, Span, TURBO_BYTES, Value,
    Workload, WriterDesign,
};
use perftest::{Batch, History, Mode, Settings, Shared};

use super::{
    OwnPart, Process,
    distances::{Topology, distances},
    origins::Origins,
    publishers::{MAX_SECONDS, Publisher, TestEnd, rate_of_size, writers},
    qos_file::FileQos,
    queues::queues,
    receiving::{Receiving, check_filters},
};
use crate::cli::cli_error::{CliError, Result};

/// Position of a part of the experiment, by the options that decide it.
type At<'a> = &'a mut dyn FnMut(&'static [&'static str]) -> Span;

/// Experiment of a test.
pub struct TestExperiment {
    file: ExperimentFile,
    origins: Origins,
    /// Differences from the behaviour of the original, for the user.
    pub notes: Vec<String>,
    /// Distance of latency samples of each payload, in samples; empty if the pinger measures latency, or no process does.
    distances: BTreeMap<u64, u32>,
    /// Whether the publisher waits for the echo of each latency sample.
    await_echo: bool,
    /// Settings of receiving of each subscriber, if they differ.
    readers: Vec<ReaderDesign>,
    /// Settings of writing of each publisher, if they differ.
    writers: Vec<WriterDesign>,
    /// Receive mode of the publisher for echoes, if it differs.
    echo_receive: Option<ReceiveMode>,
}

impl TestExperiment {
    /// Creates the experiment of a test with a driver and a transport of it. `echoes_in_listener`: whether the driver may send from a
    /// listener. `publishers` are all publishers, this one first. `subscribers` are the parts of all subscribers, the one that
    /// echoes first. `qos`: policies of the QoS file.
    pub fn new(
        settings: &Settings,
        (driver, transport): (&str, &str),
        echoes_in_listener: bool,
        publishers: &[Publisher],
        subscribers: &[&OwnPart],
        topology: Topology,
        qos: Option<&FileQos>,
    ) -> Result<Self> {
        let Settings { shared, local, .. } = settings;
        let mut notes = Vec::new();
        // The first one echoes the latency samples of a stream.
        let subscriber = subscribers.first().expect("a test has a subscriber");
        let queues = queues(settings, subscriber, &mut notes)?;
        let distances = if subscribers.iter().all(|part| part.filter.is_none()) {
            distances(settings, topology, queues.send, &mut notes)?
        } else {
            check_filters(settings, shared.mode == Mode::Latency, topology)?;
            match shared.mode {
                Mode::Latency if shared.latency_count == 1 => {}
                Mode::Latency => {
                    notes
                        .push("every sample is echoed: `-latencyCount` has no effect with `-cft`".to_owned());
                }
                Mode::Throughput => {
                    notes.push("no latency samples are sent: `-cft` excludes some of them".to_owned());
                }
            }
            BTreeMap::new()
        };
        let await_echo = shared.mode == Mode::Latency && !distances.is_empty();
        if await_echo && local.output.latency_file.is_some() {
            let error = format!("`-latencyFile` is not supported with {} publishers", topology.publishers);
            return Err(CliError::usage(error, "use one publisher, or remove `-latencyFile`"));
        }
        publishers.iter().try_for_each(|publisher| publisher.check(&shared.sizes))?;
        notes.extend(publishers.first().iter().flat_map(|leader| leader.rate.notes(&local.pacing)));
        notes.extend(batches_note(settings, publishers));
        let is_paced =
            local.pacing.throttle || publishers.iter().any(|publisher| publisher.rate.limit.is_some());
        let workload = match shared.mode {
            Mode::Latency if !await_echo => Workload::Latency,
            _ if is_paced => Workload::Paced,
            // Between its latency samples, the publisher sends others as in a throughput test.
            Mode::Latency | Mode::Throughput => Workload::Throughput,
        };
        let waits = !distances.is_empty() && !echoes_in_listener;
        // A receive group has room for the samples of all publishers.
        let mut of_all = settings.clone();
        of_all.shared.sizes.extend(publishers.iter().filter_map(|publisher| publisher.size));
        let receiving = Receiving::of(&of_all, subscribers, workload == Workload::Latency, waits, &mut notes);
        let mut origins = Origins::default();
        let mut at = |options: &'static [&'static str]| origins.position(options);
        let workloads = OneOrMany(vec![Located::at(at(&["latencyTest"]), workload)]);
        let mut file = ExperimentFile::new("What does this command line of perftest measure?", workloads);
        let values = &mut file.factors.values;
        values.give_at("driver", at(&["driver"]), driver.to_owned());
        let transport_at = at(&["transport", "enableSharedMemory", "enableTcpOnly"]);
        values.give_at("transport", transport_at, transport.to_owned());
        values.give_at("topology", at(&["numSubscribers", "numPublishers"]), topology.of_plan());
        let (first, others) = shared.sizes.split_first().expect("a test has a size");
        give_size(values, &mut at, settings, *first, publishers);
        let mut at_others =
            |_: &'static [&'static str]| at(if shared.scan { &["scan"] } else { &["dataLen"] });
        file.factors.include = others
            .iter()
            .map(|size| {
                let mut values = FactorValues::default();
                give_size(&mut values, &mut at_others, settings, *size, publishers);
                Located::at(at_others(&[]), values)
            })
            .collect();
        let values = &mut file.factors.values;
        if shared.keyed {
            values.give_at("instances", at(&["instances", "keyed"]), shared.instances);
        }
        values.give_at("receive", at(&["useReadThread"]), receiving.cell.receive);
        if let Some(group) = receiving.cell.receive_group {
            let options = &["waitsetEventCount", "waitsetDelayUsec", "useReadThread"];
            values.give_at("receive_group", at(options), GroupSpec(Some(group)));
        }
        if let Some(filter) = receiving.cell.content_filter {
            values.give_at("content_filter", at(&["cft"]), FilterSpec(Some(filter)));
        }
        let bytes = |bytes: Option<u32>| bytes.map(|bytes| Size(bytes.into()).into());
        let limits: [(_, &'static [_], Option<Value>); 4] = [
            ("send_queue", &["sendQueueSize"], queues.send.map(Into::into)),
            ("receive_queue", &["receiveQueueSize"], queues.receive.map(Into::into)),
            ("send_buffer", &["sendBufferSize"], bytes(local.send_buffer)),
            ("receive_buffer", &["receiveBufferSize"], bytes(local.receive_buffer)),
        ];
        for (key, option, value) in limits {
            if let Some(value) = value {
                values.give_at(key, at(option), value);
            }
        }
        let flags: [(_, &'static [_], _); 4] = [
            ("all_readers_echo", &["cft"], receiving.all_echo),
            ("asynchronous", &["asynchronous"], local.asynchronous),
            ("loans", &["zeroCopy"], shared.zero_copy),
            ("multicast", &["multicast"], shared.multicast),
        ];
        for (key, option, _) in flags.into_iter().filter(|(.., given)| *given) {
            values.give_at(key, at(option), true);
        }
        if !local.raw_transport {
            file.qos = policies(shared, qos.is_some(), &mut at);
        }
        if let Some(qos) = qos {
            file.qos = file.qos.over(&qos.policies);
            notes.push(qos.note.clone());
        }
        Ok(Self {
            file,
            origins,
            notes,
            distances,
            await_echo,
            readers: receiving.readers,
            writers: writers(settings, publishers),
            echo_receive: receiving.echo_receive,
        })
    }

    /// Returns the plan of the leader. `intervals`: whether a process prints rows during the test.
    pub fn plan(
        self,
        leader: &Process,
        descriptions: &BTreeMap<String, DriverDescription>,
        hosts: &[PlannedHost],
        seed: u64,
        intervals: bool,
    ) -> Result<Plan> {
        let inputs = PlanInputs {
            name: "perftest",
            descriptions,
            installed: &[],
            files: &BTreeMap::new(),
            pin: Pin::None,
            hosts,
            seed,
            least_blocks: &|_| 1,
        };
        let Settings { shared, local, .. } = &leader.settings;
        let longest = longest(&self.writers, TestEnd::of(shared));
        let design = Design {
            order: RunOrder::Listed,
            reference: false,
            // Only a result that is kept shows the noise.
            noise_probe: local.result.is_some(),
            payload: leader.payload.clone(),
            progress: intervals,
            domain: Some(local.domain),
            samples: longest.samples,
            warm_up_samples: shared.initial_burst,
            write_instance: shared.write_instance,
            spin: leader.samples.as_ref().is_none_or(|own| own.rate.spins),
            probe_every_of_size: self.distances,
            await_echo: self.await_echo,
            readers: self.readers,
            writers: self.writers,
            echo_receive: self.echo_receive,
            unsupported_quantiles: local.output.numbers,
            ..Design::new(&inputs, warm_up_ns(shared), longest.measure_ns)
        };
        let planned = self.file.plan_with(design, &inputs);
        planned.map_err(|error| self.origins.rejected(&leader.settings, &error))
    }
}

/// Checks that a publisher has a plan, with a subscriber that has no options of its own: before it meets one.
pub fn check(process: &Process) -> Result<()> {
    let subscriber = OwnPart {
        receive: Some((ReceiveMode::Listener, 1, 0)),
        filter: None,
        samples: None,
        receive_queue: None,
        ..process.own_part()
    };
    let topology = Topology { publishers: 1, subscribers: process.settings.local.partners as usize };
    let experiment = TestExperiment::new(
        &process.settings,
        (&process.settings.driver, &process.test_transport()),
        process.description().echoes_probes_in_listener(),
        &process.publisher().into_iter().collect::<Vec<_>>(),
        &[&subscriber],
        topology,
        process.qos.as_ref(),
    )?;
    experiment.plan(process, &process.drivers.descriptions, &[], 1, false).map(|_| ())
}

/// Gives the factors that depend on the size.
fn give_size(
    values: &mut FactorValues,
    at: At<'_>,
    settings: &Settings,
    size: u64,
    publishers: &[Publisher],
) {
    let shared = &settings.shared;
    let payload = shared.payload_bytes(size, settings.local.raw_transport);
    values.give_at("size", at(&["dataLen", "scan"]), Size(payload));
    let batch = match shared.batch {
        Batch::Off => None,
        Batch::Turbo => Some((at(&["enableTurboMode"]), BatchSamples::Turbo(Size(TURBO_BYTES)))),
        Batch::Bytes(_) => Some((at(&["batchSize"]), BatchSamples::Fixed(shared.samples_per_batch(size)))),
    };
    if let Some((at, batch)) = batch {
        values.give_at("batch_samples", at, batch);
    }
    if settings.local.pacing.throttle {
        values.give_at("rate", at(&["enableAutoThrottle"]), RateSpec::Throttled(None));
    } else if let Some(rate) = rate_of_size(publishers, size) {
        values.give_at("rate", at(&["pubRate", "pubRatebps", "sleep", "spin"]), rate);
    }
}

/// Returns a note on batches if only some publishers have a rate, or samples that are small enough: alone, the others would send none by
/// default, and these would.
fn batches_note(settings: &Settings, publishers: &[Publisher]) -> Option<String> {
    let shared = &settings.shared;
    let are_batched = |sizes: &[u64]| sizes.iter().any(|size| shared.batch_bytes(*size).is_some());
    let others: Vec<u64> = publishers.iter().filter_map(|publisher| publisher.size).collect();
    if shared.mode == Mode::Throughput && !are_batched(&shared.sizes) && are_batched(&others) {
        return Some(
            "no publisher sends batches: the samples of publisher 0 are too large for them".to_owned(),
        );
    }
    let have_rates = |has: bool| publishers.iter().any(|publisher| publisher.rate.limit.is_some() == has);
    let is_chosen = settings.given("batchSize").is_some() || settings.shared.mode == Mode::Latency;
    if is_chosen || !have_rates(true) || !have_rates(false) {
        return None;
    }
    Some(match settings.shared.batch {
        Batch::Bytes(bytes) => format!(
            "all publishers send batches of up to {bytes} bytes, as publisher 0 does: use `-batchSize 0` there to send each sample at once"
        ),
        Batch::Off => {
            "no publisher sends batches, as publisher 0 does not: use `-batchSize <bytes>` there for batches"
                .to_owned()
        }
        Batch::Turbo => return None,
    })
}

/// Returns the policies that options decide. `has_file`: whether those of a QoS file are below them.
fn policies(shared: &Shared, has_file: bool, at: At<'_>) -> Policies {
    let mut policies = Policies::default();
    let kind = if shared.reliable { Reliability::Reliable } else { Reliability::BestEffort };
    let mut reliability = || Some(Located::at(at(&["bestEffort"]), ReliabilityChoice::from(kind)));
    if !has_file || !shared.reliable {
        policies.reliability = reliability();
    } else {
        // As in the original: a profile decides the reliability of writers only.
        let of_readers = Policies { reliability: reliability(), ..Policies::default() };
        policies.reader = Some(EndpointPolicies::new(of_readers));
    }
    if has_file || shared.durability != Durability::Volatile {
        policies.durability = Some(Located::at(at(&["durability"]), shared.durability));
    }
    if let History::KeepLast(depth) = shared.history {
        policies.history = Some(Located::at(at(&["keepLast"]), ::experiment::History::KeepLast));
        let depth = i32::try_from(depth).unwrap_or(i32::MAX);
        policies.history_depth = Some(Located::at(at(&["keepLastDepth", "keepLast"]), depth));
    }
    policies
}

/// Rejects a time of each size that is longer than the longest one.
pub fn check_seconds(shared: &Shared) -> Result<()> {
    match shared.execution_time_s {
        Some(seconds) if seconds > MAX_SECONDS => {
            let error = format!("`-executionTime {seconds}` is longer than {MAX_SECONDS} s");
            Err(CliError::usage(error, "use at most a day for each size"))
        }
        _ => Ok(()),
    }
}

/// Returns the limits that contain those of all writers. `of_all`: the end of all samples if no writer has limits of its own.
fn longest(writers: &[WriterDesign], of_all: TestEnd) -> WriterDesign {
    let both = |one: WriterDesign, other: WriterDesign| WriterDesign {
        measure_ns: one.measure_ns.max(other.measure_ns),
        samples: one.samples.zip(other.samples).map(|(one, other)| one.max(other)),
        ..one
    };
    writers.iter().copied().reduce(both).unwrap_or_else(|| WriterDesign {
        size_bytes: None,
        batch_bytes: None,
        measure_ns: of_all.nanoseconds(),
        samples: of_all.samples,
    })
}

/// Returns the duration of the warm-up in ns. A number of samples ends it earlier.
const fn warm_up_ns(shared: &Shared) -> u64 {
    match (shared.initial_burst, shared.mode) {
        (Some(_), _) => 600_000_000_000,
        (None, Mode::Latency) => 300_000_000,
        (None, Mode::Throughput) => 500_000_000,
    }
}
