//! Inputs of a plan besides the experiment file.

use std::collections::BTreeMap;

use driver_abi::description::DriverDescription;

use crate::{
    plan::{
        design::{Pin, PlannedHost},
        experiment::Plan,
    },
    syntax::input_file::InputFile,
};

/// Inputs of a plan besides the experiment file.
pub struct PlanInputs<'a> {
    /// Name of the experiment.
    pub name: &'a str,
    /// Description of each driver, by its name in the file.
    pub descriptions: &'a BTreeMap<String, DriverDescription>,
    /// Drivers that are measured if the file names none.
    pub installed: &'a [String],
    /// Trace files and QoS files by their names in the file; see
    /// [`ExperimentFile::traces`](crate::ExperimentFile::traces) and
    /// [`ExperimentFile::qos_files`](crate::ExperimentFile::qos_files).
    pub files: &'a BTreeMap<String, InputFile>,
    /// CPU cores of the endpoints.
    pub pin: Pin,
    /// Hosts of the experiment; none: the one that the runner is on.
    pub hosts: &'a [PlannedHost],
    /// Seed that is used if the file gives no other.
    pub seed: u64,
    /// Returns the minimum number of blocks with which a plan that has a baseline can support a claim:
    /// `results::least_blocks`. This crate does not know which metrics are claimed.
    pub least_blocks: &'a dyn Fn(&Plan) -> u32,
}
