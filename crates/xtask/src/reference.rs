//! Reference of experiment files in Markdown, from their JSON Schema.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::Error;

const HEAD: &str = "\
# The experiment file

Generated from the code by `make generate`; the same as [the schema](../../schemas/experiment.schema.json) says. How to write
one: [Write an experiment](../how-to/write-an-experiment.md).

The file is [TOML](https://toml.io). *or a list* means that the key takes one value, or a list of values in brackets. A key
that is not here is rejected.
";

/// Tables of a file in the usual order: heading, name in the schema, and introduction.
const TABLES: &[(&str, &str)] = &[
    ("`[factors]`", "Matrix"),
    ("An entry of `exclude` or `include`, and `baseline`", "Selection"),
    ("`[[flows]]`", "FlowSection"),
    ("`[[published]]`", "PublishedSection"),
    ("`[qos]` and `[profiles.NAME]`", "Policies"),
    ("`presentation`", "Presentation"),
    ("`[search]`", "SearchSection"),
    ("`[design]`", "DesignSection"),
    ("`[limits]`", "LimitsSection"),
];

/// Returns the reference.
pub fn of_schema(schema: &Value) -> Result<String, Error> {
    let definitions = schema["$defs"].as_object().ok_or("the schema has definitions")?;
    let mut text = HEAD.to_owned();
    section(&mut text, "The file", schema, definitions)?;
    for (heading, name) in TABLES {
        let table = definitions.get(*name).ok_or_else(|| format!("the schema has no {name}"))?;
        section(&mut text, heading, table, definitions)?;
    }
    Ok(text)
}

fn section(
    text: &mut String,
    heading: &str,
    table: &Value,
    definitions: &Map<String, Value>,
) -> Result<(), Error> {
    let keys = table["properties"].as_object().ok_or_else(|| format!("{heading} is a table"))?;
    writeln!(
        text,
        "\n## {heading}\n\n{}\n\n| key | value | what it is |\n|---|---|---|",
        description(table)
    )?;
    let required = |key: &String| {
        table["required"].as_array().is_some_and(|required| required.iter().any(|name| name == key))
    };
    for (key, value) in keys {
        let must = if required(key) { " Must be given." } else { "" };
        let what = description(value);
        writeln!(text, "| `{key}` | {} | {what}{must} |", kind(value, definitions)?)?;
    }
    Ok(())
}

/// Returns the first paragraph of the description, on one line.
fn description(value: &Value) -> String {
    let text = value["description"].as_str().unwrap_or_default();
    text.split("\n\n").next().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

/// Returns a description of the allowed values.
fn kind(value: &Value, definitions: &Map<String, Value>) -> Result<String, Error> {
    if let Some(reference) = value["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        if TABLES.iter().any(|(_, table)| *table == name) {
            return Ok("table, see below".to_owned());
        }
        let definition = definitions.get(name).ok_or_else(|| format!("the schema has no {name}"))?;
        return Ok(match name {
            "Size" => "size, such as `64` or `\"64KiB\"`".to_owned(),
            "Time" => "time, such as `\"200ms\"`".to_owned(),
            "RateSpec" => {
                "rate, such as `1000`, `\"10k/s\"`, `\"10/100ms\"`, `\"100Mbit/s\"`, `\"50%\"` or `\"max\"`"
                    .to_owned()
            }
            "GroupSpec" => "group, such as `\"8/5ms\"`, or `1`".to_owned(),
            "Percent" => "share, such as `\"2%\"`".to_owned(),
            "QosTime" => "time, such as `\"200ms\"`, or `\"infinite\"`".to_owned(),
            "Cores" => "`\"auto\"`, `\"none\"`, or such as `\"0,1\"` or `\"0-3,4-7\"`".to_owned(),
            _ => kind(definition, definitions)?,
        });
    }
    let alternatives = value["anyOf"].as_array().or_else(|| value["oneOf"].as_array());
    if let Some(alternatives) = alternatives {
        let mut words: Vec<String> = Vec::new();
        for alternative in alternatives.iter().filter(|alternative| alternative["type"] != "null") {
            let is_list = alternative["type"] == "array" && words.len() == 1;
            words.push(if is_list { "a list".to_owned() } else { kind(alternative, definitions)? });
        }
        return Ok(words.join(" or "));
    }
    if let Some(words) = value["enum"].as_array() {
        return Ok(quoted(words.iter().filter_map(Value::as_str)));
    }
    if let Some(word) = value["const"].as_str() {
        return Ok(quoted(std::iter::once(word)));
    }
    let kinds: Vec<&str> = match &value["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let mut words = Vec::new();
    for kind_name in kinds {
        words.push(match kind_name {
            "null" => continue,
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            "boolean" => "`true` or `false`".to_owned(),
            "array" => format!("list of: {}", kind(&value["items"], definitions)?),
            "object" => "table".to_owned(),
            other => other.to_owned(),
        });
    }
    match words.is_empty() {
        true => Err(format!("no words for {value}").into()),
        false => Ok(words.join(" or ")),
    }
}

fn quoted<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_every_key_with_words() {
        let schema: Value = serde_json::from_str(&experiment::json_schema()).expect("a schema");
        let text = of_schema(&schema).expect("a reference");
        for key in [
            "question",
            "batch_bytes",
            "rate",
            "profile",
            "lifespan",
            "precision",
            "loss_ratio",
            "match",
            "coherent_access",
        ] {
            let line = text.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
            let cells: Vec<&str> = line.unwrap_or_else(|| panic!("no `{key}`")).split(" | ").collect();
            assert!(cells.len() >= 3 && cells.iter().all(|cell| cell.trim() != "|"), "{cells:?}");
        }
        assert!(text.contains("| `question` | text |") && text.contains("Must be given."), "{text}");
    }
}
