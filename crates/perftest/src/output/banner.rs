//! Banner: what is requested, and what is effective.

use std::fmt::Write as _;

use experiment::Durability;

use crate::{
    settings::{Batch, History, Mode, Nic, Receive, Settings, Transport},
    table::Role,
    value::{Rate, WaitMethod},
};

/// Circumstances of a banner.
#[derive(Clone, Copy, Debug)]
pub struct Banner<'v> {
    /// Version of ddsmark.
    pub version: &'v str,
    /// Middleware and its version.
    pub middleware: &'v str,
    /// Effective values, read back from the middleware or the kernel.
    pub effective: &'v [EffectiveValue],
}

/// Value that is effective, read back from the middleware or the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveValue {
    /// Label of the banner, such as `Reliability`, or another name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// Step of a process before the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Waits for the processes of the other role.
    Discover,
    /// Waits until all of them are ready.
    Announcement,
    /// Starts the test.
    Run,
}

/// Returns the banner of a process.
#[must_use]
pub fn banner(settings: &Settings, banner: &Banner<'_>) -> String {
    let Banner { version, middleware, effective } = banner;
    let release = settings.generation.release();
    let mode = match settings.shared.mode {
        Mode::Throughput => "Mode: THROUGHPUT TEST (`-latencyTest` measures latency)",
        Mode::Latency if settings.shared.echoes_every_sample() => "Mode: LATENCY TEST (one sample in flight)",
        Mode::Latency => "Mode: LATENCY TEST (waits for the echo of each latency sample)",
    };
    let mut text = format!(
        "ddsmark perftest {version}, compatible with RTI Perftest {release} ({middleware})\n\n{mode}\n\n"
    );
    if effective.is_empty() {
        text.push_str("Values as requested; the effective ones follow after the first size\n\n");
    }
    let (test, transport) = (configuration(settings), transport(settings));
    section(&mut text, "Perftest Configuration:", &test, effective);
    section(&mut text, "Transport Configuration:", &transport, effective);
    let is_listed =
        |value: &EffectiveValue| test.iter().chain(&transport).any(|(label, _)| *label == value.name);
    let others = effective.iter().filter(|value| !is_listed(value));
    let others: Vec<(&str, String)> =
        others.map(|other| (other.name.as_str(), other.value.clone())).collect();
    if !others.is_empty() {
        section(&mut text, "Effective Settings:", &others, &[]);
    }
    text
}

fn section(text: &mut String, title: &str, values: &[(&str, String)], effective: &[EffectiveValue]) {
    let _ = writeln!(text, "{title}");
    for (label, requested) in values {
        let found = effective.iter().find(|value| value.name == *label);
        let suffix = match found {
            Some(found) if found.value == *requested => " (effective)".to_owned(),
            Some(found) => format!(" (effective: {})", found.value),
            None => String::new(),
        };
        let _ = writeln!(text, "\t{label}: {requested}{suffix}");
    }
    text.push('\n');
}

fn configuration(settings: &Settings) -> Vec<(&'static str, String)> {
    let (shared, local) = (&settings.shared, &settings.local);
    let yes = |on: bool| if on { "Yes" } else { "No" }.to_owned();
    let not_set = || "Not set".to_owned();
    let history = match shared.history {
        History::KeepAll => "Keep All".to_owned(),
        History::KeepLast(depth) => format!("Keep Last {depth}"),
    };
    let durability = match shared.durability {
        Durability::Volatile => "Volatile",
        Durability::TransientLocal => "Transient Local",
        Durability::Transient => "Transient",
        Durability::Persistent => "Persistent",
    };
    let of_role = match settings.role {
        Role::Publisher => vec![
            ("Publisher ID", local.id.to_string()),
            ("Latency count", format!("1 latency sample every {} {}", shared.latency_count, unit(settings))),
            ("Latency", "RTT/2, half of the round-trip time".to_owned()),
        ],
        Role::Subscriber => vec![("Subscriber ID", local.id.to_string())],
    };
    let sizes: Vec<String> = shared.sizes.iter().map(u64::to_string).collect();
    let receive = match local.receive {
        Receive::Listener => "Listeners".to_owned(),
        Receive::ReadThread { group_samples: 1, .. } => "WaitSets".to_owned(),
        Receive::ReadThread { group_samples, group_us } => {
            format!("WaitSets, {group_samples} samples or {group_us} us")
        }
    };
    let file = local.qos_file.as_ref().map(|file| file.path.clone());
    let mut all = vec![
        ("Reliability", if shared.reliable { "Reliable" } else { "Best Effort" }.to_owned()),
        ("Durability", durability.to_owned()),
        ("History", history),
        ("Keyed", if shared.keyed { format!("Yes, {} instances", shared.instances) } else { yes(false) }),
    ];
    all.extend(of_role);
    all.extend([
        ("Data Size", sizes.join(", ")),
        ("Batching", batching(settings)),
        ("Publication Rate", publication_rate(settings)),
        ("Samples", shared.samples.map_or_else(|| "Unlimited".to_owned(), |samples| samples.to_string())),
        (
            "Execution time",
            shared.execution_time_s.map_or_else(not_set, |seconds| format!("{seconds} seconds")),
        ),
        ("Receive using", receive),
        ("Domain", local.domain.to_string()),
        ("Zero Copy", yes(shared.zero_copy)),
        ("Asynchronous Publishing", yes(local.asynchronous)),
        ("XML File", file.unwrap_or_else(|| "None".to_owned())),
    ]);
    if local.output.numbers {
        all.push(("Numbers", "In each column, also those that the samples do not support".to_owned()));
    }
    if local.output.resource_limits {
        let limit = |limit: Option<u32>| limit.map_or_else(not_set, |limit| limit.to_string());
        all.push(("Send Queue", limit(local.send_queue)));
        all.push(("Receive Queue", limit(local.receive_queue)));
    }
    all
}

const fn unit(settings: &Settings) -> &'static str {
    match settings.shared.batch {
        Batch::Off => "samples",
        Batch::Bytes(_) | Batch::Turbo => "batches",
    }
}

fn batching(settings: &Settings) -> String {
    match settings.shared.batch {
        Batch::Off => "No".to_owned(),
        Batch::Bytes(bytes) => format!("{bytes} bytes"),
        Batch::Turbo => "Turbo mode".to_owned(),
    }
}

fn publication_rate(settings: &Settings) -> String {
    let pacing = &settings.local.pacing;
    let method = |rate: Rate| match rate.method {
        WaitMethod::Spin => "spin",
        WaitMethod::Sleep => "sleep",
    };
    let mut limits = Vec::new();
    if let Some(rate) = pacing.samples_per_s {
        limits.push(format!("{} samples/s, {}", rate.per_second, method(rate)));
    }
    if let Some(rate) = pacing.bits_per_s {
        limits.push(format!("{} bit/s, {}", rate.per_second, method(rate)));
    }
    if pacing.sleep_ms > 0 {
        limits.push(format!("sleep of {} ms before each sample", pacing.sleep_ms));
    }
    if pacing.spin_count > 0 {
        limits.push(format!("spin of {} before each sample", pacing.spin_count));
    }
    if pacing.throttle {
        limits.push("throttled".to_owned());
    }
    if limits.is_empty() { "Unlimited (Not set)".to_owned() } else { limits.join(", ") }
}

fn transport(settings: &Settings) -> Vec<(&'static str, String)> {
    let local = &settings.local;
    let kind = local.transport.map_or("Default", Transport::name);
    let kind = if local.raw_transport { format!("{kind}, bare sockets") } else { kind.to_owned() };
    let nic = match &local.nic {
        None => "Default".to_owned(),
        Some(Nic::Name(name)) => name.clone(),
        Some(Nic::Address(address)) => address.to_string(),
    };
    let multicast = if settings.shared.multicast { "True" } else { "False" }.to_owned();
    let mut all =
        vec![("Driver", settings.driver.clone()), ("Kind", kind), ("Nic", nic), ("Use Multicast", multicast)];
    if !local.peers.is_empty() {
        let peers: Vec<String> = local.peers.iter().map(ToString::to_string).collect();
        all.push(("Initial peers", peers.join(", ")));
    }
    all
}

/// Returns the line that a process prints at a step, with its role's form.
#[must_use]
pub fn progress(settings: &Settings, step: Step) -> String {
    let partners = settings.local.partners;
    match (step, settings.role) {
        (Step::Discover, Role::Publisher) => format!("Waiting to discover {partners} subscribers..."),
        (Step::Discover, Role::Subscriber) => format!("Waiting to discover {partners} publishers ..."),
        (Step::Announcement, Role::Publisher) => "Waiting for subscribers announcement ...".to_owned(),
        (Step::Announcement, Role::Subscriber) => "Waiting for the settings of the publishers ...".to_owned(),
        (Step::Run, Role::Publisher) => "Publishing data...".to_owned(),
        (Step::Run, Role::Subscriber) => "Waiting for data...".to_owned(),
    }
}
