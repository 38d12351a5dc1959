//! Tables of factors in an experiment file: `[factors]`, and entries that select or replace cells.

use std::{fmt, sync::LazyLock};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeSeed, MapAccess},
    ser::SerializeMap as _,
};

use crate::{
    factors::{
        rows::{ENV, FACTORS},
        table::{Factor, Form},
        value::Value,
        values::FactorValues,
    },
    syntax::one_or_many::{Located, OneOrMany},
};

/// Keys of `[factors]` besides those of the table of factors.
pub(super) const EXCLUDE: &str = "exclude";
pub(super) const INCLUDE: &str = "include";
/// Key of the reason of an entry of `exclude`.
pub(super) const REASON: &str = "reason";
/// Key of the selected options of drivers, of an entry that selects cells.
pub(super) const OPTIONS: &str = "options";

/// Keys of an entry that selects cells.
static SELECTION_KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| keys(|_| true, &[ENV, OPTIONS, REASON]));
/// Keys of `[factors]`. The workload is a key of the file itself.
static MATRIX_KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| keys(is_of_matrix, &[ENV, EXCLUDE, INCLUDE]));

pub(super) fn is_of_matrix(row: &Factor) -> bool {
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
pub(super) fn row(key: &str) -> &'static Factor {
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
