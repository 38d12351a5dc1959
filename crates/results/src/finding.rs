//! What the figures of a result say: which findings there are, and what one has.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the figures of these runs say, in words, with its numbers. It describes; it claims nothing about other runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Which.
    pub kind: FindingKind,
    /// What binds there; only where `kind` says that something does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// In words.
    pub text: String,
    /// Ids of the cells that it rests on.
    pub cells: Vec<String>,
    /// Its numbers. Each name ends in its unit, or says what is counted.
    pub numbers: BTreeMap<String, f64>,
}

/// The closed set of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// From some size on, throughput stays on one level. `limits` says what binds there.
    Plateau,
    /// Throughput is highest at the largest size, alone.
    StillGrows,
    /// Throughput falls again towards the largest size.
    FallsAgain,
    /// Sides are compared of which not all guarantee delivery, and samples were lost.
    LossWithoutGuarantee,
    /// Sides are compared of which not all guarantee delivery, and nothing was lost.
    NoLossWithoutGuarantee,
    /// Batching delivers more samples/s.
    BatchingGains,
    /// Batching delivers fewer samples/s.
    BatchingCosts,
    /// The round trip takes longer as samples grow.
    LatencyGrows,
    /// The round trip takes the same at all sizes.
    LatencyFlat,
    /// A middleware's round trip takes longer than that of the bare socket.
    RttAdded,
    /// A middleware's round trip takes less than that of the bare socket.
    RttSaved,
    /// What it takes longer is the same at all sizes.
    RttAddedConstant,
    /// What it takes longer differs between sizes.
    RttAddedVaries,
    /// Up to some load the 99 % response stays within twice that of the lowest one; beyond it does not.
    Knee,
    /// At all loads the 99 % response stays within twice that of the lowest one.
    NoKnee,
    /// The 99 % response goes beyond that and back, or its runs lie on both sides, or too few loads can be compared.
    KneeUnclear,
    /// From some load on fewer samples are accepted than were planned.
    FallsShort,
    /// At all loads as many samples are accepted as were planned.
    KeepsUp,
    /// Of the loads at which all that was planned was sent and delivered in every run, the highest one; a higher one was not so.
    BestLossFree,
    /// It is the highest load that was measured.
    HighestLossFree,
    /// No load was so, not even the lowest.
    NoneLossFree,
    /// Under load some ways to batch reach higher rates, and others have lower latency: none is best at both.
    BatchingFront,
    /// Under load one way to batch is beaten by none in rate and latency.
    BatchingOneBest,
}

/// What throughput runs into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The writer's process uses all of a core, and what it sends arrives.
    WriterCpu,
    /// The reader's process uses all of a core.
    ReaderCpu,
    /// The kernel drops datagrams at a full socket buffer.
    BufferDrops,
    /// The interface carries all that its speed allows.
    LineRate,
    /// None of these.
    Unknown,
}
