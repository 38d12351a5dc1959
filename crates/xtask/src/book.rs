//! The book of the documentation. Its table of contents is made from the index, docs/README.md, so there is one list of
//! pages. The sources of the book are a copy of the pages, and of the files that they link to, in the layout of the
//! tree: links out of `docs` then work in the book as they do in the tree.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use clap::Args;

use crate::{
    Error,
    pages::{broken, links},
    root,
};

/// First page of the book.
const FRONT: &str = "README.md";
/// Index of the documentation.
const INDEX: &str = "docs/README.md";
/// Configuration of the book.
const CONFIGURATION: &str = "docs/book.toml";

/// Write the sources of the book
#[derive(Args)]
pub struct BookArgs {
    /// Directory to write; what it contains is removed first, if it is such a book
    directory: PathBuf,
}

/// Part of the book: a section of the index.
#[derive(Debug, Eq, PartialEq)]
pub struct Part {
    title: String,
    chapters: Vec<Chapter>,
}

/// Page of the book.
#[derive(Debug, Eq, PartialEq)]
pub struct Chapter {
    title: String,
    /// Path from the root of the tree.
    page: PathBuf,
    chapters: Vec<Chapter>,
}

/// Writes the sources of the book. Returns an error if a link of a page is broken.
pub fn write(arguments: &BookArgs) -> Result<(), Error> {
    let directory = &arguments.directory;
    let mut dead = Vec::new();
    for page in pages()? {
        dead.extend(broken(&page, &read(&page)?));
    }
    if !dead.is_empty() {
        return Err(format!("broken links:\n{}", dead.join("\n")).into());
    }
    if directory.exists() {
        let kept = !directory.join("book.toml").is_file() && fs::read_dir(directory)?.next().is_some();
        if kept {
            let words = format!("{} is not empty, and not a book", directory.display());
            return Err(format!("{words}\nhint: choose another directory").into());
        }
        fs::remove_dir_all(directory)?;
    }
    let sources = directory.join("src");
    for file in files()? {
        let copy = sources.join(&file);
        fs::create_dir_all(copy.parent().ok_or("a file lies in a folder")?)?;
        fs::copy(root().join(&file), copy)?;
    }
    fs::write(sources.join("SUMMARY.md"), summary(&parts()?))?;
    fs::copy(root().join(CONFIGURATION), directory.join("book.toml"))?;
    Ok(())
}

/// Returns the pages of the book.
pub fn pages() -> Result<BTreeSet<PathBuf>, Error> {
    let mut pages: BTreeSet<PathBuf> = [FRONT, INDEX].map(PathBuf::from).into();
    let parts = parts()?;
    let mut left: Vec<&Chapter> = parts.iter().flat_map(|part| &part.chapters).collect();
    while let Some(chapter) = left.pop() {
        pages.insert(chapter.page.clone());
        left.extend(&chapter.chapters);
    }
    Ok(pages)
}

/// Returns the pages and the files that they link to. A page that is not in the book, or a directory, is not among them.
pub fn files() -> Result<BTreeSet<PathBuf>, Error> {
    let mut files = pages()?;
    for page in files.clone() {
        let text = read(&page)?;
        let targets = links(&text).into_iter().map(|link| link.target(&page));
        let linked = targets.filter(|target| !is_page(target) && root().join(target).is_file());
        files.extend(linked.filter(|target| !target.starts_with("..")));
    }
    Ok(files)
}

/// Returns the parts of the book.
pub fn parts() -> Result<Vec<Part>, Error> {
    let mut parts = sections(Path::new(INDEX), &read(Path::new(INDEX))?);
    for chapter in parts.iter_mut().flat_map(|part| &mut part.chapters) {
        // An index of a folder of its own: its pages follow it.
        if chapter.page.starts_with("docs") && chapter.page.ends_with("README.md") {
            let text = read(&chapter.page)?;
            let folder = chapter.page.parent().ok_or("a page lies in a folder")?.to_owned();
            let inside = sections(&chapter.page, &format!("## Pages\n{text}"));
            let inside = inside.into_iter().flat_map(|part| part.chapters);
            chapter.chapters = inside.filter(|chapter| chapter.page.parent() == Some(&folder)).collect();
        }
    }
    Ok(parts)
}

/// Returns the sections of an index, with the pages that each lists: the first link of a list item or a table row.
fn sections(index: &Path, text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            parts.push(Part { title: title.to_owned(), chapters: Vec::new() });
        }
        let listed = line.starts_with("- ") || line.starts_with("| ");
        let Some((link, part)) = links(line).into_iter().next().zip(parts.last_mut()) else { continue };
        let page = link.target(index);
        if listed && is_page(&page) {
            // A table has the number in the link, and the title beside it.
            let title = match line.strip_prefix("| ").and_then(|row| row.split('|').nth(1)) {
                Some(beside) => format!("{}. {}", link.text, beside.trim()),
                None => link.text.to_owned(),
            };
            part.chapters.push(Chapter { title, page, chapters: Vec::new() });
        }
    }
    parts
}

/// Returns the table of contents, as mdBook reads it.
fn summary(parts: &[Part]) -> String {
    let mut text = format!("# Summary\n\n[ddsmark]({FRONT})\n[Index]({INDEX})\n");
    for part in parts {
        text += &format!("\n# {}\n\n", part.title);
        list(&mut text, &part.chapters, 0);
    }
    text
}

fn list(text: &mut String, chapters: &[Chapter], depth: usize) {
    for chapter in chapters {
        *text += &format!("{:1$}- [{2}]({3})\n", "", 2 * depth, chapter.title, chapter.page.display());
        list(text, &chapter.chapters, depth + 1);
    }
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

fn read(page: &Path) -> Result<String, Error> {
    fs::read_to_string(root().join(page)).map_err(|error| format!("{}: {error}", page.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_the_index_become_parts() {
        let index = "# Documentation\n- [no](no.md): no section\n## Start\n- [A](a.md): a, then [B](b.md)\n\
                     ## Drivers\n- [`udp`](../drivers/udp/README.md)\n- [no page](a.csv)\n";
        let mut parts = sections(Path::new(INDEX), index);
        let mut nested = sections(Path::new("docs/all/README.md"), "## x\n| [1](0001-a.md) | One |\n");
        parts[0].chapters[0].chapters.append(&mut nested[0].chapters);
        assert_eq!(
            summary(&parts),
            "# Summary\n\n[ddsmark](README.md)\n[Index](docs/README.md)\n\n# Start\n\n- [A](docs/a.md)\n  - [1. \
             One](docs/all/0001-a.md)\n\n# Drivers\n\n- [`udp`](drivers/udp/README.md)\n"
        );
    }

    #[test]
    fn sources_of_the_book_are_written_and_nothing_else_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = BookArgs { directory: folder.path().join("book") };
        write(&arguments).expect("a book");
        let left = arguments.directory.join("src/docs/left.md");
        fs::write(&left, "from an earlier tree").expect("a file");
        write(&arguments).expect("the same again");
        assert!(!left.exists() && arguments.directory.join("src/docs/README.md").is_file());
        let other = BookArgs { directory: folder.path().join("other") };
        fs::create_dir(&other.directory).expect("a folder");
        fs::write(other.directory.join("mine"), "").expect("a file");
        assert!(write(&other).is_err() && other.directory.join("mine").exists());
    }
}
