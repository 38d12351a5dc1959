//! Factors of joining: endpoints of a participant of the workload `discovery`, its processes, and when endpoints join.

use serde::{Deserialize, Serialize};

use crate::syntax::named::named;

/// Time at which the endpoints of a run join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// All before the traffic; in the workload `discovery`, at the same instant.
    #[default]
    Together,
    /// The last one when all others are matched; the last reader of a stream, while the writers write.
    Late,
}

named!(Join { Together = "together", Late = "late" });

/// Endpoints of each participant, participants of each process, and when endpoints join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Discovery {
    /// Number of writers of each participant, and of its readers.
    pub endpoints: u32,
    /// Number of participants in each process.
    #[serde(default = "one")]
    pub participants_per_process: u32,
    /// Time at which the endpoints join.
    pub join: Join,
}

const fn one() -> u32 {
    1
}

impl Default for Discovery {
    fn default() -> Self {
        Self { endpoints: 1, participants_per_process: 1, join: Join::Together }
    }
}
