//! Documents of keys and values, with the position of each value: JSON and YAML in one form.

mod fields;
mod json;
mod yaml;

pub(crate) use fields::Fields;
pub(crate) use json::parse as parse_json;
pub(crate) use yaml::parse as parse_yaml;

use crate::error::{ImportError, Position};

/// Deepest nesting of a document.
const MAX_DEPTH: usize = 32;

/// Value of a document, with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// Position.
    pub(crate) at: Position,
    /// Value.
    pub(crate) value: Value,
}

/// Value of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Text in quotes.
    Text(String),
    /// Number, `true`, `false`, `null` or a word without quotes.
    Plain(String),
    /// List.
    List(Vec<Node>),
    /// Table, in the order of the document.
    Table(Vec<Entry>),
}

/// Key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Key.
    pub(crate) key: String,
    /// Position of the key.
    pub(crate) at: Position,
    /// Value.
    pub(crate) value: Node,
}

impl Node {
    /// Returns the text of a scalar.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) | Value::Plain(text) => Some(text),
            Value::List(_) | Value::Table(_) => None,
        }
    }

    /// Returns the YAML text of the value, on one line; that of a text is the text itself.
    pub(crate) fn to_yaml(&self) -> String {
        self.scalar().map_or_else(|| self.flow(), str::to_owned)
    }

    fn flow(&self) -> String {
        match &self.value {
            Value::Plain(text) if text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) => {
                text.clone()
            }
            Value::Text(text) | Value::Plain(text) => quoted(text),
            Value::List(list) => format!("[{}]", list.iter().map(Self::flow).collect::<Vec<_>>().join(", ")),
            Value::Table(table) => {
                let entry = |entry: &Entry| {
                    let key = Self { at: entry.at, value: Value::Plain(entry.key.clone()) };
                    format!("{}: {}", key.flow(), entry.value.flow())
                };
                format!("{{{}}}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Returns the elements of a list, which `what` names.
    pub(crate) fn list(&self, what: &str) -> Result<&[Node], ImportError> {
        match &self.value {
            Value::List(list) => Ok(list),
            _ => Err(ImportError::new(format!("`{what}` is not a list"), "write a list").at(self.at)),
        }
    }
}

/// Returns a text in the quotes of YAML.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the error of a document that is nested too deeply.
fn too_deep(at: Position) -> ImportError {
    ImportError::new(format!("values are nested more than {MAX_DEPTH} deep"), "check the file").at(at)
}

/// Rejects a key that a table has already.
fn push(table: &mut Vec<Entry>, entry: Entry) -> Result<(), ImportError> {
    if table.iter().any(|other| other.key == entry.key) {
        let message = format!("key `{}` is given twice", entry.key);
        return Err(ImportError::new(message, "remove one of them").at(entry.at));
    }
    table.push(entry);
    Ok(())
}
