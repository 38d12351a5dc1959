//! HTML text in which every text from outside is inert.

/// Text of HTML under construction.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Appends markup of this crate.
    pub(super) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    /// Appends text.
    pub(super) fn words(&mut self, text: &str) {
        self.0.push_str(&escaped(text));
    }

    /// Appends a sentence, with its numbers as charts write them.
    pub(super) fn prose(&mut self, text: &str) {
        self.words(&charts::prose(text));
    }

    /// Appends an element with a text. `attributes` begins with a space, or is empty.
    pub(super) fn element(&mut self, name: &str, attributes: &str, text: &str) {
        self.raw(&format!("<{name}{attributes}>"));
        self.words(text);
        self.raw(&format!("</{name}>"));
    }

    /// Appends text in which words between backticks are code.
    pub(super) fn code_words(&mut self, text: &str) {
        let parts: Vec<&str> = text.split('`').collect();
        // An odd number of backticks is text.
        if parts.len().is_multiple_of(2) {
            return self.prose(text);
        }
        for (index, part) in parts.iter().enumerate() {
            if index % 2 == 1 {
                self.element("code", "", part);
            } else {
                self.prose(part);
            }
        }
    }

    /// Appends an element with a text in which words between backticks are code. `attributes` are those of [`Markup::element`].
    pub(super) fn code_element(&mut self, name: &str, attributes: &str, text: &str) {
        self.raw(&format!("<{name}{attributes}>"));
        self.code_words(text);
        self.raw(&format!("</{name}>"));
    }

    /// Returns the text.
    pub(super) fn text(self) -> String {
        self.0
    }
}

/// Escapes a text for elements and attributes. Characters that control a terminal or the direction of text are shown, too.
pub(super) fn escaped(text: &str) -> String {
    charts::escaped(&report::escaped(text)).to_string()
}
