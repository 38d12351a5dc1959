//! Banner: what is requested, and what is effective.

use std::fmt::Write as _;

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
    let mut text = String::new();
    let generation = settings.generation;
    let Banner { version, middleware, .. } = banner;
    line(
        &mut text,
        &format!(
            "ddsmark perftest {version}, compatible with RTI Perftest {} ({middleware})",
            generation.release()
        ),
    );
    line(&mut text, "");
    line(
        &mut text,
        match settings.shared.mode {
            Mode::Throughput => "Mode: THROUGHPUT TEST (`-latencyTest` measures latency)",
            Mode::Latency if settings.shared.echoes_every_sample() => {
                "Mode: LATENCY TEST (one sample in flight)"
            }
            Mode::Latency => "Mode: LATENCY TEST (waits for the echo of each latency sample)",
        },
    );
    line(&mut text, "");
    if banner.effective.is_empty() {
        line(&mut text, "Values as requested; the effective ones follow after the first size");
        line(&mut text, "");
    }
    let (test, transport) = (configuration(settings), transport(settings));
    section(&mut text, "Perftest Configuration:", &test, banner.effective);
    section(&mut text, "Transport Configuration:", &transport, banner.effective);
    let labels = || test.iter().chain(&transport).map(|(label, _)| *label);
    let others: Vec<&EffectiveValue> =
        banner.effective.iter().filter(|value| labels().all(|label| label != value.name)).collect();
    if !others.is_empty() {
        line(&mut text, "Effective Settings:");
        for EffectiveValue { name, value } in others {
            line(&mut text, &format!("\t{name}: {value}"));
        }
        line(&mut text, "");
    }
    text
}

fn section(text: &mut String, title: &str, values: &[(&str, String)], effective: &[EffectiveValue]) {
    line(text, title);
    for (label, requested) in values {
        let found = effective.iter().find(|value| value.name == *label);
        let suffix = match found {
            Some(found) if found.value == *requested => " (effective)".to_owned(),
            Some(found) => format!(" (effective: {})", found.value),
            None => String::new(),
        };
        line(text, &format!("\t{label}: {requested}{suffix}"));
    }
    line(text, "");
}

fn configuration(settings: &Settings) -> Vec<(&'static str, String)> {
    let (shared, local) = (&settings.shared, &settings.local);
    let yes = |on: bool| if on { "Yes" } else { "No" }.to_owned();
    let mut all = vec![
        ("Reliability", if shared.reliable { "Reliable" } else { "Best Effort" }.to_owned()),
        ("Durability", shared.durability.to_string()),
        (
            "History",
            match shared.history {
                History::KeepAll => "Keep All".to_owned(),
                History::KeepLast(depth) => format!("Keep Last {depth}"),
            },
        ),
        ("Keyed", if shared.keyed { format!("Yes, {} instances", shared.instances) } else { yes(false) }),
    ];
    match settings.role {
        Role::Publisher => {
            all.push(("Publisher ID", local.id.to_string()));
            all.push((
                "Latency count",
                format!("1 latency sample every {} {}", shared.latency_count, unit(settings)),
            ));
            all.push(("Latency", "RTT/2, half of the round-trip time".to_owned()));
        }
        Role::Subscriber => all.push(("Subscriber ID", local.id.to_string())),
    }
    let sizes: Vec<String> = shared.sizes.iter().map(u64::to_string).collect();
    all.push(("Data Size", sizes.join(", ")));
    all.push(("Batching", batching(settings)));
    all.push(("Publication Rate", publication_rate(settings)));
    all.push((
        "Samples",
        shared.samples.map_or_else(|| "Unlimited".to_owned(), |samples| samples.to_string()),
    ));
    all.push((
        "Execution time",
        match shared.execution_time_s {
            Some(seconds) => format!("{seconds} seconds"),
            None => "Not set".to_owned(),
        },
    ));
    all.push((
        "Receive using",
        match local.receive {
            Receive::Listener => "Listeners".to_owned(),
            Receive::ReadThread { group_samples: 1, .. } => "WaitSets".to_owned(),
            Receive::ReadThread { group_samples, group_us } => {
                format!("WaitSets, {group_samples} samples or {group_us} us")
            }
        },
    ));
    all.push(("Domain", local.domain.to_string()));
    all.push(("Zero Copy", yes(shared.zero_copy)));
    all.push(("Asynchronous Publishing", yes(local.asynchronous)));
    all.push((
        "XML File",
        local.qos_file.as_ref().map_or_else(|| "None".to_owned(), |file| file.path.clone()),
    ));
    if local.output.numbers {
        all.push(("Numbers", "In each column, also those that the samples do not support".to_owned()));
    }
    if local.output.resource_limits {
        let limit =
            |limit: Option<u32>| limit.map_or_else(|| "Not set".to_owned(), |limit| limit.to_string());
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
    let mut all = vec![("Driver", settings.driver.clone()), ("Kind", kind), ("Nic", nic)];
    all.push(("Use Multicast", if settings.shared.multicast { "True" } else { "False" }.to_owned()));
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

fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{line}");
}
