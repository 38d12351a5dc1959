//! Columns of the table of factors, and what follows from several rows at once.

use std::collections::BTreeSet;

use crate::{
    Factors, Variables,
    factors::{fields::Compared, rows::FACTORS},
};

/// Factor: a setting in which cells can differ. The rows are in [`FACTORS`].
pub struct Factor {
    /// Key in an experiment file.
    pub key: &'static str,
    /// Returns whether two cells have the same value. Of factors that make one setting together, such as rate and
    /// arrival, one row compares all.
    pub same: fn(&Factors, &Factors) -> bool,
    /// Values by name, if each of them is a factor of its own.
    pub parts: Option<fn(&Factors) -> &Variables>,
    /// Part of a cell's id.
    pub id: Id,
    /// What cells that differ in this factor may share.
    pub shares: Shares,
    /// Fields of a cell in a comparison.
    pub compared: Compared,
    /// Names of the fields, or of groups of fields, that follow from this factor; `*` is an endpoint. They are not
    /// unexpected in a comparison of cells that are meant to differ in this factor.
    pub implies: &'static [&'static str],
    /// Text in a report.
    pub label: Option<Label>,
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

/// What cells that differ in a factor may share.
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
    same: |_, _| true,
    parts: None,
    id: Id::None,
    shares: Shares { curve: false, baseline: Baseline::IfUniform, socket: true, maximum: false },
    compared: Compared::Elsewhere,
    implies: &[],
    label: None,
};

/// Row of the table, or one of its named parts.
#[derive(Clone, Copy)]
pub(crate) enum Aspect<'f> {
    Row(&'static Factor),
    Part(fn(&Factors) -> &Variables, &'f str),
}

impl Aspect<'_> {
    /// Returns whether two cells have the same value.
    pub(crate) fn same(&self, a: &Factors, b: &Factors) -> bool {
        match self {
            Self::Row(row) => (row.same)(a, b),
            Self::Part(of, name) => of(a).get(*name) == of(b).get(*name),
        }
    }

    /// Returns whether a cell and its baseline always have the same value.
    pub(crate) fn is_of_baseline(&self) -> bool {
        matches!(self, Self::Row(row) if row.shares.baseline == Baseline::Never)
    }
}

/// Returns all factors in which cells of a plan are set, each named part on its own.
pub(crate) fn aspects<'f>(cells: impl Iterator<Item = &'f Factors> + Clone) -> Vec<Aspect<'f>> {
    let mut all = Vec::new();
    for row in FACTORS.iter().filter(|row| row.shares.baseline != Baseline::Always) {
        match row.parts {
            None => all.push(Aspect::Row(row)),
            Some(of) => {
                let names: BTreeSet<&str> =
                    cells.clone().flat_map(|cell| of(cell).keys()).map(String::as_str).collect();
                all.extend(names.into_iter().map(|name| Aspect::Part(of, name)));
            }
        }
    }
    all
}

/// Returns the id of each cell: the parts of all factors, in the order of their places.
pub(crate) fn ids(all: &[Factors]) -> Vec<String> {
    let mut columns: Vec<(u8, Vec<Vec<String>>)> = Vec::new();
    for row in FACTORS {
        let (place, column) = match row.id {
            Id::None => continue,
            Id::Varied(..) if all.iter().all(|cell| (row.same)(cell, &all[0])) => continue,
            Id::Always(place, text) | Id::Varied(place, text) => (place, all.iter().map(text).collect()),
            Id::Columns(place, texts) => (place, texts(all)),
        };
        columns.push((place, column));
    }
    columns.sort_by_key(|(place, _)| *place);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-.@+".contains(c) { c } else { '-' };
    let id = |cell: usize| {
        let parts = columns.iter().flat_map(|(_, column)| &column[cell]);
        parts.map(|part| part.chars().map(plain).collect()).collect::<Vec<String>>().join("/")
    };
    (0..all.len()).map(id).collect()
}

impl Factors {
    /// Returns whether two cells may be points of one curve, and rows of one table.
    #[must_use]
    pub fn shares_curve(&self, other: &Self) -> bool {
        FACTORS.iter().all(|row| row.shares.curve || (row.same)(self, other))
    }

    /// Returns whether the bare socket measured in one cell may be compared with the middleware measured in the
    /// other.
    #[must_use]
    pub fn shares_socket(&self, other: &Self) -> bool {
        FACTORS.iter().all(|row| row.shares.socket || (row.same)(self, other))
    }

    /// Returns whether the rates in percent of two cells refer to the same maximum rate.
    pub(crate) fn shares_maximum(&self, other: &Self) -> bool {
        FACTORS.iter().all(|row| row.shares.maximum || (row.same)(self, other))
    }

    /// Returns the texts that tell the cell from other curves, in the order of their places.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.texts(|_| true)
    }

    /// Returns the texts of requested values that no heading of a report has.
    #[must_use]
    pub fn listed_labels(&self) -> Vec<String> {
        self.texts(|label| label.listed)
    }

    fn texts(&self, shown: fn(&Label) -> bool) -> Vec<String> {
        let mut labels: Vec<&Label> = FACTORS.iter().filter_map(|row| row.label.as_ref()).collect();
        labels.retain(|label| shown(label));
        labels.sort_by_key(|label| label.place);
        labels.into_iter().filter_map(|label| (label.text)(self)).collect()
    }
}
