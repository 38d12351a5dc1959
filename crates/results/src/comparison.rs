//! What `ddsmark compare --json` prints: two results, or two cells of one, held against each other.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use crate::{Metric, Verdict};

/// The JSON Schema of a [`Comparison`]: the text of `schemas/comparison.schema.json`.
///
/// # Panics
/// Never: a schema is JSON.
#[must_use]
pub fn comparison_json_schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Comparison>();
    schema.insert("title".to_owned(), "A comparison of ddsmark".into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// Two results, or cells of them, held against each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Version of the schema of results.
    pub schema_version: u32,
    /// What is held against.
    pub baseline: Compared,
    /// What is judged.
    pub treatment: Compared,
    /// The factors that were named: in these both may differ.
    pub factors: Vec<String>,
    /// Everything that the compared cells and their results differ in.
    pub differences: Vec<Difference>,
    /// Whether they were compared although they differ in more than the named factors.
    pub forced: bool,
    /// What to know before reading on, in words.
    pub notes: Vec<String>,
    /// What may be said; the baselines' own noise floors too.
    pub verdicts: Vec<Verdict>,
    /// What became of the criteria that were stated, for each pair of cells.
    pub criteria: Vec<Judged>,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// As it was named.
    pub result: String,
    /// Its experiment.
    pub experiment: String,
    /// When that began, ns since 1970 (UTC).
    pub started_unix_ns: u64,
    /// Cells of it that have no counterpart on the other side.
    pub unmatched: Vec<String>,
}

/// Something that the two sides differ in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Its name, as `--factor` takes it.
    pub field: String,
    /// Its value on the side that is held against; null where it has none.
    pub baseline: Option<String>,
    /// Its value on the side that is judged; null where it has none.
    pub treatment: Option<String>,
    /// Whether it belongs to a factor that was named.
    pub named: bool,
}

/// What became of a criterion for one pair of cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// As it was stated.
    pub criterion: String,
    /// The figure that it is about.
    pub metric: Metric,
    /// The cell that is judged.
    pub cell: String,
    /// What became of it, by all blocks: the exit status rests on this.
    pub outcome: CriterionOutcome,
    /// The same without noisy blocks; null where there are none.
    pub without_noisy: Option<CriterionOutcome>,
    /// In words.
    pub text: String,
}

/// What became of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CriterionOutcome {
    /// The difference is real, and what it forbids.
    Broken,
    /// It is shown not to be.
    Kept,
    /// The data cannot tell.
    CannotTell,
}
