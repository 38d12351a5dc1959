//! Agreement of publishers and subscribers: a subscriber adopts what a publisher offers, unless its user asked for
//! something else.

use std::{fmt, ops::RangeInclusive};

use serde::{Deserialize, Serialize};

use crate::{
    generation::Generation,
    settings::{Batch, History, Mode, Settings, Shared},
    table::{OPTIONS, OptionRow, Role},
    warning::Warning,
};

/// Maximum number of sizes of an offer.
const MAX_SIZES: usize = 1000;
/// Maximum number of values of an offer.
const MAX_VALUES: usize = 64;
/// Maximum length of a value of an offer.
const MAX_VALUE: usize = 16_384;
/// Maximum number of instances.
const MAX_INSTANCES: u32 = 100_000;
/// Maximum size of a sample, and of a batch, in bytes.
const MAX_SIZE: u64 = 2_147_482_620;
/// Sizes of a sample in bytes.
pub const SIZES: RangeInclusive<u64> = 28..=MAX_SIZE;
/// Maximum duration in seconds.
const MAX_SECONDS: u64 = 31_536_000;

/// Settings that a publisher offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// Generation of the publisher.
    pub generation: Generation,
    /// Settings.
    pub shared: Shared,
    /// Options on which both sides must agree.
    pub values: Vec<OfferedValue>,
}

/// Option of a publisher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferedValue {
    /// Name without the dash.
    pub option: String,
    /// Value as the command line takes it.
    pub value: String,
    /// Whether the user gave it.
    pub given: bool,
}

/// Option with different values at publisher 0 and at another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// Name without the dash.
    pub option: String,
    /// Value of the publisher.
    pub publisher: String,
    /// Whether the publisher's user gave it.
    pub publisher_given: bool,
    /// Value of the subscriber.
    pub subscriber: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by_default = if self.publisher_given { "" } else { " by default" };
        write!(
            f,
            "publisher and subscriber disagree on `-{}`: {}{by_default} and {}",
            self.option, self.publisher, self.subscriber
        )
    }
}

impl Disagreement {
    /// Returns the next step.
    #[must_use]
    pub fn hint(&self) -> String {
        format!(
            "remove `-{}` from the subscriber, which adopts the publisher's; or make both the same",
            self.option
        )
    }
}

/// Offer with a value that no publisher of ddsmark sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid offer: {0} out of range")]
pub struct OfferError(&'static str);

impl Settings {
    /// Returns what this publisher offers.
    #[must_use]
    pub fn offer(&self) -> Offer {
        let rows = OPTIONS.iter().filter(|row| row.agrees);
        let values = rows.filter_map(|row| {
            // Another option of the user decides these two.
            let by_other = match row.name {
                "dataLen" => self.shared.scan,
                "batchSize" => self.shared.batch == Batch::Turbo,
                _ => false,
            };
            let given = self.given(row.name).filter(|_| !by_other);
            let value = match given {
                Some(given) => given.value.clone(),
                None => effective(row, self)?,
            };
            Some(OfferedValue { option: row.name.to_owned(), value, given: given.is_some() || by_other })
        });
        Offer { generation: self.generation, shared: self.shared.clone(), values: values.collect() }
    }

    /// Adopts the settings of an offer.
    ///
    /// Returns warnings about options that have no effect here.
    ///
    /// # Errors
    /// Returns the options that the user of this subscriber gave with another value; nothing is adopted then.
    pub fn adopt(&mut self, offer: &Offer) -> Result<Vec<Warning>, Vec<Disagreement>> {
        let found = self.disagreements(offer);
        if !found.is_empty() {
            return Err(found);
        }
        self.shared = self.with_own_samples(offer.shared.clone());
        let is_without_effect = |option: &str| self.role == Role::Subscriber && is_of_publishers(option);
        let warnings =
            offer.values.iter().filter(|offered| is_without_effect(&offered.option)).filter_map(|offered| {
                let given = self.given(&offered.option).filter(|given| given.value != offered.value)?;
                let (ours, theirs) = (&given.value, &offered.value);
                Some(Warning::new(
                    given.option,
                    format!("has no effect here: it is {ours}, and {theirs} at publisher 0"),
                ))
            });
        Ok(warnings.collect())
    }

    /// Returns the options that the user of this subscriber gave with a value other than the offered one.
    #[must_use]
    pub fn disagreements(&self, offer: &Offer) -> Vec<Disagreement> {
        let mut found = Vec::new();
        for offered in &offer.values {
            // -1 leaves the value to the other side.
            let decides = match self.role {
                Role::Publisher => !is_of_each_publisher(&offered.option),
                Role::Subscriber => !is_of_publishers(&offered.option),
            };
            let given = self.given(&offered.option).filter(|given| decides && given.value != "-1");
            if let Some(given) = given.filter(|given| given.value != offered.value) {
                found.push(Disagreement {
                    option: offered.option.clone(),
                    publisher: offered.value.clone(),
                    publisher_given: offered.given,
                    subscriber: given.value.clone(),
                });
            }
        }
        let keyed = found.iter().any(|disagreement| disagreement.option == "keyed");
        if self.local.filter.is_some() && !offer.shared.keyed && !keyed {
            found.push(Disagreement {
                option: "keyed".to_owned(),
                publisher: "false".to_owned(),
                publisher_given: false,
                subscriber: "true, for `-cft`".to_owned(),
            });
        }
        found
    }

    /// Returns the settings of publisher 0 with the size and the end of this publisher, if its user gave them.
    fn with_own_samples(&self, offered: Shared) -> Shared {
        let is_given = |options: &[&str]| {
            self.role == Role::Publisher && options.iter().any(|option| self.given(option).is_some())
        };
        let own = &self.shared;
        let (samples, execution_time_s) = match is_given(&["numIter", "executionTime"]) {
            true => (own.samples, own.execution_time_s),
            false => (offered.samples, offered.execution_time_s),
        };
        let is_sized = is_given(&["dataLen"]) && !own.scan && !offered.scan;
        let sizes = if is_sized { own.sizes.clone() } else { offered.sizes };
        Shared { sizes, samples, execution_time_s, ..offered }
    }
}

/// Returns whether each publisher has its own value of an option.
#[must_use]
pub fn is_of_each_publisher(option: &str) -> bool {
    ["dataLen", "numIter", "executionTime"].contains(&option)
}

/// Returns whether an option is about samples that only publishers send, so that a subscriber's value has no effect.
#[must_use]
pub fn is_of_publishers(option: &str) -> bool {
    ["dataLen", "sendQueueSize"].contains(&option)
}

/// Returns the value of an option that follows from the settings.
fn effective(row: &OptionRow, settings: &Settings) -> Option<String> {
    let Settings { shared, local, .. } = settings;
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let sizes = || shared.sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(":");
    Some(match row.name {
        "dataLen" => shared.max_size().to_string(),
        "scan" if shared.scan => sizes(),
        "scan" => "false".to_owned(),
        "keyed" => shared.keyed.to_string(),
        "instances" => shared.instances.to_string(),
        "zeroCopy" => shared.zero_copy.to_string(),
        "latencyTest" => (shared.mode == Mode::Latency).to_string(),
        "latencyCount" => shared.latency_count.to_string(),
        "numIter" => shared.samples.unwrap_or(0).to_string(),
        "batchSize" => match shared.batch {
            Batch::Off => "0".to_owned(),
            Batch::Bytes(bytes) => bytes.to_string(),
            Batch::Turbo => "turbo".to_owned(),
        },
        "bestEffort" => (!shared.reliable).to_string(),
        "durability" => shared.durability.number().to_string(),
        "keepLast" => (shared.history != History::KeepAll).to_string(),
        "keepLastDepth" => match shared.history {
            History::KeepAll => return None,
            History::KeepLast(depth) => depth.to_string(),
        },
        "multicast" => shared.multicast.to_string(),
        "asynchronous" => local.asynchronous.to_string(),
        "executionTime" => or_none(shared.execution_time_s.map(|seconds| seconds.to_string())),
        "enableTurboMode" => (shared.batch == Batch::Turbo).to_string(),
        "enableAutoThrottle" => local.pacing.throttle.to_string(),
        "initialBurstSize" => or_none(shared.initial_burst.map(|samples| samples.to_string())),
        "writeInstance" => shared.write_instance.map_or_else(|| "-1".to_owned(), |key| key.to_string()),
        "sendQueueSize" => local.send_queue.map_or_else(|| "-1".to_owned(), |samples| samples.to_string()),
        "sendBufferSize" => or_none(local.send_buffer.map(|bytes| bytes.to_string())),
        "receiveBufferSize" => or_none(local.receive_buffer.map(|bytes| bytes.to_string())),
        // A value of the subscriber applies if publisher 0 gives no value.
        _ => return None,
    })
}

impl Offer {
    /// Checks an offer from the network.
    ///
    /// # Errors
    /// Returns an error if a value is out of range.
    pub fn check(&self) -> Result<(), OfferError> {
        let shared = &self.shared;
        let in_range = |valid: bool, what| if valid { Ok(()) } else { Err(OfferError(what)) };
        let number = !shared.sizes.is_empty() && shared.sizes.len() <= MAX_SIZES;
        in_range(number && shared.sizes.iter().all(|bytes| SIZES.contains(bytes)), "size")?;
        in_range((1..=MAX_INSTANCES).contains(&shared.instances), "number of instances")?;
        in_range(shared.write_instance.is_none_or(|key| key < shared.instances), "instance")?;
        in_range(shared.latency_count > 0 && shared.samples != Some(0), "number of samples")?;
        in_range(shared.execution_time_s.is_none_or(|s| (1..=MAX_SECONDS).contains(&s)), "duration")?;
        in_range(!matches!(shared.batch, Batch::Bytes(bytes) if bytes == 0 || bytes > MAX_SIZE), "batch")?;
        in_range(shared.history != History::KeepLast(0), "depth")?;
        let short = |value: &OfferedValue| value.option.len().max(value.value.len()) <= MAX_VALUE;
        in_range(self.values.len() <= MAX_VALUES && self.values.iter().all(short), "list of options")
    }
}
