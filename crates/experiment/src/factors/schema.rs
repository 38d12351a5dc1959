//! JSON Schemas of the tables of factors in an experiment file.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value as Json};

use crate::{
    factors::{
        driver_options::DriverOptions,
        reading::{EXCLUDE, INCLUDE, Matrix, OPTIONS, REASON, is_of_matrix, row},
        rows::{ENV, FACTORS},
        table::Factor,
        values::FactorValues,
        variables::VariableValue,
    },
    syntax::one_or_many::{Located, OneOrMany},
};

/// Returns the schema of a table with these keys.
fn table_schema(about: &str, properties: &Map<String, Json>) -> Schema {
    json_schema!({
        "description": about,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn described(about: &str, schema: Schema) -> Json {
    let mut all = Map::new();
    all.insert("description".to_owned(), about.into());
    if let Json::Object(schema) = schema.into() {
        all.extend(schema);
    }
    Json::Object(all)
}

fn properties(
    generator: &mut SchemaGenerator,
    of: fn(&Factor) -> bool,
    about: fn(&Factor) -> &'static str,
) -> Map<String, Json> {
    let mut all = Map::new();
    let keys = FACTORS.iter().filter(|row| of(row));
    for (row, kind) in keys.filter_map(|row| Some((row, row.kind()?))) {
        all.insert(row.key.to_owned(), described(about(row), kind.schema(generator)));
    }
    let env = generator.subschema_for::<BTreeMap<Located<String>, OneOrMany<VariableValue>>>();
    all.insert(ENV.to_owned(), described(about(row(ENV)), env));
    all
}

impl JsonSchema for Matrix {
    fn schema_name() -> Cow<'static, str> {
        "Matrix".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut all = properties(generator, is_of_matrix, |row| row.about);
        for (key, about) in [
            (
                EXCLUDE,
                "Cells to leave out: those that match at least one entry. A driver need not support them. An entry \
                 that matches no cell is rejected.",
            ),
            (
                INCLUDE,
                "Additional cells: every combination of the factors above, with the values given here instead. \
                 `exclude` does not apply to them.",
            ),
        ] {
            all.insert(
                key.to_owned(),
                described(about, Vec::<Located<FactorValues>>::json_schema(generator)),
            );
        }
        let about = "Factors, each one value or a list. Every combination of all values is a cell, except those that \
                     are excluded. A combination that a named driver does not support is rejected. If no driver is \
                     named, it is left out with a note.";
        table_schema(about, &all)
    }
}

impl JsonSchema for FactorValues {
    fn schema_name() -> Cow<'static, str> {
        "Selection".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let about = "Values of some factors. `exclude` and `baseline` match the cells that have one of the given \
                     values of each given factor. `include` replaces the given factors.";
        let mut all = properties(generator, |_| true, |row| row.brief);
        let options = generator.subschema_for::<BTreeMap<Located<String>, DriverOptions>>();
        let of_drivers = "Options by driver and name, for `exclude` and `baseline`.";
        all.insert(OPTIONS.to_owned(), described(of_drivers, options));
        let reason = Option::<Located<String>>::json_schema(generator);
        let of_reason = "Why these cells are not measured, only for `exclude`: the plan and the report name the cells with it.";
        all.insert(REASON.to_owned(), described(of_reason, reason));
        table_schema(about, &all)
    }
}
