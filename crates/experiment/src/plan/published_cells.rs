//! Cells that published figures are shown beside.

use std::collections::BTreeMap;

use crate::{
    factors::{FactorValues, Factors, Value, Workload},
    plan::{
        built_in_figures::BuiltInFigures,
        experiment::{Cell, Plan},
        experiment_file::ExperimentFile,
        plan_inputs::PlanInputs,
        published::{Published, PublishedFigure, PublishedRepeat},
        published_section::{PublishedSection, RowEntry, RowFactor},
        selection::{NO_MATCH, matches},
    },
    syntax::{
        figure::Figure,
        input_file::InputFile,
        one_or_many::{Located, OneOrMany},
        spanned_error::{PlanError, SpannedError, all_distinct, available, contradiction},
        units::Size,
    },
};

impl ExperimentFile {
    /// Returns the published figures with their cells, and a note for each table that no cell matches because the command
    /// line sets a factor.
    pub(crate) fn published_beside(
        &self,
        cells: &[Cell],
        inputs: &PlanInputs<'_>,
    ) -> Result<(Vec<Published>, Vec<String>), SpannedError> {
        let systems = self.published.iter().map(|section| section.get().system.clone());
        all_distinct("system", &OneOrMany(systems.collect()))?;
        let probes = self.design.probe_every.is_some();
        let (mut all, mut notes) = (Vec::new(), Vec::new());
        for section in &self.published {
            let table = section.get();
            table.check()?;
            let repeated = table.repeated(&self.published)?;
            let matched: Vec<&Cell> = cells.iter().filter(|cell| table.selects(cell, inputs.files)).collect();
            let missing = |cell: &&Cell| Some((cell.factors.workload, table.missing(&cell.factors, probes)?));
            if let Some((workload, figure)) = matched.iter().find_map(missing) {
                let words = format!("cells of the workload `{workload}` have no `{figure}`");
                return section.refused(words, "select the cells with `cells = { workload = ... }`");
            }
            match table.beside(&matched, inputs.files, repeated) {
                Some(published) => all.push(published),
                None if self.may_match_nothing(table) => notes.push(unmatched(table)),
                None => return Err(no_match("this table of published figures").at(section.span())),
            }
        }
        for name in &self.overlay.0 {
            let Some(figures) = BuiltInFigures::find(name.get()) else {
                let known: Vec<String> = BuiltInFigures::names().map(str::to_owned).collect();
                return name
                    .refused(format!("published figures `{}` not found", name.get()), available(&known));
            };
            let (tables, unused) = figures.tables_beside(cells, probes);
            if tables.is_empty() && !self.is_set("factors.size") {
                return Err(no_match("this overlay").at(name.span()));
            }
            let is_new = |table: &Published| all.iter().all(|known: &Published| known.system != table.system);
            let tables: Vec<Published> = tables.into_iter().filter(is_new).collect();
            all.extend(tables);
            notes.extend(unused);
        }
        Ok((all, notes))
    }

    /// Returns whether the command line, or the drivers of this host, can be why no cell matches a table.
    fn may_match_nothing(&self, table: &PublishedSection) -> bool {
        let selections = || [Some(&table.cells), table.except.as_ref()].into_iter().flatten();
        let unnamed = self.factors.values.get("driver").is_none();
        self.is_set("factors.size")
            || selections().any(|selection| self.is_displaced(selection))
            || (unnamed && selections().any(|selection| selection.get("driver").is_some()))
    }
}

impl BuiltInFigures {
    /// Returns the published figures with the cells of a plan that they are beside. A figure that a cell cannot have is left out.
    #[must_use]
    pub fn beside(&self, plan: &Plan) -> Vec<Published> {
        self.tables_beside(&plan.cells, plan.design.probe_every.is_some()).0
    }

    /// Like [`BuiltInFigures::beside`], with a note for each table that no cell matches.
    fn tables_beside(&self, cells: &[Cell], probes: bool) -> (Vec<Published>, Vec<String>) {
        let (mut all, mut notes) = (Vec::new(), Vec::new());
        for table in self.tables() {
            // names of trace files are not known, and no table has any
            let files = BTreeMap::new();
            let is_of =
                |cell: &&Cell| table.selects(cell, &files) && table.missing(&cell.factors, probes).is_none();
            let matched: Vec<&Cell> = cells.iter().filter(is_of).collect();
            match table.beside(&matched, &files, self.repeated(table)) {
                Some(published) => all.push(published),
                None => notes.push(unmatched(table)),
            }
        }
        (all, notes)
    }
}

/// Returns the error of figures that no cell matches.
fn no_match(what: &str) -> PlanError {
    contradiction(format!("{what} matches no cell"), NO_MATCH)
}

/// Returns the note on a table that no cell matches.
fn unmatched(table: &PublishedSection) -> String {
    format!("no published figures of {} are shown: no cell matches them", table.system.get())
}

impl PublishedSection {
    /// Returns whether the table is of this cell, at any size, profile and batch.
    fn selects(&self, cell: &Cell, files: &BTreeMap<String, InputFile>) -> bool {
        let is_of = |selection: &FactorValues| matches(selection, &cell.factors, files);
        is_of(&self.cells.without(&["batch_bytes"])) && !self.except.as_ref().is_some_and(is_of)
    }

    /// Returns a figure that a cell with these factors cannot have. `probes`: whether loads have echo probes.
    fn missing(&self, factors: &Factors, probes: bool) -> Option<Figure> {
        let loaded = matches!(factors.workload, Workload::Throughput | Workload::Paced);
        let latency = factors.workload == Workload::Latency;
        let has = |figure: &Figure| match figure {
            Figure::Delivered | Figure::Goodput | Figure::Lost => loaded,
            Figure::Rtt(_) | Figure::HalfRtt(_) => latency || (loaded && probes),
            Figure::HopMean => latency && factors.topology.hops().is_some(),
            Figure::TwoHopsPerSample => latency && factors.is_pipelined(),
        };
        self.figures.values().find(|figure| !has(figure)).copied()
    }

    /// Returns the figures with those of these cells that have the size or profile of a row; `None` if there are none.
    /// `repeated`: the table of an earlier execution.
    fn beside(
        &self,
        cells: &[&Cell],
        files: &BTreeMap<String, InputFile>,
        repeated: Option<&Self>,
    ) -> Option<Published> {
        let of_row = |row: &Located<Vec<RowEntry>>| self.figures_of(row.get(), cells, files);
        let figures: Vec<PublishedFigure> = self.rows.iter().flat_map(of_row).collect();
        let [system, source, note] = [&self.system, &self.source, &self.note].map(|text| text.get().clone());
        let conditions = self.conditions.clone();
        let repeats = repeated.map(|earlier| PublishedRepeat {
            system: earlier.system.get().clone(),
            pairs: self.pairs(earlier),
        });
        (!figures.is_empty()).then_some(Published { system, source, note, conditions, repeats, figures })
    }

    /// Returns the figures of a row, beside each of the cells that have its size or profile, and its batch.
    fn figures_of(
        &self,
        row: &[RowEntry],
        cells: &[&Cell],
        files: &BTreeMap<String, InputFile>,
    ) -> Vec<PublishedFigure> {
        let Some((first, figures)) = row.split_first() else { return Vec::new() };
        let batches: OneOrMany<Size> = self.cells.all("batch_bytes");
        let is_of_row = |cell: &&&Cell| {
            let size = match self.by {
                RowFactor::Size => first.number() as u64,
                RowFactor::Profile => cell.factors.size_bytes,
            };
            let mut selection = match (self.by, first) {
                (RowFactor::Profile, RowEntry::Text(name)) => FactorValues::only("profile", name.clone()),
                _ => FactorValues::only("size", Size(size)),
            };
            // A batch that holds one sample is measured unbatched.
            let measured = |batch: Size| if size > batch.0 / 2 { Size(0) } else { batch };
            if !batches.0.is_empty() {
                selection.set("batch_bytes", batches.clone().map(|batch| Value::Size(measured(batch))));
            }
            matches(&selection, &cell.factors, files)
        };
        let batch = |cell: &Cell| match &batches.0[..] {
            [only] => only.get().0,
            _ => cell.factors.batch_bytes,
        };
        let figures = || self.figures.values().copied().zip(figures.iter().map(RowEntry::number));
        cells
            .iter()
            .filter(is_of_row)
            .flat_map(|cell| {
                let (id, batch_bytes) = (cell.id.clone(), batch(cell));
                figures().map(move |(figure, value)| PublishedFigure {
                    cell: id.clone(),
                    batch_bytes,
                    figure,
                    value,
                })
            })
            .collect()
    }
}
