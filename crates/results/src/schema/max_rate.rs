//! Maximum rates that loads in percent refer to: measured without a schedule before the first block.

use serde::{Deserialize, Serialize};

use crate::schema::{run::Failure, search::UnpacedRate};

/// Phase in which runs fail if their maximum rate could not be measured.
pub const MAXIMUM_PHASE: &str = "maximum";

/// Maximum rate: the rate that is 100 %, and its runs. It is measured once, also if the experiment is resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MaxRate {
    /// Identifier: that of the cell with the load `max`.
    pub id: String,
    /// Identifiers of the cells whose load is a percentage of it.
    pub cells: Vec<String>,
    /// Rate that is 100 %, in samples/s: the median over the runs of the lower of offered and delivered rate. Null
    /// until all runs were executed, and if all of them failed.
    pub sps: Option<f64>,
    /// Runs without a schedule, in the order of execution, including failed ones.
    pub runs: Vec<MaxRateRun>,
}

/// Run that measures a maximum rate, with new processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MaxRateRun {
    /// Number of the run, above those of all runs of blocks. Its log files have this number.
    pub number: u32,
    /// Start of the run, in ns since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// Duration of the run in ns, including all phases.
    pub took_ns: u64,
    /// Rates of the run. Null if it failed.
    pub unpaced: Option<UnpacedRate>,
    /// Cause of the failure. Null if the run did not fail.
    pub failure: Option<Failure>,
}
