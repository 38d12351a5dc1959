//! What participants, writers and readers need to know, in safe types.

use std::collections::BTreeMap;

use driver_abi as abi;
use experiment::Qos;
use serde::{Deserialize, Serialize};

/// Settings in force, by name.
pub type Settings = BTreeMap<String, String>;
/// The valid counters of an entity, by name.
pub type Counters = BTreeMap<String, u64>;

/// What a participant needs to know.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "as in the contract")]
pub struct ParticipantConfig {
    pub domain: u32,
    pub run_name: String,
    pub transport: Option<String>,
    pub interface: Option<String>,
    pub peers: Vec<String>,
    pub options: BTreeMap<String, String>,
    pub multicast: bool,
    pub vendor_defaults: bool,
    pub send_buffer_bytes: u64,
    pub receive_buffer_bytes: u64,
    pub send_queue_bytes: u64,
}

/// The types of the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeKind {
    /// A sequence of octets.
    #[default]
    Octets,
    /// A key and a sequence of octets.
    Keyed,
    /// A fixed-size array.
    Plain,
}

impl TypeKind {
    pub(crate) const fn raw(self) -> u32 {
        match self {
            Self::Octets => abi::TYPE_OCTETS,
            Self::Keyed => abi::TYPE_KEYED,
            Self::Plain => abi::TYPE_PLAIN,
        }
    }
}

/// What a writer needs to know.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "as in the contract")]
pub struct WriterConfig {
    pub topic: String,
    pub type_kind: TypeKind,
    pub qos: Qos,
    pub max_payload_bytes: u64,
    pub batch_bytes: u64,
    pub loans: bool,
}

/// What a reader needs to know.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "as in the contract")]
pub struct ReaderConfig {
    pub topic: String,
    pub type_kind: TypeKind,
    pub qos: Qos,
    pub max_payload_bytes: u64,
    pub batched: bool,
    pub polling: bool,
}

/// A sample that is lent for the duration of a call.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The payload.
    pub payload: &'a [u8],
    /// The key, of a keyed type.
    pub key: u32,
    loan: Option<Loan>,
    overwritten: bool,
}

/// Driver's sample, whose memory may be written again while it is lent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loan {
    pub(crate) intact: unsafe extern "C" fn(*mut driver_abi::Reader, *const driver_abi::Sample) -> u32,
    pub(crate) reader: *mut driver_abi::Reader,
    pub(crate) sample: *const driver_abi::Sample,
}

impl<'a> Sample<'a> {
    /// Creates a sample of memory that nobody else writes.
    #[must_use]
    pub const fn new(payload: &'a [u8], key: u32) -> Self {
        Self { payload, key, loan: None, overwritten: false }
    }

    /// Creates a sample of a copy. `intact`: whether what was copied was whole until the copy was made.
    #[must_use]
    pub const fn of_copy(payload: &'a [u8], key: u32, intact: bool) -> Self {
        Self { payload, key, loan: None, overwritten: !intact }
    }

    /// Creates a sample whose driver is to be asked whether it stayed whole.
    pub(crate) const fn of_loan(payload: &'a [u8], key: u32, loan: Option<Loan>) -> Self {
        Self { payload, key, loan, overwritten: false }
    }

    /// Returns whether the payload was whole all the time, by the driver. To be asked after the payload was used.
    #[inline]
    #[must_use]
    pub fn is_intact(&self) -> bool {
        // SAFETY: a sample lives no longer than the call of the sink that it was given to (its payload has that lifetime), in
        // which the reader is open and the driver's sample valid; asking there is what the contract has the function for.
        !self.overwritten
            && self.loan.is_none_or(|loan| unsafe { (loan.intact)(loan.reader, loan.sample) != 0 })
    }
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Accepted.
    Accepted,
    /// Not accepted: a time limit was reached.
    TimedOut,
    /// Not accepted: no room now.
    Refused,
}
