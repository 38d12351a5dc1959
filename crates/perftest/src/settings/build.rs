//! Options to settings.

use std::net::{IpAddr, Ipv4Addr};

use experiment::{Durability, ThreadPriorities};

use super::{
    GivenOption, Settings,
    local::{Local, Nic, Output, OutputFormat, Pacing, PayloadFile, QosFile, Receive, Transport},
    rules,
    shared::{Batch, History, Mode, SCAN_SIZES, Shared},
};
use crate::{
    command_line::CommandLine,
    entry::{Entries, Entry},
    error::{Cause, PerftestError, Source},
    generation::Generation,
    ini::{self, IniFile},
    table::{Honouring, Role},
    value::{OptionValue, Peer, Rate},
    warning::Warning,
};

/// Drivers that apply without `-driver`.
#[derive(Clone, Copy, Debug)]
pub struct Defaults<'n> {
    /// Driver of a middleware.
    pub driver: &'n str,
    /// Drivers of `-rawTransport`: bare sockets of UDP and of TCP, and shared memory.
    pub raw_drivers: [&'n str; 3],
}

impl<'n> Defaults<'n> {
    /// Returns the driver of a process without `-driver`.
    const fn of(&self, local: &Local) -> &'n str {
        let [udp, tcp, shared_memory] = self.raw_drivers;
        match (local.raw_transport, local.transport) {
            (false, _) => self.driver,
            (true, Some(Transport::SharedMemory)) => shared_memory,
            (true, Some(Transport::Tcp)) => tcp,
            (true, _) => udp,
        }
    }
}

/// Samples from one latency sample to the next in a throughput test.
const LATENCY_COUNT: u64 = 10_000;
/// Samples of each size in a scan of generation 5.1, whose `-numIter` cannot be given: as in the output of its guide.
const SCAN_SAMPLES: u64 = 10_000_000;

pub(super) fn build(
    line: &CommandLine,
    file: Option<IniFile<'_>>,
    defaults: &Defaults<'_>,
) -> Result<(Settings, Vec<Warning>), PerftestError> {
    let generation = line.generation;
    let mut warnings = line.warnings.clone();
    let role = role(&line.entries)?;
    let mut entries = match file {
        Some(file) => ini::parse(file, generation)?,
        None => Entries::default(),
    };
    // Each process reads the same file: what is only for the other role has no effect.
    let for_role =
        |entry: &Entry| entry.row.edition(generation).is_some_and(|edition| edition.roles.contains(role));
    entries.0.retain(for_role);
    let by_unicast = line.entries.flag("nomulticast");
    let is_overridden = |entry: &Entry| {
        line.entries.get(entry.row.name).is_some() || by_unicast && entry.row.name == "multicast"
    };
    entries.0.retain(|entry| !is_overridden(entry));
    // A file usually has all keys: the user did not choose the defaults in it.
    let chosen = entries.0.iter().filter(|entry| !entry.is_default(generation));
    let mut given: Vec<GivenOption> = chosen.map(GivenOption::from_entry).collect();
    for entry in &line.entries.0 {
        if for_role(entry) {
            given.push(GivenOption::from_entry(entry));
            entries.0.push(entry.clone());
        } else {
            let words = format!("has no effect on a {role}: it is an option of a {}", role.other());
            warnings.push(Warning::new(entry.row.name, words));
        }
    }
    rules::check(&entries, generation, role)?;
    for entry in &entries.0 {
        match rules::without_effect(entry, &entries) {
            Some(text) if !entry.is_default(generation) => {
                warnings.push(Warning::new(entry.row.name, text));
            }
            _ => check_fate(entry, generation)?,
        }
    }
    let shared = shared(&entries, generation)?;
    let local = local(&entries, generation, role)?;
    let driver = entries.text("driver").unwrap_or(defaults.of(&local)).to_owned();
    let mut settings = Settings { generation, role, driver, shared, local, given };
    rules::apply(&mut settings, &entries, &mut warnings);
    Ok((settings, warnings))
}

fn role(entries: &Entries) -> Result<Role, PerftestError> {
    match (entries.get("pub"), entries.get("sub")) {
        (Some(publisher), Some(_)) => {
            let instead = "start one command for each role";
            Err(publisher.error(Cause::contradiction("`-sub`", "a process has one role", instead)))
        }
        (Some(_), None) => Ok(Role::Publisher),
        (None, _) => Ok(Role::Subscriber),
    }
}

/// Rejects an option that ddsmark does not honour, unless its value is the default.
fn check_fate(entry: &Entry, generation: Generation) -> Result<(), PerftestError> {
    match entry.row.honouring {
        Honouring::Rejected { reason, instead } if !entry.is_default(generation) => {
            Err(entry.error(Cause::unsupported(reason, instead)))
        }
        Honouring::Rejected { .. } | Honouring::Honoured(_) => Ok(()),
    }
}

fn shared(entries: &Entries, generation: Generation) -> Result<Shared, PerftestError> {
    let number = |name| entries.integer_or_default(name, generation);
    let unsigned = |name| number(name).and_then(|number| u64::try_from(number).ok());
    let small = |name| number(name).and_then(|number| u32::try_from(number).ok());
    let mode = if entries.flag("latencyTest") { Mode::Latency } else { Mode::Throughput };
    let scan = scan(entries);
    let keyed = entries.flag("keyed");
    let default_count = if mode == Mode::Latency { 1 } else { LATENCY_COUNT };
    let samples = match (generation, unsigned("numIter"), mode) {
        // 0 is without end.
        (Generation::V5_1, None | Some(0), _) => scan.is_some().then_some(SCAN_SAMPLES),
        (_, Some(samples), _) => Some(samples),
        (Generation::V4_3, None, Mode::Throughput) => Some(100_000_000),
        (Generation::V4_3, None, Mode::Latency) => Some(10_000_000),
    };
    let durability = number("durability").and_then(|number| i32::try_from(number).ok());
    let durability = durability.and_then(Durability::from_number).unwrap_or(Durability::Volatile);
    let depth = small("keepLastDepth").unwrap_or(1);
    Ok(Shared {
        mode,
        sizes: scan.clone().unwrap_or_else(|| unsigned("dataLen").into_iter().collect()),
        scan: scan.is_some(),
        keyed,
        instances: if keyed { small("instances").unwrap_or(1) } else { 1 },
        write_instance: small("writeInstance").filter(|_| keyed),
        batch: match unsigned("batchSize") {
            _ if entries.flag("enableTurboMode") => Batch::Turbo,
            None | Some(0) => Batch::Off,
            Some(bytes) => Batch::Bytes(bytes),
        },
        latency_count: unsigned("latencyCount").unwrap_or(default_count),
        samples,
        execution_time_s: unsigned("executionTime").filter(|seconds| *seconds > 0),
        initial_burst: unsigned("initialBurstSize"),
        reliable: !entries.flag("bestEffort"),
        durability,
        history: if entries.flag("keepLast") { History::KeepLast(depth) } else { History::KeepAll },
        multicast: entries.flag("multicast"),
        zero_copy: entries.flag("zeroCopy"),
    })
}

/// Returns the sizes of a scan.
fn scan(entries: &Entries) -> Option<Vec<u64>> {
    match entries.get("scan") {
        Some(Entry { value: OptionValue::Sizes(sizes), .. }) if sizes.is_empty() => Some(SCAN_SIZES.to_vec()),
        Some(Entry { value: OptionValue::Sizes(sizes), .. }) => {
            let is_first = |(place, size): &(usize, &u64)| !sizes[..*place].contains(size);
            Some(sizes.iter().enumerate().filter(is_first).map(|(_, size)| *size).collect())
        }
        _ => None,
    }
}

fn local(entries: &Entries, generation: Generation, role: Role) -> Result<Local, PerftestError> {
    let number = |name| entries.integer_or_default(name, generation);
    let small = |name| number(name).and_then(|number| u32::try_from(number).ok());
    let given = |name| entries.integer(name).and_then(|number| u32::try_from(number).ok());
    let text = |name| entries.text(name).map(str::to_owned);
    let (id, partners) = match role {
        Role::Publisher => ("pidMultiPubTest", "numSubscribers"),
        Role::Subscriber => ("sidMultiSubTest", "numPublishers"),
    };
    let raw_transport = entries.flag("rawTransport");
    let peers = entries.all("peer").filter_map(|entry| match &entry.value {
        OptionValue::Peer(peer) => Some(peer.clone()),
        _ => None,
    });
    let mut peers: Vec<Peer> = peers.collect();
    let mut nic = entries.text("nic").map(Nic::from_text);
    if raw_transport && peers.is_empty() {
        // Bare sockets do not find other hosts.
        let own = match nic {
            Some(Nic::Address(address)) => address,
            _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
        peers.push(Peer { address: own.to_string(), number: None });
        nic = Some(Nic::Address(own));
    }
    // Sockets without a middleware have no listeners.
    let receive = if entries.flag("useReadThread") || raw_transport {
        let (group_samples, group_us) = match entries.flag("useReadThread") {
            true => (small("waitsetEventCount").unwrap_or(1), small("waitsetDelayUsec").unwrap_or(0)),
            false => (1, 0),
        };
        // A group that does not wait has the samples that are there.
        Receive::ReadThread { group_samples: if group_us == 0 { 1 } else { group_samples }, group_us }
    } else {
        Receive::Listener
    };
    let filter = match entries.get("cft") {
        Some(Entry { value: OptionValue::Keys(keys), .. }) => Some(*keys),
        _ => None,
    };
    let priorities = match entries.get("threadPriorities") {
        Some(Entry { value: OptionValue::Priorities([main, receive, _]), .. }) => {
            Some(ThreadPriorities { main: main.number(), receive: receive.number() })
        }
        _ => None,
    };
    Ok(Local {
        domain: small("domain").unwrap_or(1),
        id: small(id).unwrap_or(0),
        partners: small(partners).unwrap_or(1),
        raw_transport,
        transport: transport(entries)?,
        nic,
        peers,
        send_queue: small("sendQueueSize"),
        receive_queue: given("receiveQueueSize"),
        send_buffer: given("sendBufferSize"),
        receive_buffer: given("receiveBufferSize"),
        pacing: pacing(entries, generation),
        receive,
        asynchronous: entries.flag("asynchronous"),
        priorities,
        qos_file: qos_file(entries, generation),
        filter,
        payload: text("loadDataFromFile").map(|path| PayloadFile {
            path,
            max_bytes: number("maximumAllocableBufferSize").map_or(u64::MAX, i64::unsigned_abs),
        }),
        output: output(entries, generation),
        result: text("ddsmark-out"),
    })
}

/// Returns the limit of the rate of a publisher.
fn pacing(entries: &Entries, generation: Generation) -> Pacing {
    let unsigned = |name| {
        entries
            .integer_or_default(name, generation)
            .and_then(|number| u64::try_from(number).ok())
            .unwrap_or(0)
    };
    let rate = |name| match entries.get(name) {
        // 0 is without a limit.
        Some(Entry { value: OptionValue::Rate(rate), .. }) if rate.per_second > 0 => Some(*rate),
        _ => None::<Rate>,
    };
    Pacing {
        samples_per_s: rate("pubRate"),
        bits_per_s: rate("pubRatebps"),
        sleep_ms: unsigned("sleep"),
        spin_count: unsigned("spin"),
        throttle: entries.flag("enableAutoThrottle"),
    }
}

fn transport(entries: &Entries) -> Result<Option<Transport>, PerftestError> {
    let flag = |name, transport| entries.flag(name).then_some(transport);
    if let Some(transport) = flag("enableSharedMemory", Transport::SharedMemory) {
        return Ok(Some(transport));
    }
    if let Some(transport) = flag("enableTcpOnly", Transport::Tcp) {
        return Ok(Some(transport));
    }
    let Some(entry) = entries.get("transport") else { return Ok(None) };
    let OptionValue::Choice(name) = entry.value else { return Ok(None) };
    match Transport::from_name(name) {
        Some(transport) => Ok(Some(transport)),
        None => {
            Err(entry
                .error(Cause::unsupported("no driver has this transport", "use UDPv4, UDPv6, SHMEM or TCP")))
        }
    }
}

fn qos_file(entries: &Entries, generation: Generation) -> Option<QosFile> {
    let name = match generation {
        Generation::V5_1 => "qosprofile",
        Generation::V4_3 => "qosFile",
    };
    // A default that a file of the command line repeats is not required to exist.
    let entry = entries
        .get(name)
        .filter(|entry| entry.source == Source::CommandLine || !entry.is_default(generation));
    let OptionValue::Text(path) = &entry?.value else { return None };
    let default = crate::table::find("qosLibrary")?.edition(Generation::V4_3)?.default;
    let library = entries.text("qosLibrary").unwrap_or(default).to_owned();
    (!entries.flag("noXmlQos")).then(|| QosFile { path: path.clone(), library })
}

fn output(entries: &Entries, generation: Generation) -> Output {
    let text = |name| entries.text(name).map(str::to_owned);
    let format = match (generation, entries.text("outputFormat")) {
        (Generation::V5_1, _) | (_, Some("legacy")) => OutputFormat::Legacy,
        (Generation::V4_3, Some("json")) => OutputFormat::Json,
        (Generation::V4_3, _) => OutputFormat::Csv,
    };
    let verbosity = entries.integer_or_default("verbosity", generation);
    let verbosity = verbosity.and_then(|verbosity| u8::try_from(verbosity).ok()).unwrap_or(1);
    Output {
        format,
        headings: !entries.flag("noOutputHeaders"),
        intervals: !entries.flag("noPrintIntervals"),
        cpu: entries.flag("cpu"),
        numbers: entries.flag("ddsmark-numbers"),
        file: text("outputFile"),
        latency_file: text("latencyFile"),
        resource_limits: entries.flag("showResourceLimits"),
        verbosity: if entries.flag("debug") { 3 } else { verbosity },
    }
}
