//! Headroom of systems: searches over the scale of all rates, and the topic that fails first.

use experiment::ScaleRange;
use results::{
    CellResult, GoalCell, GoalRecord, Headroom, SearchBound, SearchState, TrialRecord, format_value,
};

use crate::{
    factor_columns::FactorColumns,
    layout::Grid,
    tables::{by_cell, unsupported},
};

/// Columns of the tables of headrooms: heading and unit.
pub(crate) const COLUMNS: [(&str, &str); 6] = [
    ("Headroom", "x"),
    ("Lower", "x"),
    ("Upper", "x"),
    ("All flows", "samples/s"),
    ("Fails first", ""),
    ("Found", ""),
];

/// Returns the headroom of a cell, with the values of its goal; `None` if it is not a search over the scale, or none ended.
pub(crate) fn of(cell: &CellResult) -> Option<(&GoalCell, &Headroom)> {
    cell.search.as_ref()?.goals.iter().find_map(|goal| Some((goal, goal.headroom.as_ref()?)))
}

/// Returns the entries of these columns.
pub(crate) fn entries(goal: &GoalCell, headroom: &Headroom) -> [String; 6] {
    let value = |value: Option<f64>| value.map_or_else(unsupported, format_value);
    [
        value(headroom.scale),
        value(headroom.lowest_scale),
        value(headroom.highest_scale),
        value(goal.conditional_sps),
        fails_first(goal, headroom),
        format!("{} of {}", goal.found, goal.searches),
    ]
}

/// Returns the names of the topics that fail first, each with its number of searches if they differ.
fn fails_first(goal: &GoalCell, headroom: &Headroom) -> String {
    match &headroom.fails_first[..] {
        [] => unsupported(),
        [only] if only.searches == goal.searches => only.flow.clone(),
        all => {
            let one = all.iter().map(|of| format!("{} ({} of {})", of.flow, of.searches, goal.searches));
            one.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Returns the table of headrooms.
pub(crate) fn grid(cells: &[&CellResult]) -> Grid {
    let factors = FactorColumns::new(&[], cells);
    let mut grid = factors.grid();
    for (heading, unit) in COLUMNS {
        let heading = if unit.is_empty() { heading.to_owned() } else { format!("{heading} ({unit})") };
        grid = if heading == "Fails first" { grid.left([heading]) } else { grid.right([heading]) };
    }
    by_cell(&factors, grid, cells, |cell, row| {
        let (goal, headroom) = of(cell)?;
        row.extend(entries(goal, headroom));
        Some(())
    })
}

/// Returns a sentence about each cell with a headroom: `headroom 1.8 x; cmd-vel fails first`.
pub(crate) fn sentences(cells: &[&CellResult]) -> Vec<String> {
    let several = cells.iter().filter(|cell| of(cell).is_some()).count() > 1;
    let sentence = |cell: &&CellResult| {
        let (goal, headroom) = of(cell)?;
        let of = if several { format!("{}: ", cell.id) } else { String::new() };
        let first = match &headroom.fails_first[..] {
            [] => String::new(),
            [_] => format!("; {} fails first", fails_first(goal, headroom)),
            _ => format!("; first to fail: {}", fails_first(goal, headroom)),
        };
        Some(format!("{of}headroom {} x{first}", format_value(headroom.scale?)))
    };
    cells.iter().filter_map(sentence).collect()
}

/// Formats the outcome of one search, so far.
pub(crate) fn describe(goal: &GoalRecord) -> String {
    let scale = |bound: &Option<SearchBound>| {
        bound.as_ref().and_then(|bound| bound.scale).map_or_else(|| "?".to_owned(), format_value)
    };
    let (lower, upper) = (scale(&goal.lower), scale(&goal.upper));
    let first = goal.fails_first.as_ref().map_or_else(String::new, |flow| format!("; {flow} fails first"));
    match goal.state {
        SearchState::Found => format!("headroom {lower} x, {upper} x is too much{first}"),
        SearchState::Floor => format!("headroom: even {upper} x is too much{first}"),
        SearchState::Ceiling => format!("headroom: {lower} x is sustained, more may be"),
        SearchState::Budget => format!("headroom {lower} to {upper} x, not brought to its end{first}"),
    }
}

/// Formats the topic that is nearest to its limit in a trial, or exceeds it most.
pub(crate) fn worst(trial: &TrialRecord) -> String {
    trial.worst.as_ref().map_or_else(
        || "no deadline missed".to_owned(),
        |worst| {
            format!(
                "{} missed {} % (limit {} %)",
                worst.flow,
                format_value(worst.missed_pct),
                format_value(worst.limit_pct)
            )
        },
    )
}

/// Formats the range of the search for the plan.
pub(crate) fn range(scales: &ScaleRange) -> String {
    format!("scales from {} to {} are tried, the first one is about 1", scales.lowest, scales.highest)
}

/// Legend of the tables.
pub(crate) const LEGEND: &str = "Headroom: the factor of the rates of all flows up to which each flow of the system, at each reader, keeps its \
    limit of samples that miss its deadline, lost ones included; below 1 the system is not carried. Each run is a search (MLRsearch), and each of its \
    trials a run of the whole system with fresh processes at one scale. Headroom is the median over the searches, Lower the lowest of the scales that \
    are sustained, and Upper the highest of those that are not. All flows is what they write together at that scale. Fails first is the flow, or \
    group of equal flows, whose missed share is the largest multiple of its limit at the upper scale.";
