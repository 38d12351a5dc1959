//! HTML text in which every text from outside is inert.

/// Text of HTML under construction, with the places that its navigation leads to.
#[derive(Debug, Default)]
pub(super) struct Markup {
    text: String,
    /// Identifier and name of each place, in order.
    places: Vec<(String, String)>,
}

impl Markup {
    /// Appends markup of this crate.
    pub(super) fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// Appends text.
    pub(super) fn words(&mut self, text: &str) {
        self.text.push_str(&escaped(text));
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

    /// Begins a section with a heading. The navigation has it under a short name; empty: it has parts of it instead.
    pub(super) fn section(&mut self, id: &str, class: &str, heading: &str, name: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.raw(&format!("<section id=\"{}\"{class}>", escaped(id)));
        self.element("h2", "", heading);
        if !name.is_empty() {
            self.place(id, name);
        }
    }

    /// Ends a section.
    pub(super) fn section_end(&mut self) {
        self.raw("</section>\n");
    }

    /// Adds an element with this identifier to the navigation, under a short name; of several with a name, the first.
    pub(super) fn place(&mut self, id: &str, name: &str) {
        if self.places.iter().all(|(_, known)| known != name) {
            self.places.push((id.to_owned(), name.to_owned()));
        }
    }

    /// Appends the navigation of another text, and the text.
    pub(super) fn navigated(&mut self, body: &Self) {
        self.raw("<nav aria-label=\"Sections\">");
        for (id, name) in &body.places {
            self.element("a", &format!(" href=\"#{}\"", escaped(id)), name);
        }
        self.raw("</nav>\n");
        self.raw(&body.text);
    }

    /// Returns the text.
    pub(super) fn text(self) -> String {
        self.text
    }
}

/// Escapes a text for elements and attributes. Characters that control a terminal or the direction of text are shown, too.
pub(super) fn escaped(text: &str) -> String {
    charts::escaped(&report::escaped(text)).to_string()
}
