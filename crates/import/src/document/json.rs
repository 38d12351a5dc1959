//! JSON documents.

use serde::de::IgnoredAny;

use super::{Node, yaml};
use crate::error::{ImportError, Position};

/// Parses a JSON document. What is valid JSON is valid YAML as well, except for characters that are written as two escapes.
pub(crate) fn parse(text: &str) -> Result<Node, ImportError> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        let words = error.to_string();
        let message = format!("not valid JSON: {}", words.split(" at line ").next().unwrap_or_default());
        let at = Position { line: error.line().max(1), column: error.column().max(1) };
        ImportError::new(message, "correct the syntax").at(at)
    })?;
    // Of YAML, tabs are not valid everywhere. In JSON they are space between values.
    yaml::parse(&text.replace('\t', " ")).map_err(|error| {
        match error.message.strip_prefix("not valid YAML: ") {
            Some(words) => ImportError {
                message: format!("valid JSON that is not valid YAML: {words}"),
                hint: "write a character beyond U+FFFF itself, not as two escapes such as `\\ud83d\\ude00`"
                    .into(),
                ..error
            },
            None => error,
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::Value, *};

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
    fn space_and_escapes_are_those_of_json() {
        let node = parse("\t{\"a\" :\t[\"\\/ \\u00e9 # - x: y\",\r\n-1.5e3 ]\t}\n").expect("JSON");
        let Value::Table(table) = node.value else { panic!("a table") };
        let list = table[0].value.list("a").expect("a list");
        assert_eq!(list[0].value, Value::Text("/ é # - x: y".into()));
        assert_eq!(list[1].value, Value::Plain("-1.5e3".into()));
    }

    #[test]
    fn fault_has_its_position() {
        let error = parse("{\n \"a\": }").expect_err("malformed");
        assert_eq!(error.to_string(), "2:7: not valid JSON: expected value");
        assert!(parse("{\"a\": 1, \"a\": 2}").expect_err("twice").message.contains("given twice"));
        let escaped = parse("{\"a\": \"\\ud83d\\ude00\"}").expect_err("two escapes");
        assert!(escaped.message.starts_with("valid JSON that is not valid YAML"), "{escaped}");
        assert!(parse("{\"a\": \"😀\"}").is_ok());
        let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
        assert!(parse(&deep).expect_err("too deep").message.contains("nested"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in "[\\[\\]{}:,\"a1 \\t\\n\\\\]{0,40}") {
            let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            match parse(&text) {
                Ok(_) => prop_assert!(is_json),
                Err(error) => prop_assert!(!is_json || error.message.contains("twice") || error.message.contains("nested")),
            }
        }
    }
}
