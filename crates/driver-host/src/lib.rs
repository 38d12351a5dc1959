//! Loads a driver and calls it safely: the host's side of `include/ddsmark/driver.h`.
//!
//! [`Driver::load`] checks that a file is a driver of a version that is known here; after that, types keep the order of
//! calls that the contract asks for: a participant outlives its writers and readers, each is closed once, and the state
//! of a listener's sink is handed back only when the reader is closed.
//!
//! The calls of the hot path ([`Writer::write`], [`Writer::flush`], [`Reader::receive`]) add nothing to the driver's own
//! but a jump through its table.

mod config;
mod describe;
mod error;
mod load;
mod monitor;
mod participant;
mod qos;
mod reader;
mod table;
mod writer;

pub use config::{
    Counters, ParticipantConfig, ReaderConfig, Sample, Settings, TypeKind, WriteOutcome, WriterConfig,
};
pub use error::DriverError;
pub use load::{Driver, LoadError};
pub use monitor::{ReaderMonitor, WriterMonitor};
pub use participant::Participant;
pub use reader::{ListeningReader, Reader};
pub use writer::{Loan, Writer};
