//! Lines of the first screen, and their colours.

use anstyle::{AnsiColor, Style};

use crate::{escape::escaped, layout::wrap};

/// Meaning of a line, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text without colour.
    Plain,
    /// Title or heading.
    Heading,
    /// Warning.
    Warning,
    /// Failure.
    Failure,
}

/// Line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Kind, which determines the colour.
    pub kind: Kind,
    /// Text without control characters and line breaks.
    pub text: String,
}

impl Line {
    /// Creates a line. Escapes control characters.
    pub fn new(kind: Kind, text: &str) -> Self {
        Self { kind, text: escaped(text).trim_end().replace(['\n', '\t'], " ") }
    }

    /// Returns the line for a terminal, with its end.
    pub fn painted(&self, colour: bool) -> String {
        let style = match self.kind {
            Kind::Plain => Style::new(),
            Kind::Heading => Style::new().bold(),
            Kind::Warning => AnsiColor::Yellow.on_default(),
            Kind::Failure => AnsiColor::Red.on_default(),
        };
        if colour && self.kind != Kind::Plain {
            format!("{style}{}{style:#}\n", self.text)
        } else {
            format!("{}\n", self.text)
        }
    }
}

/// Wraps a text in at most `most` lines. A longer text ends in `...`.
pub(super) fn wrapped(kind: Kind, text: &str, width: usize, indent: usize, most: usize) -> Vec<Line> {
    let text = wrap(&escaped(text), width, indent);
    let mut lines: Vec<Line> = text.lines().map(|line| Line::new(kind, line)).collect();
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while last.text.chars().count() + 4 > width && last.text.trim_start().contains(' ') {
                last.text = last.text.rsplit_once(' ').map(|(begin, _)| begin.to_owned()).unwrap_or_default();
            }
            last.text.push_str(" ...");
        }
    }
    lines
}
