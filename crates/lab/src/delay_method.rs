//! Mechanisms of the delay.

use serde::{Deserialize, Serialize};

/// Mechanism that delays frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayMethod {
    /// The kernel's `netem`.
    Netem,
    /// Thread of the owner that forwards the frames itself, for kernels without `netem`.
    Switch,
}

impl DelayMethod {
    /// Returns the name of the mechanism.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Netem => "netem",
            Self::Switch => "switch",
        }
    }
}
