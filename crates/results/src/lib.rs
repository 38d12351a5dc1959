//! Result schema, and result directory.
//!
//! ```text
//! DIR/experiment.json     plan of the experiment, the tool and the host
//! DIR/runs/0001.json      one record per run, written when the run has ended
//! DIR/runs/0001.hlog      histograms of the run: an HdrHistogram V2 interval log, one tag per kind
//! DIR/traces/SHA256.txt   trace files used by the plan, named by the SHA-256 of their bytes
//! DIR/logs/0001-*.log     output of the agent processes
//! DIR/log.json         blocks, host noise, planned number of blocks, and the rate that is 100 %
//! DIR/result.json         complete result, written when the experiment has ended or was interrupted
//! ```
//!
//! [`ResultDocument`] is the complete result: the output of `--json`, described by `schemas/result.schema.json`.
#![forbid(unsafe_code)]

mod directory;
mod schema;
mod values;

pub use directory::{Directory, DirectoryError, LogWindow, SavedExperiment};
pub use recording::{
    ARRIVAL_WINDOWS, Arrivals, COARSE_WINDOWS, Distribution, EncodedWindows, HistogramError, Histograms,
    IntervalLog, Pool, QUANTILES, Received, SequenceSet, TimelinessRecorder, TimelinessReport, WindowCounts,
    Windows, nearest, new_histogram,
};
pub use schema::{
    AgreementCounts, AgreementGroup, AgreementOutcome, Batches, Block, BlockAllocation, BlockHost, CellFlow,
    CellLatency, CellResult, CellTimeliness, ClockDiscipline, ComparedSide, Comparison, Conclusion,
    CoreNoise, CpuPerSample, CriterionOutcome, CriterionResult, DeliveryCounts, DetectableEffects,
    Difference, DiscoveryRecord, DryRunReport, Duet, EffectEstimate, EffectOverBase, EffectOverBases,
    EndedProcess, EndpointRecord, EndpointSpread, EntityRecord, Environment, EnvironmentDifference,
    EnvironmentFields, ExperimentLog, Failure, Finding, FindingKind, FirstFailure, FlowRecord, GoalCell,
    GoalRecord, Group, Growth, GrowthEstimate, GrowthLaw, GrowthValue, Headroom, Hop, Host, HostNoise,
    HostRecord, Idle, IdleCost, Interface, JoinCost, KeptSelfTests, LateFlow, LateJoinRecord, Latency, Limit,
    LinkCeiling, LinkFrames, LinkLateness, LinkReading, LinkRecord, MAXIMUM_PHASE, MIN_SIDE_BY_SIDE_PCT,
    MaxRate, MaxRateRun, MeasuredValue, Measurement, Metric, MetricSelector, MinDetectableEffect, ModesBy,
    MulticastSent, NoiseProbe, NoiseRule, NoiseSummary, NotMet, Paced, PacedCell, Pairing, ParticipantRecord,
    PingRetries, ProbeStats, ProcessRecord, PublishedValue, RateWindows, Reception, Reference,
    ReferenceChange, ReferenceMetric, RepeatedClaim, Resolution, ResultDocument, ResultHeader, Resumption,
    Ring, Run, RunState, RunningExperiment, SCHEMA_VERSION, SampleSizes, SearchBound, SearchCell,
    SearchRecord, SearchState, SelfTest, SeparatingField, Sockets, State, SteadyClass, SteadySegment,
    SteadyState, StoppedBy, SystemOutcome, Tail, TakeStats, ThrottleStats, Throughput, Timeliness, Tool,
    TrialGoalResult, TrialRecord, TypicalValue, UNDER_DUET_INTERFERENCE, UnpacedRate, Usage, Verdict,
    VerdictAgreement, VerdictKind, VerdictMode, VerdictSide, Warning, WarningKind, WireBytes, WorstFlow,
    kind_of_flow, kind_of_hop, sha256,
};
#[cfg(feature = "schema")]
pub use schema::{comparison_json_schema, json_schema, selftest_json_schema};
pub use values::{
    Assembler, BatchPolicy, Claim, ConclusionWords, CpuOversubscription, LackingQuantile, Lateness, LinkLoad,
    MAX_LATENCY_LOSS_PCT, Polling, SHOWN_BLOCKS, Sender, Shortfall, SmallestDifference, Strain, SystemTrial,
    TRIAL_WINDOWS, TrialLog, TrialResult, WIDE_SPREAD, WritingTime, comparison_claims, flows_of,
    format_effects, format_micros, format_signed, format_spread, format_value, full_buffers, late_loss,
    least_blocks, least_runs_for_claims, level_claims, losses_by_reader, metrics_of, noise_floor_claims,
    over_half_noisy, scale_at, shown_effect, smallest_differences, stats_goal, steady_latency, steady_rate,
    system_loads, with_rate,
};
