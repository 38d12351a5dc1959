//! Experiment files and command-line flags, and the validated plan that is made from them.
//!
//! This crate performs no I/O and reads no clock. Driver capabilities come in as [`DriverDescription`]s.
//!
//! ```text
//! Source (text, --set) --read()--> Written --plan(Given)--> Experiment --schedule()--> runs
//!              flags --Characterize::written()--^
//! ```
//!
//! Three folders, each of which uses only those before it: `syntax` (values with positions and units, errors), `factors`
//! (the table of factors, and the factors of a cell), `plan` (the experiment file and its plan). A new factor is one row
//! of [`FACTORS`], a field of [`Factors`], and its use.
#![forbid(unsafe_code)]

mod factors;
mod plan;
mod syntax;

pub use factors::{
    Baseline, Batching, Column, Compared, FACTORS, Factor, FactorType, FactorValues, Factors, Form, Id, Kind,
    Label, Matrix, ReceiveMode, Shares, Topology, Value, Workload,
    batch::{BatchSamples, TURBO_BYTES},
    driver::{DriverDescription, OptionInfo, PolicySupport, Support, TransportInfo},
    ends::QosOfEnds,
    group::{Grouping, ReceiveGroup, WrittenGroup},
    load::{Arrival, Flow, Load, Trace},
    pairing::check_installed,
    policies::{OfOneEnd, Policies},
    policy_values::{Lasting, ReliabilityChoice},
    qos::{
        DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos, QosDuration,
        Reliability, Scope,
    },
    queues::Queues,
    rate::{Rate, WrittenRate},
    share::Share,
    variables::{VariableValue, Variables},
};
pub use plan::{
    characterize::Characterize,
    choices::{OptionValue, PinChoice},
    effort::Effort,
    experiment::{Beside, Cell, Design, Experiment, Pin, Precision, RUN_OVERHEAD_NS, ScheduledRun, Variants},
    given::Given,
    interleave::InterleaveError,
    limits::Limits,
    maxima::{FIRST_MAXIMUM_RUN, MAXIMUM_RUNS, Unplanned},
    schedule::{Schedule, Times},
    search::{Aim, Search, SearchGoal},
    written::{Written, WrittenDesign, WrittenFlow, WrittenLimits, json_schema},
    written_search::WrittenSearch,
};
pub use syntax::{
    driver_name::{drivers_of_ends, is_driver_path, is_pair},
    many::{At, Many, Span},
    refusal::{PlanError, Refusal},
    source::{Fault, Source},
    trace::{MAX_TRACE_SAMPLES, TraceFault, TraceText, trace_times},
    units::{MIN_SIZE_BYTES, Percent, Size, Time},
};
