//! Terms of a guest: what a configuration must agree with.

use std::collections::{BTreeMap, BTreeSet};

use control::{Configure, PayloadBytes};
use experiment::{MIN_SIZE_BYTES, StreamSpec, ThreadPriorities};
use serde::{Deserialize, Serialize};

use super::GuestError;

/// Maximum length of the name of a run or a topic, in characters.
const MAX_NAME: usize = 255;
/// Prefix of the name of a run.
const OF_RUN: &str = "ddsmark-";
/// Maximum number of writers, of readers, and of streams of a reader.
const MAX_ENTITIES: usize = 1 << 16;
/// Maximum size of all samples that an agent prepares or checks, in bytes: each writer and each expected stream has one.
const MAX_SAMPLE_BYTES: u64 = 1 << 30;

/// Values that a guest was started with. A configuration with other ones is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestTerms {
    /// DDS domain.
    pub domain: u32,
    /// Name of the transport.
    pub transport: String,
    /// Name of the network interface.
    pub interface: String,
    /// Addresses of the peers, in any order and without those of this host; `None`: the leader names them.
    pub peers: Option<Vec<String>>,
    /// Options of the participant, by name.
    pub options: BTreeMap<String, String>,
    /// Cores of the agent; `None`: not pinned.
    pub cores: Option<Vec<u32>>,
    /// Priorities of the threads of the agent; `None`: inherited.
    pub priorities: Option<ThreadPriorities>,
}

impl GuestTerms {
    /// Checks that a configuration agrees with the terms, and that it is within the limits of a guest. `own_addresses`: those
    /// of this host.
    ///
    /// # Errors
    /// Returns an error that names the first item that differs, with both values.
    pub fn check(&self, configure: &Configure, own_addresses: &[String]) -> Result<(), GuestError> {
        let participant = &configure.participant;
        same("domain", Some(&configure.domain.to_string()), Some(&self.domain.to_string()))?;
        same("transport", Some(&participant.transport), Some(&self.transport))?;
        same("interface", Some(&participant.interface), Some(&self.interface))?;
        if let Some(peers) = &self.peers {
            let others = |peers: &[String]| {
                let others: BTreeSet<&str> = peers.iter().map(String::as_str).collect();
                list(others.into_iter().filter(|peer| own_addresses.iter().all(|own| own != peer)))
            };
            same("peers", others(&participant.peers).as_deref(), others(peers).as_deref())?;
        }
        let [leader, guest] = [&participant.options, &self.options];
        for name in leader.keys().chain(guest.keys()) {
            let [leader, guest] = [leader, guest].map(|options| options.get(name).map(String::as_str));
            same(&format!("option `{name}`"), leader, guest)?;
        }
        let cores = |cores: &Option<Vec<u32>>| list(cores.iter().flatten());
        same("cores", cores(&configure.cpus).as_deref(), cores(&self.cores).as_deref())?;
        let priorities = |of: Option<ThreadPriorities>| of.map(|of| format!("{}:{}", of.main, of.receive));
        let [leader, guest] = [configure.priorities, self.priorities].map(priorities);
        same("thread priorities", leader.as_deref(), guest.as_deref())?;
        within_limits(configure)
    }
}

/// Returns a list as text; `None` if it is empty.
fn list<T: ToString>(values: impl Iterator<Item = T>) -> Option<String> {
    let texts: Vec<String> = values.map(|value| value.to_string()).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Checks that both sides have the same value.
fn same(item: &str, leader: Option<&str>, guest: Option<&str>) -> Result<(), GuestError> {
    if leader == guest {
        return Ok(());
    }
    let [leader, guest] = [leader, guest].map(|value| value.unwrap_or("none").to_owned());
    Err(GuestError::Differs { item: item.to_owned(), leader, guest })
}

/// Checks the parts of a configuration that the leader chooses: names that become parts of file names, and sizes.
fn within_limits(configure: &Configure) -> Result<(), GuestError> {
    if !configure.traces.is_empty() {
        return Err(GuestError::Forbidden("the times of trace files"));
    }
    let name = &configure.run_name;
    let is_name = name.len() <= MAX_NAME
        && name.starts_with(OF_RUN)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_name {
        return Err(GuestError::Forbidden("a run name that is not one of ddsmark"));
    }
    let topics = configure.writers.iter().map(|writer| &writer.topic);
    for topic in topics.chain(configure.readers.iter().map(|reader| &reader.topic)) {
        let is_topic = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if topic.len() > MAX_NAME || !topic.bytes().all(is_topic) {
            return Err(GuestError::Forbidden("a topic with other characters than letters, digits and `_`"));
        }
    }
    let longest = configure.readers.iter().map(|reader| reader.streams.len()).max().unwrap_or(0);
    let entities = configure.writers.len().max(configure.readers.len()).max(longest);
    at_most("the number of entities", entities as u64, MAX_ENTITIES as u64)?;
    let streams = configure.readers.iter().flat_map(|reader| &reader.streams);
    let sizes = configure.writers.iter().map(|writer| &writer.stream).chain(streams);
    let sizes: Vec<u64> = sizes.map(|stream: &StreamSpec| stream.size_bytes).collect();
    let bytes = sizes.iter().copied().fold(0, u64::saturating_add);
    at_most("the size of the samples in bytes", bytes, MAX_SAMPLE_BYTES)?;
    let Some(payload) = &configure.payload else { return Ok(()) };
    // A sample of each stream for each part of the file, all in memory.
    let parts = |size: u64| {
        payload.samples(usize::try_from(size.saturating_sub(MIN_SIZE_BYTES)).unwrap_or(usize::MAX)) as u64
    };
    let most = sizes.iter().map(|size| parts(*size)).max().unwrap_or(0);
    at_most("the number of samples of a file", most, PayloadBytes::MAX_SAMPLES as u64)?;
    let bytes = sizes.iter().map(|size| size.saturating_mul(parts(*size))).fold(0, u64::saturating_add);
    at_most("the size of the samples of a file in bytes", bytes, MAX_SAMPLE_BYTES)
}

fn at_most(item: &'static str, value: u64, most: u64) -> Result<(), GuestError> {
    if value <= most {
        return Ok(());
    }
    Err(GuestError::OutOfRange { item, value: value.to_string(), most: most.to_string() })
}
