//! Values of all factors of an experiment: those of the file and defaults, checked.

use std::collections::BTreeMap;

use crate::{
    factors::{
        DEFAULT_BASE, DEFAULT_PROFILE, FACTORS, FactorValues, placement::OWN_INTERFACE, policies::Policies,
        variables,
    },
    plan::{experiment_file::ExperimentFile, instances, plan_inputs::PlanInputs, queue_checks},
    syntax::{
        one_or_many::{Located, OneOrMany},
        spanned_error::{PlanError, SpannedError, all_distinct, available},
    },
};

/// Maximum number of cells of an experiment. More would take so long that the host changes meanwhile.
pub(crate) const MAX_CELLS: usize = 5_000;

/// Keys of factors whose values make one setting together with those of another key.
const JOINT: [&str; 5] = ["rate", "arrival", "trace", "batch_bytes", "batch_samples"];

/// Returns the values of all factors with keys: those of the file, and the defaults.
pub(crate) fn with_defaults(
    file: &ExperimentFile,
    inputs: &PlanInputs<'_>,
) -> Result<FactorValues, SpannedError> {
    let mut values = file.factors.values.clone();
    values.set("workload", file.workload.clone().map(Into::into));
    if values.get("driver").is_none() {
        values.give("driver", inputs.installed.to_vec());
    }
    if values.get("batch_samples").is_some() && values.get("batch_bytes").is_none() {
        values.set("batch_bytes", OneOrMany(Vec::new()));
    }
    if inputs.hosts.len() > 1 && values.get("interface").is_none() {
        values.set("interface", OneOrMany::unwritten([OWN_INTERFACE.to_owned().into()]));
    }
    for row in FACTORS.iter().filter(|row| row.kind().is_some()) {
        if let (None, Some(default)) = (values.get(row.key), (row.default)()) {
            values.set(row.key, OneOrMany::unwritten([default]));
        }
    }
    check(&values, file)?;
    Ok(values)
}

/// Returns the values of an entry of `include`, with those of the factors that it does not give.
pub(crate) fn included(
    base: &FactorValues,
    file: &ExperimentFile,
    selection: &FactorValues,
) -> Result<FactorValues, SpannedError> {
    if let Some(driver) = selection.options.keys().next() {
        let words = "an entry of `include` cannot set options of drivers";
        let hint = "set them in `[options]`, where a list makes an option a factor, and `exclude` what is not wanted";
        return driver.refused(words, hint);
    }
    let mut values = base.clone();
    let gives = |key| selection.get(key).is_some();
    let mut drop = |key| values.set(key, OneOrMany(Vec::new()));
    // Rates and traces are one factor, the load.
    if gives("rate") || gives("arrival") {
        drop("trace");
    } else if gives("trace") {
        drop("rate");
    }
    if gives("batch_bytes") || gives("batch_samples") {
        drop("batch_bytes");
        drop("batch_samples");
    }
    for (row, inputs) in selection.set_factors() {
        values.set(row.key, inputs.clone());
    }
    values.env = values.env.into_iter().chain(selection.env.clone()).collect();
    check(&values, file)?;
    Ok(values)
}

/// Rejects values that are given twice, missing, out of range, or without effect.
fn check(values: &FactorValues, file: &ExperimentFile) -> Result<(), SpannedError> {
    values.set_factors().try_for_each(|(row, many)| all_distinct(row.noun.unwrap_or(row.key), many))?;
    variables::check(&values.env)?;
    for (row, many) in values.set_factors() {
        for value in &many.0 {
            if let Some(error) = (row.check)(row, value.get(), values) {
                return Err(error.at(value.span()));
            }
        }
    }
    queue_checks::check_policies(values, file)?;
    instances::check_room(values, file)?;
    if let Some(plural) =
        values.set_factors().filter(|(_, many)| many.0.is_empty()).find_map(|(row, _)| row.plural)
    {
        return Err(PlanError::nothing(plural).at(0..0));
    }
    if values.count("batch_bytes") + values.count("batch_samples") == 0 {
        return Err(PlanError::nothing("ways to batch").at(0..0));
    }
    for profile in &values.all::<String>("profile").0 {
        let name = profile.get();
        if name != DEFAULT_PROFILE && !file.profiles.contains_key(&Located::nowhere(name.clone())) {
            let none = "define it as `[profiles.NAME]`, or name a preset, `shipped` or such as `ros2:sensor_data`, or a \
                        profile of a file, `FILE.xml#LIBRARY::PROFILE`";
            return profile.refused(format!("profile `{name}` not found"), defined(&file.profiles, none));
        }
    }
    for base in &values.all::<String>("base").0 {
        let name = base.get();
        if name != DEFAULT_BASE && !file.bases.contains_key(&Located::nowhere(name.clone())) {
            let none = "define it as `[bases.NAME]`, or leave `base` out";
            return base.refused(format!("base `{name}` not found"), defined(&file.bases, none));
        }
    }
    Ok(())
}

/// Returns the hint for a name of policies that the file does not define; `none` if it defines no others.
fn defined(known: &BTreeMap<Located<String>, Policies>, none: &str) -> String {
    let known: Vec<String> = known.keys().map(|name| name.get().clone()).collect();
    if known.is_empty() { none.to_owned() } else { available(&known) }
}

/// Returns the maximum number of combinations, without driver options and with `all` transports as one.
pub(crate) fn count(values: &FactorValues) -> usize {
    let single =
        values.set_factors().filter(|(row, _)| !JOINT.contains(&row.key)).map(|(_, many)| many.0.len());
    let batches = values.count("batch_bytes").saturating_add(values.count("batch_samples"));
    let rates = values.count("rate").saturating_mul(values.count("arrival"));
    let loads = rates.saturating_add(values.count("trace")).max(1);
    single.chain([batches, loads, variables::count(&values.env)]).fold(1, usize::saturating_mul)
}
