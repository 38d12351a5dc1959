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

mod agents;
mod assemble;
mod batches;
mod claims;
mod comparison;
mod course;
mod directory;
mod directory_error;
mod disk;
mod document;
mod duet;
mod encoded;
mod environment;
mod finding;
mod foresight;
mod format;
mod histogram;
mod interval_log;
mod latency;
mod lateness;
mod limits;
mod maximum;
mod metric;
mod paced;
mod packing;
mod probes;
mod rate;
mod reference;
mod run;
mod search;
mod selftest;
mod sequence;
mod steady;
mod takes;
mod throttle;
mod trial;
mod verdict;
mod warning;
mod writing_time;

pub use agents::{AgentRecord, Idle, IdleCost, Interface, MulticastSent, Sockets, Usage, WireBytes};
pub use assemble::{Assembler, Header, MAX_LATENCY_LOSS_PCT, WIDE_SPREAD};
pub use batches::Batches;
pub use claims::{
    Claim, comparison_claims, flows_of, least_blocks, level_claims, metrics_of, noise_floor_claims,
};
pub use comparison::{Compared, Comparison, CriterionOutcome, Difference, Judged, comparison_json_schema};
pub use course::{
    Allocation, Block, CoreProbe, Course, HostNoise, NoiseRule, Probe, Resumption, StoppedBy, over_half_noisy,
};
pub use directory::{Directory, Saved};
pub use directory_error::DirectoryError;
pub use document::{Cell, Document, Host, SCHEMA_VERSION, State, Tool, json_schema};
pub use duet::{Duet, MIN_SIDE_BY_SIDE_PCT, UNDER_DUET_INTERFERENCE};
pub use environment::{Environment, EnvironmentDifference, EnvironmentFields, sha256};
pub use finding::{Finding, FindingKind, Limit};
pub use foresight::{Foresight, Plan, SmallestEffect};
pub use format::{format_micros, format_signed, format_spread, format_value};
pub use histogram::{COARSE_WINDOWS, Distribution, HistogramError, QUANTILES, Windows, new_histogram};
pub use interval_log::{Histograms, IntervalLog};
pub use latency::{CellLatency, Latency};
pub use lateness::{Lateness, Sender};
pub use maximum::{MAXIMUM_PHASE, Maximum, MaximumRun, with_rate};
pub use metric::{Metric, Wanted};
pub use paced::{CellFlow, FlowRecord, Paced, PacedCell, kind_of_flow};
pub use packing::Packing;
pub use probes::Probes;
pub use rate::{ARRIVAL_WINDOWS, Arrivals, WindowCounts};
pub use reference::{Reference, ReferenceFigure};
pub use run::{Counted, Cpu, Failure, PingRetries, Run, RunState, Tail, Throughput};
pub use search::{
    GoalCell, GoalRecord, SearchBound, SearchCell, SearchRecord, SearchState, TrialJudged, TrialRecord,
    Unpaced,
};
pub use selftest::{
    Group, KeptSelfTests, NoiseSummary, Resolution, SelfTest, TOLD_BLOCKS, selftest_json_schema,
};
pub use sequence::{Received, SequenceSet};
pub use steady::{SteadySegment, SteadyState, SteadyVerdict, steady_latency, steady_rate};
pub use takes::Takes;
pub use throttle::Throttle;
pub use trial::{TRIAL_WINDOWS, TrialLog, TrialShown, stats_goal};
pub use verdict::{
    Answer, Conclusion, ModesBy, Pairing, ReferenceChange, SeparatingField, Typical, Verdict, VerdictKind,
    VerdictMode, VerdictSide,
};
pub use warning::{Warning, WarningKind};
pub use writing_time::WritingTime;
