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
    /// Colour of the fields: the larger the value, the stronger, on a logarithmic scale.
    pub slot: Slot,
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
    /// Whether the field has an outline and no colour: do not compare without reading why.
    pub hollow: bool,
    /// Words after the value in the tooltip; may be empty.
    pub detail: String,
}
