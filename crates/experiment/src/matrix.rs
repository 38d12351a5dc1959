//! Conversion of the factors to cells: every combination that the drivers support.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Cell, Factor, FactorValues, Factors, PlanError, Refusal, Value,
    expansion::Expansion,
    factors::{DEFAULT_PROFILE, FACTORS, ids},
    loads::{self, Traces},
    many::{At, Many, Span},
    planner::Given,
    probes, queues, variables,
    written::Written,
};

/// Maximum number of cells of an experiment. More would take so long that the host changes meanwhile.
pub(crate) const MAX_CELLS: usize = 5_000;

/// Keys of factors whose values make one setting together with those of another key.
const JOINT: [&str; 5] = ["rate", "arrival", "trace", "batch_bytes", "batch_samples"];

/// Returns the values of all factors with keys: those of the file, and the defaults.
fn with_defaults(written: &Written, given: &Given<'_>) -> Result<FactorValues, Refusal> {
    let mut values = written.factors.values.clone();
    values.set("workload", written.workload.clone().map(Into::into));
    if values.get("driver").is_none() {
        values.give("driver", given.installed.to_vec());
    }
    if values.get("profile").is_none() && !written.profiles.is_empty() {
        let names: BTreeSet<&str> = written.profiles.keys().map(|name| name.get().as_str()).collect();
        let others = names.into_iter().filter(|name| *name != DEFAULT_PROFILE);
        values.give("profile", std::iter::once(DEFAULT_PROFILE).chain(others).map(str::to_owned));
    }
    if values.get("batch_samples").is_some() && values.get("batch_bytes").is_none() {
        values.set("batch_bytes", Many(Vec::new()));
    }
    for row in FACTORS.iter().filter(|row| row.kind().is_some()) {
        if let (None, Some(default)) = (values.get(row.key), (row.default)()) {
            values.set(row.key, Many::unwritten([default]));
        }
    }
    check(&values, written)?;
    Ok(values)
}

/// Returns the values of an entry of `include`, with those of the factors that it does not give.
fn included(
    base: &FactorValues,
    written: &Written,
    selection: &FactorValues,
) -> Result<FactorValues, Refusal> {
    let mut values = base.clone();
    let gives = |key| selection.get(key).is_some();
    let mut drop = |key| values.set(key, Many(Vec::new()));
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
    for (row, given) in selection.given() {
        values.set(row.key, given.clone());
    }
    values.env = values.env.into_iter().chain(selection.env.clone()).collect();
    check(&values, written)?;
    Ok(values)
}

/// Rejects values that are given twice, missing, out of range, or without effect.
fn check(values: &FactorValues, written: &Written) -> Result<(), Refusal> {
    values.given().try_for_each(|(row, many)| all_distinct(row.noun.unwrap_or(row.key), many))?;
    variables::check(&values.env)?;
    for (row, many) in values.given() {
        (row.check)(row, many, values)?;
    }
    queues::check_policies(values, written)?;
    if let Some(plural) = values.given().filter(|(_, many)| many.0.is_empty()).find_map(|(row, _)| row.plural)
    {
        return Err(PlanError::Nothing(plural).at(0..0));
    }
    if values.count("batch_bytes") + values.count("batch_samples") == 0 {
        return Err(PlanError::Nothing("ways to batch").at(0..0));
    }
    for profile in &values.all::<String>("profile").0 {
        let name = profile.get();
        if name != DEFAULT_PROFILE && !written.profiles.contains_key(&At::nowhere(name.clone())) {
            let known = written.profiles.keys().map(|name| name.get().clone()).collect();
            return Err(PlanError::NoProfile { profile: name.clone(), known }.at(profile.span()));
        }
    }
    Ok(())
}

/// Returns the maximum number of combinations, without driver options and with `all` transports as one.
pub(crate) fn count(values: &FactorValues) -> usize {
    let single = values.given().filter(|(row, _)| !JOINT.contains(&row.key)).map(|(_, many)| many.0.len());
    let batches = values.count("batch_bytes").saturating_add(values.count("batch_samples"));
    let rates = values.count("rate").saturating_mul(values.count("arrival"));
    let loads = rates.saturating_add(values.count("trace")).max(1);
    single.chain([batches, loads, variables::count(&values.env)]).fold(1, usize::saturating_mul)
}

/// Returns the cells with their ids, and notes about changes and omissions.
pub(crate) fn cells(
    written: &Written,
    given: &Given<'_>,
    measure_ns: u64,
) -> Result<(Vec<Cell>, Vec<String>), Refusal> {
    written.check_ends()?;
    for (_, policies) in written.all_policies() {
        if let Some((at, words, hint)) = policies.contradiction() {
            return Err(PlanError::Contradiction { words, hint }.at(at));
        }
    }
    let axes = with_defaults(written, given)?;
    let included: Vec<FactorValues> = written
        .factors
        .include
        .iter()
        .map(|selection| included(&axes, written, selection.get()))
        .collect::<Result<_, _>>()?;
    let all = || std::iter::once(&axes).chain(&included);
    let takes_part = |owner: &At<String>| {
        let mut drivers = all().flat_map(|axes| axes.all::<String>("driver").0);
        drivers.any(|driver| written.options_of(driver.get()).is_some_and(|(of, _)| of == owner))
    };
    if let Some(stray) = written.options.keys().find(|owner| !takes_part(owner)) {
        return Err(PlanError::StrayOption { driver: stray.get().clone() }.at(stray.span()));
    }
    loads::check(written, &all().collect::<Vec<_>>())?;
    probes::check(written, &all().collect::<Vec<_>>())?;
    let traces = Traces::read(written, given, measure_ns)?;
    let (flows, flow_notes) = traces.flows(&written.flows)?;
    let mut matrix = Expansion {
        written,
        given,
        traces: &traces,
        flows: &flows,
        excludes: &written.factors.exclude,
        spared: vec![false; written.factors.exclude.len()],
        lenient: false,
        factors: Vec::new(),
        notes: Vec::new(),
    };
    let unnamed = written.factors.values.get("driver").is_none();
    matrix.lenient = unnamed;
    matrix.expand(&axes)?;
    for (exclude, spared) in matrix.excludes.iter().zip(&matrix.spared) {
        // Also counts cells that another exclude covers.
        let found =
            *spared || matrix.factors.iter().any(|(factors, _)| matches(exclude.get(), factors, given));
        // The driver may not be installed on this host.
        let may_be_elsewhere = unnamed && exclude.get().get("driver").is_some();
        if !found && !may_be_elsewhere {
            return Err(PlanError::NoMatch("this exclude").at(exclude.span()));
        }
        for (factors, excluded) in &mut matrix.factors {
            *excluded |= matches(exclude.get(), factors, given);
        }
    }
    // A driver whose cells are all excluded needs no notes.
    let kept = |driver: &str| {
        let mut cells = matrix.factors.iter().filter(|(factors, _)| factors.driver == driver).peekable();
        cells.peek().is_none() || cells.any(|(_, excluded)| !excluded)
    };
    let drivers: Many<String> = axes.all("driver");
    let silent: BTreeSet<String> = drivers.values().filter(|driver| !kept(driver)).cloned().collect();
    matrix.notes.retain(|note| !silent.contains(&note.driver));
    matrix.factors.retain(|(_, excluded)| !excluded);
    matrix.excludes = &[];
    for (axes, selection) in included.iter().zip(&written.factors.include) {
        matrix.lenient = unnamed && selection.get().get("driver").is_none();
        matrix.expand(axes)?;
    }
    let Expansion { factors, notes, .. } = matrix;
    let factors: Vec<Factors> = factors.into_iter().map(|(factors, _)| factors).collect();
    let measured = |driver: &str| factors.iter().any(|factors| factors.driver == driver);
    let notes = notes.into_iter().filter(|note| note.left_out || measured(&note.driver));
    let mut told: Vec<String> = Vec::new();
    let searches = loads::searches_note(&all().collect::<Vec<_>>());
    for words in searches.into_iter().chain(flow_notes).chain(notes.map(|note| note.words)) {
        if !told.contains(&words) {
            told.push(words);
        }
    }
    let ids = ids(&factors);
    let mut cells: Vec<Cell> =
        ids.into_iter().zip(factors).map(|(id, factors)| Cell { id, factors }).collect();
    number_namesakes(&mut cells);
    Ok((cells, told))
}

/// Returns whether a cell has one of the selected values of each selected factor.
pub(crate) fn matches(selection: &FactorValues, factors: &Factors, given: &Given<'_>) -> bool {
    let is_of = |row: &Factor, value: &Value| match value {
        // A cell has the path of a trace, which the file may name relative to itself.
        Value::Text(name) if row.key == "trace" => {
            given.traces.get(name).is_some_and(|trace| row.is_of(factors, &trace.path.clone().into()))
        }
        value => row.is_of(factors, value),
    };
    let has_one = |(row, values): (&Factor, &Many<Value>)| values.values().any(|value| is_of(row, value));
    selection.given().all(has_one) && variables::selects(selection, &factors.env)
}

/// Appends a number to ids that occur again, such as those of driver files with one name in different directories.
fn number_namesakes(cells: &mut [Cell]) {
    let mut seen = BTreeMap::<String, u32>::new();
    for cell in cells {
        let count = seen.entry(cell.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            cell.id = format!("{}-{count}", cell.id);
        }
    }
}

pub(crate) fn all_distinct<T: PartialEq + std::fmt::Display>(
    what: &'static str,
    values: &Many<T>,
) -> Result<(), Refusal> {
    for (index, value) in values.0.iter().enumerate() {
        if values.0[..index].contains(value) {
            let at: Span = value.span();
            return Err(PlanError::Twice { what, value: value.get().to_string() }.at(at));
        }
    }
    Ok(())
}
