//! The factor `options`: options of drivers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Deserializer};

use crate::{
    factors::Factors,
    syntax::{
        driver_name::without_version,
        one_or_many::{Located, OneOrMany},
        scalar::{Rejection, Scalar, scalar, schema, to_text},
    },
};

/// Options of a driver by name.
pub(crate) type DriverOptions = BTreeMap<Located<String>, OneOrMany<OptionValue>>;

/// Value of a driver option: text, a whole number, `true` or `false`. The driver gets its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OptionValue(pub String);

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

to_text!(OptionValue);

impl<'de> Deserialize<'de> for OptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        scalar(deserializer, "text, a whole number, or true or false", |scalar| match scalar {
            Scalar::Text(text) => Ok(Self(text.clone())),
            Scalar::Integer(number) => Ok(Self(number.to_string())),
            Scalar::Flag(flag) => Ok(Self(flag.to_string())),
            Scalar::Float(_) => Err(Rejection::Type),
        })
    }
}

schema!(OptionValue, "OptionValue", { "type": ["string", "integer", "boolean"] });

/// Returns whether a cell has one of the selected values of each selected option: one of the named driver, in any version if
/// it is named without one, to which the cell gives that option.
pub(crate) fn selects(selection: &BTreeMap<Located<String>, DriverOptions>, cell: &Factors) -> bool {
    selection.iter().all(|(driver, options)| {
        let is_of =
            driver.get() == &cell.driver || Some(driver.get().as_str()) == without_version(&cell.driver);
        is_of
            && options.iter().all(|(name, values)| {
                let given = cell.options.get(name.get());
                given.is_some_and(|given| values.values().any(|requested| requested.0 == *given))
            })
    })
}

/// Returns the options of a cell by name.
pub(crate) fn by_name(cell: &Factors) -> BTreeMap<&str, Option<&str>> {
    cell.options.iter().map(|(name, value)| (name.as_str(), Some(value.as_str()))).collect()
}

/// Returns the parts of ids for driver options: those of which a driver has several values.
pub(crate) fn ids(all: &[Factors]) -> Vec<Vec<String>> {
    let mut values: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for cell in all {
        for (name, value) in &cell.options {
            values.entry((&cell.driver, name)).or_default().insert(value);
        }
    }
    let of = |cell: &Factors| {
        let varied = |name: &str| values[&(cell.driver.as_str(), name)].len() > 1;
        let options = cell.options.iter().filter(|(name, _)| varied(name));
        options.map(|(name, value)| format!("{name}-{value}")).collect()
    };
    all.iter().map(of).collect()
}
