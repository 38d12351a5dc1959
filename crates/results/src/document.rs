//! The schema of a result: the whole of it, and a cell. Fields carry their unit in the name; what was not measured is absent or
//! null, never 0.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Experiment, Factors, Qos};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use crate::{
    Allocation, Block, CellLatency, Cpu, Environment, Finding, Maximum, NoiseRule, PacedCell, Resumption,
    Run, SearchCell, Throughput, Verdict, Warning,
};

/// The JSON Schema of a [`Document`]: the text of `schemas/result.schema.json`.
///
/// # Panics
/// Never: a schema is JSON.
#[must_use]
pub fn json_schema() -> String {
    // as it is written, so that a figure without a value is there as null, not left out
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Document>();
    schema.insert("title".to_owned(), "A result of ddsmark".into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// Version of the schema. Older ones still load.
pub const SCHEMA_VERSION: u32 = 2;

/// A result: everything that an experiment was, and everything that it measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Version of this schema.
    pub schema_version: u32,
    /// What measured.
    pub tool: Tool,
    /// Where.
    pub host: Host,
    /// The experiment as meant.
    pub experiment: Experiment,
    /// What each driver said of itself, by its name in the factors.
    pub drivers: BTreeMap<String, DriverDescription>,
    /// Whether all of it was measured.
    pub state: State,
    /// What outside the experiment may decide its figures, field by field. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// When a block counts as noisy, and what becomes of it. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_rule: Option<NoiseRule>,
    /// How many blocks there were to be, and why so many. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<Allocation>,
    /// What rates in percent are percent of, measured before the first block. Absent without such rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maxima: Vec<Maximum>,
    /// The blocks that were begun, and the noise around them. Empty in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    /// Where it was taken up again after an interruption.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumption>,
    /// The cells, in the order of the experiment.
    pub cells: Vec<Cell>,
    /// What the figures say, in words.
    pub findings: Vec<Finding>,
    /// What may be claimed: each cell against its baseline, and the baseline against itself. Empty where the experiment
    /// has no baseline, and in older results.
    #[serde(default)]
    pub verdicts: Vec<Verdict>,
    /// What limits the whole result.
    pub warnings: Vec<Warning>,
}

/// What measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `ddsmark`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The command line, word by word.
    pub command_line: Vec<String>,
}

/// Where it was measured, and in which state the host was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Kernel name, release and version.
    pub kernel: String,
    /// Distribution.
    pub os: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical processors that this process may use.
    pub cpus: u32,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Kind of virtual machine or container, where the host says so.
    pub virtualization: Option<String>,
    /// The kernel's clock source; `tsc` is quick.
    pub clock_source: Option<String>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Median cost of one read of the clock that stamps samples.
    pub clock_read_ns: Option<u64>,
    /// Kernel settings that decide figures: `net.core.rmem_max` and the like.
    pub sysctls: BTreeMap<String, String>,
    /// Speeds of the network interfaces that have one, in 10^6 bit/s. The loopback interface has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub link_mbps: BTreeMap<String, u64>,
    /// When the experiment began, ns since 1970 (UTC).
    pub started_unix_ns: u64,
}

/// Whether all of an experiment was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All runs were made (some may have failed).
    Complete,
    /// Stopped before the last run, by a signal or by an error.
    Interrupted,
}

/// One cell: its runs, and what they say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MeasuredCell")]
pub struct Cell {
    /// As in the experiment.
    pub id: String,
    /// The factors; with the rate that a share of a maximum came to.
    pub factors: Factors,
    /// Its runs, in the order of execution, failed ones too.
    pub runs: Vec<Run>,
    /// Whether its figures are under duet interference: each run was made beside another. They hold for this result only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_duet_interference: bool,
    /// Quantiles: medians over the valid runs. All else: of all their samples. By kind: `rtt`, `one_way_out`, `one_way_back`, `write_call`; of the workload `paced`:
    /// `service`, `response`, `send_lag`.
    pub latency: BTreeMap<String, CellLatency>,
    /// Rates: medians over the runs, without second runs of a block ([`Cell::claimed_runs`]). Counts: sums over all valid runs.
    pub throughput: Option<Throughput>,
    /// Of the workload `paced`: what was planned, and by how many runs the sender held it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<PacedCell>,
    /// Of the workload `search`: what was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchCell>,
    /// Median of the runs'.
    pub cpu_ns_per_sample: Option<Cpu>,
    /// QoS in force, read back: by `writer` and `reader`. Absent where runs differ.
    pub effective_qos: BTreeMap<String, Qos>,
    /// Settings in force, read back, by entity and name. Those that runs differ in are left out.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
    /// What limits these figures.
    pub warnings: Vec<Warning>,
}
