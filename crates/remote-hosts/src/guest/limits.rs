//! Limits of the values that a leader chooses: names that become parts of file names, and everything that an agent allocates.
//!
//! The patterns list all fields, so a new field is a compile error until its limit is known.

use control::{Configure, MAX_WINDOWS, Match, MatchedPeers, PayloadBytes, windows_of_flow};
use experiment::{
    Arrival, Load, MAX_GROUP, MAX_IN_FLIGHT, MAX_INSTANCES, MAX_SIZE_VALUES, MIN_SIZE_BYTES, ParticipantSpec,
    Qos, ReaderSpec, Role, SizeDistribution, Sizes, StreamSpec, WriterSpec,
};
use host::SiteError;
use results::COARSE_WINDOWS;

use super::{at_most, forbidden};

/// Prefix of the name of a run.
const OF_RUN: &str = "ddsmark-";
/// Maximum length of a name, a topic, an address or a locator, in bytes.
const MAX_NAME: usize = 255;
/// Maximum number of writers, of readers, of streams of a reader, of peers and of participants.
const MAX_ENTITIES: u64 = 1 << 16;
/// Maximum size of all samples that an agent prepares or checks, in bytes: each writer and each expected stream has one.
const MAX_SAMPLE_BYTES: u64 = 1 << 30;
/// Maximum socket buffer in bytes.
const MAX_BUFFER_BYTES: u64 = i32::MAX as u64;
/// Maximum length of the texts of a QoS, in bytes.
const MAX_QOS_TEXT: u64 = 1 << 20;
/// Maximum queue of a writer or reader in bytes. A middleware may allocate it when it opens the entity.
const MAX_QUEUE_BYTES: u64 = 4 << 30;
/// Queue in samples that is always accepted: the longest one by default.
const USUAL_QUEUE: u64 = 10_000;
/// Maximum memory of the buffers and recorders of an agent in bytes.
const MAX_MEMORY_BYTES: u64 = 4 << 30;

/// Upper limits of parts of this memory, in bytes: a histogram; the sequence numbers and arrivals of a stream; its random
/// times; the times around a late join; the timestamps of an agent.
const HISTOGRAM_BYTES: u64 = 256 << 10;
const STREAM_BYTES: u64 = 512 << 10;
const RANDOM_TIMES_BYTES: u64 = 8 << 20;
const JOIN_BYTES: u64 = 8 << 20;
const TIMESTAMPS_BYTES: u64 = 64 << 20;
/// Buffers of a stream: at least 2, and about this size together if samples are shorter.
const BUFFERS: u64 = 2;
const BUFFERS_BYTES: u64 = 64 << 10;
/// Buffers for each sample in flight, and those for late ones.
const BUFFERS_IN_FLIGHT: u64 = 2;
const LATE_BUFFERS: u64 = 16;
/// Memory of a sample beside its bytes.
const SAMPLE_OVERHEAD: u64 = 64;

/// Checks the parts of a configuration that the leader chooses.
///
/// # Errors
/// Returns an error that names the first value beyond its limit.
pub(super) fn check(configure: &Configure) -> Result<(), SiteError> {
    let Configure {
        run_name,
        participant,
        writers,
        readers,
        windows,
        traces,
        payload,
        // Part of the terms.
        domain: _,
        cpus: _,
        priorities: _,
        // They allocate nothing, or a bounded memory.
        role: _,
        run_tag: _,
        seed: _,
        measure_ns: _,
        check_every: _,
        probe_every: _,
        await_echo: _,
        begin_ns: _,
        late_join: _,
        spin: _,
        timeline: _,
        clock_slack_ns: _,
        ping_timeout_ns: _,
    } = configure;
    if !traces.is_empty() {
        return Err(forbidden("the times of trace files"));
    }
    let is_name = run_name.len() <= MAX_NAME
        && run_name.starts_with(OF_RUN)
        && run_name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_name {
        return Err(forbidden("a run name that is not one of ddsmark"));
    }
    at_most("the number of windows", u64::from(*windows), u64::from(MAX_WINDOWS))?;
    check_participant(participant)?;
    let longest = readers.iter().map(|reader| reader.streams.len()).max().unwrap_or(0);
    let entities = writers.len().max(readers.len()).max(longest);
    at_most("the number of entities", entities as u64, MAX_ENTITIES)?;
    writers.iter().try_for_each(check_writer)?;
    readers.iter().try_for_each(check_reader)?;
    let sizes: Vec<u64> = streams(configure).map(|stream| stream.size_bytes).collect();
    at_most("the size of the samples in bytes", sum(sizes.iter().copied()), MAX_SAMPLE_BYTES)?;
    if let Some(payload) = payload {
        check_payload(payload, &sizes)?;
    }
    at_most("the memory of the agent in bytes", memory_bytes(configure), MAX_MEMORY_BYTES)
}

/// Checks the peers that the leader names.
///
/// # Errors
/// Returns an error that names the first value beyond its limit.
pub(super) fn check_match(of: &Match) -> Result<(), SiteError> {
    let Match { writers, readers, timeout_ns: _, begin_ns: _ } = of;
    at_most("the number of entities to match", (writers.len() + readers.len()) as u64, 2 * MAX_ENTITIES)?;
    let (mut peers, mut longest) = (0, 0);
    for MatchedPeers { count: _, locators, endpoints } in writers.iter().chain(readers) {
        peers += locators.len().max(endpoints.len()) as u64;
        longest = locators.iter().chain(endpoints).map(String::len).fold(longest, usize::max);
    }
    at_most("the number of peers to match", peers, MAX_ENTITIES)?;
    text("the length of a locator", longest)
}

fn check_participant(participant: &ParticipantSpec) -> Result<(), SiteError> {
    let ParticipantSpec {
        peers,
        send_buffer_bytes,
        receive_buffer_bytes,
        send_queue_bytes,
        participants,
        // Part of the terms.
        transport: _,
        interface: _,
        options: _,
        // They allocate nothing.
        shared: _,
        multicast: _,
        vendor_defaults: _,
    } = participant;
    at_most("the number of peers", peers.len() as u64, MAX_ENTITIES)?;
    text("the length of the address of a peer", peers.iter().map(String::len).max().unwrap_or(0))?;
    at_most("the send buffer in bytes", send_buffer_bytes.unwrap_or(0), MAX_BUFFER_BYTES)?;
    at_most("the receive buffer in bytes", receive_buffer_bytes.unwrap_or(0), MAX_BUFFER_BYTES)?;
    // A limit of a queue whose samples are checked with the QoS of each writer.
    let _ = send_queue_bytes;
    at_most("the number of participants", u64::from(participants.unwrap_or(0)), MAX_ENTITIES)
}

fn check_writer(writer: &WriterSpec) -> Result<(), SiteError> {
    let WriterSpec {
        name,
        topic,
        qos,
        stream,
        batch_bytes,
        // At most one thread for each writer.
        thread: _,
        // They allocate nothing.
        batching: _,
        asynchronous: _,
        loans: _,
    } = writer;
    text("the length of the name of a writer", name.len())?;
    check_topic(topic)?;
    check_stream(stream)?;
    at_most("the size of a batch in bytes", *batch_bytes, MAX_SAMPLE_BYTES)?;
    check_qos(qos, stream.size_bytes)
}

fn check_reader(reader: &ReaderSpec) -> Result<(), SiteError> {
    let ReaderSpec {
        name,
        topic,
        qos,
        streams,
        receive_group,
        // They allocate nothing.
        unpacks_batches: _,
        receive: _,
        polling_delay_ns: _,
        processing_ns: _,
        content_filter: _,
    } = reader;
    text("the length of the name of a reader", name.len())?;
    check_topic(topic)?;
    streams.iter().try_for_each(check_stream)?;
    let group = receive_group.map_or(0, |group| group.samples);
    at_most("the samples of a receive group", u64::from(group), u64::from(MAX_GROUP))?;
    check_qos(qos, reader.max_size_bytes())
}

fn check_topic(topic: &str) -> Result<(), SiteError> {
    let is_topic = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if topic.len() > MAX_NAME || !topic.bytes().all(is_topic) {
        return Err(forbidden("a topic with other characters than letters, digits and `_`"));
    }
    Ok(())
}

fn check_stream(stream: &StreamSpec) -> Result<(), SiteError> {
    let StreamSpec {
        sizes,
        instances,
        in_flight,
        // Part of the sums over all streams.
        size_bytes: _,
        // They allocate nothing, or a bounded memory.
        writer: _,
        flow: _,
        write_instance: _,
        loans: _,
        load: _,
        delay_ns: _,
        deadline_ns: _,
    } = stream;
    if let Some(Sizes { distribution: SizeDistribution::Values { values, .. }, .. }) = sizes {
        at_most("the number of sizes of a stream", values.len() as u64, MAX_SIZE_VALUES as u64)?;
    }
    at_most("the number of instances", u64::from(instances.unwrap_or(0)), u64::from(MAX_INSTANCES))?;
    let in_flight = u64::from(in_flight.unwrap_or(0));
    at_most("the number of samples in flight", in_flight, u64::from(MAX_IN_FLIGHT))
}

/// Checks the policies that a middleware may allocate memory for, given the size of the largest sample.
fn check_qos(qos: &Qos, size_bytes: u64) -> Result<(), SiteError> {
    let queues = [
        ("the history in bytes", [qos.history_depth, qos.service_history_depth]),
        ("the queue of samples in bytes", [qos.max_samples, qos.service_max_samples]),
        (
            "the queue of an instance in bytes",
            [qos.max_samples_per_instance, qos.service_max_samples_per_instance],
        ),
    ];
    for (item, samples) in queues {
        // Negative numbers are unlimited: such a queue is allocated as it is filled.
        let samples = samples.into_iter().filter_map(|samples| u64::try_from(samples?).ok()).max();
        let long = samples.filter(|samples| *samples > USUAL_QUEUE).unwrap_or(0);
        at_most(item, long.saturating_mul(size_bytes.max(1)), MAX_QUEUE_BYTES)?;
    }
    for instances in [qos.max_instances, qos.service_max_instances] {
        let instances = instances.and_then(|instances| u64::try_from(instances).ok()).unwrap_or(0);
        at_most("the instances of a queue", instances, MAX_ENTITIES.max(u64::from(MAX_INSTANCES)))?;
    }
    let texts = [&qos.user_data, &qos.topic_data, &qos.group_data];
    let partitions = qos.partitions.iter().flatten();
    let lengths = texts.into_iter().flatten().chain(partitions).map(|text| text.len() as u64 + 1);
    at_most("the length of the texts of a QoS", lengths.sum(), MAX_QOS_TEXT)
}

/// Checks a file whose bytes samples carry: a sample of each stream for each part of the file, all in memory.
fn check_payload(payload: &PayloadBytes, sizes: &[u64]) -> Result<(), SiteError> {
    let parts = |size: u64| {
        payload.samples(usize::try_from(size.saturating_sub(MIN_SIZE_BYTES)).unwrap_or(usize::MAX)) as u64
    };
    let most = sizes.iter().map(|size| parts(*size)).max().unwrap_or(0);
    at_most("the number of samples of a file", most, PayloadBytes::MAX_SAMPLES as u64)?;
    let bytes = sum(sizes.iter().map(|size| size.saturating_mul(parts(*size))));
    at_most("the size of the samples of a file in bytes", bytes, MAX_SAMPLE_BYTES)
}

/// Returns the streams that an agent writes or expects.
fn streams(configure: &Configure) -> impl Iterator<Item = &StreamSpec> {
    let expected = configure.readers.iter().flat_map(|reader| &reader.streams);
    configure.writers.iter().map(|writer| &writer.stream).chain(expected)
}

/// Returns an upper limit of the memory of the buffers and recorders of an agent in bytes, whatever its role, without the
/// bytes of a file.
fn memory_bytes(configure: &Configure) -> u64 {
    let windows = configure.windows.max(1);
    let of_flow = windows_of_flow(windows, configure.streams().count());
    let recorders = |count: usize, windows: u32| count as u64 * u64::from(windows);
    let with_times = match configure.role {
        Role::Pinger => configure.readers.len(),
        _ => configure.readers.len().min(1),
    };
    let histograms = recorders(with_times, windows)
        + recorders(configure.writers.len(), windows.min(COARSE_WINDOWS))
        + recorders(2 * streams(configure).filter(|stream| stream.load.is_some()).count(), of_flow)
        + recorders(streams(configure).filter(|stream| stream.deadline_ns.is_some()).count(), 1);
    let of_stream = |stream: &StreamSpec| {
        let size = stream.size_bytes.saturating_add(SAMPLE_OVERHEAD);
        let in_flight = u64::from(stream.in_flight.unwrap_or(1));
        let buffers = BUFFERS + BUFFERS_IN_FLIGHT * in_flight + if in_flight > 1 { LATE_BUFFERS } else { 0 };
        let instances = u64::from(stream.instances.unwrap_or(0)) * 8;
        let random = match &stream.load {
            Some(Load::Poisson { .. } | Load::Share { arrival: Arrival::Poisson, .. }) => RANDOM_TIMES_BYTES,
            _ => 0,
        };
        let join = if configure.late_join.is_some() { JOIN_BYTES } else { 0 };
        sum([size.saturating_mul(buffers), BUFFERS_BYTES, instances, STREAM_BYTES, random, join])
    };
    let of_reader = |reader: &ReaderSpec| {
        let group = u64::from(reader.receive_group.map_or(0, |group| group.samples));
        group.saturating_mul(reader.max_size_bytes().saturating_add(SAMPLE_OVERHEAD))
    };
    sum([
        TIMESTAMPS_BYTES,
        histograms.saturating_mul(HISTOGRAM_BYTES),
        sum(streams(configure).map(of_stream)),
        sum(configure.readers.iter().map(of_reader)),
        sum(configure.writers.iter().map(|writer| writer.batch_bytes)),
    ])
}

fn sum(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0, u64::saturating_add)
}

fn text(item: &'static str, length: usize) -> Result<(), SiteError> {
    at_most(item, length as u64, MAX_NAME as u64)
}
