//! Many cells in a table of coloured fields.

use super::{Slot, Unit};

/// Table of coloured fields with their values as text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heat {
    /// Heading of the rows, as in `driver, transport`.
    pub row_label: String,
    /// Heading of the columns, as in `sample size (bytes)`.
    pub column_label: String,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// Rows from the top.
    pub rows: Vec<HeatRow>,
    /// Unit of the values.
    pub unit: Unit,
    /// Colours.
    pub shade: Shade,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatRow {
    /// Name of the row.
    pub label: String,
    /// Fields in the order of [`Heat::columns`]; missing ones are empty.
    pub cells: Vec<HeatCell>,
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatCell {
    /// Value; not finite: an empty field.
    pub value: f64,
    /// Whether the field has an outline and no colour: no claim, or do not compare.
    pub hollow: bool,
    /// Words after the value in the tooltip; may be empty.
    pub detail: String,
}

/// Colours of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    /// The larger, the stronger, on a logarithmic scale.
    Larger(Slot),
    /// Ratios: the further from 1, the stronger, with one colour below 1 and another above.
    Ratio {
        /// Colour below 1.
        below: Slot,
        /// Colour above 1.
        above: Slot,
    },
}

impl Default for Shade {
    fn default() -> Self {
        Self::Larger(Slot::S1)
    }
}
