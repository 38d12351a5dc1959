//! JSON Schema of the messages.

use schemars::{JsonSchema, generate::SchemaSettings};

use crate::{reply::Reply, request::Request};

/// A line of the control channel.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum ControlMessage {
    /// From the runner to an agent.
    Request(Request),
    /// From an agent to the runner.
    Reply(Box<Reply>),
}

/// Returns the JSON Schema of a line of the control channel.
///
/// # Panics
/// Never: the schema is valid JSON.
#[must_use]
pub fn json_schema() -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<ControlMessage>();
    schema.insert("title".to_owned(), "A message of the control channel of ddsmark".into());
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}
