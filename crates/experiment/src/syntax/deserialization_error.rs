//! Plain words for errors of deserialization: what was given for which key, and what is expected there.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::syntax::{one_or_many::Span, similar::one_of};

/// Page that describes all keys.
const REFERENCE: &str = "docs/reference/experiment-file.md";

/// Message of the TOML reader about an element of a list that is not one of several words.
pub(crate) const WANTS_WORD: &str = "wanted string or table";

/// Error without a position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeserializationError {
    /// The fault.
    pub error: String,
    /// Next step.
    pub hint: String,
}

impl DeserializationError {
    fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into() }
    }

    /// Explains a message of serde about the value of a key or a flag; `item` is its name, if it is known.
    pub fn explained(message: &str, item: Option<&str>) -> Self {
        let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let standard = |start: &str| message.starts_with(start).then(|| names.split_first()).flatten();
        if let Some((unknown, known)) = standard("unknown field") {
            let hint = one_of(unknown, known.iter().copied(), "keys here are");
            return Self::new(format!("unknown key `{unknown}`"), hint);
        }
        if let Some((unknown, known)) = standard("unknown variant") {
            let hint = one_of(unknown, known.iter().copied(), "use");
            return Self::new(not_valid(&format!("`{unknown}`"), item), hint);
        }
        if let Some((missing, _)) = standard("missing field") {
            let hint = format!("write `{missing} = ...`; {REFERENCE} describes it");
            return Self::new(format!("`{missing}` is missing"), hint);
        }
        if message.starts_with("data did not match any variant") || message == WANTS_WORD {
            return Self::new(not_valid("this value", item), format!("{REFERENCE} describes what is"));
        }
        if let Some((fault, hint)) = message.split_once("\nhint: ") {
            return Self::new(fault, hint);
        }
        let Some((fault, expected)) = message.split_once(", expected ") else {
            return Self::new(message, format!("see {REFERENCE}"));
        };
        let hint = format!("write {}", in_words(expected, item));
        let kinds = ["invalid type: ", "invalid value: ", "invalid length "];
        match kinds.iter().find_map(|kind| fault.strip_prefix(kind)) {
            Some(given) => Self::new(not_valid(&given_words(given), item), hint),
            None => Self::new(fault, hint),
        }
    }
}

fn not_valid(given: &str, item: Option<&str>) -> String {
    match item {
        Some(item) => format!("{given} is not valid for `{item}`"),
        None => format!("{given} is not valid here"),
    }
}

/// Returns what was given as the user wrote it, from the words of serde: ``integer `5` ``, `string "x"`, `map`.
fn given_words(given: &str) -> String {
    if let Some(text) = given.strip_prefix("string ") {
        let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        return format!("`{}`", text.replace("\\\"", "\"").replace("\\\\", "\\"));
    }
    match given {
        "map" | "newtype struct" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        _ => match given.split_once('`') {
            Some((_, value)) => format!("`{value}"),
            None => given.to_owned(),
        },
    }
}

/// Returns what is expected, with an example if serde names only a type of Rust.
fn in_words(expected: &str, item: Option<&str>) -> String {
    let is_type = |start: &str| expected.starts_with(start);
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on, such as `3`".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number, such as `3`".to_owned(),
        "f32" | "f64" => "a number, such as `1.5`".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" | "a borrowed string" => "a text in quotes, such as `\"text\"`".to_owned(),
        "a sequence" => format!("a list in brackets; {REFERENCE} has its form"),
        _ if expected == "a map" || is_type("struct ") || is_type("string or map") || is_type("enum ") => {
            let example =
                item.map_or_else(String::new, |item| format!(", such as `{item} = {{ KEY = VALUE }}`"));
            format!("a table{example}; {REFERENCE} lists its keys")
        }
        words => words.to_owned(),
    }
}

/// Returns the key whose value is at this position, or has it.
pub(crate) fn key_at(table: &DeTable<'_>, at: &Span) -> Option<String> {
    let contains = |span: Span| !at.is_empty() && span.start <= at.start && at.end <= span.end;
    table.iter().find_map(|(key, value)| {
        let within = in_value(value, at);
        within.or_else(|| contains(value.span()).then(|| key.get_ref().to_string()))
    })
}

fn in_value(value: &Spanned<DeValue<'_>>, at: &Span) -> Option<String> {
    match value.get_ref() {
        DeValue::Table(table) => key_at(table, at),
        DeValue::Array(list) => list.iter().find_map(|value| in_value(value, at)),
        _ => None,
    }
}

/// Replaces the number or truth value at this position by the same as text. Returns whether there is one.
///
/// The error of a text then names the words that are valid.
pub(crate) fn as_text(table: &mut DeTable<'_>, at: &Span) -> bool {
    table.iter_mut().any(|(_, value)| value_as_text(value, at))
}

fn value_as_text(value: &mut Spanned<DeValue<'_>>, at: &Span) -> bool {
    let is_here = value.span() == *at;
    let text = match value.get_mut() {
        DeValue::Table(table) => return as_text(table, at),
        DeValue::Array(list) => return list.iter_mut().any(|value| value_as_text(value, at)),
        DeValue::Integer(number) if is_here => number.to_string(),
        DeValue::Float(number) if is_here => number.to_string(),
        DeValue::Boolean(flag) if is_here => flag.to_string(),
        _ => return false,
    };
    *value.get_mut() = DeValue::String(text.into());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_serde_become_plain() {
        for (message, error, hint) in [
            (
                "invalid type: integer `0`, expected `none` or cores",
                "`0` is not valid for `pin`",
                "write `none` or cores",
            ),
            (
                "invalid value: string \"a \\\"b\\\"\", expected u32",
                "`a \"b\"` is not valid for `pin`",
                "write a whole number from 0 on, such as `3`",
            ),
            (
                "invalid type: map, expected a boolean",
                "a table is not valid for `pin`",
                "write `true` or `false`",
            ),
            (
                "invalid type: integer `5`, expected struct DesignSection",
                "`5` is not valid for `pin`",
                "write a table, such as `pin = { KEY = VALUE }`; docs/reference/experiment-file.md lists its keys",
            ),
            ("`5` has no unit, expected a time", "`5` has no unit", "write a time"),
            ("too many\nhint: use fewer", "too many", "use fewer"),
        ] {
            assert_eq!(
                DeserializationError::explained(message, Some("pin")),
                DeserializationError::new(error, hint)
            );
        }
        assert_eq!(
            DeserializationError::explained("invalid type: sequence, expected a string", None).error,
            "a list is not valid here"
        );
    }
}
