//! Conversion of the factors to cells: every combination that the drivers support.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    factors::{FactorValues, Factors, ids},
    gather::distinct,
    plan::{
        adaptation,
        axes::{included, with_defaults},
        design::Design,
        expansion::{Expansion, Note},
        experiment::Cell,
        experiment_file::ExperimentFile,
        flows,
        loads::{self, Traces},
        plan_inputs::PlanInputs,
        probes,
        selection::{matches, no_match},
    },
    syntax::{
        one_or_many::{Located, OneOrMany},
        spanned_error::SpannedError,
    },
};

/// Returns the cells with their ids, and notes about changes and omissions.
pub(crate) fn cells(
    file: &ExperimentFile,
    inputs: &PlanInputs<'_>,
    design: &Design,
) -> Result<(Vec<Cell>, Vec<String>), SpannedError> {
    let (file, profile_notes) = file.with_profiles(inputs.files)?;
    let file = &file;
    file.check_ends()?;
    for selected in file.all_policies() {
        if let Some(error) = selected.policies.contradiction() {
            return Err(error);
        }
    }
    check_reasons(file)?;
    let axes = with_defaults(file, inputs)?;
    let included: Vec<FactorValues> = file
        .factors
        .include
        .iter()
        .map(|selection| included(&axes, file, selection.get()))
        .collect::<Result<_, _>>()?;
    let all = || std::iter::once(&axes).chain(&included);
    let takes_part = |owner: &Located<String>| {
        let mut drivers = all().flat_map(|axes| axes.all::<String>("driver").0);
        drivers.any(|driver| file.options_of(driver.get()).is_some_and(|(of, _)| of == owner))
    };
    if let Some(stray) = file.options.keys().find(|owner| !takes_part(owner)) {
        let words = format!("an option was given for driver `{}`, which is not measured", stray.get());
        return stray.refused(words, "add it to `driver`, or remove the option");
    }
    loads::check(file, &all().collect::<Vec<_>>())?;
    flows::check(file)?;
    probes::check(file, design, &all().collect::<Vec<_>>())?;
    let traces = Traces::read(file, inputs, design.measure_ns)?;
    let (flows, flow_notes) = traces.flows(file)?;
    let mut matrix = Expansion {
        file,
        is_probed: design.longest_probe_distance().is_some(),
        inputs,
        traces: &traces,
        flows: &flows,
        excludes: &file.factors.exclude,
        spared: vec![false; file.factors.exclude.len()],
        lenient: false,
        factors: Vec::new(),
        notes: Vec::new(),
    };
    let unnamed = file.factors.values.get("driver").is_none();
    let drivers: OneOrMany<String> = axes.all("driver");
    // Nothing is missing where no selected driver was meant.
    let is_of_others = |exclude: &FactorValues| {
        let of = exclude.all::<String>("driver");
        let is_selected = |driver: &String| drivers.values().any(|selected| selected == driver);
        !of.0.is_empty() && !of.values().any(is_selected)
    };
    matrix.lenient = unnamed;
    matrix.expand(&axes)?;
    let mut shown_notes: Vec<String> = Vec::new();
    // Excluded cells by reason.
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (exclude, spared) in matrix.excludes.iter().zip(&matrix.spared) {
        // Also counts cells that another exclude covers.
        let found = *spared
            || matrix.factors.iter().any(|(factors, _)| matches(exclude.get(), factors, inputs.files));
        // The driver may not be installed on this host.
        let may_be_elsewhere = unnamed && exclude.get().get("driver").is_some();
        if !found && file.is_displaced(exclude.get()) && is_of_others(exclude.get()) {
            continue;
        }
        if !found && file.is_displaced(exclude.get()) {
            shown_notes.push(format!(
                "an `exclude` of the file matches no cell: {}",
                adaptation::words(exclude.get())
            ));
        } else if !found && !may_be_elsewhere && !file.defines_unused(exclude.get(), &axes) {
            let all: Vec<&Factors> = matrix.factors.iter().map(|(factors, _)| factors).collect();
            return Err(no_match("this exclude", exclude.get(), &all, inputs).at(exclude.span()));
        }
        let mut left_out = 0;
        for (factors, excluded) in &mut matrix.factors {
            if matches(exclude.get(), factors, inputs.files) {
                left_out += usize::from(!*excluded);
                *excluded = true;
            }
        }
        if let (1.., Some(reason)) = (left_out, &exclude.get().reason) {
            let cells = adaptation::words(exclude.get());
            match reasons.iter_mut().find(|(known, _)| known == reason.get()) {
                Some((_, all)) => all.push(cells),
                None => reasons.push((reason.get().clone(), vec![cells])),
            }
        }
    }
    // A driver whose cells are all excluded needs no notes.
    let kept = |driver: &str| {
        let mut cells = matrix.factors.iter().filter(|(factors, _)| factors.driver == driver).peekable();
        cells.peek().is_none() || cells.any(|(_, excluded)| !excluded)
    };
    let silent: BTreeSet<String> = drivers.values().filter(|driver| !kept(driver)).cloned().collect();
    matrix.notes.retain(|note| !silent.contains(&note.driver));
    matrix.factors.retain(|(_, excluded)| !excluded);
    matrix.excludes = &[];
    for (axes, selection) in included.iter().zip(&file.factors.include) {
        matrix.lenient = unnamed && selection.get().get("driver").is_none();
        matrix.expand(axes)?;
    }
    let Expansion { factors, notes, .. } = matrix;
    let factors: Vec<Factors> = factors.into_iter().map(|(factors, _)| factors).collect();
    let measured = |driver: &str| factors.iter().any(|factors| factors.driver == driver);
    let notes = notes.into_iter().filter(|note| note.left_out || measured(&note.driver));
    let notes = Note::in_words(&notes.collect::<Vec<_>>());
    let of_reason =
        |(reason, cells): (String, Vec<String>)| format!("excluded ({}): {reason}", cells.join("; "));
    shown_notes.extend(reasons.into_iter().map(of_reason));
    let searches = loads::searches_note(&all().collect::<Vec<_>>());
    let others = searches.into_iter().chain(profile_notes).chain(flow_notes).chain(notes);
    Ok((identified(factors), distinct(shown_notes.into_iter().chain(others))))
}

/// Returns cells with their ids.
pub(crate) fn identified(factors: Vec<Factors>) -> Vec<Cell> {
    let ids = ids(&factors);
    let mut cells: Vec<Cell> =
        ids.into_iter().zip(factors).map(|(id, factors)| Cell { id, factors }).collect();
    number_namesakes(&mut cells);
    cells
}

/// Rejects reasons of selections that exclude nothing.
fn check_reasons(file: &ExperimentFile) -> Result<(), SpannedError> {
    let included = file.factors.include.iter().map(Located::get);
    let baseline = file.design.baseline.iter().map(Located::get);
    let Some(reason) = included.chain(baseline).find_map(|selection| selection.reason.as_ref()) else {
        return Ok(());
    };
    let words = "`reason` has no effect here";
    reason.refused(words, "remove it: only entries of `exclude` have a reason")
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
