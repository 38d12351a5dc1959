//! Entries `[[published]]` of an experiment file: tables of published figures.

use serde::{Deserialize, Serialize};

use crate::{
    factors::FactorValues,
    plan::published::PublishedConditions,
    syntax::{
        figure::Figure,
        one_or_many::{Located, OneOrMany},
        spanned_error::{PlanError, SpannedError, all_distinct, contradiction},
        units::{MIN_SIZE_BYTES, Size},
    },
};

/// Table of published figures. Reports show each figure beside the measured value of the cells that it matches.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedSection {
    /// Unique name of what was measured: system, version and setting.
    pub system: Located<String>,
    /// System of another table whose measurement the source executed again, with these figures. Reports show how well the
    /// executions agree beside how well halves of the measured blocks do. Default: none.
    pub repeats: Option<Located<String>>,
    /// Publication: author, title and edition.
    pub source: Located<String>,
    /// Differences from this experiment, such as hosts, versions and the definition of the figures.
    pub note: Located<String>,
    /// Conditions of the published measurement. Reports show each beside that of the result.
    #[serde(default, skip_serializing_if = "PublishedConditions::is_empty")]
    pub conditions: PublishedConditions,
    /// Cells that the figures are shown beside: those that have one of the given values of each given factor, and the size
    /// or profile of the row. Default: all.
    #[serde(default, skip_serializing_if = "FactorValues::is_empty")]
    pub cells: FactorValues,
    /// Cells that the figures are not shown beside, in the same form. Default: none.
    pub except: Option<FactorValues>,
    /// Factor that the rows start with: `size`, or the name of a `profile`. Default `size`.
    #[serde(default, skip_serializing_if = "crate::syntax::is_default")]
    pub by: RowFactor,
    /// Figures of each row, with kind and unit, in the order of the columns.
    pub figures: OneOrMany<Figure>,
    /// Rows: the size of the samples in bytes or the name of a profile, then a number for each of `figures`.
    pub rows: Vec<Located<Vec<RowEntry>>>,
}

/// Factor that the rows of a table start with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowFactor {
    /// Size of the samples in bytes.
    #[default]
    Size,
    /// Name of a QoS profile; `default` is also that of cells without profiles.
    Profile,
}

/// Entry of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum RowEntry {
    /// Size, or a figure.
    Number(f64),
    /// Name of a profile.
    Text(String),
}

impl RowEntry {
    /// Returns the number; NaN for a text.
    pub(crate) const fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Text(_) => f64::NAN,
        }
    }

    /// Formats the entry for an error.
    fn shown(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl PublishedSection {
    /// Returns the table of the earlier execution.
    ///
    /// # Errors
    /// Returns an error if no table has this system, or if it has other rows or figures.
    pub(crate) fn repeated<'t>(&self, tables: &'t [Located<Self>]) -> Result<Option<&'t Self>, SpannedError> {
        let Some(system) = &self.repeats else { return Ok(None) };
        let mut others =
            tables.iter().map(Located::get).filter(|other| other.system.get() != self.system.get());
        let contradiction = |words: String, hint| contradiction(words, hint).at(system.span());
        let Some(earlier) = others.find(|other| other.system.get() == system.get()) else {
            let words = format!("no other table has the system `{}`", system.get());
            return Err(contradiction(words, "name the `system` of the table of the earlier execution"));
        };
        let figures = |of: &Self| of.figures.values().copied().collect::<Vec<_>>();
        if earlier.by != self.by || figures(earlier) != figures(self) {
            let words = format!("`{}` has other rows or figures", system.get());
            return Err(contradiction(words, "give both executions the same `by` and `figures`"));
        }
        Ok(Some(earlier))
    }

    /// Returns the first figure of each row of an earlier execution and of this one.
    pub(crate) fn pairs(&self, earlier: &Self) -> Vec<[f64; 2]> {
        let figure = |row: &Located<Vec<RowEntry>>| row.get().get(1).map(RowEntry::number);
        let pair = |row: &Located<Vec<RowEntry>>| {
            let mut others = earlier.rows.iter();
            let same = others.find(|other| other.get().first() == row.get().first())?;
            Some([figure(same)?, figure(row)?])
        };
        self.rows.iter().filter_map(pair).collect()
    }

    /// Rejects empty texts, and rows that do not fit the figures.
    pub(crate) fn check(&self) -> Result<(), SpannedError> {
        for (text, what) in [
            (&self.system, "system of the published figures"),
            (&self.source, "source of the published figures"),
            (&self.note, "note on what differs from the published figures"),
        ] {
            if text.get().trim().is_empty() {
                return Err(PlanError::nothing(what).at(text.span()));
            }
        }
        if self.figures.0.is_empty() {
            return Err(PlanError::nothing("published figures").at(self.system.span()));
        }
        all_distinct("figure", &self.figures)?;
        let (mut sizes, mut profiles) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let contradiction = |words: String, hint| contradiction(words, hint).at(row.span());
            let columns = 1 + self.figures.0.len();
            if row.get().len() != columns {
                let words = format!("a row has {} entries instead of {columns}", row.get().len());
                return Err(contradiction(
                    words,
                    "write the size or profile, then a number for each of `figures`",
                ));
            }
            let (first, figures) = (&row.get()[0], &row.get()[1..]);
            match (self.by, first) {
                (RowFactor::Size, first) => {
                    let size = first.number();
                    if size.fract() != 0.0 || !(MIN_SIZE_BYTES as f64..=1e12).contains(&size) {
                        let words = format!("`{}` is not the size of a sample", first.shown());
                        return Err(contradiction(
                            words,
                            "start the row with a whole number of bytes, 16 or more",
                        ));
                    }
                    sizes.push(Located::at(row.span(), Size(size as u64)));
                }
                (RowFactor::Profile, RowEntry::Text(name)) => {
                    profiles.push(Located::at(row.span(), name.clone()));
                }
                (RowFactor::Profile, RowEntry::Number(number)) => {
                    let words = format!("`{number}` is not the name of a profile");
                    return Err(contradiction(words, "start the row with a name in quotes"));
                }
            }
            let is_wrong = |entry: &&RowEntry| !(entry.number().is_finite() && entry.number() >= 0.0);
            if let Some(entry) = figures.iter().find(is_wrong) {
                let words = format!("`{}` is not a published figure", entry.shown());
                return Err(contradiction(words, "write a finite number that is not negative"));
            }
        }
        all_distinct("size", &OneOrMany(sizes))?;
        all_distinct("profile", &OneOrMany(profiles))
    }
}
