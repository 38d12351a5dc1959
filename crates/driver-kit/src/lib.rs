//! Safe Rust API for writing drivers.
//!
//! `include/ddsmark/driver.h` is the contract and its documentation; read it first. A driver implements four traits
//! in safe Rust and calls [`export!`]; this crate creates the C table from them:
//!
//! ```
//! use std::sync::Arc;
//! use driver_kit::*;
//!
//! struct Nothing;
//!
//! impl Driver for Nothing {
//!     type Participant = Here;
//!     const FEATURES: Features = Features::NONE;
//!
//!     fn describe() -> Description {
//!         Description {
//!             name: "nothing",
//!             driver_version: env!("CARGO_PKG_VERSION"),
//!             middleware: "Nothing",
//!             middleware_version: "1".into(),
//!             version_source: VersionSource::Headers,
//!             build: None,
//!             licence: "Apache-2.0",
//!             receive_modes: &[ReceiveMode::Polling],
//!             type_kinds: &[TypeKind::Octets],
//!             transports: vec![Transport { name: "void", max_payload_bytes: 1 << 20, note: None }],
//!             options: vec![],
//!             policies: Policies::none(),
//!             variables: &[],
//!         }
//!     }
//!
//!     fn open(_: &ParticipantConfig<'_>) -> Result<Here> {
//!         Ok(Here)
//!     }
//! }
//!
//! struct Here;
//!
//! impl Participant for Here {
//!     type Writer = Swallow;
//!     type Reader = Wait;
//!
//!     fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
//!         settings.set("transport", "void");
//!         Ok(())
//!     }
//!     fn open_writer(&self, _: WriterConfig<'_>) -> Result<Swallow> {
//!         Ok(Swallow { monitor: Arc::default() })
//!     }
//!     fn open_reader(&self, _: ReaderConfig<'_>) -> Result<Wait> {
//!         Ok(Wait)
//!     }
//! }
//!
//! /// State that other threads can read while the writer writes.
//! #[derive(Default)]
//! struct Swallowed(Count);
//!
//! impl Monitor for Swallowed {
//!     fn matched(&self) -> Result<MatchState> {
//!         Ok(MatchState::default())
//!     }
//!     fn qos(&self) -> Result<Qos> {
//!         Ok(Qos::default())
//!     }
//!     fn counters(&self) -> Counters {
//!         Counters::new().with(Counter::BytesSent, self.0.get())
//!     }
//! }
//!
//! struct Swallow { monitor: Arc<Swallowed> }
//!
//! impl Writer for Swallow {
//!     type Monitor = Swallowed;
//!     type Loan = NoLoan;
//!
//!     fn monitor(&self) -> Arc<Swallowed> {
//!         self.monitor.clone()
//!     }
//!     fn write(&mut self, _key: u32, payload: &[u8]) -> Result<()> {
//!         self.monitor.0.add(payload.len() as u64);
//!         Ok(())
//!     }
//! }
//!
//! struct Wait;
//!
//! impl Reader for Wait {
//!     type Monitor = Swallowed;
//!
//!     fn monitor(&self) -> Arc<Swallowed> {
//!         Arc::default()
//!     }
//!     fn receive(&mut self, _timeout_ns: u64, _max: u32, _to: &mut Samples<'_>) -> Result<()> {
//!         Ok(())
//!     }
//! }
//!
//! export!(Nothing);
//! # fn main() { assert!(!ddsmark_driver_entry().is_null()); }
//! ```
//!
//! # Provided by this crate
//!
//! - Configurations are checked before a driver gets them. Strings are UTF-8, and enumerations are known.
//!   Transports, options, types, receive modes, features and unsupported policies agree with the description, sizes
//!   with the limit of the transport. So are the sizes of written samples. A driver checks only what it alone can know.
//! - Errors are [`Error`]s. Their text is available through `last_error`, and is composed only on request.
//! - A panic becomes `DDSMARK_ERROR` with its text. The only exception is [`Driver::describe`], which has no status
//!   to return: a panic there ends the process, with the text in the log.
//! - Returned data (description, QoS) stays valid as long as the contract requires.
//!
//! # Threads
//!
//! The contract allows the host to query the match count, counters and QoS of a writer or reader while another
//! thread writes or receives. An entity therefore has two parts: the [`Writer`] or [`Reader`], which its calls
//! access exclusively (`&mut self`), and its [`Monitor`], which is shared. The entity counts with [`Count`], which
//! costs as much as a plain integer.
//!
//! # The hot path
//!
//! `write`, `publish`, `flush`, `receive` and `deliver` add no allocation, lock or system call: only a check for
//! NULL, and a landing pad for panics that is not entered. Return errors with `&'static str` there.

pub mod batch;
mod c_data;
mod config;
mod counters;
mod description;
mod error;
mod matching;
#[cfg(feature = "net")]
pub mod net;
mod receiving;
mod sink;
pub mod stream;
mod table;
mod worker;
mod writing;

use std::sync::Arc;

/// Types of the C interface, for the tests of drivers.
pub use driver_abi as abi;
pub use driver_abi::{
    description::{ReceiveMode, Support, TypeKind},
    policies::{
        DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos, QosDuration,
        Reliability, Scope,
    },
};

pub use crate::{
    config::{ParticipantConfig, ReaderConfig, Receive, WriterConfig},
    counters::{Count, Counter, Counters},
    description::{Description, DriverOption, Features, Policies, Transport, VersionSource, effective_qos},
    error::{Error, OrFailed, Result, Status},
    matching::{MatchRecord, MatchState},
    receiving::{Endpoint, LocatedReader, ReaderMonitor, SampleReceiver},
    sink::{Deliver, Sample, Samples, Sink},
    table::{Settings, Unpublished},
    worker::Worker,
    writing::{Blocking, Wait, WriterCounts},
};

/// Internals of [`export!`].
#[doc(hidden)]
pub mod internal {
    pub use crate::{
        description::Described,
        table::{Exported, table},
    };
}

/// Driver of a middleware.
pub trait Driver: 'static {
    /// Participant type.
    type Participant: Participant;

    /// Features. The table has functions only for these.
    const FEATURES: Features;

    /// Names, of 1 to 15 bytes, of the threads that the middleware keeps until the process ends, once started.
    const KEPT_THREADS: &'static [&'static str] = &[];

    /// Returns the description. Called once per process; must start nothing and must not panic.
    fn describe() -> Description;

    /// Opens a participant.
    fn open(config: &ParticipantConfig<'_>) -> Result<Self::Participant>;
}

/// Participant. Writers and readers may outlive the borrow that opened them: they share state by [`Arc`].
pub trait Participant: Send + Sync + Sized + 'static {
    /// Writer type.
    type Writer: Writer;
    /// Reader type.
    type Reader: Reader;

    /// Reports the effective settings: at least `transport`.
    fn settings(&self, settings: &mut Settings<'_>) -> Result<()>;

    /// Opens a writer.
    fn open_writer(&self, config: WriterConfig<'_>) -> Result<Self::Writer>;

    /// Opens a reader.
    fn open_reader(&self, config: ReaderConfig<'_>) -> Result<Self::Reader>;

    /// Closes the participant and releases all threads, sockets, segments and files. Called after all its writers
    /// and readers were closed.
    fn close(self) -> Result<()> {
        Ok(())
    }
}

/// Part of a writer or reader that any thread may query at any time.
pub trait Monitor: Send + Sync + 'static {
    /// Returns the matched peers, and when their number last changed: see [`MatchRecord`].
    fn matched(&self) -> Result<MatchState>;

    /// Returns the effective QoS.
    fn qos(&self) -> Result<Qos>;

    /// Returns the counters of the middleware.
    fn counters(&self) -> Counters;

    /// Returns whether the sample delivered with this token has not been overwritten, for a reader with
    /// [`Features::READER_LOANS`]. Called within [`Deliver::deliver`].
    fn sample_intact(&self, token: usize) -> bool {
        let _ = token;
        true
    }
}

/// Writer, used by one thread at a time.
pub trait Writer: Send + Sized + 'static {
    /// Type of the shared part.
    type Monitor: Monitor;
    /// Loan type with [`Features::WRITER_LOANS`], otherwise [`NoLoan`].
    type Loan: AsMut<[u8]> + Send + 'static;

    /// Returns the shared part; called once, after the writer was opened.
    fn monitor(&self) -> Arc<Self::Monitor>;

    /// Writes one sample. Returns [`Status::TimedOut`] or [`Status::Refused`] only if the sample was not accepted.
    fn write(&mut self, key: u32, payload: &[u8]) -> Result<()>;

    /// Sends the samples that batching holds back.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Reports the effective settings of this writer.
    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        let _ = settings;
        Ok(())
    }

    /// Closes the writer.
    fn close(self) -> Result<()> {
        Ok(())
    }

    /// Returns the locator, with [`Features::LOCATORS`].
    fn locator(&mut self) -> Result<String> {
        Err(Error::unsupported("this driver does not support locators"))
    }

    /// Adds a reader to send to, with [`Features::LOCATORS`].
    fn connect(&mut self, reader_locator: &str) -> Result<()> {
        let _ = reader_locator;
        Err(Error::unsupported("this driver does not support locators"))
    }

    /// Returns memory of at least `size` bytes for one sample, with [`Features::WRITER_LOANS`].
    fn loan(&mut self, size: usize) -> Result<Self::Loan> {
        let _ = size;
        Err(Error::unsupported("this driver does not support loans"))
    }

    /// Writes the first `size` bytes of a loan, with [`Features::WRITER_LOANS`]. A loan that is not published is
    /// dropped.
    fn publish(&mut self, key: u32, loan: Self::Loan, size: usize) -> Result<(), Unpublished<Self::Loan>> {
        let _ = (key, size);
        Err(Unpublished { error: Error::unsupported("this driver does not support loans"), loan: Some(loan) })
    }

    /// Waits until all matched reliable readers have acknowledged, with [`Features::WAIT_ACKED`]. Returns
    /// [`Status::TimedOut`] otherwise.
    fn wait_acked(&mut self, timeout_ns: u64) -> Result<()> {
        let _ = timeout_ns;
        Err(Error::unsupported("this driver does not support acknowledgments"))
    }

    /// Disposes an instance, with [`Features::INSTANCES`].
    fn dispose(&mut self, key: u32) -> Result<()> {
        let _ = key;
        Err(Error::unsupported("this driver does not support instances"))
    }

    /// Unregisters an instance, with [`Features::INSTANCES`].
    fn unregister(&mut self, key: u32) -> Result<()> {
        let _ = key;
        Err(Error::unsupported("this driver does not support instances"))
    }

    /// Asserts the manual liveliness.
    fn assert_liveliness(&mut self) -> Result<()> {
        Err(Error::unsupported("this driver does not support manual liveliness"))
    }
}

/// Reader, used by one thread at a time. In listener mode it owns a thread that owns the [`Sink`].
pub trait Reader: Send + Sized + 'static {
    /// Type of the shared part.
    type Monitor: Monitor;

    /// Returns the shared part; called once, after the reader was opened.
    fn monitor(&self) -> Arc<Self::Monitor>;

    /// Waits for at most `timeout_ns` for data (0: does not wait), then delivers the available samples: up to
    /// `max_samples` (at least 1) and the rest of a started packet. May return early without samples. Never called
    /// in listener mode.
    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut Samples<'_>) -> Result<()>;

    /// Reports the effective settings of this reader.
    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        let _ = settings;
        Ok(())
    }

    /// Closes the reader. Delivers no sample after it returns, and drops a [`Sink`].
    fn close(self) -> Result<()> {
        Ok(())
    }

    /// Returns the locator, with [`Features::LOCATORS`].
    fn locator(&mut self) -> Result<String> {
        Err(Error::unsupported("this driver does not support locators"))
    }

    /// Adds a writer that will send, with [`Features::LOCATORS`].
    fn connect(&mut self, writer_locator: &str) -> Result<()> {
        let _ = writer_locator;
        Err(Error::unsupported("this driver does not support locators"))
    }
}

/// Loan type of a driver without loans; has no values.
#[derive(Debug)]
pub enum NoLoan {}

impl AsMut<[u8]> for NoLoan {
    fn as_mut(&mut self) -> &mut [u8] {
        match *self {}
    }
}

/// Exports a [`Driver`] from a `cdylib` as `ddsmark_driver_entry`. Use it once per library.
#[macro_export]
macro_rules! export {
    ($driver:ty) => {
        impl $crate::internal::Exported for $driver {
            fn storage() -> &'static ::std::sync::OnceLock<$crate::internal::Described> {
                static STORAGE: ::std::sync::OnceLock<$crate::internal::Described> =
                    ::std::sync::OnceLock::new();
                &STORAGE
            }
        }

        /// Returns the table of the driver.
        #[allow(unsafe_code)]
        // SAFETY: the contract defines the name, and no library has two drivers.
        #[unsafe(no_mangle)]
        pub extern "C" fn ddsmark_driver_entry() -> *const $crate::abi::Driver {
            static TABLE: $crate::abi::Driver = $crate::internal::table::<$driver>();
            &raw const TABLE
        }
    };
}
