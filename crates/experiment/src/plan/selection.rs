//! Selections of cells: which cells match, and why none does.

use std::collections::BTreeMap;

use crate::{
    factors::{
        Compared, Factor, FactorValues, Factors, Value, driver_options,
        variables::{self, VariableValue},
    },
    gather::distinct,
    plan::plan_inputs::PlanInputs,
    syntax::{
        driver_name::without_version,
        input_file::InputFile,
        one_or_many::OneOrMany,
        similar::one_of,
        spanned_error::{PlanError, contradiction},
    },
};

/// Returns whether a cell has one of the selected values of each selected factor.
pub(crate) fn matches(
    selection: &FactorValues,
    factors: &Factors,
    files: &BTreeMap<String, InputFile>,
) -> bool {
    let is_of = |row: &Factor, value: &Value| match value {
        // A cell has the path of a trace, which the file may name relative to itself.
        Value::Text(name) if row.key == "trace" => {
            files.get(name).is_some_and(|trace| row.is_of(factors, &trace.path.clone().into()))
        }
        value => row.is_of(factors, value),
    };
    let has_one =
        |(row, values): (&Factor, &OneOrMany<Value>)| values.values().any(|value| is_of(row, value));
    selection.set_factors().all(has_one)
        && variables::selects(&selection.env, &factors.env)
        && driver_options::selects(&selection.options, factors)
}

/// Hint for a selection of which each part is one of some cell.
pub(crate) const NO_MATCH: &str =
    "each value in it must be one of the cells', and one cell must have all of them; see `--dry-run`";

/// Returns the error of a selection that matches none of these cells. `what`: its name in a message.
pub(crate) fn no_match(
    what: &str,
    selection: &FactorValues,
    cells: &[&Factors],
    inputs: &PlanInputs<'_>,
) -> PlanError {
    let reason = of_factor(selection, cells, inputs)
        .or_else(|| of_variable(selection, cells))
        .or_else(|| of_option(selection, cells, inputs));
    match reason {
        Some((why, hint)) => contradiction(format!("{what} matches no cell: {why}"), hint),
        None => contradiction(format!("{what} matches no cell"), NO_MATCH),
    }
}

/// Returns the first factor whose value no cell has, with a hint.
fn of_factor(
    selection: &FactorValues,
    cells: &[&Factors],
    inputs: &PlanInputs<'_>,
) -> Option<(String, String)> {
    let has_none = |row: &Factor| {
        let others: Vec<&str> = selection.set_factors().map(|(other, _)| other.key).collect();
        let others: Vec<&str> = others.into_iter().filter(|key| *key != row.key).collect();
        let mut alone = selection.without(&others);
        (alone.env, alone.options) = Default::default();
        !cells.iter().any(|cell| matches(&alone, cell, inputs.files))
    };
    let (row, values) = selection.set_factors().find(|(row, _)| has_none(row))?;
    let values: Vec<String> = values.values().map(ToString::to_string).collect();
    let known = match row.compared {
        Compared::Text(text) => distinct(cells.iter().filter_map(|cell| text(cell))),
        Compared::Fields(_) | Compared::Elsewhere => Vec::new(),
    };
    let hint = match known.is_empty() {
        true => "use a value of the cells: `--dry-run` lists them".to_owned(),
        false => listed(values.first().map_or("", String::as_str), "values of the cells:", &known),
    };
    Some((format!("no cell has {} {}", row.key, values.join(" or ")), hint))
}

/// Returns the first environment variable whose value no cell has, with a hint.
fn of_variable(selection: &FactorValues, cells: &[&Factors]) -> Option<(String, String)> {
    let has_one = |name: &str, wanted: &dyn Fn(&Option<String>) -> bool| {
        cells.iter().any(|cell| cell.env.get(name).is_some_and(wanted))
    };
    let is_wanted = |values: &OneOrMany<VariableValue>, value: &Option<String>| {
        values.values().any(|requested| requested.0 == *value)
    };
    let (name, _) = selection
        .env
        .iter()
        .find(|(name, values)| !has_one(name.get(), &|value: &Option<String>| is_wanted(values, value)))?;
    let name = name.get();
    let known = distinct(cells.iter().flat_map(|cell| cell.env.keys().cloned()));
    Some(if known.iter().any(|other| other == name) {
        let values = distinct(cells.iter().filter_map(|cell| cell.env.get(name).cloned().flatten()));
        (format!("no cell has that value of variable `{name}`"), listed("", "values of the cells:", &values))
    } else {
        (format!("no cell has variable `{name}`"), listed(name, "variables of the cells:", &known))
    })
}

/// Returns the first option of a driver that no cell has, with a hint.
fn of_option(
    selection: &FactorValues,
    cells: &[&Factors],
    inputs: &PlanInputs<'_>,
) -> Option<(String, String)> {
    for (owner, options) in &selection.options {
        let owner = owner.get();
        let is_of = |driver: &str| driver == owner || without_version(driver) == Some(owner.as_str());
        let of_driver: Vec<&&Factors> = cells.iter().filter(|cell| is_of(&cell.driver)).collect();
        if of_driver.is_empty() {
            let known = distinct(cells.iter().map(|cell| cell.driver.clone()));
            return Some((
                format!("driver `{owner}` is not measured"),
                listed(owner, "drivers of the cells:", &known),
            ));
        }
        for (name, values) in options {
            let name = name.get();
            let described = of_driver.iter().filter_map(|cell| inputs.descriptions.get(&cell.driver));
            let options = described.flat_map(|driver| &driver.options);
            let known = distinct(options.map(|option| option.name.clone()));
            if !known.contains(name) {
                return Some((
                    format!("driver `{owner}` has no option `{name}`"),
                    listed(name, "available:", &known),
                ));
            }
            let given = distinct(of_driver.iter().filter_map(|cell| cell.options.get(name).cloned()));
            let wanted: Vec<String> = values.values().map(ToString::to_string).collect();
            if given.is_empty() {
                let value = wanted.first().map_or("VALUE", String::as_str);
                return Some((
                    format!("no cell has a value of `{owner}.{name}`"),
                    format!("measure it: `--option {owner}.{name}={value}`, and another one"),
                ));
            }
            if !wanted.iter().any(|value| given.contains(value)) {
                return Some((
                    format!("no cell has `{owner}.{name}` {}", wanted.join(" or ")),
                    listed(wanted.first().map_or("", String::as_str), "values of the cells:", &given),
                ));
            }
        }
    }
    None
}

/// Lists values after an introduction; suggests the most similar one, if it is similar enough.
fn listed(unknown: &str, introduction: &str, known: &[String]) -> String {
    one_of(unknown, known.iter().map(String::as_str), introduction)
}
