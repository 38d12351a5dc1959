//! Values of several factors, each with its position.

use std::collections::BTreeMap;

use crate::{
    factors::{
        Workload,
        driver_options::DriverOptions,
        value::{FactorType, Value},
        variables::VariableAxes,
    },
    syntax::one_or_many::{Located, OneOrMany, Span},
};

/// Values of some factors. `exclude` and `baseline` match the cells that have one of the given values of each given
/// factor. `include` replaces the given factors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactorValues {
    values: BTreeMap<&'static str, OneOrMany<Value>>,
    /// Environment variables of the agents.
    pub env: VariableAxes,
    /// Options by driver and name. Only `exclude` and `baseline` have them; a file has those of all cells in `[options]`.
    pub options: BTreeMap<Located<String>, DriverOptions>,
    /// Reason for the exclusion of cells. Only `exclude` has it.
    pub reason: Option<Located<String>>,
}

impl FactorValues {
    /// Creates the selection of cells with one value of a factor.
    pub(crate) fn only(key: &'static str, value: impl Into<Value>) -> Self {
        Self::default().and(key, value)
    }

    /// Returns the selection of those cells that also have this one value.
    pub(crate) fn and(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.set(key, OneOrMany::unwritten([value.into()]));
        self
    }

    /// Sets the values of a factor that are not from a file.
    pub fn give<T: FactorType>(&mut self, key: &'static str, values: impl IntoIterator<Item = T>) {
        self.set(key, OneOrMany::unwritten(values.into_iter().map(Into::into)));
    }

    /// Sets the only value of a factor, with its position.
    pub fn give_at(&mut self, key: &'static str, at: Span, value: impl Into<Value>) {
        self.set(key, OneOrMany(vec![Located::at(at, value.into())]));
    }

    /// Sets the values of a factor.
    pub(crate) fn set(&mut self, key: &'static str, values: OneOrMany<Value>) {
        self.values.insert(key, values);
    }

    /// Returns the values of a factor; `None` if it is not given.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&OneOrMany<Value>> {
        self.values.get(key)
    }

    /// Returns the values of a factor with their type; none if it is not given.
    ///
    /// # Panics
    /// Panics if the factor has another type.
    #[must_use]
    pub fn all<T: FactorType>(&self, key: &str) -> OneOrMany<T> {
        self.get(key).map_or(OneOrMany(Vec::new()), OneOrMany::typed)
    }

    /// Returns whether a factor has this value.
    pub(crate) fn contains(&self, key: &str, value: &Value) -> bool {
        self.get(key).is_some_and(|many| many.values().any(|known| known == value))
    }

    /// Returns the number of values of a factor.
    pub(crate) fn count(&self, key: &str) -> usize {
        self.get(key).map_or(0, |many| many.0.len())
    }

    /// Returns the position of a factor, from its first to its last value; `None` if it is not given.
    pub(crate) fn span(&self, key: &str) -> Option<Span> {
        self.get(key).map(OneOrMany::span)
    }

    /// Returns whether a workload is among the values.
    pub(crate) fn has_workload(&self, workload: Workload) -> bool {
        self.contains("workload", &workload.into())
    }

    /// Returns whether a workload with a stream of samples is among the values.
    pub(crate) fn has_stream(&self) -> bool {
        let has_stream = |workload: &Workload| !matches!(workload, Workload::Latency | Workload::Discovery);
        self.all::<Workload>("workload").values().any(has_stream)
    }

    /// Returns these values without those of some factors, by their keys.
    pub(crate) fn without(&self, keys: &[&str]) -> Self {
        let mut rest = self.clone();
        rest.values.retain(|key, _| !keys.contains(key));
        rest
    }

    /// Returns whether no factor is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.env.is_empty() && self.options.is_empty()
    }

    /// Returns whether these select all cells of `cells`, of which each given factor has one value: no other factor
    /// is given, and each given one has that value.
    pub(crate) fn covers(&self, cells: &Self) -> bool {
        let has_value = |(key, values): (&&str, &OneOrMany<Value>)| {
            cells.get(key).is_some_and(|cells| cells.values().all(|cell| values.values().any(|v| v == cell)))
        };
        self.env.is_empty() && self.options.is_empty() && self.values.iter().all(has_value)
    }

    /// Returns whether this has a factor in common with these cells, and a value of each that is in common.
    pub(crate) fn overlaps(&self, cells: &Self) -> bool {
        let has_value = |(key, values): (&&str, &OneOrMany<Value>)| {
            let cells = cells.get(key)?;
            Some(values.values().any(|value| cells.values().any(|cell| cell == value)))
        };
        let mut shared = self.values.iter().filter_map(has_value).peekable();
        shared.peek().is_some() && shared.all(|has_value| has_value)
    }
}
