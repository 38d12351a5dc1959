//! Types of a result, as saved.

mod agents;
mod batches;
mod comparison;
mod counted;
mod course;
mod document;
mod duet;
mod environment;
mod finding;
mod foresight;
mod header;
pub(crate) mod latency;
mod maximum;
pub(crate) mod metric;
mod paced;
mod probes;
mod reference;
mod run;
mod search;
pub(crate) mod selftest;
pub(crate) mod steady;
mod takes;
mod throttle;
mod verdict;
mod warning;

pub use agents::{AgentRecord, Idle, IdleCost, Interface, MulticastSent, Sockets, Usage, WireBytes};
pub use batches::Batches;
pub use comparison::{Compared, Comparison, CriterionOutcome, Difference, Judged, comparison_json_schema};
pub use counted::Counted;
pub use course::{Allocation, Block, CoreProbe, Course, HostNoise, NoiseRule, Probe, Resumption, StoppedBy};
pub use document::{Cell, Document, Host, SCHEMA_VERSION, State, Tool, json_schema};
pub use duet::{Duet, MIN_SIDE_BY_SIDE_PCT, UNDER_DUET_INTERFERENCE};
pub use environment::{Environment, EnvironmentDifference, EnvironmentFields, sha256};
pub use finding::{Finding, FindingKind, Limit};
pub use foresight::{Foresight, Plan, SmallestEffect};
pub use header::Header;
pub use latency::{CellLatency, Latency};
pub use maximum::{MAXIMUM_PHASE, Maximum, MaximumRun};
pub use metric::{Metric, Wanted};
pub use paced::{CellFlow, FlowRecord, Paced, PacedCell, kind_of_flow};
pub use probes::Probes;
pub use reference::{Reference, ReferenceFigure};
pub use run::{Cpu, Failure, PingRetries, Run, RunState, Tail, Throughput};
pub use search::{
    GoalCell, GoalRecord, SearchBound, SearchCell, SearchRecord, SearchState, TrialJudged, TrialRecord,
    Unpaced,
};
pub use selftest::{Group, KeptSelfTests, NoiseSummary, Resolution, SelfTest, selftest_json_schema};
pub use steady::{SteadySegment, SteadyState, SteadyVerdict};
pub use takes::Takes;
pub use throttle::Throttle;
pub use verdict::{
    Answer, Conclusion, ModesBy, Pairing, ReferenceChange, SeparatingField, Typical, Verdict, VerdictKind,
    VerdictMode, VerdictSide,
};
pub use warning::{Warning, WarningKind};
