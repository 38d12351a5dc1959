//! Values of policies in an experiment file: the choice of reliability, and durations.

use driver_abi::policies::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Presentation, QosDuration, Reliability,
};
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

/// Duration of a policy: a time with its unit, or `"infinite"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyDuration(pub QosDuration);

/// Value in an experiment file that determines a value of the plan.
pub(crate) trait Planned {
    /// Type in the plan.
    type Plan;

    /// Returns the value of the plan; `None` if it depends on the driver.
    fn planned(self) -> Option<Self::Plan>;
}

impl Planned for PolicyDuration {
    type Plan = QosDuration;

    fn planned(self) -> Option<QosDuration> {
        Some(self.0)
    }
}

impl Planned for ReliabilityChoice {
    type Plan = Reliability;

    fn planned(self) -> Option<Reliability> {
        None
    }
}

macro_rules! planned_as_they_are {
    ($($type:ty),*) => {
        $(impl Planned for $type {
            type Plan = Self;

            fn planned(self) -> Option<Self> {
                Some(self)
            }
        })*
    };
}

planned_as_they_are!(
    bool,
    i32,
    String,
    Vec<String>,
    DestinationOrder,
    Durability,
    History,
    Liveliness,
    Ownership,
    Presentation
);

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
