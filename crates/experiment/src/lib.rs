//! An experiment: what is asked, as written (flags, later a file), and as meant (a typed, validated plan).
//!
//! Pure: nothing here opens a file, a socket or a clock. What drivers can do comes in as [`DriverDescription`]s.
//!
//! ```text
//! Characterize (as written)  --plan(descriptions)-->  Experiment (as meant)  --schedule()-->  runs in order
//! ```
#![forbid(unsafe_code)]

mod characterize;
mod driver;
mod factors;
mod plan;
mod qos;

pub use characterize::{Characterize, Effort, ReliabilityChoice};
pub use driver::{DriverDescription, OptionInfo, PolicySupport, Support, TransportInfo};
pub use factors::{Batching, Factors, ReceiveMode, Topology, Workload};
pub use plan::{
    Cell, Design, Experiment, Limits, MIN_SIZE_BYTES, Pin, PlanError, ScheduledRun, is_driver_path,
};
pub use qos::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos, QosDuration,
    Reliability, Scope,
};
