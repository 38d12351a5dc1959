//! Values of policies in an experiment file: the choice of reliability, and durations.

use driver_abi::policies::{QosDuration, Reliability};
use serde::{Deserialize, Serialize, Serializer};

use crate::syntax::{
    scalar::{from_text, schema},
    units::Time,
};

/// Reliability in an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReliabilityChoice {
    /// The strongest kind that each driver supports.
    Strongest,
    /// Reliable delivery; rejected for a driver that does not support it.
    Reliable,
    /// Best effort: samples may be lost.
    #[serde(alias = "best-effort")]
    BestEffort,
    /// Not requested, nor is anything else that is not given: each endpoint has the defaults of its middleware.
    Shipped,
}

impl ReliabilityChoice {
    /// Returns the kind that is the same for all drivers, if there is one.
    pub(crate) const fn kind(self) -> Option<Reliability> {
        match self {
            Self::Reliable => Some(Reliability::Reliable),
            Self::BestEffort => Some(Reliability::BestEffort),
            Self::Strongest | Self::Shipped => None,
        }
    }
}

impl From<Reliability> for ReliabilityChoice {
    fn from(kind: Reliability) -> Self {
        match kind {
            Reliability::Reliable => Self::Reliable,
            Reliability::BestEffort => Self::BestEffort,
        }
    }
}

/// Always fails: the kind that is requested depends on the driver.
impl TryFrom<ReliabilityChoice> for Reliability {
    type Error = ();

    fn try_from(_: ReliabilityChoice) -> Result<Self, ()> {
        Err(())
    }
}

/// Duration of a policy: a time with its unit, or `"infinite"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyDuration(pub QosDuration);

impl From<PolicyDuration> for QosDuration {
    fn from(duration: PolicyDuration) -> Self {
        duration.0
    }
}

impl PolicyDuration {
    const EXPECTED: &str = "a time with its unit, such as `\"100ms\"`, or `\"infinite\"`";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "infinite" => Some(Self(QosDuration::INFINITE)),
            _ => Time::parse(text).map(|time| Self(QosDuration::Ns(time.0))),
        }
    }
}

from_text!(PolicyDuration, WithoutUnit);

impl Serialize for PolicyDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            QosDuration::Ns(ns) => Time(ns).serialize(serializer),
            QosDuration::Infinite(_) => serializer.serialize_str("infinite"),
        }
    }
}

schema!(PolicyDuration, "QosTime", { "description": "A time with its unit, such as `100ms`, or `infinite`.", "type": "string" });
