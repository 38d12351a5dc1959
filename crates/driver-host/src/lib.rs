//! Safe loader and caller of drivers: the host's side of `include/ddsmark/driver.h`.
//!
//! [`Driver::load`] checks that a file is a driver with a known ABI version. After that, the types enforce the
//! order of calls that the contract requires: a participant outlives its writers and readers, each entity is closed
//! once, and the state of a listener's sink is returned only after the reader was closed.
//!
//! The calls of the hot path ([`Writer::write`], [`Writer::flush`], [`Reader::receive`]) cost only an indirect call
//! more than the driver's own function.
//!
//! Each [`DriverError`] is the driver's own, except where a function says more.

mod config;
mod describe;
mod error;
mod load;
mod monitor;
mod participant;
mod participant_handle;
mod qos;
mod reader;
mod table;
mod writer;

pub use config::{Counters, ParticipantConfig, ReaderConfig, Sample, Settings, WriteOutcome, WriterConfig};
pub use driver_abi::description::TypeKind;
pub use error::DriverError;
pub use load::{Driver, LoadError};
pub use monitor::{MatchState, Monitor};
pub use participant::Participant;
pub use reader::{ListeningReader, Reader};
pub use writer::{Loan, Writer};
