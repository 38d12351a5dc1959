//! Escapes for text from outside.

use std::borrow::Cow;

/// Escapes characters that control a terminal or change the direction of text, as in JSON: `\u001b`. Keeps line
/// ends and tabs.
///
/// Names, options, paths, files and logs come from outside; everything that is printed passes through here.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    let commands = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if commands(c) {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_letters_stay() {
        for (text, printed) in [
            ("größe µs → ok\tend\n", "größe µs → ok\tend\n"),
            ("\u{1b}[31mred\u{7}", "\\u001b[31mred\\u0007"),
            ("a\rb\u{7f}\u{9b}2J", "a\\u000db\\u007f\\u009b2J"),
            ("\u{202e}cba\u{2066}", "\\u202ecba\\u2066"),
        ] {
            assert_eq!(escaped(text), printed);
        }
        // In JSON text the escapes are the same characters.
        let json = serde_json::to_string("\u{1b}\u{9b}").expect("JSON");
        assert_eq!(escaped(&json), r#""\u001b\u009b""#);
        assert_eq!(serde_json::from_str::<String>(&escaped(&json)).expect("JSON"), "\u{1b}\u{9b}");
    }
}
