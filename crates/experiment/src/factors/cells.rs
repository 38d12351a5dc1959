//! Properties of cells that follow from all rows of the table: ids, sharing, fields and texts.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    factors::{
        Factors,
        rows::{DEFAULT_BASE, FACTORS},
        table::{Baseline, Compared, Factor, Id, Label, PartsByName},
    },
    gather::gather,
};

/// Row of the table, or one of its named parts.
#[derive(Clone, Copy)]
pub(crate) enum Aspect<'f> {
    Row(&'static Factor),
    Part(PartsByName, &'f str),
}

impl Aspect<'_> {
    /// Returns whether two cells have the same value.
    pub(crate) fn same(&self, a: &Factors, b: &Factors) -> bool {
        match self {
            Self::Row(row) => row.same(a, b),
            Self::Part(of, name) => of(a).get(*name) == of(b).get(*name),
        }
    }

    /// Returns whether a cell and its baseline always have the same value.
    pub(crate) fn is_of_baseline(&self) -> bool {
        matches!(self, Self::Row(row) if row.shares.baseline == Baseline::Never)
    }
}

/// Returns all factors in which cells of a plan are set, each named part on its own.
pub(crate) fn aspects<'f>(cells: &(impl Iterator<Item = &'f Factors> + Clone)) -> Vec<Aspect<'f>> {
    let mut all = Vec::new();
    for row in FACTORS.iter().filter(|row| row.shares.baseline != Baseline::Always) {
        match row.parts {
            None => all.push(Aspect::Row(row)),
            Some(of) => {
                let names: BTreeSet<&str> = cells.clone().flat_map(|cell| of(cell).into_keys()).collect();
                all.extend(names.into_iter().map(|name| Aspect::Part(of, name)));
            }
        }
    }
    all
}

/// Returns the id of each cell: the parts of all factors, in the order of their places.
pub(crate) fn ids(all: &[Factors]) -> Vec<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-.@+".contains(c) { c } else { '-' };
    let id = |parts: Vec<String>| {
        parts.iter().map(|part| part.chars().map(plain).collect()).collect::<Vec<String>>().join("/")
    };
    id_parts(all, |_| true).into_iter().map(id).collect()
}

/// Keys of the factors that are the points of a configuration: cells that differ only in them have the same name in
/// [`configuration_names`].
const POINTS: [&str; 3] = ["workload", "size", "rate"];

/// Returns a short name for the configuration of each cell: the driver, and the parts of its id in which these cells
/// differ, without workload, size and load.
#[must_use]
pub fn configuration_names(all: &[Factors]) -> Vec<String> {
    let shown = |row: &Factor| {
        !POINTS.contains(&row.key)
            && (row.key != "transport"
                || all.iter().any(|cell| !row.same(cell, &all[0]) || cell.multicast != all[0].multicast))
    };
    let name = |mut parts: Vec<String>| {
        // A driver may be named after its transport.
        parts.dedup();
        parts.join(" ")
    };
    id_parts(all, shown).into_iter().map(name).collect()
}

/// Returns the parts of the id of each cell, of these factors, in the order of their places.
fn id_parts(all: &[Factors], shown: impl Fn(&Factor) -> bool) -> Vec<Vec<String>> {
    let mut columns: Vec<(u8, Vec<Vec<String>>)> = Vec::new();
    for row in FACTORS.iter().filter(|row| shown(row)) {
        let (place, column) = match row.id {
            Id::None => continue,
            Id::Varied(..) if all.iter().all(|cell| row.same(cell, &all[0])) => continue,
            Id::Always(place, text) | Id::Varied(place, text) => (place, all.iter().map(text).collect()),
            Id::Columns(place, texts) => (place, texts(all)),
        };
        columns.push((place, column));
    }
    columns.sort_by_key(|(place, _)| *place);
    let parts = |cell: usize| columns.iter().flat_map(|(_, column)| column[cell].clone()).collect();
    (0..all.len()).map(parts).collect()
}

/// Groups items by the values of their cells, in the order of the first item of each group: items with the same `kind` that may be
/// points of one curve.
pub fn gather_curves<'f, T, K: Ord>(
    items: impl IntoIterator<Item = T>,
    of: impl Fn(&T) -> (&'f Factors, K),
) -> Vec<Vec<T>> {
    let key = |item: &T| {
        let (factors, kind) = of(item);
        (factors.key(|row| !row.shares.curve), kind)
    };
    gather(items, key, |a, b| of(a).0.shares_curve(of(b).0))
}

/// Groups items by the values of their cells, in the order of the first item of each group: items with the same `kind` that differ
/// only in the factor with this key.
pub fn gather_series<'f, T, K: Ord>(
    items: impl IntoIterator<Item = T>,
    of: impl Fn(&T) -> (&'f Factors, &'static str, K),
) -> Vec<Vec<T>> {
    let key = |item: &T| {
        let (factors, except, kind) = of(item);
        (factors.key(|row| row.key != except), except, kind)
    };
    gather(items, key, |a, b| {
        let (factors, except, _) = of(a);
        factors.differs_only_in(of(b).0, except)
    })
}

impl Factors {
    /// Returns the name of the base that the profile is over.
    #[must_use]
    pub fn base_name(&self) -> &str {
        self.base.as_deref().unwrap_or(DEFAULT_BASE)
    }

    /// Returns whether two cells may be points of one curve, and rows of one table.
    #[must_use]
    pub fn shares_curve(&self, other: &Self) -> bool {
        FACTORS.iter().all(|row| row.shares.curve || row.same(self, other))
    }

    /// Returns whether the bare socket measured in one cell may be compared with the middleware measured in the
    /// other.
    #[must_use]
    pub fn shares_socket(&self, other: &Self) -> bool {
        FACTORS.iter().all(|row| row.shares.socket || row.same(self, other))
    }

    /// Returns whether two cells have the same values of all factors other than this one.
    #[must_use]
    pub fn differs_only_in(&self, other: &Self, key: &str) -> bool {
        FACTORS.iter().all(|row| row.key == key || row.same(self, other))
    }

    /// Returns a text that cells with the same values of these factors have in common.
    fn key(&self, of: impl Fn(&Factor) -> bool) -> String {
        let mut key = String::new();
        FACTORS.iter().filter(|row| of(row)).for_each(|row| (row.value.write)(self, &mut key));
        key
    }

    /// Returns whether the rates in percent of two cells refer to the same maximum rate.
    pub(crate) fn shares_maximum(&self, other: &Self) -> bool {
        FACTORS.iter().all(|row| row.shares.maximum || row.same(self, other))
    }

    /// Returns the transport, and whether data is sent by multicast.
    pub(crate) fn way(&self) -> String {
        format!("{}{}", self.transport, if self.multicast { " by multicast" } else { "" })
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

    /// Returns the requested values of all factors by field name. With `by_ends`, the QoS of writers and of readers
    /// is separate.
    #[must_use]
    pub fn fields(&self, by_ends: bool) -> BTreeMap<String, String> {
        let of_row = |row: &Factor| match row.compared {
            Compared::Elsewhere => Vec::new(),
            Compared::Text(text) => text(self).map(|text| (row.key.to_owned(), text)).into_iter().collect(),
            Compared::Fields(fields) => fields(self, by_ends),
        };
        FACTORS.iter().flat_map(of_row).collect()
    }

    /// Returns whether a policy is requested of writers or readers only, in the cell or in one of its flows.
    #[must_use]
    pub fn has_qos_of_ends(&self) -> bool {
        self.qos_of_ends.is_some() || self.flows.iter().any(|flow| flow.qos_of_ends.is_some())
    }
}
