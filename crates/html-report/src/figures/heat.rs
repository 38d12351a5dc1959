//! Many configurations in a table of fields.

use charts::{ChartKind, Heat, HeatCell, HeatRow, Slot};
use experiment::{Load, Workload};
use results::{CellResult, Metric};

use super::{
    distribution::{OfWorkload, cells_of},
    frame::Frame,
    limits::MOST_SERIES,
};
use crate::{
    page::Figure,
    scene::{Endpoints, Scene, distinct},
    values::{Quantity, doubt, is_doubtful},
};

/// Maximum number of rows.
const MOST_ROWS: usize = 40;
/// Maximum number of columns.
const MOST_COLUMNS: usize = 12;

/// Label and value of a factor whose values are the columns.
type Columns = (&'static str, fn(&CellResult) -> u64);

/// Factors whose values may be the columns: the first of them that varies, else the first one.
const COLUMNS: [Columns; 3] = [
    ("sample size (bytes)", |cell| cell.factors.size_bytes),
    ("planned rate (samples/s)", |cell| {
        cell.factors.load.as_ref().and_then(Load::rate).map_or(0, |rate| rate.sps().round() as u64)
    }),
    ("endpoints", |cell| u64::from(Endpoints::of(&cell.factors).number())),
];

/// Returns a table with a row per configuration; `None` if panels have room for all of them.
pub(crate) fn figure(
    scene: &Scene<'_>,
    all: &OfWorkload<'_, '_>,
    workload: Workload,
    id: &str,
) -> Option<Figure> {
    if all.len() <= MOST_SERIES {
        return None;
    }
    let quantity = Quantity::Metric(match workload {
        Workload::Latency => Metric::RttP50,
        Workload::Paced => Metric::ResponseP99,
        Workload::Throughput => Metric::Goodput,
        Workload::Search => Metric::Ndr,
        Workload::Discovery => Metric::AllMatched,
    });
    let every = cells_of(all);
    let varies = |(_, value): &Columns| distinct(&every, value).len() > 1;
    let (column_label, value) = COLUMNS.into_iter().find(varies).unwrap_or(COLUMNS[0]);
    let mut columns = distinct(&every, value);
    columns.truncate(MOST_COLUMNS);
    let rows: Vec<HeatRow> = chosen(all)
        .into_iter()
        .map(|index| {
            let (series, cells) = &all[index];
            let field =
                |column: &u64| field(cells.iter().copied().find(|cell| value(cell) == *column), quantity);
            HeatRow { label: series.name.clone(), cells: columns.iter().map(field).collect() }
        })
        .collect();
    let left_out = all.len() - rows.len();
    let note = match left_out {
        0 => "The stronger the colour, the higher the value, on a logarithmic scale.".to_owned(),
        more => format!(
            "The stronger the colour, the higher the value, on a logarithmic scale. {more} more configurations are in the table \
             of cells: rows with failed runs are here first, then those whose runs differ most."
        ),
    };
    let frame = Frame {
        id,
        short: "All cells",
        title: format!("{} configurations: {}", all.len(), quantity.words()),
        quantity,
        conditions: vec!["median of the runs".to_owned()],
        note,
        drawn: format!(
            "Table of {} by {} coloured fields with the median of each cell.",
            rows.len(),
            columns.len()
        ),
    };
    let kind = ChartKind::Heat(Heat {
        row_label: "configuration".to_owned(),
        column_label: column_label.to_owned(),
        columns: columns.iter().map(|column| charts::number::round(*column as f64)).collect(),
        rows,
        unit: quantity.unit(),
        slot: Slot::S1,
    });
    Some(frame.around(scene, (&every, ""), kind))
}

fn field(cell: Option<&CellResult>, quantity: Quantity) -> HeatCell {
    let estimate = cell.and_then(|cell| quantity.over_runs(cell));
    HeatCell {
        value: estimate.map_or(f64::NAN, |estimate| estimate.value),
        hollow: cell.is_some_and(is_doubtful),
        detail: cell.map_or_else(String::new, doubt),
    }
}

/// Returns the rows to show, in their order: those with runs that failed, then those whose runs differ most.
fn chosen(all: &OfWorkload<'_, '_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    if all.len() > MOST_ROWS {
        let failed =
            |index: usize| all[index].1.iter().any(|cell| cell.valid_runs().count() < cell.runs.len());
        let spread = |index: usize| {
            let widths = all[index].1.iter().filter_map(|cell| {
                let main = Metric::claims(&cell.factors)[0];
                let interval = Quantity::Metric(main).over_runs(cell)?.interval?;
                Some((interval.high / interval.low.max(f64::MIN_POSITIVE)).ln())
            });
            widths.fold(0.0_f64, f64::max)
        };
        order.sort_by(|left, right| {
            failed(*right).cmp(&failed(*left)).then(spread(*right).total_cmp(&spread(*left)))
        });
        order.truncate(MOST_ROWS);
        order.sort_unstable();
    }
    order
}
