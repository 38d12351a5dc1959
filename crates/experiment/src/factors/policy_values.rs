//! Values of policies in an experiment file: the choice of reliability, and durations.

use driver_abi::policies::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Presentation, QosDuration, Reliability,
};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::syntax::{
    scalar::{from_text, schema},
    units::Time,
};

/// Requested reliability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReliabilityChoice {
    /// The strongest kind that each driver supports.
    Strongest,
    /// The same kind for all drivers.
    All(Reliability),
    /// The default of each middleware.
    Shipped,
}

/// Reliability in an experiment file.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
enum ReliabilityWord {
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

impl<'de> Deserialize<'de> for ReliabilityChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match ReliabilityWord::deserialize(deserializer)? {
            ReliabilityWord::Strongest => Self::Strongest,
            ReliabilityWord::Reliable => Self::All(Reliability::Reliable),
            ReliabilityWord::BestEffort => Self::All(Reliability::BestEffort),
            ReliabilityWord::Shipped => Self::Shipped,
        })
    }
}

impl Serialize for ReliabilityChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Strongest => ReliabilityWord::Strongest,
            Self::All(Reliability::Reliable) => ReliabilityWord::Reliable,
            Self::All(Reliability::BestEffort) => ReliabilityWord::BestEffort,
            Self::Shipped => ReliabilityWord::Shipped,
        }
        .serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for ReliabilityChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReliabilityChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ReliabilityWord::json_schema(generator)
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
