//! Types of a result, as saved.

mod agreement;
mod batches;
mod comparison;
mod counted;
mod detectable_effects;
mod discovery;
mod duet;
mod endpoints;
mod environment;
mod experiment_log;
mod finding;
mod flow;
mod header;
pub(crate) mod host;
mod late_join;
pub(crate) mod latency;
mod link;
mod max_rate;
mod measurement;
pub(crate) mod metric;
mod metric_selector;
mod over_bases;
mod paced;
mod probes;
mod process;
mod published;
mod reference;
mod result_document;
mod ring;
mod run;
mod running_experiment;
mod search;
pub(crate) mod selftest;
mod spread;
pub(crate) mod steady;
mod takes;
mod throttle;
mod timeliness;
mod verdict;
mod warning;

pub use self::{
    agreement::*, batches::*, comparison::*, counted::*, detectable_effects::*, discovery::*, duet::*,
    endpoints::*, environment::*, experiment_log::*, finding::*, flow::*, header::*, host::*, late_join::*,
    latency::*, link::*, max_rate::*, measurement::*, metric::*, metric_selector::*, over_bases::*, paced::*,
    probes::*, process::*, published::*, reference::*, result_document::*, ring::*, run::*,
    running_experiment::*, search::*, selftest::*, spread::*, steady::*, takes::*, throttle::*,
    timeliness::*, verdict::*, warning::*,
};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Returns the JSON Schema of the serialized form of a type with this title, as in `schemas`: there a value that is not known is null, not
/// absent.
#[cfg(feature = "schema")]
#[must_use]
pub fn json_schema<T: schemars::JsonSchema>(title: &str) -> String {
    let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}
