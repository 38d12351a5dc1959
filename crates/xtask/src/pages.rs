//! Markdown pages: their links and anchors.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{Error, root};

/// Relative link of a page.
#[derive(Debug, Eq, PartialEq)]
pub struct Link<'t> {
    /// Number of its line, from 1.
    pub line: usize,
    /// Text in brackets on that line.
    pub text: &'t str,
    /// Path from the folder of the page; empty if the link leads to the page itself.
    pub path: &'t str,
    /// Anchor without `#`.
    pub anchor: Option<&'t str>,
}

impl Link<'_> {
    /// Returns the path of the target from the root of the tree, for a link of this page.
    pub fn target(&self, page: &Path) -> PathBuf {
        if self.path.is_empty() {
            return page.to_owned();
        }
        let mut target = page.parent().map(Path::to_owned).unwrap_or_default();
        for part in Path::new(self.path).components() {
            match part {
                Component::CurDir => {}
                // A path that leaves the tree keeps its `..`, and is not found.
                Component::ParentDir if target.file_name().is_some_and(|name| name != "..") => {
                    target.pop();
                }
                part => target.push(part),
            }
        }
        target
    }
}

/// Returns the lines outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, None) => return Some((index + 1, line)),
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
        }
        None
    })
}

/// Returns the relative links of a page: those in the text, and definitions of references.
pub fn links(text: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    for (line, content) in prose(text) {
        let defined = content.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        found.extend(defined.and_then(|(text, target)| link(line, text, target)));
        for (place, _) in content.match_indices("](") {
            // An odd number of marks before it: the brackets are code.
            if content[..place].matches('`').count() % 2 == 0 {
                let text = content[..place].rsplit_once('[').map_or("", |(_, text)| text);
                let target = content[place + 2..].split(')').next().unwrap_or_default();
                found.extend(link(line, text, target));
            }
        }
    }
    found
}

/// Returns a link, unless it leads out of the tree.
fn link<'t>(line: usize, text: &'t str, target: &'t str) -> Option<Link<'t>> {
    let target = target.split_whitespace().next().unwrap_or_default();
    let outside = target.contains("://") || target.starts_with("mailto:");
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    (!outside).then_some(Link { line, text, path, anchor })
}

/// Returns the links of a page that lead to no file, or to no heading of it.
pub fn broken(page: &Path, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for link in links(text) {
        let target = link.target(page);
        let at = format!("{}:{}", page.display(), link.line);
        let here = link.path.is_empty();
        if !here && (!root().join(&target).exists() || target.starts_with("..")) {
            broken.push(format!("{at}: {} not found", target.display()));
        } else if let Some(anchor) = link.anchor {
            let read = || fs::read_to_string(root().join(&target)).unwrap_or_default();
            let there = if here { text.to_owned() } else { read() };
            if !anchors(&there).contains(anchor) {
                broken.push(format!("{at}: {} has no heading for #{anchor}", target.display()));
            }
        }
    }
    broken
}

/// Returns the anchors of a page: those of its headings, and explicit ones.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if (1..=6).contains(&(line.len() - title.len())) && title.starts_with(' ') {
            let plain = anchor(title);
            let copies = (1..).map(|copy| format!("{plain}-{copy}"));
            let free = std::iter::once(plain.clone()).chain(copies).find(|anchor| !anchors.contains(anchor));
            anchors.extend(free);
        }
        let explicit = line.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        anchors.extend(explicit.map(ToOwned::to_owned));
    }
    anchors
}

/// Returns the anchor of a heading.
fn anchor(title: &str) -> String {
    let mut plain = title.trim().to_owned();
    // Of a link, the text counts.
    while let Some((before, rest)) = plain.split_once("](") {
        let after = rest.split_once(')').map_or("", |(_, after)| after);
        plain = format!("{before}{after}");
    }
    plain
        .to_lowercase()
        .chars()
        .filter_map(|sign| match sign {
            ' ' => Some('-'),
            sign => (sign.is_alphanumeric() || "-_".contains(sign)).then_some(sign),
        })
        .collect()
}

/// Returns the text with the block of that name replaced. A block is delimited by two comments.
pub fn with_block(text: &str, name: &str, block: &str) -> Result<String, Error> {
    let (begin, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->\n"));
    let parts = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("no block between `{}` and its end", begin.trim()))?;
    Ok(format!("{before}{begin}{block}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_text_and_definitions_are_found_but_not_in_code() {
        let text = "[a](x/y.md#z) and [`b`](../c.md), [d](https://omg.org) ![e](f.svg \"title\")\n\
                    ```\n[no](no.md)\n```\n`[no](no.md)` [g](#h)\n[i]: j.md\n";
        let found: Vec<_> =
            links(text).into_iter().map(|link| (link.line, link.text, link.path, link.anchor)).collect();
        assert_eq!(
            found,
            [
                (1, "a", "x/y.md", Some("z")),
                (1, "`b`", "../c.md", None),
                (1, "e", "f.svg", None),
                (5, "g", "", Some("h")),
                (6, "i", "j.md", None),
            ]
        );
    }

    #[test]
    fn target_is_a_path_from_the_root() {
        let target = |path| {
            let link = Link { line: 1, text: "", path, anchor: None };
            link.target(Path::new("docs/how-to/a.md"))
        };
        assert_eq!(target("../../README.md"), Path::new("README.md"));
        assert_eq!(target("./b.md"), Path::new("docs/how-to/b.md"));
        assert_eq!(target(""), Path::new("docs/how-to/a.md"));
        assert_eq!(target("../../../etc/passwd"), Path::new("../etc/passwd"));
    }

    #[test]
    fn anchors_are_those_of_headings() {
        let text = "# A `b_c`, d & [e](f.md)\n## Same\n## Same\n```sh\n# no heading\n```\n#tag\n<a id=\"own\"></a>\n";
        let expected = ["a-b_c-d--e", "own", "same", "same-1"];
        assert_eq!(anchors(text), expected.map(ToOwned::to_owned).into());
    }
}
