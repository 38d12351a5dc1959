//! Result schema, histograms, and result directory.
//!
//! ```text
//! DIR/experiment.json     plan of the experiment, the tool and the host
//! DIR/runs/0001.json      one record per run, written when the run has ended
//! DIR/runs/0001.hlog      histograms of the run: an HdrHistogram V2 interval log, one tag per kind
//! DIR/traces/SHA256.txt   trace files used by the plan, named by the SHA-256 of their bytes
//! DIR/logs/0001-*.log     output of the agent processes
//! DIR/course.json         blocks, host noise, planned number of blocks, and the rate that is 100 %
//! DIR/result.json         complete result, written when the experiment has ended or was interrupted
//! ```
//!
//! [`Document`] is the complete result: the output of `--json`, described by `schemas/result.schema.json`.
#![forbid(unsafe_code)]

mod directory;
mod recording;
mod schema;
mod values;

pub use directory::{Directory, DirectoryError, Saved};
pub use recording::{
    ARRIVAL_WINDOWS, Arrivals, COARSE_WINDOWS, Distribution, HistogramError, Histograms, IntervalLog,
    QUANTILES, Received, SequenceSet, WindowCounts, Windows, new_histogram,
};
pub use schema::{
    AgentRecord, Allocation, Answer, Batches, Block, Cell, CellFlow, CellLatency, Compared, Comparison,
    Conclusion, CoreProbe, Counted, Course, Cpu, CriterionOutcome, Difference, Document, Duet, Environment,
    EnvironmentDifference, EnvironmentFields, Failure, Finding, FindingKind, FlowRecord, Foresight, GoalCell,
    GoalRecord, Group, Header, Host, HostNoise, Idle, IdleCost, Interface, Judged, KeptSelfTests, Latency,
    Limit, MAXIMUM_PHASE, MIN_SIDE_BY_SIDE_PCT, Maximum, MaximumRun, Metric, ModesBy, MulticastSent,
    NoiseRule, NoiseSummary, Paced, PacedCell, Pairing, PingRetries, Plan, Probe, Probes, Reference,
    ReferenceChange, ReferenceFigure, Resolution, Resumption, Run, RunState, SCHEMA_VERSION, SearchBound,
    SearchCell, SearchRecord, SearchState, SelfTest, SeparatingField, SmallestEffect, Sockets, State,
    SteadySegment, SteadyState, SteadyVerdict, StoppedBy, Tail, Takes, Throttle, Throughput, Tool,
    TrialJudged, TrialRecord, Typical, UNDER_DUET_INTERFERENCE, Unpaced, Usage, Verdict, VerdictKind,
    VerdictMode, VerdictSide, Wanted, Warning, WarningKind, WireBytes, comparison_json_schema, json_schema,
    kind_of_flow, selftest_json_schema, sha256,
};
pub use values::{
    Assembler, Claim, Lateness, MAX_LATENCY_LOSS_PCT, Packing, Sender, TOLD_BLOCKS, TRIAL_WINDOWS, TrialLog,
    TrialShown, WIDE_SPREAD, WritingTime, comparison_claims, flows_of, format_micros, format_signed,
    format_spread, format_value, least_blocks, level_claims, metrics_of, noise_floor_claims, over_half_noisy,
    stats_goal, steady_latency, steady_rate, with_rate,
};
