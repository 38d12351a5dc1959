//! Warnings of a result.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Warning about values of a result: one of a closed set, with a text for this case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Kind of the warning.
    pub kind: WarningKind,
    /// Text of the warning.
    pub text: String,
    /// Suggested next step. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Warning {
    /// Creates a warning without a next step.
    #[must_use]
    pub fn new(kind: WarningKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), hint: None }
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.hint {
            Some(hint) => write!(f, "; hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Runs failed.
    RunsFailed,
    /// Runs failed consistency checks and were excluded.
    RunsInvalid,
    /// Samples were lost.
    Loss,
    /// Pings that count as lost came back later.
    LatePings,
    /// The kernel dropped datagrams at a full socket buffer.
    BufferDrops,
    /// Socket buffers are smaller than requested.
    Buffers,
    /// Samples are batched differently than the cell requests.
    Batching,
    /// More than one copy of each sample was sent by multicast.
    MulticastCopies,
    /// Echoes were not sent by the listener, but by a thread to which it handed them.
    HandedOver,
    /// Samples arrived that do not belong to this run.
    Foreign,
    /// Samples were damaged.
    Corrupt,
    /// Samples were duplicated or out of order.
    Order,
    /// The range over the runs of a cell is wide.
    Spread,
    /// The runs of a cell form groups, so their median may be a value that no run has.
    Groups,
    /// Rates are counts of only a few samples.
    FewSamples,
    /// Samples arrived after the writers' measurement and are not in the delivered rate.
    Tail,
    /// Runs of a cell have no steady state.
    NotSteady,
    /// The sender was late: response times are not a property of the middleware.
    SenderLimited,
    /// Back-pressure: the middleware accepts less than was planned.
    BackPressure,
    /// Far fewer samples were in flight around a ring than planned.
    FewInFlight,
    /// Planned samples were not tried before the measurement ended.
    Unsent,
    /// A search did not find two bounds, or its trials contradict each other.
    Search,
    /// Write calls timed out or were rejected.
    WritesRefused,
    /// The CPU time of a process contains idle cost, or idle cost was subtracted.
    IdleCpu,
    /// A part of the samples could not be matched or recorded, or a part of the result is missing.
    Incomplete,
    /// An agent crashed, hung or failed after all agents had reported. The values are complete.
    UncleanExit,
    /// The host is not set up for measurements.
    Host,
    /// Absolute values are under duet interference.
    Duet,
    /// More than half of the blocks were noisy.
    Noisy,
    /// Other programs sent packets over the interface, and the values include them.
    OtherTraffic,
    /// Another experiment ran on the host at the same time.
    OtherExperiment,
    /// A reference measurement failed.
    Reference,
    /// The experiment was resumed although the environment had changed.
    Mixed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_of_an_older_result_has_no_hint() {
        let older = r#"{"kind":"host","text":"the governor is `powersave`; hint: change it"}"#;
        let warning: Warning = serde_json::from_str(older).expect("a warning");
        assert_eq!(warning.hint, None);
        assert_eq!(serde_json::to_string(&warning).expect("JSON"), older, "no field without a hint");
        let warning = Warning::new(WarningKind::Host, "the governor is `powersave`").with_hint("change it");
        assert_eq!(warning.to_string(), "the governor is `powersave`; hint: change it");
        let text = serde_json::to_string(&warning).expect("JSON");
        assert_eq!(serde_json::from_str::<Warning>(&text).expect("a warning"), warning);
    }
}
