//! Commands as a shell reads them.

use results::ResultDocument;

/// Returns the command that measured a result; `None` if it is unknown.
#[must_use]
pub fn command(document: &ResultDocument) -> Option<String> {
    of_words(&document.tool.name, &document.tool.command_line)
}

/// Returns a command line with the name of its program; `None` without arguments.
pub(crate) fn of_words(program: &str, command_line: &[String]) -> Option<String> {
    let words: Vec<String> = command_line.iter().skip(1).map(|word| quoted(word)).collect();
    (!words.is_empty()).then(|| format!("{program} {}", words.join(" ")))
}

/// Quotes a word for a shell, if needed.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./@+:,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
