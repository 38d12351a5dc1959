//! The safe way to write a driver in Rust.
//!
//! `include/ddsmark/driver.h` is the contract and the manual; read it first. A driver implements four traits in safe
//! Rust and ends with [`export!`]; this crate makes the C table of it:
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
//! /// What may be asked while the writer writes.
//! #[derive(Default)]
//! struct Swallowed(Count);
//!
//! impl Monitor for Swallowed {
//!     fn matched(&self) -> Result<u32> {
//!         Ok(0)
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
//! # What is done here, so that no driver does it
//!
//! - Configurations arrive checked: strings are UTF-8, enumerations are known, transports, options, types, receive
//!   modes, features and unsupported policies are compared with the description, sizes with the transport's limit.
//!   What a driver checks is what only it can know.
//! - Failures are [`Error`]s; their text goes to `last_error`, composed when it is asked for.
//! - A panic becomes `DDSMARK_ERROR` with its text. The only exception is [`Driver::describe`], which has no status to
//!   return: a panic there ends the process, with the text in the log.
//! - What is returned (description, QoS) stays alive as long as the contract says.
//!
//! # Threads
//!
//! The contract lets the host ask a writer or reader for its match count, counters and QoS while another thread writes
//! or receives. So an entity has two parts: the [`Writer`] or [`Reader`], which its calls have for themselves (`&mut
//! self`), and its [`Monitor`], which is shared. The entity counts with [`Count`], which costs what a plain integer
//! costs.
//!
//! # The hot path
//!
//! `write`, `publish`, `flush`, `receive` and `deliver` pass through without an allocation, a lock or a system call:
//! a check for NULL, and a landing pad for panics that is not entered. Return errors with `&'static str` there.

pub mod batch;
mod c_data;
mod config;
mod counters;
mod description;
mod error;
#[cfg(feature = "net")]
pub mod net;
mod qos;
mod receiving;
mod sink;
pub mod stream;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod worker;

use std::sync::Arc;

/// The types that cross the boundary; a driver does not need them, its tests may.
pub use driver_abi as abi;

pub use crate::{
    config::{ParticipantConfig, ReaderConfig, Receive, WriterConfig},
    counters::{Count, Counter, Counters},
    description::{
        Description, DriverOption, Features, Policies, ReceiveMode, Support, Transport, TypeKind,
        VersionSource,
    },
    error::{Error, Result, Status},
    qos::{
        AccessScope, DestinationOrder, Durability, DurabilityService, History, Liveliness, LivelinessKind,
        Ownership, Policy, Presentation, Qos, ReaderDataLifecycle, Reliability, ResourceLimits,
    },
    receiving::{Endpoint, Inlet, LocatedReader, ReaderMonitor},
    sink::{Deliver, Sample, Samples, Sink},
    table::{Settings, Unpublished},
    worker::Worker,
};

/// What [`export!`] needs and nobody else.
#[doc(hidden)]
pub mod internal {
    pub use crate::{
        description::Described,
        table::{Exported, table},
    };
}

/// A middleware.
pub trait Driver: 'static {
    /// Its participants.
    type Participant: Participant;

    /// What it can do. The table has no functions for what is not here.
    const FEATURES: Features;

    /// The threads that the middleware, once it has started them, keeps until its process ends: their names, of 1 to 15
    /// bytes.
    const KEPT_THREADS: &'static [&'static str] = &[];

    /// What it is. Called once a process, starts nothing, must not panic.
    fn describe() -> Description;

    /// Opens a participant.
    fn open(config: &ParticipantConfig<'_>) -> Result<Self::Participant>;
}

/// A participant. Writers and readers may outlive the borrow that opened them: they share what they need by [`Arc`].
pub trait Participant: Send + Sync + Sized + 'static {
    /// Its writers.
    type Writer: Writer;
    /// Its readers.
    type Reader: Reader;

    /// Shows what is in force: at least `transport`.
    fn settings(&self, settings: &mut Settings<'_>) -> Result<()>;

    /// Opens a writer.
    fn open_writer(&self, config: WriterConfig<'_>) -> Result<Self::Writer>;

    /// Opens a reader.
    fn open_reader(&self, config: ReaderConfig<'_>) -> Result<Self::Reader>;

    /// Closes it, and leaves no thread, socket, segment or file. Called after all its writers and readers were closed.
    fn close(self) -> Result<()> {
        Ok(())
    }
}

/// The part of a writer or reader that any thread may ask at any time.
pub trait Monitor: Send + Sync + 'static {
    /// How many peers it is matched with now.
    fn matched(&self) -> Result<u32>;

    /// The QoS in force, read back.
    fn qos(&self) -> Result<Qos>;

    /// What the middleware can count.
    fn counters(&self) -> Counters;

    /// For a reader with [`Features::READER_LOANS`]: whether the sample that was delivered with this token was whole
    /// all the time. Called within [`Deliver::deliver`].
    fn sample_intact(&self, token: usize) -> bool {
        let _ = token;
        true
    }
}

/// A writer: one thread at a time has it.
pub trait Writer: Send + Sized + 'static {
    /// Its shared part.
    type Monitor: Monitor;
    /// With [`Features::WRITER_LOANS`] a loan, else [`NoLoan`].
    type Loan: AsMut<[u8]> + Send + 'static;

    /// Its shared part; asked for once, after the writer was opened.
    fn monitor(&self) -> Arc<Self::Monitor>;

    /// Writes one sample. Fails with [`Status::TimedOut`] or [`Status::Refused`] only where it was not accepted.
    fn write(&mut self, key: u32, payload: &[u8]) -> Result<()>;

    /// Sends what batching holds back.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Shows what is in force on this writer.
    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        let _ = settings;
        Ok(())
    }

    /// Closes it.
    fn close(self) -> Result<()> {
        Ok(())
    }

    /// With [`Features::LOCATORS`]: where it is.
    fn locator(&mut self) -> Result<String> {
        Err(Error::unsupported("this driver has no locators"))
    }

    /// With [`Features::LOCATORS`]: a reader to send to.
    fn connect(&mut self, reader_locator: &str) -> Result<()> {
        let _ = reader_locator;
        Err(Error::unsupported("this driver has no locators"))
    }

    /// With [`Features::WRITER_LOANS`]: memory to write a sample into, at least `size` bytes of it.
    fn loan(&mut self, size: usize) -> Result<Self::Loan> {
        let _ = size;
        Err(Error::unsupported("this driver has no loans"))
    }

    /// With [`Features::WRITER_LOANS`]: writes the first `size` bytes of a loan. A loan that is not to be published is
    /// dropped.
    fn publish(&mut self, key: u32, loan: Self::Loan, size: usize) -> Result<(), Unpublished<Self::Loan>> {
        let _ = (key, size);
        Err(Unpublished { error: Error::unsupported("this driver has no loans"), loan: Some(loan) })
    }

    /// With [`Features::WAIT_ACKED`]: waits until all matched reliable readers have acknowledged, else
    /// [`Status::TimedOut`].
    fn wait_acked(&mut self, timeout_ns: u64) -> Result<()> {
        let _ = timeout_ns;
        Err(Error::unsupported("this driver knows no acknowledgements"))
    }

    /// With [`Features::INSTANCES`].
    fn dispose(&mut self, key: u32) -> Result<()> {
        let _ = key;
        Err(Error::unsupported("this driver has no instances"))
    }

    /// With [`Features::INSTANCES`].
    fn unregister(&mut self, key: u32) -> Result<()> {
        let _ = key;
        Err(Error::unsupported("this driver has no instances"))
    }

    /// Manual liveliness.
    fn assert_liveliness(&mut self) -> Result<()> {
        Err(Error::unsupported("this driver has no manual liveliness"))
    }
}

/// A reader: one thread at a time has it. In listener mode it owns a thread that owns the [`Sink`].
pub trait Reader: Send + Sized + 'static {
    /// Its shared part.
    type Monitor: Monitor;

    /// Its shared part; asked for once, after the reader was opened.
    fn monitor(&self) -> Arc<Self::Monitor>;

    /// Waits for at most `timeout_ns` until there is data (0: does not wait), then delivers what is there, up to
    /// `max_samples` (at least 1) and the rest of a packet that is begun. May return early with none. Never called in
    /// listener mode.
    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut Samples<'_>) -> Result<()>;

    /// Shows what is in force on this reader.
    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        let _ = settings;
        Ok(())
    }

    /// Closes it; no sample is delivered after this, and a [`Sink`] is gone.
    fn close(self) -> Result<()> {
        Ok(())
    }

    /// With [`Features::LOCATORS`]: where it is.
    fn locator(&mut self) -> Result<String> {
        Err(Error::unsupported("this driver has no locators"))
    }

    /// With [`Features::LOCATORS`]: a writer that will send.
    fn connect(&mut self, writer_locator: &str) -> Result<()> {
        let _ = writer_locator;
        Err(Error::unsupported("this driver has no locators"))
    }
}

/// The loan of a driver without loans: there is none.
#[derive(Debug)]
pub enum NoLoan {}

impl AsMut<[u8]> for NoLoan {
    fn as_mut(&mut self) -> &mut [u8] {
        match *self {}
    }
}

/// Exports a [`Driver`] from a library of type `cdylib`: `ddsmark_driver_entry`, and nothing else. Once a library.
#[macro_export]
macro_rules! export {
    ($driver:ty) => {
        impl $crate::internal::Exported for $driver {
            fn place() -> &'static ::std::sync::OnceLock<$crate::internal::Described> {
                static PLACE: ::std::sync::OnceLock<$crate::internal::Described> =
                    ::std::sync::OnceLock::new();
                &PLACE
            }
        }

        /// The one symbol of this library: the table of the driver.
        #[allow(unsafe_code)]
        // SAFETY: the name is that of the contract, and no library has two drivers.
        #[unsafe(no_mangle)]
        pub extern "C" fn ddsmark_driver_entry() -> *const $crate::abi::Driver {
            static TABLE: $crate::abi::Driver = $crate::internal::table::<$driver>();
            &raw const TABLE
        }
    };
}
