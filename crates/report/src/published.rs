//! Tables of measured values beside published figures.

use std::fmt::Write as _;

use experiment::{Figure, distinct};
use results::{CellResult, MeasuredValue, PublishedValue, format_micros, format_value};

use crate::{factor_columns::FactorColumns, layout::Grid, tables::unsupported};

/// Meaning of the columns of these tables.
pub(crate) const LEGEND: &str = "Tables beside published figures: each value is the median over the valid runs, followed by the 95 % CI of the \
    median by order statistics; with fewer than 6 runs, by their range. RTT is the full round trip. A figure that was published as \
    RTT/2 is doubled, as in 2 × 355 = 710. Published figures are from other hosts: they show the shape of a curve, and claim nothing \
    about the systems that are measured here.";

/// Returns a table for each system with published figures of these cells and this batch limit; empty without such figures. The
/// headings start with the title of the cells' own table.
pub(crate) fn beside(title: &str, cells: &[&CellResult], batch_bytes: u64) -> String {
    let rows: Vec<(&CellResult, Vec<&PublishedValue>)> =
        cells.iter().map(|cell| (*cell, of_batch(cell, batch_bytes))).collect();
    let systems = distinct(rows.iter().flat_map(|(_, values)| values).map(|value| &value.system));
    let mut text = String::new();
    for system in systems {
        let of_system = rows.iter().filter_map(|(cell, values)| {
            let values: Vec<&PublishedValue> =
                values.iter().copied().filter(|value| value.system == *system).collect();
            (!values.is_empty()).then_some((*cell, values))
        });
        let _ = writeln!(text, "\n{title}, beside published figures of {system}");
        text.push_str(&table(&of_system.collect::<Vec<_>>(), None).render());
    }
    text
}

/// Returns the published figures of a cell for this batch limit.
fn of_batch(cell: &CellResult, batch_bytes: u64) -> Vec<&PublishedValue> {
    cell.published.iter().filter(|value| value.batch_bytes == batch_bytes).collect()
}

/// Returns the table of one system. `names`: the name of each row's configuration, if the rows have several.
pub(crate) fn table(rows: &[(&CellResult, Vec<&PublishedValue>)], names: Option<&[String]>) -> Grid {
    let figures = distinct(rows.iter().flat_map(|(_, values)| values).map(|value| value.figure));
    let keys = FactorColumns::new(&["size"], &rows.iter().map(|(cell, _)| *cell).collect::<Vec<_>>());
    let first = Grid::default().units_below();
    let first = if names.is_some() { first.left(["Configuration"]) } else { first };
    let mut grid = keys.headed(first).right(["Runs"]);
    for figure in &figures {
        grid = grid.right([heading(*figure)]).close("95 % CI").right(["Published"]);
    }
    for (index, (cell, values)) in rows.iter().enumerate() {
        let name = names.and_then(|names| names.get(index));
        let mut row: Vec<String> = name.cloned().into_iter().chain(keys.entries(cell)).collect();
        row.push(runs(values));
        for figure in &figures {
            match values.iter().find(|value| value.figure == *figure) {
                Some(value) => row.extend([measured(value), interval(value), published(value, cell)]),
                None => row.extend([String::new(), String::new(), String::new()]),
            }
        }
        grid.row(row);
    }
    grid
}

/// Returns the heading of the measured value that a figure is beside.
pub(crate) fn heading(figure: Figure) -> String {
    match (figure, figure.statistic()) {
        (_, Some(statistic)) => format!("RTT {} (µs)", statistic.name().replace('_', ".")),
        (Figure::Delivered, None) => "Samples/s".to_owned(),
        (Figure::Goodput, None) => "Mbit/s".to_owned(),
        (Figure::TwoHopsPerSample, None) => "Sample-hop (µs)".to_owned(),
        (_, None) => "Lost (%)".to_owned(),
    }
}

/// Formats the number of runs that have the values of a row.
fn runs(values: &[&PublishedValue]) -> String {
    let counts = || values.iter().filter_map(|value| Some(value.measured.as_ref()?.n));
    match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// Formats a value with the unit of the measured one.
fn in_unit(value: &PublishedValue, number: f64) -> String {
    if value.figure.is_time() { format_micros(number) } else { format_value(number) }
}

fn measured(value: &PublishedValue) -> String {
    value.measured.as_ref().map_or_else(unsupported, |measured| in_unit(value, measured.median))
}

/// Formats the 95 % CI, or the range if there are too few runs for it; empty without a value.
fn interval(value: &PublishedValue) -> String {
    let Some(measured) = &value.measured else { return String::new() };
    let MeasuredValue { min, max, ci_low, ci_high, .. } = *measured;
    let between = |low, high| format!("{}..{}", in_unit(value, low), in_unit(value, high));
    match ci_low.zip(ci_high) {
        Some((low, high)) => between(low, high),
        None => format!("range {}", between(min, max)),
    }
}

/// Formats a figure as it was published. A part of the measured value, such as half of a round-trip time, is followed by the whole.
fn published(value: &PublishedValue, cell: &CellResult) -> String {
    let hops = cell.factors.topology.hops().unwrap_or(2);
    match (value.figure.multiple(hops), value.published) {
        (1.0, published) => published.to_string(),
        (multiple, published) if multiple < 1.0 => {
            format!("{published} / {} = {}", multiple.recip(), published * multiple)
        }
        (multiple, published) => format!("{multiple} × {published} = {}", published * multiple),
    }
}
