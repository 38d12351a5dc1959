//! Published figures of a plan, with the cells that they are shown beside.

use serde::{Deserialize, Serialize};

use crate::syntax::figure::Figure;

/// Published figures of a table, by cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// Name of what was measured: system, version and setting.
    pub system: String,
    /// Publication that the figures are from.
    pub source: String,
    /// Differences from this experiment.
    pub note: String,
    /// Conditions of the published measurement.
    #[serde(default, skip_serializing_if = "PublishedConditions::is_empty")]
    pub conditions: PublishedConditions,
    /// Earlier execution of the same measurement, if the source has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<PublishedRepeat>,
    /// Figures, each with its cell.
    pub figures: Vec<PublishedFigure>,
}

/// Earlier execution of a published measurement, with the figures of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedRepeat {
    /// System of the earlier execution.
    pub system: String,
    /// First figure of each row that both executions have, also of rows that no cell matches: the earlier one, then this one.
    pub pairs: Vec<[f64; 2]>,
}

/// Conditions of a published measurement, as free text. Reports show each beside that of the result.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedConditions {
    /// Middleware with its version.
    pub middleware: Option<String>,
    /// Hosts: processor, cores, operating system.
    pub hardware: Option<String>,
    /// Transport of the samples.
    pub transport: Option<String>,
    /// Link between the hosts.
    pub link: Option<String>,
    /// Number and duration of the runs, and what each figure is over them.
    pub method: Option<String>,
}

impl PublishedConditions {
    /// Returns whether none is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Published figure beside a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedFigure {
    /// Id of the cell.
    pub cell: String,
    /// Batch limit of the published measurement in bytes, 0 if unbatched. A batch of one sample is measured unbatched.
    pub batch_bytes: u64,
    /// Kind and unit of the figure.
    pub figure: Figure,
    /// Figure as published.
    pub value: f64,
}

/// Joins the published figures of two variants, whose cells have the names of the variants before their ids.
pub(crate) fn of_variants(variants: [Vec<Published>; 2], names: [&str; 2]) -> Vec<Published> {
    let mut all: Vec<Published> = Vec::new();
    for (tables, name) in variants.into_iter().zip(names) {
        for mut table in tables {
            for figure in &mut table.figures {
                figure.cell = format!("{name}/{}", figure.cell);
            }
            let texts = |of: &Published| [&of.system, &of.source, &of.note].map(Clone::clone);
            match all.iter_mut().find(|known| texts(known) == texts(&table)) {
                Some(known) => known.figures.extend(table.figures),
                None => all.push(table),
            }
        }
    }
    all
}
