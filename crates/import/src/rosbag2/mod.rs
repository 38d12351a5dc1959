//! Bags of rosbag2: recordings in MCAP or SQLite files, and what they say about a system.

mod agreement;
mod mcap;
mod metadata;
mod offered_qos;
mod recording;
mod sqlite;
mod times;

pub use mcap::read_mcap;
pub use metadata::{Metadata, metadata};
pub use recording::{Message, RecordedTopic, Recording};
pub use sqlite::read_db3;
pub use times::TimeSource;

use experiment::{MAX_SIZE_VALUES, Rate, SizeDistribution};

use crate::{
    error::ImportError,
    names::plain_name,
    system::{Sends, System, Topic, mean_bytes},
};
use metadata::Stretch;
use offered_qos::offered_qos;
use times::{Timed, segment};

/// Part of a recording that is used unless the user says otherwise, in ns.
const USUAL_NS: u64 = 30_000_000_000;
/// Most messages of a topic that only late readers need.
const LATCHED: usize = 3;
/// Maximum sum of the weights of sizes.
const MAX_WEIGHTS: usize = 1_000_000;
/// Topics that belong to ROS 2 itself.
const OF_ROS: [&str; 3] = ["/rosout", "/parameter_events", "/events/write_split"];

/// Choices about a bag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BagChoices {
    /// Times.
    pub time: TimeSource,
    /// Begin of the part that is used, in ns from the first message.
    pub from_ns: u64,
    /// Length of the part that is used, in ns.
    pub for_ns: Option<u64>,
    /// Number of segment between jumps of the clock, from 1.
    pub segment: Option<usize>,
    /// Number of reading processes; `None`: one, `reader`.
    pub readers: Option<u32>,
    /// Whether the first word of a topic is the process that writes it.
    pub process_prefix: bool,
    /// Whether topics of ROS 2 itself are included.
    pub all: bool,
    /// Whether topics have their mean rate instead of the recorded times.
    pub rates: bool,
}

/// Converts a recording. `sources`: lines about the bag.
///
/// # Errors
/// Returns an error if nothing can be replayed: no messages, times that are not those of traffic, QoS that is not valid.
pub fn rosbag2(
    recording: &Recording,
    choices: &BagChoices,
    sources: Vec<String>,
) -> Result<System, ImportError> {
    let mut system = System {
        question: "Which middleware carries the traffic of this bag?".to_owned(),
        source: sources,
        ..System::default()
    };
    let chosen = segment(recording, choices.time, choices.segment)?;
    system.not_applied.extend(recording.not_applied.iter().cloned());
    system.remarks.extend(recording.remarks.iter().cloned().chain(chosen.remarks));
    system.remarks.push("a bag has what its recorder received: what was lost before is not in it".to_owned());
    system.remarks.push(crate::NO_EXECUTORS.to_owned());
    if recording.compressed_messages > 0 {
        let remark = format!(
            "{} messages are compressed one by one; their size is that before compression",
            recording.compressed_messages
        );
        system.remarks.push(remark);
    }
    for (number, messages) in chosen.others {
        let reason = format!("the clock jumps back by more than 1 s; `--segment {number}` uses it");
        system.not_applied(format!("segment {number} of {messages} messages"), reason);
    }
    let mut of_topics: Vec<Vec<Timed>> = vec![Vec::new(); recording.topics.len()];
    for message in &chosen.messages {
        of_topics[message.topic as usize].push(*message);
    }
    let length_ns = choices.for_ns.unwrap_or(USUAL_NS);
    let window = choices.from_ns..choices.from_ns.saturating_add(length_ns);
    for (topic, messages) in recording.topics.iter().zip(of_topics) {
        add_topic(topic, &messages, &window, choices, &mut system)?;
    }
    let span_ns = chosen.messages.last().map_or(0, |message| message.ns.unsigned_abs());
    if choices.for_ns.is_none() && span_ns >= window.end {
        let after = chosen.messages.iter().filter(|message| message.ns.unsigned_abs() >= window.end).count();
        let reason = "only 30 s are used; `--for` changes it";
        system.not_applied_often("messages after 30 s", after as u64, reason);
    }
    if system.topics.is_empty() {
        let message = format!(
            "no topic has traffic in the part of {} s from {} s on",
            length_ns as f64 / 1e9,
            choices.from_ns as f64 / 1e9
        );
        return Err(ImportError::new(
            message,
            "choose another part with `--from` and `--for`, or include `--all` topics",
        ));
    }
    Ok(system)
}

/// Adds a topic of a recording, unless it has no traffic that can be replayed.
fn add_topic(
    recorded: &RecordedTopic,
    messages: &[Timed],
    window: &std::ops::Range<u64>,
    choices: &BagChoices,
    system: &mut System,
) -> Result<(), ImportError> {
    let name = &recorded.name;
    let item = format!("topic `{name}`");
    if !choices.all && (OF_ROS.contains(&name.as_str()) || name.ends_with("/_service_event")) {
        let reason = format!("{} messages; it belongs to ROS 2 itself; `--all` includes it", messages.len());
        system.not_applied(item, reason);
        return Ok(());
    }
    if messages.is_empty() {
        system.not_applied(item, "no messages");
        return Ok(());
    }
    let qos = offered_qos(&recorded.offered_qos, name, system)?;
    let is_kept = qos.writer.durability == Some(crate::qos::Durability::TransientLocal);
    if messages.len() == 1 || is_kept && messages.len() <= LATCHED {
        let what = match messages.len() {
            1 => "its message is".to_owned(),
            n => format!("its {n} messages are"),
        };
        let reason = format!("latched: {what} for late readers, and no traffic");
        system.not_applied(item, reason);
        return Ok(());
    }
    let used = messages.iter().filter(|message| window.contains(&message.ns.unsigned_abs()));
    let used: Vec<Timed> = used.copied().collect();
    if used.len() < 2 {
        system.not_applied(
            item,
            format!("{} of its {} messages are in the part that is used", used.len(), messages.len()),
        );
        return Ok(());
    }
    let times: Vec<u64> = used.iter().map(|message| message.ns.unsigned_abs() - window.start).collect();
    let bytes: Vec<u64> = used.iter().map(|message| message.bytes).collect();
    let mut topic = if choices.rates {
        let span_ns = times[times.len() - 1] - times[0];
        if span_ns == 0 {
            system.not_applied(item, "all messages have the same time: it has no mean rate");
            return Ok(());
        }
        system.not_applied(format!("times of `{name}`"), "the mean rate is used, as requested");
        at_rate(name, Rate::every(span_ns / (times.len() as u64 - 1)), bytes, system)
    } else {
        Topic::recorded(name.clone(), times, bytes)
    };
    topic.qos = qos;
    if !recorded.message_type.is_empty() {
        let details = recorded.type_details.join(", ");
        let details = if details.is_empty() { details } else { format!(" ({details})") };
        system.source.push(format!("Type of {name}: {}{details}.", recorded.message_type));
    }
    topic.to = choices
        .readers
        .map_or_else(Vec::new, |readers| (1..=readers).map(|reader| format!("reader-{reader}")).collect());
    if choices.process_prefix {
        let first = name.split('/').find(|word| !word.is_empty()).and_then(plain_name);
        topic.from = first.into_iter().collect();
    }
    system.topics.push(topic);
    Ok(())
}

/// Returns a topic at a rate, with sizes that are drawn as often as they were recorded.
fn at_rate(name: &str, rate: Rate, bytes: Vec<u64>, system: &mut System) -> Topic {
    match sizes(bytes) {
        Sizes::One(size_bytes) => Topic::new(name, size_bytes, Sends::Rate(rate)),
        Sizes::Drawn { distribution, exact, least, most } => {
            let of = if exact { "one of these" } else { "the mean of one of 64 equal parts of these" };
            let reason =
                format!("{least} to {most} B; each sample has {of}, as often as recorded, in a random order");
            system.not_applied(format!("order of the sizes of `{name}`"), reason);
            Topic::with_sizes(name, distribution, Sends::Rate(rate))
        }
    }
}

/// Sizes of the messages of a topic.
enum Sizes {
    One(u64),
    Drawn {
        distribution: SizeDistribution,
        /// Whether the distribution has each recorded size.
        exact: bool,
        least: u64,
        most: u64,
    },
}

/// Returns the sizes of messages, with the frequencies of at most 64 of them; of more, those of 64 parts with equally many messages.
fn sizes(mut bytes: Vec<u64>) -> Sizes {
    bytes.sort_unstable();
    let (Some(&least), Some(&most)) = (bytes.first(), bytes.last()) else { return Sizes::One(0) };
    if least == most {
        return Sizes::One(least);
    }
    let equal: Vec<&[u64]> = bytes.chunk_by(|left, right| left == right).collect();
    let exact = equal.len() <= MAX_SIZE_VALUES;
    let parts = if exact {
        equal
    } else {
        let bound = |part: usize| part * bytes.len() / MAX_SIZE_VALUES;
        (0..MAX_SIZE_VALUES).map(|part| &bytes[bound(part)..bound(part + 1)]).collect()
    };
    // Weights are limited to a million: recordings of more messages are rounded.
    let divisor = bytes.len().div_ceil(MAX_WEIGHTS);
    let weight = |part: &&[u64]| (part.len().div_ceil(divisor)) as u32;
    let distribution = SizeDistribution::Values {
        values: parts.iter().map(|part| mean_bytes(part)).collect(),
        weights: parts.iter().map(weight).collect(),
    };
    Sizes::Drawn { distribution, exact, least, most }
}

#[cfg(test)]
mod tests;
