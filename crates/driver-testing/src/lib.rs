//! Tests of drivers in Rust, through [`driver_host`]. This crate adds what makes tests short: configurations of both
//! endpoints in one struct, payloads without keys, and every status other than OK as an error.
//!
//! Entities close when dropped. [`mod@shipped`] has helpers for tests of the release library, [`suite`] has tests for every
//! driver that is matched by locators.

mod allocator;
pub mod shipped;
pub mod suite;

use std::{collections::BTreeMap, ops::Deref};

use driver_abi::{self as abi, description::TypeKind, policies::Qos};
pub use driver_host::{Driver, DriverError, Settings};
use driver_host::{ListeningReader, Loan, ParticipantConfig, ReaderConfig, WriteOutcome, WriterConfig};

pub use self::allocator::{CountingAllocator, allocations};

/// Result type of this crate.
pub type Outcome<T = ()> = Result<T, DriverError>;

/// Configuration of a participant.
#[derive(Clone, Copy, Default)]
#[allow(missing_docs, reason = "as in the header")]
pub struct ParticipantSpec<'a> {
    pub transport: Option<&'a str>,
    pub interface: Option<&'a str>,
    pub options: &'a [(&'a str, &'a str)],
    pub vendor_defaults: bool,
    pub multicast: bool,
    pub send_buffer_bytes: u64,
    pub receive_buffer_bytes: u64,
}

/// Configuration of a writer or a reader.
#[derive(Clone, Default)]
#[allow(missing_docs, reason = "as in the header")]
pub struct EndpointSpec {
    pub type_kind: TypeKind,
    pub qos: Qos,
    pub max_payload_bytes: u64,
    /// Batch size of a writer in bytes; a reader is `batched` if it is not 0.
    pub batch_bytes: u64,
    pub loans: bool,
    pub async_write: bool,
    pub polling: bool,
    pub content_filter: Option<&'static str>,
}

/// Loads the driver of a test's own crate.
///
/// # Safety
/// `entry` is the `ddsmark_driver_entry` of a driver that keeps the contract.
#[must_use]
pub unsafe fn own_driver(entry: abi::Entry) -> Driver {
    // SAFETY: the caller guarantees it.
    unsafe { Driver::from_entry(entry, "itself".into()) }.expect("a driver")
}

/// Opens a participant of domain 1.
///
/// # Errors
/// Returns the driver's error.
pub fn open(driver: &Driver, spec: ParticipantSpec<'_>) -> Outcome<Participant> {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let config = ParticipantConfig {
        domain: 1,
        run_name: "test-1".to_owned(),
        transport: owned(spec.transport),
        interface: owned(spec.interface),
        options: spec.options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        multicast: spec.multicast,
        vendor_defaults: spec.vendor_defaults,
        send_buffer_bytes: spec.send_buffer_bytes,
        receive_buffer_bytes: spec.receive_buffer_bytes,
        ..ParticipantConfig::default()
    };
    driver.open(&config).map(Participant)
}

/// Open participant.
pub struct Participant(driver_host::Participant);

/// Function that gets the payloads of a listener.
pub type Listen = Box<dyn FnMut(&[u8]) + Send>;

#[allow(clippy::missing_errors_doc, reason = "each returns the error of the driver")]
impl Participant {
    /// Returns the effective settings.
    pub fn settings(&self) -> Outcome<Settings> {
        self.0.settings()
    }

    /// Opens a writer on topic `Topic`.
    pub fn writer(&self, spec: &EndpointSpec) -> Outcome<Writer> {
        let config = WriterConfig {
            topic: "Topic".to_owned(),
            type_kind: spec.type_kind,
            qos: spec.qos.clone(),
            max_payload_bytes: spec.max_payload_bytes,
            batch_bytes: spec.batch_bytes,
            async_write: spec.async_write,
            loans: spec.loans,
        };
        self.0.writer(&config).map(Writer::new)
    }

    /// Opens a reader on topic `Topic`.
    pub fn reader(&self, spec: &EndpointSpec) -> Outcome<Reader> {
        self.0.reader(&reader_config(spec)).map(Reader::new)
    }

    /// Opens a reader in listener mode; `listen` gets every payload.
    pub fn listener(
        &self,
        spec: &EndpointSpec,
        listen: impl FnMut(&[u8]) + Send + 'static,
    ) -> Outcome<ListeningReader<Listen>> {
        let listen: Listen = Box::new(listen);
        self.0.listening_reader(&reader_config(spec), listen, |listen, sample| listen(sample.payload))
    }

    /// Closes the participant.
    pub fn close(self) -> Outcome {
        self.0.close()
    }
}

fn reader_config(spec: &EndpointSpec) -> ReaderConfig {
    ReaderConfig {
        topic: "Topic".to_owned(),
        type_kind: spec.type_kind,
        qos: spec.qos.clone(),
        max_payload_bytes: spec.max_payload_bytes,
        batched: spec.batch_bytes > 0,
        polling: spec.polling,
        content_filter: spec.content_filter.map(str::to_owned),
    }
}

/// Valid counters of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterValues(BTreeMap<String, u64>);

impl CounterValues {
    /// Returns the counter of this name, if it is valid.
    #[must_use]
    pub fn get(&self, counter: &str) -> Option<u64> {
        self.0.get(counter).copied()
    }
}

/// Returns the value of a setting.
#[must_use]
pub fn value_of<'a>(settings: &'a Settings, name: &str) -> Option<&'a str> {
    settings.get(name).map(String::as_str)
}

/// Defines an open entity, which is its own monitor, too.
macro_rules! entity {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        pub struct $type {
            entity: driver_host::$type,
            monitor: driver_host::Monitor,
        }

        impl Deref for $type {
            type Target = driver_host::Monitor;

            fn deref(&self) -> &Self::Target {
                &self.monitor
            }
        }

        #[allow(clippy::missing_errors_doc, reason = "the error of the driver")]
        impl $type {
            fn new(entity: driver_host::$type) -> Self {
                Self { monitor: entity.monitor(), entity }
            }

            /// Returns the counters.
            ///
            /// # Panics
            /// Panics if the driver does not return them.
            #[must_use]
            pub fn counters(&self) -> CounterValues {
                CounterValues(self.monitor.counters().expect("counters"))
            }

            /// Returns the entity itself, which has more functions.
            #[must_use]
            pub fn into_host(self) -> driver_host::$type {
                self.entity
            }

            /// Closes the entity.
            pub fn close(self) -> Outcome {
                self.entity.close()
            }
        }
    };
}

entity!(
    /// Open writer.
    Writer
);
entity!(
    /// Open reader in waitset or polling mode.
    Reader
);

#[allow(clippy::missing_errors_doc, reason = "each returns the error of the driver")]
impl Writer {
    /// Writes a sample of key 0. Returns its status.
    #[inline]
    pub fn write_status(&mut self, payload: &[u8]) -> abi::Status {
        match self.entity.write(0, payload) {
            Ok(WriteOutcome::Accepted) => abi::OK,
            Ok(WriteOutcome::TimedOut) => abi::TIMED_OUT,
            Ok(WriteOutcome::Refused) => abi::REFUSED,
            Err(error) => error.status,
        }
    }

    /// Writes a sample of key 0.
    ///
    /// # Panics
    /// Panics if there is no room for it.
    pub fn write(&mut self, payload: &[u8]) -> Outcome {
        assert_eq!(self.entity.write(0, payload)?, WriteOutcome::Accepted);
        Ok(())
    }

    /// Sends the samples that batching holds back.
    ///
    /// # Panics
    /// Panics if there is no room for them.
    pub fn flush(&mut self) -> Outcome {
        assert_eq!(self.entity.flush()?, WriteOutcome::Accepted);
        Ok(())
    }

    /// Waits until all samples are acknowledged. Returns false after a timeout.
    pub fn wait_acked(&mut self, timeout_ns: u64) -> Outcome<bool> {
        self.entity.wait_acked(timeout_ns)
    }

    /// Returns memory of the driver for one sample; `None` if there is no space at the moment.
    pub fn loan(&self, size: u64) -> Outcome<Option<Loan<'_>>> {
        self.entity.loan(size)
    }
}

impl Reader {
    /// Receives once; `sink` gets every payload.
    ///
    /// # Errors
    /// Returns the driver's error.
    #[inline]
    pub fn receive<F: FnMut(&[u8])>(
        &mut self,
        timeout_ns: u64,
        max_samples: u32,
        mut sink: F,
    ) -> Outcome<u32> {
        self.entity.receive(timeout_ns, max_samples, |sample| sink(sample.payload))
    }
}
