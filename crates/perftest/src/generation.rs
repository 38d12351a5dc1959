//! Generations of the command line.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Release whose options, defaults, ranges and rows apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Generation {
    /// Release 5.1.0.9 of 2014.
    #[serde(rename = "5.1")]
    V5_1,
    /// Release 4.3 of 2026, with `-scan` of release 3.
    #[serde(rename = "4.3")]
    V4_3,
}

impl Generation {
    /// All generations, the default first.
    pub const ALL: [Self; 2] = [Self::V4_3, Self::V5_1];

    /// Returns the name, as `-compat` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V5_1 => "5.1",
            Self::V4_3 => "4.3",
        }
    }

    /// Returns the full number of the release.
    #[must_use]
    pub const fn release(self) -> &'static str {
        match self {
            Self::V5_1 => "5.1.0.9",
            Self::V4_3 => "4.3.0",
        }
    }

    /// Returns the generation of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|generation| generation.name() == name)
    }

    /// Returns the other generation.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::V5_1 => Self::V4_3,
            Self::V4_3 => Self::V5_1,
        }
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
