//! Cells that published figures are shown beside.

use crate::{
    Cell, FactorValues, Figure, PlanError, PlanInputs, Published, PublishedFigure, PublishedSection, Size,
    SpannedError, Value, Workload,
    plan::{experiment_file::ExperimentFile, selection::matches},
    syntax::{
        one_or_many::{Located, OneOrMany},
        spanned_error::all_distinct,
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
        let (mut all, mut notes) = (Vec::new(), Vec::new());
        for section in &self.published {
            let table = section.get();
            table.check()?;
            let matched: Vec<&Cell> = cells.iter().filter(|cell| table.selects(cell, inputs)).collect();
            if let Some((cell, figure)) = matched.iter().find_map(|cell| Some((cell, table.missing(cell)?))) {
                let words = format!("cells of the workload `{}` have no `{figure}`", cell.factors.workload);
                let hint = "select the cells with `cells = { workload = ... }`";
                return Err(PlanError::Contradiction { words, hint }.at(section.span()));
            }
            let of_row = |row: &Located<Vec<f64>>| table.figures_of(row.get(), &matched, inputs);
            let figures: Vec<PublishedFigure> = table.rows.iter().flat_map(of_row).collect();
            let texts = [&table.system, &table.source, &table.note].map(|text| text.get().clone());
            let [system, source, note] = texts;
            if !figures.is_empty() {
                all.push(Published { system, source, note, figures });
            } else if self.may_match_nothing(table) {
                notes.push(format!("no published figures of {system} are shown: no cell matches them"));
            } else {
                return Err(PlanError::NoMatch {
                    what: "this table of published figures",
                    why: None,
                    hint: None,
                }
                .at(section.span()));
            }
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

impl PublishedSection {
    /// Returns whether the table is of this cell, at any size and batch.
    fn selects(&self, cell: &Cell, inputs: &PlanInputs<'_>) -> bool {
        let is_of = |selection: &FactorValues| matches(selection, &cell.factors, inputs);
        is_of(&self.cells.without(&["batch_bytes"])) && !self.except.as_ref().is_some_and(is_of)
    }

    /// Returns a figure that the cell cannot have.
    fn missing(&self, cell: &Cell) -> Option<Figure> {
        let has = |figure: &Figure| match figure.statistic() {
            Some(_) => cell.factors.workload == Workload::Latency,
            None => matches!(cell.factors.workload, Workload::Throughput | Workload::Paced),
        };
        self.figures.values().find(|figure| !has(figure)).copied()
    }

    /// Returns the figures of a row, beside each of the cells that have its size and batch.
    fn figures_of(&self, row: &[f64], cells: &[&Cell], inputs: &PlanInputs<'_>) -> Vec<PublishedFigure> {
        let Some((size, figures)) = row.split_first() else { return Vec::new() };
        let size = *size as u64;
        let batches: OneOrMany<Size> = self.cells.all("batch_bytes");
        // A batch that holds one sample is measured unbatched.
        let measured = |batch: Size| if size > batch.0 / 2 { Size(0) } else { batch };
        let mut selection = FactorValues::only("size", Size(size));
        if !batches.0.is_empty() {
            selection.set("batch_bytes", batches.clone().map(|batch| Value::Size(measured(batch))));
        }
        let with_size = cells.iter().filter(|cell| matches(&selection, &cell.factors, inputs));
        let batch = |cell: &Cell| match &batches.0[..] {
            [only] => only.get().0,
            _ => cell.factors.batch_bytes,
        };
        let figures = || self.figures.values().copied().zip(figures.iter().copied());
        with_size
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
