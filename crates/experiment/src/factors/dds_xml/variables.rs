//! Variables of a QoS file: `$(NAME)` in texts and attributes, from the environment or from `<configuration_variables>`.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use roxmltree::{Document, Node};

use super::{MAX_BYTES, Outcome, elements, error, local, text, whole};
use crate::syntax::input_file::InputFile;

const OPEN: &str = "$(";

/// Text of a file with the values of its variables.
pub(super) struct Expanded<'f> {
    pub(super) text: Cow<'f, str>,
    /// Values that are from the environment, by name.
    pub(super) used: BTreeMap<String, String>,
}

/// Returns the names of the variables in a text.
pub fn variable_names(text: &str) -> BTreeSet<&str> {
    text.split(OPEN).skip(1).filter_map(|rest| rest.split_once(')')).map(|(name, _)| name).collect()
}

/// Replaces the variables that have a value: that of the environment has priority.
pub(super) fn expand(file: &InputFile) -> Outcome<Expanded<'_>> {
    let (source, mut used) = (file.text.as_str(), BTreeMap::new());
    let names = variable_names(source);
    if names.is_empty() {
        return Ok(Expanded { text: Cow::Borrowed(source), used });
    }
    let defaults = super::parse(source).map(|document| defaults(&document))?;
    let mut text = String::with_capacity(source.len());
    let mut pieces = source.split(OPEN);
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let name = piece.split_once(')');
        match name.and_then(|(name, rest)| {
            let own = file.variables.get(name);
            used.extend(own.map(|value| (name.to_owned(), value.clone())));
            Some((own.or_else(|| defaults.get(name))?, rest))
        }) {
            Some((value, rest)) => {
                text.extend(value.chars().map(escaped));
                text.push_str(rest);
            }
            None => {
                text.push_str(OPEN);
                text.push_str(piece);
            }
        }
        if text.len() > MAX_BYTES {
            return Err(whole("too large with its variables".to_owned(), "use shorter values"));
        }
    }
    Ok(Expanded { text: Cow::Owned(text), used })
}

/// Rejects an element whose text has a variable without a value.
pub(super) fn resolved(node: Node<'_, '_>, found: &str) -> Outcome<()> {
    match variable_names(found).first() {
        None => Ok(()),
        Some(name) => Err(error(
            node,
            format!("variable `{name}` has no value"),
            format!("set the environment variable `{name}`, or define it in `<configuration_variables>`"),
        )),
    }
}

/// Returns the values of `<configuration_variables>`.
fn defaults(document: &Document<'_>) -> BTreeMap<String, String> {
    let sections =
        document.root_element().descendants().filter(|node| local(*node) == "configuration_variables");
    let entries = sections.flat_map(|section| section.descendants()).filter(|node| local(*node) == "element");
    let part = |entry, name: &str| {
        elements(entry).find(|part| local(*part) == name).map(|part| text(part).to_owned())
    };
    entries.filter_map(|entry| Some((part(entry, "name")?, part(entry, "value")?))).collect()
}

fn escaped(character: char) -> Cow<'static, str> {
    match character {
        '<' => Cow::Borrowed("&lt;"),
        '>' => Cow::Borrowed("&gt;"),
        '&' => Cow::Borrowed("&amp;"),
        '"' => Cow::Borrowed("&quot;"),
        '\'' => Cow::Borrowed("&apos;"),
        other => Cow::Owned(other.to_string()),
    }
}
