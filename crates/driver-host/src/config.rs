//! Safe types for the configuration of participants, writers and readers, and for samples.

use std::collections::BTreeMap;

use driver_abi::{description::TypeKind, policies::Qos};

/// Effective settings by name.
pub type Settings = BTreeMap<String, String>;
/// Valid counters of an entity by name.
pub type Counters = BTreeMap<String, u64>;

/// Configuration of a participant.
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
    pub participant_count: u32,
}

/// Configuration of a writer.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "as in the contract")]
pub struct WriterConfig {
    pub topic: String,
    pub type_kind: TypeKind,
    pub qos: Qos,
    pub max_payload_bytes: u64,
    pub batch_bytes: u64,
    pub async_write: bool,
    pub loans: bool,
}

/// Configuration of a reader.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "as in the contract")]
pub struct ReaderConfig {
    pub topic: String,
    pub type_kind: TypeKind,
    pub qos: Qos,
    pub max_payload_bytes: u64,
    pub batched: bool,
    pub polling: bool,
    pub content_filter: Option<String>,
}

/// Received sample, borrowed for the duration of a call.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Payload.
    pub payload: &'a [u8],
    /// Key, for a keyed type.
    pub key: u32,
    loan: Option<Loan>,
    overwritten: bool,
}

/// Loaned sample of the driver. The driver may overwrite its memory during the loan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loan {
    pub(crate) intact: unsafe extern "C" fn(*mut driver_abi::Reader, *const driver_abi::Sample) -> u32,
    pub(crate) reader: *mut driver_abi::Reader,
    pub(crate) sample: *const driver_abi::Sample,
}

impl<'a> Sample<'a> {
    /// Creates a sample from memory that no other thread writes.
    #[must_use]
    pub const fn new(payload: &'a [u8], key: u32) -> Self {
        Self { payload, key, loan: None, overwritten: false }
    }

    /// Creates a sample from a copy. `intact`: whether the original was not overwritten until the copy was
    /// complete.
    #[must_use]
    pub const fn of_copy(payload: &'a [u8], key: u32, intact: bool) -> Self {
        Self { payload, key, loan: None, overwritten: !intact }
    }

    /// Creates a sample whose integrity the driver can check.
    pub(crate) const fn of_loan(payload: &'a [u8], key: u32, loan: Option<Loan>) -> Self {
        Self { payload, key, loan, overwritten: false }
    }

    /// Returns whether the payload was not overwritten since its reception. Call it after the payload was used.
    #[inline]
    #[must_use]
    pub fn is_intact(&self) -> bool {
        // SAFETY: a sample is valid only during the call of its sink, because its payload has that lifetime. The
        // reader is open and the driver's sample is valid during that call, in which the contract allows
        // `reader_sample_intact`.
        !self.overwritten
            && self.loan.is_none_or(|loan| unsafe { (loan.intact)(loan.reader, loan.sample) != 0 })
    }
}

/// Outcome of a write call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The sample was accepted.
    Accepted,
    /// The sample was not accepted: timeout.
    TimedOut,
    /// The sample was not accepted: no space at the moment.
    Refused,
}
