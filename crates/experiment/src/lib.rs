//! Experiment files and command-line flags, and the validated plan that is made from them.
//!
//! This crate performs no I/O and reads no clock. Driver capabilities come in as [`DriverDescription`]s.
//!
//! ```text
//! Source (text, flags) --read()--> ExperimentFile --plan(PlanInputs)--> Plan --schedule()--> runs
//! ```
//!
//! Four folders, each of which uses only those before it: `syntax` (values with positions and units, errors), `factors`
//! (the table of factors, and the factors of a cell), `plan` (the experiment file and its plan), `run_topology` (the endpoints of
//! a run, and what each of them opens). A new factor is one row
//! of [`FACTORS`], a field of [`Factors`], and its use.
#![forbid(unsafe_code)]

mod ethernet;
mod factors;
mod gather;
mod plan;
mod run_topology;
mod syntax;

pub use driver_abi::{
    description::{DriverDescription, OptionInfo, PolicySupport, ReceiveMode, Support, TransportInfo},
    policies::{
        DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos, QosDuration,
        Reliability, Scope,
    },
};
pub use ethernet::{
    full_frames_ceiling, goodput_ceiling, least_crossing_ns, store_and_forward_ns, wire_bytes,
};
pub use factors::{
    Baseline, Batching, Column, Compared, FACTORS, Factor, FactorType, FactorValues, Factors, Form, Id, Kind,
    Label, Matrix, Shares, Value, Workload,
    batch::{BatchSamples, TURBO_BYTES},
    configuration_names,
    content_filter::{FilterSpec, KeyFilter},
    discovery::{Discovery, Join},
    driver_options::OptionValue,
    driver_pair::{check_installed, describe_pair},
    endpoint_qos::EndpointQos,
    fields::qos_fields,
    flow::{Deadline, Flow, FlowKind},
    flow_sizes::FlowSizes,
    gather_curves, gather_series,
    group::{GroupSpec, Grouping, MAX_GROUP, MAX_GROUP_BYTES, ReceiveGroup},
    in_flight::MAX_IN_FLIGHT,
    instances::MAX_INSTANCES,
    load::{Arrival, Load, Trace},
    offered_load::OfferedLoad,
    percent_of_max::PercentOfMax,
    placement::{OWN_INTERFACE, Placement},
    policies::{EndpointPolicies, Policies},
    policy_values::{PolicyDuration, ReliabilityChoice},
    profiles::{QosProfile, profile_file, qos_profile, variable_names},
    queues::Queues,
    rate::{Rate, RateSpec},
    scale::Scale,
    sizes::{SizeDistribution, SizeTable, Sizes},
    topology::Topology,
    variables::{VARIABLES_OF_ALL_PROGRAMS, VariableValue, Variables},
};
pub use gather::{distinct, gather};
#[cfg(feature = "schema")]
pub use plan::experiment_file::json_schema;
pub use plan::{
    built_in_figures::BuiltInFigures,
    changes::Changes,
    choices::PinChoice,
    design::{Design, LEAST_ARRIVALS, PayloadFile, Pin, PlannedHost, Precision, ReaderDesign},
    experiment::{Cell, DuetSlot, Plan, ScheduledRun, Variants},
    experiment_file::{
        DesignSection, ExperimentFile, FlowSection, HostSection, LimitsSection, SecondTierSection,
    },
    flow_sizes::{DrawnSizes, MAX_SIZE_VALUES, SizeSpec},
    flows::MAX_FLOWS,
    limits::Limits,
    max_rates::{FIRST_MAXIMUM_RUN, MAXIMUM_RUNS, MaxRateCell},
    offered_loads::OfferedByCell,
    plan_inputs::PlanInputs,
    processes::{MAX_FLOW_NAME, MAX_PROCESSES},
    published::{Published, PublishedConditions, PublishedFigure, PublishedRepeat},
    published_section::{PublishedSection, RowEntry, RowFactor},
    run_order::RunOrder,
    run_overhead::run_overhead_ns,
    schedule::{Schedule, SendTimes},
    search::{GoalKind, ScaleRange, Search, SearchGoal},
    search_section::SearchSection,
    second_tier::SecondTier,
    thread_priorities::ThreadPriorities,
    threads::WritingThreads,
    writer_design::WriterDesign,
};
pub use run_topology::{
    Dispensable, Endpoint, EntityIndex, LOCAL_HOST, ParticipantSpec, Place, ReaderSpec, Role, RunTopology,
    StreamSpec, Topics, WriterSpec, entity_name, probe_every,
};
pub use syntax::{
    driver_name::{drivers_of_ends, is_driver_path, is_pair},
    figure::{Figure, RttStatistic},
    host_flag::HostFlag,
    host_spec::HostSpec,
    input_file::{FileError, InputFile},
    link::{LabSpec, LinkSpec, MAX_HOSTS, MAX_MTU, MIN_HOSTS, MIN_MTU},
    link_values::{LinkDelay, LinkLoss, LinkRate},
    one_or_many::{Located, OneOrMany, Span},
    similar::similar,
    source::{Diagnostic, Override, Source},
    spanned_error::{PlanError, SpannedError},
    ssh_target::Target,
    trace::{MAX_TRACE_SAMPLES, RecordedSizes, TraceSamples, trace_samples},
    units::{MIN_SIZE_BYTES, Percent, Size, Time},
};
