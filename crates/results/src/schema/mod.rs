//! Types of a result, as saved.

mod agreement;
mod batches;
mod comparison;
mod counted;
mod detectable_effects;
mod discovery;
mod duet;
mod endpoints;
mod environment;
mod experiment_log;
mod finding;
mod flow;
mod header;
pub(crate) mod host;
mod late_join;
pub(crate) mod latency;
mod link;
mod max_rate;
mod measurement;
pub(crate) mod metric;
mod metric_selector;
mod over_bases;
mod paced;
mod probes;
mod process;
mod published;
mod reference;
mod result_document;
mod ring;
mod run;
mod running_experiment;
mod search;
pub(crate) mod selftest;
mod spread;
pub(crate) mod steady;
mod takes;
mod throttle;
mod timeliness;
mod verdict;
mod warning;

pub use agreement::{AgreementCounts, AgreementGroup, AgreementOutcome, RepeatedClaim, VerdictAgreement};
pub use batches::Batches;
pub use comparison::{ComparedSide, Comparison, CriterionOutcome, CriterionResult, Difference};
pub use counted::DeliveryCounts;
pub use detectable_effects::{DetectableEffects, DryRunReport, MinDetectableEffect};
pub use discovery::{DiscoveryRecord, EntityRecord, ParticipantRecord};
pub use duet::{Duet, MIN_SIDE_BY_SIDE_PCT, UNDER_DUET_INTERFERENCE};
pub use endpoints::{
    EndpointRecord, Idle, IdleCost, Interface, MulticastSent, Reception, Sockets, Usage, WireBytes,
};
pub use environment::{Environment, EnvironmentDifference, EnvironmentFields, sha256};
pub use experiment_log::{
    Block, BlockAllocation, BlockHost, CoreNoise, ExperimentLog, HostNoise, NoiseProbe, NoiseRule,
    Resumption, StoppedBy,
};
pub use finding::{Finding, FindingKind, Growth, GrowthEstimate, GrowthLaw, GrowthValue, Limit};
pub use flow::{FlowRecord, SampleSizes};
pub use header::ResultHeader;
pub use host::{ClockDiscipline, Host, HostRecord};
pub use late_join::{JoinCost, LateFlow, LateJoinRecord};
pub use latency::{CellLatency, Latency};
pub use link::{LinkCeiling, LinkFrames, LinkLateness, LinkReading, LinkRecord};
pub use max_rate::{MAXIMUM_PHASE, MaxRate, MaxRateRun};
pub use measurement::{Measurement, PingRetries, Tail, Throughput};
pub use metric::Metric;
pub use metric_selector::MetricSelector;
pub use over_bases::{EffectOverBase, EffectOverBases};
pub use paced::{CellFlow, Paced, PacedCell, kind_of_flow};
pub use probes::ProbeStats;
pub use process::ProcessRecord;
pub use published::{MeasuredValue, PublishedValue};
pub use reference::{Reference, ReferenceMetric};
pub use result_document::{CellResult, ResultDocument, SCHEMA_VERSION, State, Tool};
pub use ring::{Hop, Ring, kind_of_hop};
pub use run::{CpuPerSample, Failure, Run, RunState};
pub use running_experiment::RunningExperiment;
pub use search::{
    FirstFailure, GoalCell, GoalRecord, Headroom, SearchBound, SearchCell, SearchRecord, SearchState,
    TrialGoalResult, TrialRecord, UnpacedRate, WorstFlow,
};
pub use selftest::{Group, KeptSelfTests, NoiseSummary, Resolution, SelfTest};
pub use spread::EndpointSpread;
pub use steady::{RateWindows, SteadyClass, SteadySegment, SteadyState};
pub use takes::TakeStats;
pub use throttle::ThrottleStats;
pub use timeliness::{CellTimeliness, EndedProcess, NotMet, SystemOutcome, Timeliness};
pub use verdict::{
    Conclusion, EffectEstimate, ModesBy, Pairing, ReferenceChange, SeparatingField, TypicalValue, Verdict,
    VerdictKind, VerdictMode, VerdictSide,
};
pub use warning::{Warning, WarningKind};
#[cfg(feature = "schema")]
pub use {comparison::comparison_json_schema, result_document::json_schema, selftest::selftest_json_schema};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Returns the JSON Schema of the serialized form of a type: there a value that is not known is null, not absent.
#[cfg(feature = "schema")]
fn schema_text<T: schemars::JsonSchema>(title: &str) -> String {
    let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}
