//! Text for GitHub-flavoured Markdown.

use crate::escape::escaped;

/// Formats text of a result on one line, in which neither HTML nor the end of a table's entry can be hidden.
pub(crate) fn text(text: &str) -> String {
    let line = escaped(text).replace(['\n', '\t'], " ");
    line.replace('&', "&amp;").replace('<', "&lt;").replace('|', "\\|").replace('*', "\\*")
}
