//! What limits a figure: which warnings there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What limits a figure: one of a closed set, with the words for this case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Which.
    pub kind: WarningKind,
    /// In words, with the next step where there is one.
    pub text: String,
}

/// The closed set of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Runs failed.
    RunsFailed,
    /// Runs contradict themselves and were left out.
    RunsInvalid,
    /// Samples were lost.
    Loss,
    /// The kernel dropped datagrams at a full socket buffer.
    BufferDrops,
    /// Socket buffers are smaller than asked for.
    Buffers,
    /// Samples are packed otherwise than the cell says.
    Batching,
    /// Samples came that are not of this run.
    Foreign,
    /// Samples were damaged.
    Corrupt,
    /// Samples came again or out of order.
    Order,
    /// The runs of a cell differ widely.
    Spread,
    /// Rates are of a few samples only.
    FewSamples,
    /// Samples arrived after the last write, and are in no rate.
    Tail,
    /// Runs of a cell did not keep their level while measured.
    NotSteady,
    /// The sender was late: response times are not a property of the middleware.
    SenderLimited,
    /// The middleware held its writer up: it takes less than was planned.
    BackPressure,
    /// Planned samples were not tried before the measured time ended.
    Unsent,
    /// A search did not come to two bounds, or what is sustained changes from trial to trial.
    Search,
    /// The middleware refused or timed out writes.
    WritesRefused,
    /// CPU time of a process has idle cost in it, or had.
    IdleCpu,
    /// A part of the samples could not be joined or recorded.
    Incomplete,
    /// The host is not as it should be for measuring.
    Host,
    /// Absolute figures are under duet interference.
    Duet,
    /// Over half of the blocks were noisy.
    Noisy,
    /// The reference could not be measured.
    Reference,
    /// It was taken up again although something differed.
    Mixed,
}
