//! Columns of the table of factors.

use std::collections::BTreeMap;

use driver_abi::description::DriverDescription;

use crate::{
    factors::{
        Factors,
        value::{Kind, Value},
        values::FactorValues,
    },
    syntax::spanned_error::{PlanError, fault},
};

/// Returns the values of a cell by name; a removed one is `None`.
pub type PartsByName = for<'c> fn(&'c Factors) -> BTreeMap<&'c str, Option<&'c str>>;

/// Factor: a setting in which cells can differ. The rows are in [`FACTORS`](crate::FACTORS).
#[derive(Clone, Copy)]
pub struct Factor {
    /// Key in an experiment file, and in `--set factors.KEY=VALUE`.
    pub key: &'static str,
    /// Letter of its flag, if it has a short one; the long one is the key with `-` for `_`.
    pub short: Option<char>,
    /// Place in an experiment file, and kind of the values.
    pub form: Form,
    /// Unit of the values; empty for those without a unit.
    pub unit: &'static str,
    /// Valid values, if not all of the kind.
    pub range: &'static str,
    /// Returns the value of a file without the key; `None` if there is none, or if it depends on other keys.
    pub default: fn() -> Option<Value>,
    /// Description as a key of `[factors]`.
    pub about: &'static str,
    /// Description as a key of an entry that selects cells.
    pub brief: &'static str,
    /// Name in messages, if it is not the key.
    pub noun: Option<&'static str>,
    /// Name of several values in messages; `None` if the list may be empty.
    pub plural: Option<&'static str>,
    /// Returns why a value is rejected: it is out of range, or without effect on any cell.
    pub(crate) check: fn(&Self, &Value, &FactorValues) -> Option<PlanError>,
    /// Returns the error for a value that a driver does not support.
    pub(crate) unsupported: fn(&str, &DriverDescription, &Value) -> Option<PlanError>,
    /// Sets the value in a cell, if no other setting depends on it. The planner sets the other factors.
    pub(crate) set: Option<SetValue>,
    /// Returns whether a cell with its other factors can have a value other than the default.
    pub(crate) applies: fn(&Factors) -> bool,
    /// Position in the product of the factors with `set`: higher numbers vary faster.
    pub(crate) nesting: u8,
    /// Returns whether a cell has a value; if absent, by `set` and `value`.
    pub(crate) has: Option<fn(&Factors, &Value) -> bool>,
    /// Value in a cell. Of factors that make one setting together, such as rate and arrival, one row has all.
    pub(crate) value: CellValue,
    /// Values by name, if each of them is a factor of its own.
    pub parts: Option<PartsByName>,
    /// Part of a cell's id.
    pub id: Id,
    /// Properties that cells may have in common although they differ in this factor.
    pub shares: Shares,
    /// Fields of a cell in a comparison.
    pub compared: Compared,
    /// Names of the fields, or of groups of fields, that follow from this factor; `*` is an endpoint. They are not
    /// unexpected in a comparison of cells that are meant to differ in this factor.
    pub implies: &'static [&'static str],
    /// Text in a report.
    pub label: Option<Label>,
    /// Column of the tables of a report. Needed if cells that differ in the factor share a curve.
    pub column: Option<Column>,
    /// Effect in the agent, or the fields of the driver contract that carry the value.
    pub agent: &'static str,
}

/// Value of a factor in a cell.
#[derive(Clone, Copy)]
pub(crate) struct CellValue {
    /// Returns whether two cells have the same value.
    pub same: fn(&Factors, &Factors) -> bool,
    /// Appends a text that cells with the same value have in common.
    pub write: fn(&Factors, &mut String),
}

/// Creates a [`CellValue`] from an expression of a cell.
macro_rules! value {
    (|$cell:ident| $value:expr) => {
        $crate::factors::table::CellValue {
            same: |a, b| {
                let $cell = a;
                let left = &$value;
                let $cell = b;
                *left == $value
            },
            write: |$cell, text| _ = std::fmt::Write::write_fmt(text, format_args!("{:?}\n", $value)),
        }
    };
}
pub(crate) use value;

/// Returns the reason that a number is out of range.
pub(crate) fn out_of_range(row: &Factor, number: u32, hint: &'static str) -> Option<PlanError> {
    fault(format!("`{} = {number}` is out of range", row.key), hint)
}

/// Sets a value of an experiment file in a cell.
pub(crate) type SetValue = fn(&mut Factors, &Value);

/// Place of a factor in an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Key of `[factors]`, and of the entries that select cells: one value or a list.
    Key(Kind),
    /// Key of the file itself, and of the entries that select cells: one value or a list.
    FileKey(Kind),
    /// Key or table of its own, with this name.
    Table(&'static str),
}

impl Factor {
    /// Returns the key with dots that sets the factor in an experiment file.
    #[must_use]
    pub fn key_in_file(&self) -> String {
        match self.form {
            Form::Key(_) => format!("factors.{}", self.key),
            Form::FileKey(_) | Form::Table(_) => self.key.to_owned(),
        }
    }

    /// Returns the kind of the values; `None` for a factor with a form of its own.
    #[must_use]
    pub const fn kind(&self) -> Option<Kind> {
        match self.form {
            Form::Key(kind) | Form::FileKey(kind) => Some(kind),
            Form::Table(_) => None,
        }
    }

    /// Returns whether two cells have the same value.
    #[must_use]
    pub fn same(&self, a: &Factors, b: &Factors) -> bool {
        (self.value.same)(a, b)
    }

    /// Returns whether a cell has this value.
    pub(crate) fn is_of(&self, cell: &Factors, value: &Value) -> bool {
        match (self.has, self.set) {
            (Some(has), _) => has(cell, value),
            // A cell has the value if setting it changes nothing.
            (None, Some(set)) => {
                let mut with = cell.clone();
                set(&mut with, value);
                self.same(&with, cell)
            }
            (None, None) => false,
        }
    }

    /// Sets the default, if the cell cannot have another value.
    pub(crate) fn settle(&self, cell: &mut Factors) {
        if !(self.applies)(cell)
            && let (Some(set), Some(default)) = (self.set, (self.default)())
        {
            set(cell, &default);
        }
    }
}

/// Form of a factor in a comparison.
#[derive(Clone, Copy)]
pub enum Compared {
    /// Not by itself: the row of another factor has the value.
    Elsewhere,
    /// A field with the key of the factor, absent if there is no text.
    Text(fn(&Factors) -> Option<String>),
    /// Several fields. With `true`, the QoS of writers and of readers is separate.
    Fields(fn(&Factors, bool) -> Vec<(String, String)>),
}

/// Column of a factor in the tables of a report.
#[derive(Clone, Copy)]
pub struct Column {
    /// Heading.
    pub heading: &'static str,
    /// Returns the entry of a cell.
    pub text: fn(&Factors) -> String,
    /// Whether tables have the column by themselves; otherwise they have it if their cells differ in the factor.
    pub placed: bool,
}

/// Text of a factor in a report.
#[derive(Clone, Copy)]
pub struct Label {
    /// Place among the texts of all factors.
    pub place: u8,
    /// Returns the text; `None` for a value that is not shown.
    pub text: fn(&Factors) -> Option<String>,
    /// Whether a report lists the text under `asked for`, because no heading or other line has it.
    pub listed: bool,
}

/// Creates a text that a report lists under `asked for`.
pub(crate) const fn listed(place: u8, text: fn(&Factors) -> Option<String>) -> Option<Label> {
    Some(Label { place, text, listed: true })
}

/// Creates a text that a heading or another line of a report has.
pub(crate) const fn unlisted(place: u8, text: fn(&Factors) -> Option<String>) -> Option<Label> {
    Some(Label { place, text, listed: false })
}

/// Part of a cell's id. The number is its place: parts with lower numbers come first.
#[derive(Clone, Copy)]
pub enum Id {
    /// Not in the id.
    None,
    /// In every id; a text may be empty.
    Always(u8, fn(&Factors) -> Vec<String>),
    /// Only in the ids of an experiment with several values.
    Varied(u8, fn(&Factors) -> Vec<String>),
    /// Depends on the values of all cells; returns the parts of each cell.
    Columns(u8, fn(&[Factors]) -> Vec<Vec<String>>),
}

/// Properties that cells may have in common although they differ in a factor.
#[derive(Clone, Copy)]
pub struct Shares {
    /// Whether they may be points of one curve, and rows of one table.
    pub curve: bool,
    /// Whether they may have the same baseline cell.
    pub baseline: Baseline,
    /// Whether the bare socket measured with one may be compared with the middleware measured with the other.
    pub socket: bool,
    /// Whether their rates in percent may refer to the same maximum rate.
    pub maximum: bool,
}

/// Condition for cells that differ in a factor to have the same baseline cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Never.
    Never,
    /// If all baseline cells have the same value.
    IfUniform,
    /// Always: the factor follows from others.
    Always,
}

/// Factor with the defaults of the other columns: it is not in the id, and cells that differ in it share their
/// baseline only.
pub(crate) const ROW: Factor = Factor {
    key: "",
    short: None,
    form: Form::Table(""),
    unit: "",
    range: "",
    default: || None,
    about: "",
    brief: "",
    noun: None,
    plural: None,
    check: |_, _, _| None,
    unsupported: |_, _, _| None,
    set: None,
    applies: |_| true,
    nesting: u8::MAX,
    has: None,
    value: CellValue { same: |_, _| true, write: |_, _| {} },
    parts: None,
    id: Id::None,
    shares: Shares { curve: false, baseline: Baseline::IfUniform, socket: true, maximum: false },
    compared: Compared::Elsewhere,
    implies: &[],
    label: None,
    column: None,
    agent: "",
};
