//! Values of factors in an experiment file, by their kind.

use std::fmt;

use driver_abi::description::ReceiveMode;
#[cfg(feature = "schema")]
use schemars::{JsonSchema as _, Schema, SchemaGenerator};
use serde::{Serialize, de::MapAccess};

use crate::{
    factors::{
        Workload, batch::BatchSamples, content_filter::FilterSpec, discovery::Join, group::GroupSpec,
        load::Arrival, placement::Placement, rate::RateSpec, scale::Scale, topology::Topology,
    },
    syntax::{
        link_values::{LinkDelay, LinkLoss, LinkRate},
        one_or_many::OneOrMany,
        units::{Size, Time},
    },
};

/// Type that is the value of a factor.
pub trait FactorType: Clone + Into<Value> {
    /// Returns the value, if it has this type.
    fn from_value(value: &Value) -> Option<&Self>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($type:ty),)*) => {
        /// Kind of the values of a factor: how they are written, and their type in the schema.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        /// Value of a factor in an experiment file.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Value {
            $($(#[$doc])* $kind($type),)*
        }

        impl Kind {
            /// Reads the values of a key: one value or a list.
            pub(super) fn read<'de, A: MapAccess<'de>>(self, map: &mut A) -> Result<OneOrMany<Value>, A::Error> {
                match self {
                    $(Self::$kind => map.next_value::<OneOrMany<$type>>().map(|many| many.map(Value::$kind)),)*
                }
            }

            /// Returns the schema of a key.
            #[cfg(feature = "schema")]
            pub(super) fn schema(self, generator: &mut SchemaGenerator) -> Schema {
                match self {
                    $(Self::$kind => Option::<OneOrMany<$type>>::json_schema(generator),)*
                }
            }
        }

        impl fmt::Display for Value {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$kind(value) => value.fmt(f),)*
                }
            }
        }

        $(
            impl From<$type> for Value {
                fn from(value: $type) -> Self {
                    Self::$kind(value)
                }
            }

            impl FactorType for $type {
                fn from_value(value: &Value) -> Option<&Self> {
                    match value {
                        Value::$kind(value) => Some(value),
                        _ => None,
                    }
                }
            }
        )*
    };
}

kinds! {
    /// Text.
    Text(String),
    /// Size in bytes.
    Size(Size),
    /// Whole number.
    Number(u32),
    /// `true` or `false`.
    Flag(bool),
    /// Time with its unit.
    Time(Time),
    /// Rate.
    Rate(RateSpec),
    /// Distribution of send times.
    Arrival(Arrival),
    /// Samples per batch.
    BatchSamples(BatchSamples),
    /// Receive mode.
    Receive(ReceiveMode),
    /// Receive group.
    Group(GroupSpec),
    /// Content filter.
    Filter(FilterSpec),
    /// Workload.
    Workload(Workload),
    /// Topology.
    Topology(Topology),
    /// Time at which participants join.
    Join(Join),
    /// Hosts of endpoints.
    Placement(Placement),
    /// Factor of rates.
    Scale(Scale),
    /// Rate of links.
    LinkRate(LinkRate),
    /// Delay of links.
    LinkDelay(LinkDelay),
    /// Loss of links.
    LinkLoss(LinkLoss),
}

impl Value {
    /// Returns the value with the type that the kind of its factor has.
    ///
    /// # Panics
    /// Panics if the factor has another kind.
    #[must_use]
    pub fn to<T: FactorType>(&self) -> T {
        T::from_value(self).cloned().expect("the kind of the factor")
    }
}

impl OneOrMany<Value> {
    /// Returns the values with the type that the kind of their factor has; see [`Value::to`].
    pub(crate) fn typed<T: FactorType>(&self) -> OneOrMany<T> {
        self.clone().map(|value| value.to())
    }
}
