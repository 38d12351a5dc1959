//! Values of an experiment so far, as lines that are redrawn between its runs.

use experiment::{Cell, Plan};
use results::{Block, Metric, NotMet, Run, RunState, format_value, metrics_of};
use stats::median;

use crate::{layout::Grid, number::count};

/// Lines that are not rows of cells: the heading of the table, and two or three lines of progress.
const OTHER_LINES: usize = 3;

/// Values so far, updated between runs. Nothing is asked of agents: they have reported at the end of each run.
#[derive(Debug)]
pub struct Live {
    cells: Vec<LiveCell>,
    blocks: u32,
    noisy: u32,
    /// Reasons for which the last block was noisy; empty if it was not.
    reasons: Vec<String>,
}

/// Values of a cell so far.
#[derive(Debug)]
struct LiveCell {
    id: String,
    /// A metric, and its value in each valid run.
    metrics: Vec<(Metric, Vec<f64>)>,
    valid: usize,
    others: usize,
    /// Runs of a system in which not all deadlines were met; `None` for other cells.
    not_met: Option<Vec<NotMet>>,
}

/// Progress that a [`Live`] does not know.
#[derive(Clone, Copy, Debug)]
pub struct LiveProgress<'p> {
    /// Cell that is measured now.
    pub cell: &'p str,
    /// Remaining time, as text.
    pub left: &'p str,
    /// Number of the lines that may be used.
    pub lines: usize,
    /// Number of columns that may be used.
    pub width: usize,
}

impl Live {
    /// Creates the table of a plan, without values.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let of_cell = |cell: &Cell| {
            let mut metrics: Vec<Metric> = metrics_of(plan, &cell.factors).collect();
            if Metric::Delivered.is_of(cell.factors.workload) {
                metrics.push(Metric::Delivered);
            }
            // The first ones have room on a narrow terminal.
            metrics.sort_by_key(|metric| *metric != Metric::Missed);
            let metrics = metrics.into_iter().map(|metric| (metric, Vec::new())).collect();
            let is_system = cell.factors.flows.iter().any(|flow| flow.deadline.is_some());
            let not_met = is_system.then(Vec::new);
            LiveCell { id: cell.id.clone(), metrics, valid: 0, others: 0, not_met }
        };
        let cells = plan.cells.iter().map(of_cell).collect();
        Self { cells, blocks: 0, noisy: 0, reasons: Vec::new() }
    }

    /// Takes the values of a run that has ended.
    pub fn run_finished(&mut self, run: &Run, cell: &Cell) {
        let Some(found) = self.cells.iter_mut().find(|found| found.id == cell.id) else { return };
        if run.state != RunState::Valid {
            found.others += 1;
            return;
        }
        found.valid += 1;
        if let Some(not_met) = &mut found.not_met {
            not_met.extend(NotMet::of(run));
        }
        for (metric, values) in &mut found.metrics {
            values.extend(run.value(*metric));
        }
    }

    /// Takes the noise of a block that has ended.
    pub fn block_finished(&mut self, block: &Block) {
        self.blocks += 1;
        self.noisy += u32::from(block.noisy);
        self.reasons.clone_from(&block.reasons);
    }

    /// Returns the lines: a row for each cell, as many as there is room for around the one that is measured, then the blocks
    /// with their noise, and the remaining time.
    #[must_use]
    pub fn text(&self, progress: LiveProgress<'_>) -> String {
        let last = self.cells.iter().find(|cell| cell.id == progress.cell).and_then(LiveCell::last_not_met);
        let room = progress.lines.saturating_sub(OTHER_LINES + usize::from(last.is_some())).max(1);
        let now = self.cells.iter().position(|cell| cell.id == progress.cell).unwrap_or(0);
        let first = now.saturating_sub(room / 2).min(self.cells.len().saturating_sub(room));
        let shown = &self.cells[first..self.cells.len().min(first + room)];
        // Those of other workloads would not fit beside them.
        let now = self.cells.get(now).map_or(&[][..], |cell| &cell.metrics);
        let mut metrics: Vec<Metric> = now.iter().map(|(metric, _)| *metric).collect();
        let mut table = table_of(shown, progress.cell, &metrics);
        while table.lines().any(|line| line.chars().count() > progress.width) && metrics.pop().is_some() {
            table = table_of(shown, progress.cell, &metrics);
        }
        let hidden = self.cells.len() - shown.len();
        let hidden =
            if hidden > 0 { format!("; {} not shown", count(hidden, "other cell")) } else { String::new() };
        let noise = match (self.blocks, self.reasons.first()) {
            (0, _) => "no block done yet".to_owned(),
            (blocks, reason) => {
                let last = reason.map_or_else(
                    || "the last one was quiet".to_owned(),
                    |why| format!("the last one: {why}"),
                );
                format!("{} done, {} noisy; {last}", count(blocks as usize, "block"), self.noisy)
            }
        };
        let left = format!("{} left; medians of the valid runs so far{hidden}", progress.left);
        let lines: Vec<String> = [Some(table), last, Some(noise), Some(left)].into_iter().flatten().collect();
        let lines = lines.iter().flat_map(|text| text.lines());
        lines.map(|line| cut(line.trim_end(), progress.width)).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the values of cells so far, as a table.
fn table_of(cells: &[LiveCell], measured: &str, metrics: &[Metric]) -> String {
    let mut grid = Grid::default().left(["  Cell"]).right(["Runs"]);
    let has_systems = cells.iter().any(|cell| cell.not_met.is_some());
    if has_systems {
        grid = grid.right(["System met"]);
    }
    for metric in metrics {
        grid = grid.right([format!("{} ({})", metric.words(), metric.shown_unit())]);
    }
    for cell in cells {
        let mark = if cell.id == measured { ">" } else { " " };
        let invalid = if cell.others > 0 { format!(" + {} invalid", cell.others) } else { String::new() };
        let mut row = vec![format!("{mark} {}", cell.id), format!("{}{invalid}", cell.valid)];
        if has_systems {
            row.push(cell.met());
        }
        row.extend(metrics.iter().map(|metric| cell.value(*metric)));
        grid.row(row);
    }
    grid.render()
}

/// Cuts a line that is longer than `width` columns, which its end then shows.
fn cut(line: &str, width: usize) -> String {
    match line.chars().count() > width {
        true => line.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => line.to_owned(),
    }
}

impl LiveCell {
    /// Returns in how many of the valid runs a system met its deadlines, as in `5/6`; empty for other cells.
    fn met(&self) -> String {
        let met = |not_met: &Vec<NotMet>| format!("{}/{}", self.valid - not_met.len(), self.valid);
        self.not_met.as_ref().map(met).unwrap_or_default()
    }

    /// Returns which flow of a system missed most in the last run in which not all deadlines were met; `None` if they always were.
    fn last_not_met(&self) -> Option<String> {
        let last = self.not_met.as_ref()?.last()?;
        let missed = format_value(last.missed_pct);
        Some(format!("last not met in run {}: {} missed {missed} %", last.run, last.flow))
    }

    /// Returns the median of a metric and its range; empty without a value.
    fn value(&self, metric: Metric) -> String {
        let values =
            self.metrics.iter().find(|(found, _)| *found == metric).map(|(_, values)| values.as_slice());
        let Some((values, median)) = values.and_then(|values| Some((values, median(values)?))) else {
            return String::new();
        };
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        match values.len() {
            1 => metric.format(median),
            _ => format!("{} ({}..{})", metric.format(median), metric.format(least), metric.format(most)),
        }
    }
}
