//! Averages of settings beside published ones, and how well both repeat.

use experiment::{Published, PublishedRepeat};
use results::format_signed;
use stats::correlation;

use super::{Costs, Half, Row};
use crate::{layout::Grid, number::count};

/// Meaning of the tables.
pub(crate) const LEGEND: &str = "Averages beside published ones: each is the change from the default of the same column. AVERAGE and AVERAGE 2 are of the odd and \
    of the even blocks of this result, so a slow change of the host is in both. Published executions are whole campaigns, one after \
    the other. r is Pearson's correlation over the settings and the default.";

/// Published measurement with its later executions.
struct Executions<'d> {
    first: &'d Published,
    repeats: Vec<(&'d Published, &'d PublishedRepeat)>,
}

impl<'d> Executions<'d> {
    fn all(&self) -> impl Iterator<Item = &'d Published> {
        std::iter::once(self.first).chain(self.repeats.iter().map(|(table, _)| *table))
    }

    /// Returns the heading of a table: its system, without that of the first execution.
    fn heading(&self, table: &'d Published) -> &'d str {
        let rest =
            table.system.strip_prefix(&self.first.system).map(|rest| rest.trim_start_matches([',', ' ']));
        rest.filter(|rest| !rest.is_empty()).unwrap_or(&table.system)
    }

    /// Formats how well the executions agree.
    fn repeatability(&self) -> Option<String> {
        let r = |(table, repeat): &(&'d Published, &'d PublishedRepeat)| {
            let pairs: Vec<(f64, f64)> = repeat.pairs.iter().map(|[one, other]| (*one, *other)).collect();
            let of = self.heading(table);
            Some(format!("{of} r = {:.2} over {}", correlation(&pairs)?, count(pairs.len(), "setting")))
        };
        let all: Vec<String> = self.repeats.iter().filter_map(r).collect();
        (!all.is_empty()).then(|| format!("{}: {}", self.first.system, all.join(", ")))
    }
}

impl<'d> Costs<'d> {
    /// Returns the numbers of samples in flight that the rows have, the round trip first.
    fn workloads(&self) -> Vec<Option<u32>> {
        let mut all: Vec<Option<u32>> =
            self.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.factors.in_flight).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the published measurements that were executed more than once, of cells of this workload.
    fn executions(&self, in_flight: Option<u32>) -> Vec<Executions<'d>> {
        let tables = &self.document.experiment.published;
        let executions = |first: &'d Published| {
            let is_of = |repeat: &&PublishedRepeat| repeat.system == first.system;
            let repeats: Vec<_> = tables
                .iter()
                .filter_map(|table| Some((table, table.repeats.as_ref().filter(is_of)?)))
                .collect();
            let has_rows = self.rows.iter().any(|row| row.published(first, in_flight).is_some());
            (!repeats.is_empty() && has_rows).then_some(Executions { first, repeats })
        };
        tables.iter().filter_map(executions).collect()
    }

    /// Returns how well the averages of odd and of even blocks agree over the settings, and how well the executions of published ones do.
    pub(crate) fn repeatability(&self) -> Vec<String> {
        let sentence = |in_flight: Option<u32>| {
            let of = |row: &Row<'_>| {
                let average = |half| self.average(row, in_flight, half);
                Some((average(Half::Odd)?, average(Half::Even)?))
            };
            let pairs: Vec<(f64, f64)> = self.rows.iter().filter_map(of).collect();
            let r = correlation(&pairs)?;
            let published: Vec<String> =
                self.executions(in_flight).iter().filter_map(Executions::repeatability).collect();
            let published = match &published[..] {
                [] => String::new(),
                all => format!(" Published executions: {}.", all.join("; ")),
            };
            Some(format!(
                "Averages of odd and of even blocks{} correlate over {} with r = {r:.2}.{published}",
                in_words(in_flight),
                count(pairs.len(), "setting")
            ))
        };
        self.workloads().into_iter().filter_map(sentence).collect()
    }

    /// Returns a table for each workload with published averages of several executions: change from the default, beside that measured.
    pub(crate) fn beside_published(&self) -> Vec<(String, Grid)> {
        let table = |in_flight: Option<u32>| {
            let executions = self.executions(in_flight);
            let tables: Vec<&Published> = executions.iter().flat_map(Executions::all).collect();
            let of_baseline = &self.document.experiment.design.baseline;
            let is_baseline = |row: &&Row<'_>| row.cells.iter().any(|cell| of_baseline.contains(&cell.id));
            let baseline = self.rows.iter().find(is_baseline)?;
            let change = |value: Option<f64>, of_baseline: Option<f64>| {
                value.zip(of_baseline).map(|(value, of)| 100.0 * (value / of - 1.0))
            };
            let published = |row: &Row<'_>, table: &Published| {
                change(row.published(table, in_flight), baseline.published(table, in_flight))
            };
            let measured = |row: &Row<'_>, half| {
                change(self.average(row, in_flight, half), self.average(baseline, in_flight, half))
            };
            let mut grid =
                Grid::default().units_below().left(["Setting"]).right(["AVERAGE (%)", "AVERAGE 2 (%)"]);
            for executions in &executions {
                for table in executions.all() {
                    grid = grid.right([format!("{} (%)", executions.heading(table))]);
                }
            }
            let mut has_rows = false;
            for row in self.rows.iter().filter(|row| !is_baseline(row)) {
                let published: Vec<Option<f64>> = tables.iter().map(|table| published(row, table)).collect();
                if published.iter().all(Option::is_none) {
                    continue;
                }
                has_rows = true;
                let changes =
                    [measured(row, Half::Odd), measured(row, Half::Even)].into_iter().chain(published);
                let shown = changes.map(|change| change.map_or_else(|| "n/a".to_owned(), format_signed));
                grid.row(std::iter::once(row.setting.to_owned()).chain(shown).collect());
            }
            let title = format!("Averages beside published ones: {}{}", self.title, in_words(in_flight));
            has_rows.then_some((title, grid))
        };
        self.workloads().into_iter().filter_map(table).collect()
    }
}

impl Row<'_> {
    /// Returns the published figure beside the cell of this workload.
    fn published(&self, table: &Published, in_flight: Option<u32>) -> Option<f64> {
        let cell = self.cells.iter().find(|cell| cell.factors.in_flight == in_flight)?;
        table.figures.iter().find(|figure| figure.cell == cell.id).map(|figure| figure.value)
    }
}

fn in_words(in_flight: Option<u32>) -> String {
    in_flight.map_or_else(String::new, |n| format!(" with {n} in flight"))
}
