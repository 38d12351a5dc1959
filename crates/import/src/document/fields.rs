//! Keys of a table: typed values, and the keys that nothing has read.

use std::{cell::RefCell, collections::BTreeSet, fmt::Display, str::FromStr};

use super::{Entry, Node, Value};
use crate::{
    error::{ImportError, Position},
    qos::{kind, names},
};

/// Table whose keys are read one by one.
pub(crate) struct Fields<'n> {
    at: Position,
    what: &'n str,
    table: &'n [Entry],
    read: RefCell<BTreeSet<String>>,
}

impl<'n> Fields<'n> {
    /// Creates the fields of a table. `what`: what the table describes, for messages.
    pub(crate) fn new(node: &'n Node, what: &'n str) -> Result<Self, ImportError> {
        match &node.value {
            Value::Table(table) => Ok(Self { at: node.at, what, table, read: RefCell::default() }),
            _ => {
                Err(ImportError::new(format!("the {what} is not a table"), "write keys and values")
                    .at(node.at))
            }
        }
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        self.read.borrow_mut().insert(key.to_owned());
        self.table.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Returns the value of a key that each such table has.
    pub(crate) fn required(&self, key: &str) -> Result<&'n Node, ImportError> {
        let missing =
            || ImportError::new(format!("the {} has no `{key}`", self.what), format!("add `{key}`"));
        self.get(key).ok_or_else(|| missing().at(self.at))
    }

    /// Returns the text of a key that each such table has.
    pub(crate) fn required_text(&self, key: &str) -> Result<&'n str, ImportError> {
        text(self.required(key)?, key)
    }

    /// Returns the text of a key.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'n str>, ImportError> {
        self.get(key).map(|node| text(node, key)).transpose()
    }

    /// Returns the number of a key.
    pub(crate) fn number<T: FromStr>(&self, key: &str) -> Result<Option<T>, ImportError> {
        let Some(node) = self.get(key) else { return Ok(None) };
        let number = match &node.value {
            Value::Plain(text) => text.parse().ok(),
            _ => None,
        };
        let fault = || {
            let shown = node.scalar().unwrap_or("a list or table");
            ImportError::new(format!("`{key}` is `{shown}`, not a valid number"), "write a number")
                .at(node.at)
        };
        number.map(Some).ok_or_else(fault)
    }

    /// Returns the elements of the list of a key; none if it is missing.
    pub(crate) fn list(&self, key: &str) -> Result<&'n [Node], ImportError> {
        self.get(key).map_or(Ok(&[]), |node| node.list(key))
    }

    /// Returns the kind of a policy.
    pub(crate) fn kind<T: Copy + Display>(&self, key: &str, kinds: &[T]) -> Result<Option<T>, ImportError> {
        let of = |name: &str| kind(kinds, name).ok_or_else(|| self.invalid(key, name, &names(kinds)));
        self.text(key)?.map(of).transpose()
    }

    /// Returns the error of a value that is none of those that are known.
    pub(crate) fn invalid(&self, key: &str, value: &str, known: &str) -> ImportError {
        let message = format!("`{value}` is not a valid `{key}`");
        ImportError::new(message, format!("available: {known}")).at(self.position(key))
    }

    /// Returns the position of the value of a key, or of the table.
    pub(crate) fn position(&self, key: &str) -> Position {
        self.table.iter().find(|entry| entry.key == key).map_or(self.at, |entry| entry.value.at)
    }

    /// Returns the entries whose keys have not been read.
    pub(crate) fn rest(&self) -> impl Iterator<Item = &'n Entry> {
        let read = self.read.borrow().clone();
        self.table.iter().filter(move |entry| !read.contains(entry.key.as_str()))
    }

    /// Rejects a key that has not been read.
    pub(crate) fn no_other(&self) -> Result<(), ImportError> {
        let Some(other) = self.rest().next() else { return Ok(()) };
        let known = self.read.borrow().iter().cloned().collect::<Vec<_>>().join("`, `");
        let message = format!("unknown key `{}` of a {}", other.key, self.what);
        let hint = format!("check its spelling, or remove it; known here: `{known}`");
        Err(ImportError::new(message, hint).at(other.at))
    }
}

fn text<'n>(node: &'n Node, key: &str) -> Result<&'n str, ImportError> {
    node.scalar()
        .ok_or_else(|| ImportError::new(format!("`{key}` is not a text"), "write a text").at(node.at))
}
