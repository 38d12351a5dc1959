//! Findings: descriptions of the values of a result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Finding: describes the values of the measured runs, with their numbers. It claims nothing about other runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Kind of the finding.
    pub kind: FindingKind,
    /// Bottlenecks. Empty for kinds other than `plateau`.
    pub limits: Vec<Limit>,
    /// Main sentence of the text. Empty in results of earlier builds; reports determine their findings again.
    #[serde(default)]
    pub headline: String,
    /// Text of the finding: the main sentence, then those that explain or limit it.
    pub text: String,
    /// Identifiers of the cells that it is based on.
    pub cells: Vec<String>,
    /// Numbers of the finding. Each name ends in its unit, or says what is counted.
    pub numbers: BTreeMap<String, f64>,
    /// Growth of a value with the number of endpoints or samples in flight. Absent for kinds that do not begin with `scales`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// Growth of a value with a number of endpoints or samples in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// Value that grows.
    pub value: GrowthValue,
    /// Law in its unit.
    pub law: GrowthLaw,
    /// Law as a sentence, without the values at both ends.
    pub sentence: String,
    /// Law in a few words, as in `each adds 0.306 µs`. Empty if no law fits.
    pub words: String,
}

/// Values whose growth is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GrowthValue {
    /// Time of a writer per sample, in ns.
    TimePerSample,
    /// Median RTT, in ns.
    Rtt,
    /// Time per sample and hop of a ring, in ns.
    SampleHop,
    /// Time until all participants are matched, in ns.
    AllMatched,
    /// Packets until all participants are matched.
    Packets,
    /// Packets per second while idle.
    IdlePackets,
    /// Memory of a participant, in bytes.
    Memory,
}

/// Law that fits a growth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "law")]
pub enum GrowthLaw {
    /// Line.
    Linear {
        /// Growth for one more.
        slope: GrowthEstimate,
    },
    /// Power of the number.
    Power {
        /// Exponent.
        exponent: GrowthEstimate,
    },
    /// Two lines that meet.
    Bends {
        /// Number at which they meet.
        at: f64,
        /// Growth for one more below it.
        before: GrowthEstimate,
        /// Growth for one more above it.
        after: GrowthEstimate,
    },
    /// No law fits.
    None,
}

/// Estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrowthEstimate {
    /// Estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// From some size on, goodput stays on one level. `limits` names the bottleneck.
    Plateau,
    /// Goodput is highest at the largest size, and only there.
    StillGrows,
    /// Goodput falls towards the largest size.
    FallsAgain,
    /// Between hosts, goodput is at least 90 % of what the link can carry at some size.
    #[serde(alias = "link_filled")]
    LineRate,
    /// Between hosts, goodput is at least 90 % of what the link can carry at no size, and payload fills 95 % of its rate at none.
    LinkNotFilled,
    /// Some of the compared drivers do not guarantee delivery, and they lost samples.
    LossWithoutGuarantee,
    /// Some of the compared drivers do not guarantee delivery, and they lost no samples.
    NoLossWithoutGuarantee,
    /// Batching delivers more samples/s.
    BatchingGains,
    /// Batching delivers fewer samples/s.
    BatchingCosts,
    /// The median RTT grows with the sample size.
    LatencyGrows,
    /// The median RTT is the same at all sizes.
    LatencyFlat,
    /// Time per hop of rings: the mean RTT divided by the number of nodes.
    RingHop,
    /// Time per sample and hop of rings with several samples in flight.
    PipelinedRing,
    /// The median RTT of a middleware is longer than that of the bare socket.
    RttAdded,
    /// The median RTT of a middleware is shorter than that of the bare socket.
    RttSaved,
    /// The difference to the RTT of the bare socket is the same at all sizes.
    RttAddedConstant,
    /// The difference to the RTT of the bare socket varies with the size.
    RttAddedVaries,
    /// Up to some load, the 99 % response time stays within twice that of the lowest load; above it, it does not. If a
    /// sender was late by itself, the service time is used.
    Knee,
    /// At all loads, the 99 % response time stays within twice that of the lowest load.
    NoKnee,
    /// No clear knee: the 99 % response time rises and falls again, its runs lie on both sides of the limit, or too
    /// few loads can be compared.
    KneeUnclear,
    /// From some load on, fewer samples are accepted, or delivered in time, than planned.
    FallsShort,
    /// At all loads, as many samples are accepted and delivered as planned.
    KeepsUp,
    /// Highest loss-free load: every run sent at least 99 % of the plan, and all sent samples were delivered. A
    /// higher load was not loss-free.
    BestLossFree,
    /// The highest measured load is loss-free.
    HighestLossFree,
    /// No load is loss-free, not even the lowest.
    NoneLossFree,
    /// Under load, some ways to batch have higher rates and others lower latency: none is best in both.
    BatchingFront,
    /// Under load, one way to batch is not beaten in rate or latency by any other.
    BatchingOneBest,
    /// Over the number of endpoints, a value grows as a line, or no bend shows.
    ScalesLinearly,
    /// Over the number of endpoints, a value grows as a power of it, and not as a line.
    ScalesAsPower,
    /// Over the number of endpoints, a value grows as two lines that meet.
    ScalesWithBend,
    /// Over the number of endpoints, a value grows as none of these.
    ScalesIrregularly,
    /// In every run, the slowest of several readers received clearly less than the mean.
    ReaderBehind,
    /// In every run, the rates of several writers were clearly unequal.
    WritersUneven,
    /// In every run, several writers had about equal rates.
    WritersEven,
}

/// Bottleneck of throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The writer's process uses a full core, and what it sends is delivered.
    WriterCpu,
    /// The reader's process uses a full core.
    ReaderCpu,
    /// The kernel drops datagrams at a full socket buffer.
    BufferDrops,
    /// The traffic reaches the speed of the interface.
    LineRate,
    /// No known bottleneck was found.
    Unknown,
}
