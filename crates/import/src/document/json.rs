//! JSON documents.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Entry, MAX_DEPTH, Node, Value, push, too_deep};
use crate::error::{ImportError, Position};

/// Parses a JSON document.
pub(crate) fn parse(text: &str) -> Result<Node, ImportError> {
    let lines = Lines::new(text);
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
        let message = format!("not valid JSON: {}", without_place(&error));
        let at = Position { line: error.line().max(1), column: error.column().max(1) };
        ImportError::new(message, "correct the syntax").at(at)
    })?;
    node(raw, &lines, 0)
}

/// Returns the words of an error, without the position at their end.
fn without_place(error: &serde_json::Error) -> String {
    let words = error.to_string();
    words.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Text with the first byte of each line.
struct Lines<'t> {
    text: &'t str,
    begins: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { text, begins: std::iter::once(0).chain(ends.map(|(index, _)| index + 1)).collect() }
    }

    /// Returns the position of a part of the text.
    fn position(&self, part: &str) -> Position {
        let byte = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let line = self.begins.partition_point(|begin| *begin <= byte);
        let begin = self.begins.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(begin..byte).map_or(0, |before| before.chars().count());
        Position { line: line.max(1), column: column + 1 }
    }
}

/// Keys and unparsed values of an object, in order. Keys keep their escapes.
struct Object<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

fn node(raw: &RawValue, lines: &Lines<'_>, depth: usize) -> Result<Node, ImportError> {
    let text = raw.get();
    let at = lines.position(text);
    if depth > MAX_DEPTH {
        return Err(too_deep(at));
    }
    let malformed = |error: serde_json::Error| {
        ImportError::new(format!("not valid JSON: {}", without_place(&error)), "correct the syntax").at(at)
    };
    let value = match text.as_bytes().first() {
        Some(b'{') => {
            let Object(entries) = serde_json::from_str(text).map_err(malformed)?;
            let mut table = Vec::new();
            for (key, value) in entries {
                let at = lines.position(key.get());
                let key = serde_json::from_str(key.get()).map_err(malformed)?;
                push(&mut table, Entry { key, at, value: node(value, lines, depth + 1)? })?;
            }
            Value::Table(table)
        }
        Some(b'[') => {
            let list: Vec<&RawValue> = serde_json::from_str(text).map_err(malformed)?;
            Value::List(list.into_iter().map(|raw| node(raw, lines, depth + 1)).collect::<Result<_, _>>()?)
        }
        Some(b'"') => Value::Text(serde_json::from_str(text).map_err(malformed)?),
        _ => Value::Plain(text.to_owned()),
    };
    Ok(Node { at, value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_value_has_its_position() {
        let node = parse("{\n  \"é\": [1, \"a\\n\"],\n  \"b\": true}").expect("JSON");
        let Value::Table(table) = node.value else { panic!("a table") };
        assert_eq!((table[0].key.as_str(), table[0].at), ("é", Position { line: 2, column: 3 }));
        let list = table[0].value.list("é").expect("a list");
        assert_eq!(list[0], Node { at: Position { line: 2, column: 9 }, value: Value::Plain("1".into()) });
        assert_eq!(list[1], Node { at: Position { line: 2, column: 12 }, value: Value::Text("a\n".into()) });
        assert_eq!(table[1].value.at, Position { line: 3, column: 8 });
    }

    #[test]
    fn fault_has_its_position() {
        let error = parse("{\n \"a\": }").expect_err("malformed");
        assert_eq!(error.to_string(), "2:7: not valid JSON: expected value");
        assert!(parse("{\"a\": 1, \"a\": 2}").expect_err("twice").message.contains("given twice"));
        let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
        assert!(parse(&deep).expect_err("too deep").message.contains("nested"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in "[\\[\\]{}:,\"a1 \\n\\\\]{0,40}") {
            let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            match parse(&text) {
                Ok(_) => prop_assert!(is_json),
                Err(error) => prop_assert!(!is_json || error.message.contains("twice") || error.message.contains("nested")),
            }
        }
    }
}
