//! Tables of factors in an experiment file: `[factors]`, and entries that select or replace cells.

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::LazyLock};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeSeed, MapAccess},
    ser::SerializeMap as _,
};
use serde_json::{Map, Value as Json};

use crate::{
    factors::{
        driver_options::DriverOptions,
        rows::{ENV, FACTORS},
        table::{Factor, Form},
        value::Value,
        values::FactorValues,
        variables::VariableValue,
    },
    syntax::one_or_many::{Located, OneOrMany},
};

/// Keys of `[factors]` besides those of the table of factors.
const EXCLUDE: &str = "exclude";
const INCLUDE: &str = "include";
/// Key of the reason of an entry of `exclude`.
const REASON: &str = "reason";
/// Key of the selected options of drivers, of an entry that selects cells.
const OPTIONS: &str = "options";

/// Keys of an entry that selects cells.
static SELECTION_KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| keys(|_| true, &[ENV, OPTIONS, REASON]));
/// Keys of `[factors]`. The workload is a key of the file itself.
static MATRIX_KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| keys(is_of_matrix, &[ENV, EXCLUDE, INCLUDE]));

fn is_of_matrix(row: &Factor) -> bool {
    matches!(row.form, Form::Key(_))
}

fn keys(of: fn(&Factor) -> bool, more: &[&'static str]) -> Vec<&'static str> {
    let rows = FACTORS.iter().filter(|row| row.kind().is_some() && of(row));
    rows.map(|row| row.key).chain(more.iter().copied()).collect()
}

/// Factors, each one value or a list. Every combination of all values is a cell, except those that are excluded. A
/// combination that a named driver does not support is rejected. If no driver is named, it is left out with a note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Values of the factors.
    pub values: FactorValues,
    /// Cells to leave out: those that match at least one entry. A driver need not support them. An entry that
    /// matches no cell is rejected.
    pub exclude: Vec<Located<FactorValues>>,
    /// Additional cells: every combination of the factors above, with the values given here instead. `exclude` does
    /// not apply to them.
    pub include: Vec<Located<FactorValues>>,
}

impl FactorValues {
    /// Returns the given factors with their values, in the order of the table.
    pub(crate) fn set_factors(&self) -> impl Iterator<Item = (&'static Factor, &OneOrMany<Value>)> {
        FACTORS.iter().filter_map(|row| Some((row, self.get(row.key)?)))
    }
}

/// Returns the row of a factor.
fn row(key: &str) -> &'static Factor {
    FACTORS.iter().find(|row| row.key == key).expect("a key of the table of factors")
}

/// Key of a table of factors; another one is an error at its position.
struct KeySeed(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl de::Visitor<'_> for KeySeed {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field identifier")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<&'static str, E> {
        self.0.iter().find(|known| **known == key).copied().ok_or_else(|| E::unknown_field(key, self.0))
    }
}

/// Reader of a table of factors.
struct TableVisitor {
    name: &'static str,
    keys: &'static [&'static str],
}

impl<'de> de::Visitor<'de> for TableVisitor {
    type Value = Matrix;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Matrix, A::Error> {
        let mut matrix = Matrix::default();
        while let Some(key) = map.next_key_seed(KeySeed(self.keys))? {
            match key {
                ENV => matrix.values.env = map.next_value()?,
                OPTIONS => matrix.values.options = map.next_value()?,
                REASON => matrix.values.reason = Some(map.next_value()?),
                EXCLUDE => matrix.exclude = map.next_value()?,
                INCLUDE => matrix.include = map.next_value()?,
                key => {
                    let kind = row(key).kind().expect("other factors are no keys");
                    matrix.values.set(key, kind.read(&mut map)?);
                }
            }
        }
        Ok(matrix)
    }
}

impl<'de> Deserialize<'de> for Matrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor { name: "Matrix", keys: &MATRIX_KEYS })
    }
}

impl<'de> Deserialize<'de> for FactorValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = TableVisitor { name: "Selection", keys: &SELECTION_KEYS };
        deserializer.deserialize_map(visitor).map(|matrix| matrix.values)
    }
}

impl Serialize for Matrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.values.entries(&mut map)?;
        for (key, selections) in [(EXCLUDE, &self.exclude), (INCLUDE, &self.include)] {
            if !selections.is_empty() {
                map.serialize_entry(key, selections)?;
            }
        }
        map.end()
    }
}

impl Serialize for FactorValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

impl FactorValues {
    fn entries<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.set_factors().try_for_each(|(row, values)| map.serialize_entry(row.key, values))?;
        if !self.env.is_empty() {
            map.serialize_entry(ENV, &self.env)?;
        }
        if !self.options.is_empty() {
            map.serialize_entry(OPTIONS, &self.options)?;
        }
        if let Some(reason) = &self.reason {
            map.serialize_entry(REASON, reason)?;
        }
        Ok(())
    }
}

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
