//! YAML documents, without anchors, aliases and tags.

use yaml_rust2::{
    parser::{Event, Parser},
    scanner::{Marker, TScalarStyle},
};

use super::{Entry, MAX_DEPTH, Node, Value, push, too_deep};
use crate::error::{ImportError, Position};

/// Parses a YAML document. An empty one is an empty table.
pub(crate) fn parse(text: &str) -> Result<Node, ImportError> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<Open> = Vec::new();
    loop {
        let (event, marker) = parser.next_token().map_err(|error| {
            let message = format!("not valid YAML: {}", error.info());
            ImportError::new(message, "correct the syntax").at(position(error.marker()))
        })?;
        let at = position(&marker);
        let done = match event {
            Event::Scalar(text, style, _, _) => {
                let value = if style == TScalarStyle::Plain { Value::Plain(text) } else { Value::Text(text) };
                Some(Node { at, value })
            }
            Event::SequenceStart(..) => {
                open.push(Open { at, of: Content::List(Vec::new()) });
                None
            }
            Event::MappingStart(..) => {
                open.push(Open { at, of: Content::Table(Vec::new(), None) });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(Open::close),
            Event::Alias(_) => {
                return Err(ImportError::new("aliases are not supported", "write the value itself").at(at));
            }
            Event::DocumentEnd | Event::StreamEnd => return Ok(Node { at, value: Value::Table(Vec::new()) }),
            Event::Nothing | Event::StreamStart | Event::DocumentStart => None,
        };
        if open.len() > MAX_DEPTH {
            return Err(too_deep(at));
        }
        let Some(node) = done else { continue };
        match open.last_mut() {
            None => return Ok(node),
            Some(parent) => parent.add(node)?,
        }
    }
}

fn position(marker: &Marker) -> Position {
    Position { line: marker.line().max(1), column: marker.col() + 1 }
}

/// List or table whose end has not been read.
struct Open {
    at: Position,
    of: Content,
}

enum Content {
    List(Vec<Node>),
    /// Entries, and the key whose value is next.
    Table(Vec<Entry>, Option<(String, Position)>),
}

impl Open {
    fn close(self) -> Node {
        match self.of {
            Content::List(list) => Node { at: self.at, value: Value::List(list) },
            // The parser reports the first `:` of a table; its first key says more.
            Content::Table(table, _) => {
                Node { at: table.first().map_or(self.at, |entry| entry.at), value: Value::Table(table) }
            }
        }
    }

    fn add(&mut self, node: Node) -> Result<(), ImportError> {
        match &mut self.of {
            Content::List(list) => list.push(node),
            Content::Table(table, key) => match key.take() {
                Some((key, at)) => push(table, Entry { key, at, value: node })?,
                None => {
                    let Some(text) = node.scalar() else {
                        return Err(ImportError::new("a key is not a word", "write `key: value`").at(node.at));
                    };
                    *key = Some((text.to_owned(), node.at));
                }
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn block_flow_and_quoted_values_have_one_form() {
        let node = parse("a:\n  - b: 1\n    c: \"- x: 2\\n\"\n  - [d, 'e']\n").expect("YAML");
        let Value::Table(table) = node.value else { panic!("a table") };
        let list = table[0].value.list("a").expect("a list");
        let Value::Table(first) = &list[0].value else { panic!("a table") };
        assert_eq!(first[0].value.value, Value::Plain("1".into()));
        assert_eq!(first[0].value.at.line, 2);
        assert_eq!(first[1].value.value, Value::Text("- x: 2\n".into()));
        assert_eq!(list[1].list("").expect("a list")[1].value, Value::Text("e".into()));
        assert_eq!(parse("").expect("empty").value, Value::Table(Vec::new()));
    }

    #[test]
    fn text_of_a_value_has_the_same_value() {
        let text = "- a: 1\n  b c: {d: [x-y, 'it''s, so'], e: -0.5}\n- ~\n- []\n";
        let written = parse(text).expect("YAML").to_yaml();
        assert_eq!(written, "[{a: 1, 'b c': {d: [x-y, 'it''s, so'], e: -0.5}}, '~', []]");
        assert_eq!(parse(&written).expect("YAML").to_yaml(), written);
        assert_eq!(parse("'a: b'").expect("YAML").to_yaml(), "a: b");
    }

    #[test]
    fn aliases_depth_and_faults_are_rejected() {
        assert!(parse("a: &x 1\nb: *x\n").expect_err("an alias").message.contains("aliases"));
        assert!(parse(&"[".repeat(60)).is_err());
        assert!(parse("a: 1\na: 2\n").expect_err("twice").message.contains("twice"));
        assert!(parse("a: [1\nb: 2").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in "[-\\[\\]{}:,\"'a1 \\n&*|#?!%@]{0,40}") {
            if let Err(error) = parse(&text) {
                prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
            }
        }
    }
}
