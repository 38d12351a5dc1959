//! Options with values, and their sources.

use crate::{
    error::{Cause, PerftestError, Source},
    generation::Generation,
    table::{Edition, OptionRow},
    value::OptionValue,
};

/// Option with a value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Option.
    pub row: &'static OptionRow,
    /// Value.
    pub value: OptionValue,
    /// Option and value as typed.
    pub item: String,
    /// Source.
    pub source: Source,
}

impl Entry {
    /// Returns the error with this item.
    pub(crate) fn error(&self, cause: Cause) -> PerftestError {
        PerftestError { source: self.source.clone(), item: self.item.clone(), cause }
    }

    /// Returns whether the value is the default of a generation, so that it changes nothing.
    pub(crate) fn is_default(&self, generation: Generation) -> bool {
        let edition: Option<&Edition> = self.row.edition(generation);
        match &self.value {
            OptionValue::Flag(on) => !on,
            // Their text is empty, as a default that does not exist.
            OptionValue::Sizes(_) | OptionValue::OptionalInteger(None) => false,
            value => edition.is_some_and(|edition| value.to_string() == edition.default),
        }
    }
}

/// Options with values, of the command line and of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries(pub Vec<Entry>);

impl Entries {
    /// Returns the entry of an option, the last if there are several.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        debug_assert!(crate::table::find(name).is_some(), "no option {name}");
        self.0.iter().rev().find(|entry| entry.row.name == name)
    }

    /// Returns the entries of an option that can be repeated.
    pub fn all(&self, name: &'static str) -> impl Iterator<Item = &Entry> {
        debug_assert!(crate::table::find(name).is_some(), "no option {name}");
        self.0.iter().filter(move |entry| entry.row.name == name)
    }

    /// Returns the entry of an option, if its value is not the default.
    pub fn changed(&self, name: &str, generation: Generation) -> Option<&Entry> {
        self.get(name).filter(|entry| !entry.is_default(generation))
    }

    /// Returns whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Entry { value: OptionValue::Flag(true), .. }))
    }

    /// Returns a number.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name)?.value {
            OptionValue::Integer(number) | OptionValue::OptionalInteger(Some(number)) => Some(number),
            _ => None,
        }
    }

    /// Returns a number, or the default of the generation.
    pub fn integer_or_default(&self, name: &str, generation: Generation) -> Option<i64> {
        let edition = || crate::table::find(name).and_then(|row| row.edition(generation));
        self.integer(name).or_else(|| edition().and_then(|edition| edition.default.parse().ok()))
    }

    /// Returns a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match &self.get(name)?.value {
            OptionValue::Text(text) => Some(text),
            OptionValue::Choice(word) => Some(word),
            _ => None,
        }
    }
}
