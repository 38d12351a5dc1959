//! The published schemas describe what ddsmark writes: the only tests that validate documents without processes, so that
//! other crates do not build a validator.

mod control_messages;
mod result_documents;
#[path = "../../crates/results/tests/sample/mod.rs"]
mod sample;

use std::{
    fs,
    path::{Path, PathBuf},
};

use jsonschema::Validator;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the validator of a published schema.
fn schema(name: &str) -> Validator {
    let path = root().join(format!("schemas/{name}.schema.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::draft202012::new(&schema).expect("a schema")
}

/// Returns the violations in a document, each with its place.
fn errors(validator: &Validator, document: &Value) -> Vec<String> {
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}
