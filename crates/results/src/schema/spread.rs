//! Spread of the delivered rate over the endpoints of a run.

use serde::{Deserialize, Serialize};

/// Delivered rate of each of several readers (what it received of all writers), or of each of several writers (what
/// its samples came to, as a mean over the readers).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointSpread {
    /// Number of endpoints.
    pub endpoints: u32,
    /// Endpoint with the lowest rate, by id.
    pub lowest: String,
    /// Its rate in samples/s.
    pub lowest_sps: f64,
    /// Endpoint with the highest rate, by id.
    pub highest: String,
    /// Its rate in samples/s.
    pub highest_sps: f64,
    /// Jain's fairness index of the rates: 1 if all are equal, 1/n if one of n has everything (Jain, Chiu, Hawe 1984).
    pub fairness: f64,
}
