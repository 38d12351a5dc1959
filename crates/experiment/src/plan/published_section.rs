//! Entries `[[published]]` of an experiment file: tables of published figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    FactorValues, Figure, MIN_SIZE_BYTES, PlanError, Size, SpannedError,
    syntax::{
        one_or_many::{Located, OneOrMany},
        spanned_error::all_distinct,
    },
};

/// Table of published figures. Reports show each figure beside the measured value of the cells that it matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedSection {
    /// Unique name of what was measured: system, version and setting.
    pub system: Located<String>,
    /// Publication: author, title and edition.
    pub source: Located<String>,
    /// Differences from this experiment, such as hosts, versions and the definition of the figures.
    pub note: Located<String>,
    /// Cells that the figures are shown beside: those that have one of the given values of each given factor, and the size
    /// of the row. Default: all.
    #[serde(default, skip_serializing_if = "FactorValues::is_empty")]
    pub cells: FactorValues,
    /// Cells that the figures are not shown beside, in the same form. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<FactorValues>,
    /// Figures of each row, with kind and unit, in the order of the columns.
    pub figures: OneOrMany<Figure>,
    /// Rows: the size of the samples in bytes, then a number for each of `figures`.
    pub rows: Vec<Located<Vec<f64>>>,
}

impl PublishedSection {
    /// Rejects empty texts, and rows that do not fit the figures.
    pub(crate) fn check(&self) -> Result<(), SpannedError> {
        for (text, what) in [
            (&self.system, "system of the published figures"),
            (&self.source, "source of the published figures"),
            (&self.note, "note on what differs from the published figures"),
        ] {
            if text.get().trim().is_empty() {
                return Err(PlanError::Nothing(what).at(text.span()));
            }
        }
        if self.figures.0.is_empty() {
            return Err(PlanError::Nothing("published figures").at(self.system.span()));
        }
        all_distinct("figure", &self.figures)?;
        let mut sizes = Vec::new();
        for row in &self.rows {
            let contradiction = |words: String, hint| PlanError::Contradiction { words, hint }.at(row.span());
            let columns = 1 + self.figures.0.len();
            if row.get().len() != columns {
                let words = format!("a row has {} numbers instead of {columns}", row.get().len());
                return Err(contradiction(words, "write the size, then a number for each of `figures`"));
            }
            let (size, figures) = (row.get()[0], &row.get()[1..]);
            if size.fract() != 0.0 || !(MIN_SIZE_BYTES as f64..=1e12).contains(&size) {
                let words = format!("`{size}` is not the size of a sample");
                return Err(contradiction(words, "start the row with a whole number of bytes, 16 or more"));
            }
            if let Some(figure) = figures.iter().find(|figure| !figure.is_finite() || **figure < 0.0) {
                let words = format!("`{figure}` is not a published figure");
                return Err(contradiction(words, "write a finite number that is not negative"));
            }
            sizes.push(Located::at(row.span(), Size(size as u64)));
        }
        all_distinct("size", &OneOrMany(sizes))
    }
}
