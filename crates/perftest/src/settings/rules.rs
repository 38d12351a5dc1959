//! Rules between options: contradictions, and options without effect.

use std::net::IpAddr;

use super::{
    Settings,
    local::Pacing,
    shared::{Batch, Mode},
};
use crate::{
    entry::{Entries, Entry},
    error::{Cause, PerftestError, Source},
    generation::Generation,
    settings::local::Transport,
    table::Role,
    value::{OptionValue, Priority},
    warning::Warning,
};

/// Returns an error if options contradict each other.
pub(super) fn check(entries: &Entries, generation: Generation, role: Role) -> Result<(), PerftestError> {
    let changed = |name| entries.changed(name, generation);
    let both = |one, other, with: &'static str, reason, instead| match (changed(one), changed(other)) {
        (Some(entry), Some(_)) => Err(contradiction(entry, with, reason, instead)),
        _ => Ok(()),
    };
    if generation == Generation::V5_1 {
        both("numIter", "scan", "`-scan`", "a scan has its own number of samples", "remove one of them")?;
    }
    both("pubRate", "pubRatebps", "`-pubRatebps`", "a publisher has one rate", "remove one of them")?;
    let only = "each is the only transport";
    both("enableSharedMemory", "enableTcpOnly", "`-enableTcpOnly`", only, "remove one of them")?;
    let instead = "start the test once for each size";
    both("rawTransport", "scan", "`-scan`", "bare sockets have no scan", instead)?;
    let typed = |name| changed(name).filter(|entry| entry.source == Source::CommandLine);
    if let (Some(entry), Some(_)) = (typed("nomulticast"), typed("multicast")) {
        return Err(contradiction(entry, "`-multicast`", "one of them is possible", "remove one of them"));
    }
    if let (Some(entry), Some(_)) = (changed("latencyTest"), changed("pidMultiPubTest")) {
        let words = "only publisher 0 measures latency";
        return Err(contradiction(entry, "`-pidMultiPubTest`", words, "use `-pidMultiPubTest 0`"));
    }
    // Only the address of the loopback interface is known here.
    let is_name = |nic: &&Entry| match &nic.value {
        OptionValue::Text(text) => text != "lo" && text.parse::<IpAddr>().is_err(),
        _ => false,
    };
    if let (Some(entry), None, Some(_)) =
        (changed("rawTransport"), entries.get("peer"), entries.get("nic").filter(is_name))
    {
        let instead = "add `-peer` with the address of the other side; without `-nic`, it is 127.0.0.1";
        let reason = "bare sockets have no discovery";
        return Err(contradiction(entry, "a command without `-peer`", reason, instead));
    }
    if let Some(entry) = changed("latencyFile").filter(|_| !entries.flag("latencyTest")) {
        let reason = "a throughput test keeps its latencies as a histogram";
        let instead = "add `-latencyTest`, or use `-ddsmark-out DIR`: the result has the histogram";
        return Err(contradiction(entry, "a command without `-latencyTest`", reason, instead));
    }
    if let Some(entry) = changed("latencyFile").filter(|_| entries.integer("latencyCount").unwrap_or(1) > 1) {
        let words = "only a test that echoes every sample keeps its latencies one by one";
        return Err(contradiction(entry, "`-latencyCount`", words, "remove `-latencyCount`"));
    }
    if let (Some(entry), Some(_)) = (changed("ddsmark-out"), changed("pidMultiPubTest")) {
        let words = "publisher 0 has the result of all processes";
        return Err(contradiction(entry, "`-pidMultiPubTest`", words, "give it to publisher 0"));
    }
    let of_qos = |entry: &&Entry| {
        entry.source == Source::CommandLine || entries.changed(entry.row.name, generation).is_some()
    };
    let qos = ["qosFile", "qosprofile"].into_iter().find_map(|name| entries.get(name)).filter(of_qos);
    if let Some(entry) = qos.filter(|_| entries.flag("rawTransport")) {
        let words = "bare sockets have no QoS";
        return Err(contradiction(entry, "`-rawTransport`", words, "remove one of them"));
    }
    check_priorities(entries, role)?;
    check_instance(entries)?;
    check_heartbeats(entries)
}

/// Rejects priorities of threads that a process does not have, or that belong to the middleware.
fn check_priorities(entries: &Entries, role: Role) -> Result<(), PerftestError> {
    let Some(entry) = entries.get("threadPriorities") else { return Ok(()) };
    let OptionValue::Priorities(priorities) = entry.value else { return Ok(()) };
    let [main, receive, event] = priorities.map(Priority::number);
    if event != 0 {
        let reason = "the threads of events belong to the middleware";
        return Err(entry.error(Cause::unsupported(reason, "use 0 for the last priority")));
    }
    if receive == 0 && (role == Role::Publisher || main == 0) {
        return Ok(());
    }
    let id = entries.integer("pidMultiPubTest").unwrap_or(0);
    // With samples between the latency samples, a thread of its own receives the echoes.
    let latency = entries.flag("latencyTest") && entries.integer("latencyCount").unwrap_or(1) <= 1;
    let reads = entries.flag("useReadThread") || entries.flag("rawTransport");
    let one_thread = |reason| {
        let instead = "use the same priority for both, or 0 for the one that is not used";
        Err(contradiction(entry, "the role of this process", reason, instead))
    };
    match role {
        Role::Subscriber if main != 0 && main != receive => {
            one_thread("the thread of a subscriber that receives also writes the echoes")
        }
        Role::Publisher if id > 0 => one_thread("only publisher 0 receives echoes"),
        Role::Publisher if latency && main != receive => {
            one_thread("the thread of a latency test that writes also receives the echoes")
        }
        _ if (role == Role::Subscriber || latency) && !reads => {
            let reason = "without it, a thread of the middleware receives";
            Err(contradiction(entry, "a command without `-useReadThread`", reason, "add it"))
        }
        _ => Ok(()),
    }
}

/// Rejects a single instance beyond the instances.
fn check_instance(entries: &Entries) -> Result<(), PerftestError> {
    let Some(entry) = entries.get("writeInstance").filter(|_| entries.flag("keyed")) else { return Ok(()) };
    let instances = entries.integer("instances").unwrap_or(1);
    if entries.integer("writeInstance").is_some_and(|instance| instance >= instances) {
        let instead = format!("use 0 to {}, or more instances", instances - 1);
        return Err(contradiction(entry, "`-instances`", "keys begin with 0", &instead));
    }
    Ok(())
}

/// Rejects fast heartbeats that are slower than the others.
fn check_heartbeats(entries: &Entries) -> Result<(), PerftestError> {
    let period = |name| match entries.get(name) {
        Some(entry @ Entry { value: OptionValue::Period(ns), .. }) if *ns > 0 => Some((entry, *ns)),
        _ => None,
    };
    match (period("fastHeartbeatPeriod"), period("heartbeatPeriod")) {
        (Some((entry, fast)), Some((_, normal))) if fast > normal => {
            Err(contradiction(entry, "`-heartbeatPeriod`", "it is slower", "use a shorter period"))
        }
        _ => Ok(()),
    }
}

fn contradiction(entry: &Entry, with: &str, reason: &str, instead: &str) -> PerftestError {
    entry.error(Cause::contradiction(with, reason, instead))
}

/// Returns why an option that ddsmark does not honour has no effect in the release either, if that is so.
pub(super) fn without_effect(entry: &Entry, entries: &Entries) -> Option<String> {
    let name = entry.row.name;
    if name == "flatData" && entries.flag("zeroCopy") {
        return Some("has no further effect: `-zeroCopy` has a type without serialization".to_owned());
    }
    let needed = entry.row.only_with;
    let is_missing = !needed.is_empty() && entries.get(needed).is_none();
    is_missing.then(|| format!("has no effect without `-{needed}`"))
}

/// Applies the effects of options on others, with a warning for each option that loses its effect.
pub(super) fn apply(settings: &mut Settings, entries: &Entries, warnings: &mut Vec<Warning>) {
    let generation = settings.generation;
    if settings.local.raw_transport && entries.get("peer").is_none() {
        let peers: Vec<&str> = settings.local.peers.iter().map(|peer| peer.address.as_str()).collect();
        let text =
            format!("is implied: without `-peer`, the other side is on this host, at {}", peers.join(", "));
        warnings.push(Warning::new("peer", text));
    }
    let mut warn = |option: &'static str, text: &str| {
        if entries.changed(option, generation).is_some() {
            warnings.push(Warning::new(option, text));
        }
    };
    if settings.shared.scan {
        warn("dataLen", "is ignored: `-scan` decides the sizes");
    }
    if let Some(Entry { value: OptionValue::Sizes(sizes), .. }) = entries.get("scan")
        && !sizes.is_empty()
        && sizes.len() > settings.shared.sizes.len()
    {
        warn("scan", "has a size twice: each is measured once");
    }
    for (option, needed) in [
        ("waitsetDelayUsec", "useReadThread"),
        ("waitsetEventCount", "useReadThread"),
        ("instances", "keyed"),
        ("writeInstance", "keyed"),
        ("keepLastDepth", "keepLast"),
        ("maximumAllocableBufferSize", "loadDataFromFile"),
        ("qosLibrary", "qosFile"),
    ] {
        if !entries.flag(needed) && entries.text(needed).is_none() {
            warn(option, &format!("has no effect without `-{needed}`"));
        }
    }
    if entries.flag("noXmlQos") {
        warn("qosFile", "is ignored: `-noXmlQos` reads no file");
    }
    if settings.role == Role::Publisher && settings.local.id > 0 {
        warn("latencyCount", "has no effect: only publisher 0 measures latency");
    }
    apply_rate(settings, &mut warn);
    apply_batch(settings, entries, &mut warn);
    if settings.local.raw_transport {
        // Bare sockets repeat nothing, except TCP.
        settings.shared.reliable = settings.local.transport == Some(Transport::Tcp);
    }
}

fn apply_rate(settings: &mut Settings, warn: &mut impl FnMut(&'static str, &str)) {
    let pacing = &mut settings.local.pacing;
    if settings.shared.mode == Mode::Latency {
        for option in ["pubRate", "pubRatebps", "sleep", "spin", "enableAutoThrottle"] {
            warn(option, "has no effect: the echoes decide the rate of `-latencyTest`");
        }
        *pacing = Pacing::default();
        return;
    }
    let rate = match (pacing.samples_per_s, pacing.bits_per_s) {
        (Some(_), _) => Some("pubRate"),
        (None, Some(_)) => Some("pubRatebps"),
        (None, None) => None,
    };
    if let Some(rate) = rate {
        let text = format!("is ignored: `-{rate}` decides the rate");
        warn("sleep", &text);
        warn("spin", &text);
        warn("enableAutoThrottle", &text);
        (pacing.sleep_ms, pacing.spin_count, pacing.throttle) = (0, 0, false);
    }
}

fn apply_batch(settings: &mut Settings, entries: &Entries, warn: &mut impl FnMut(&'static str, &str)) {
    let Settings { shared, local, .. } = settings;
    let off = if shared.mode == Mode::Latency {
        Some("`-latencyTest` sends one sample at a time")
    } else if shared.zero_copy {
        Some("samples of `-zeroCopy` are not batched")
    } else {
        None
    };
    if let Some(reason) = off {
        let text = format!("has no effect: {reason}");
        warn("enableTurboMode", &text);
        if matches!(shared.batch, Batch::Bytes(_)) {
            warn("batchSize", &text);
        }
    }
    if shared.batch == Batch::Turbo {
        warn("batchSize", "is ignored: `-enableTurboMode` decides the size of batches");
    }
    let rate = local.pacing.samples_per_s.or(local.pacing.bits_per_s);
    let by_default = entries.get("batchSize").is_none();
    let paced = rate.is_some() && by_default && matches!(shared.batch, Batch::Bytes(_));
    if off.is_some() || paced {
        // At a given rate a default batch would only delay its samples.
        shared.batch = Batch::Off;
    }
    if matches!(shared.batch, Batch::Bytes(_)) {
        let batched = shared.sizes.iter().filter(|size| shared.batch_bytes(**size).is_some()).count();
        if batched == 0 {
            warn("batchSize", "has no effect: fewer than two samples fit, or they have over 65470 bytes");
            shared.batch = Batch::Off;
        }
    }
}
