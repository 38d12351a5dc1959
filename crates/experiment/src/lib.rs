//! Experiment files and command-line flags, and the validated plan that is made from them.
//!
//! This crate performs no I/O and reads no clock. Driver capabilities come in as [`DriverDescription`]s.
//!
//! ```text
//! Source (text, --set) --read()--> Written --plan(Given)--> Experiment --schedule()--> runs
//!              flags --Characterize::written()--^
//! ```
#![forbid(unsafe_code)]

mod abilities;
mod batch;
mod characterize;
mod driver;
mod duet;
mod ends;
mod exclusion;
mod expansion;
mod factors;
mod group;
mod interleave;
mod limits;
mod load;
mod loads;
mod many;
mod matrix;
mod pairing;
mod plan;
mod planner;
mod policies;
mod probes;
mod qos;
mod queues;
mod rate;
mod refusal;
mod schedule;
mod search;
mod share;
mod source;
mod trace;
mod units;
mod variables;
mod written;

pub use batch::{BatchSamples, TURBO_BYTES};
pub use characterize::{Characterize, Effort};
pub use driver::{DriverDescription, OptionInfo, PolicySupport, Support, TransportInfo};
pub use duet::Beside;
pub use ends::{OfOneEnd, QosOfEnds};
pub use factors::{
    Baseline, Batching, Column, Compared, FACTORS, Factor, FactorType, FactorValues, Factors, Form, Id, Kind,
    Label, Matrix, ReceiveMode, Shares, Topology, Value, Workload,
};
pub use group::{Grouping, ReceiveGroup, WrittenGroup};
pub use interleave::{InterleaveError, Variants};
pub use limits::Limits;
pub use load::{Flow, Load, Rate, Trace};
pub use many::{At, Many, Span};
pub use pairing::{check_installed, drivers_of_ends, is_pair};
pub use plan::{
    Cell, Design, Experiment, MIN_SIZE_BYTES, Pin, Precision, RUN_OVERHEAD_NS, ScheduledRun, is_driver_path,
};
pub use planner::Given;
pub use policies::{Lasting, Policies, ReliabilityChoice};
pub use qos::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos, QosDuration,
    Reliability, Scope,
};
pub use queues::Queues;
pub use rate::{Arrival, WrittenRate};
pub use refusal::{PlanError, Refusal};
pub use schedule::{Schedule, Times};
pub use search::{Aim, Search, SearchGoal, WrittenSearch};
pub use share::{FIRST_MAXIMUM_RUN, MAXIMUM_RUNS, Share, Unplanned};
pub use source::{Fault, Source};
pub use trace::{MAX_TRACE_SAMPLES, TraceFault, TraceText, trace_times};
pub use units::{Percent, Size, Time};
pub use variables::{VariableValue, Variables};
pub use written::{OptionValue, PinChoice, Written, WrittenDesign, WrittenFlow, WrittenLimits, json_schema};
