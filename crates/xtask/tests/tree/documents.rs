//! Checks of the Markdown files: links, anchors, the index, and the book.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{files, read};
use crate::{
    book,
    pages::{broken, links},
    root,
};

/// Returns the Markdown files of the tree.
fn documents() -> BTreeSet<PathBuf> {
    files().into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

#[test]
fn links_in_documents_lead_to_files_and_headings() {
    let documents = documents();
    assert!(documents.len() > 50, "only {} files were looked at", documents.len());
    let broken: Vec<String> = documents.iter().flat_map(|path| broken(path, &read(path))).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn broken_link_and_broken_anchor_are_reported() {
    let text = "# Here\n[a](README.md) [b](#here) [c](#there)\n[d](none.md)\n[e](decisions/README.md#none)\n\
                [f](../../outside)\n";
    assert_eq!(
        broken(Path::new("docs/new.md"), text),
        [
            "docs/new.md:2: docs/new.md has no heading for #there",
            "docs/new.md:3: docs/none.md not found",
            "docs/new.md:4: docs/decisions/README.md has no heading for #none",
            "docs/new.md:5: ../outside not found",
        ]
    );
}

#[test]
fn index_lists_every_document() {
    let listed = book::pages().expect("the index");
    let missing: Vec<_> = documents().into_iter().filter(|page| !listed.contains(page)).collect();
    assert_eq!(missing, Vec::<PathBuf>::new(), "not in docs/README.md, nor in an index that it lists");
}

/// Tells whether the page of a decision begins with the number that its file name has.
fn has_its_number(name: &str, page: &str) -> bool {
    let number = name.split('-').next().and_then(|digits| digits.parse::<u32>().ok());
    number.is_some_and(|number| page.starts_with(&format!("# {number}. ")))
}

#[test]
fn decisions_begin_with_the_number_of_their_file() {
    let mut looked_at = 0;
    for path in documents().iter().filter(|path| path.starts_with("docs/decisions")) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if name != "README.md" {
            assert!(has_its_number(name, &read(path)), "{} has another number in its title", path.display());
            looked_at += 1;
        }
    }
    assert!(looked_at > 50, "only {looked_at} decisions were looked at");
    assert!(has_its_number("0007-a.md", "# 7. A\n"));
    assert!(!has_its_number("0007-a.md", "# 8. A\n") && !has_its_number("a.md", "# 7. A\n"));
}

/// Returns the versions of the result's schema that a page shows.
fn schema_versions(page: &str) -> Vec<u32> {
    let after = page.split("\"schema_version\": ").skip(1);
    after.map(|text| text.split(',').next().and_then(|digits| digits.parse().ok()).unwrap_or(0)).collect()
}

#[test]
fn results_in_documents_have_the_version_of_the_program() {
    let tutorial = read(Path::new("docs/tutorial/first-characterization.md"));
    assert_eq!(schema_versions(&tutorial), [results::SCHEMA_VERSION]);
    for path in documents() {
        let other =
            schema_versions(&read(&path)).into_iter().find(|&version| version != results::SCHEMA_VERSION);
        assert_eq!(other, None, "{} shows a result of another version", path.display());
    }
    assert_eq!(schema_versions("{ \"schema_version\": 1, \"schema_version\": x,"), [1, 0]);
}

#[test]
fn links_within_the_book_lead_to_its_files() {
    let files = book::files().expect("the files of the book");
    let mut broken = Vec::new();
    for page in book::pages().expect("the index") {
        let text = fs::read_to_string(root().join(&page)).expect("a page");
        let dead = links(&text).into_iter().filter(|link| !files.contains(&link.target(&page)));
        broken.extend(dead.map(|link| format!("{}:{}: {}", page.display(), link.line, link.path)));
    }
    assert_eq!(broken, Vec::<String>::new(), "a directory, or a page that is not in the book");
}

#[test]
fn page_of_recipes_names_every_recipe() {
    let page = read(Path::new("docs/explain/recipes.md"));
    let recipes = files().into_iter().filter(|path| path.starts_with("recipes"));
    let recipes = recipes.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let names = recipes.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let missing: Vec<String> =
        names.filter(|name| !["`", " "].iter().any(|end| page.contains(&format!("`{name}{end}")))).collect();
    assert_eq!(missing, Vec::<String>::new());
}

/// Returns the literal parts of the quotations in the first column of a table: between backticks, without the `...` that
/// stand for values.
fn quoted(page: &str) -> Vec<&str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let quotations = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let parts = quotations.flat_map(|quotation| quotation.split("...")).map(str::trim);
    parts.filter(|part| part.len() > 3).collect()
}

#[test]
fn symptoms_of_the_page_on_tuning_are_words_of_the_program() {
    let sources = files().into_iter().filter(|path| path.starts_with("crates"));
    let sources = sources.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    // A text may continue on the next line of its source.
    let lines: Vec<String> = sources.map(|path| read(&path).replace("\\\n", "\n")).collect();
    let program: String =
        lines.iter().flat_map(|text| text.split_whitespace()).fold(String::new(), |mut program, word| {
            program.push_str(word);
            program.push(' ');
            program
        });
    let page = read(Path::new("docs/how-to/tune-a-host.md"));
    let table = page.split("\n## ").next().expect("the table is before the first heading");
    let unknown: Vec<_> = quoted(table).into_iter().filter(|words| !program.contains(words)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
    assert!(quoted(table).len() > 10, "{:?}", quoted(table));
    assert_eq!(quoted("| the `governor is ...`; `... % of core` | `no` |\n"), ["governor is", "% of core"]);
}

/// Returns the names of the keys that lie directly below a top-level key of a YAML file of two-space indents.
fn keys_below<'t>(yaml: &'t str, key: &str) -> BTreeSet<&'t str> {
    let lines = yaml.lines().skip_while(|line| *line != format!("{key}:")).skip(1);
    let lines = lines.take_while(|line| line.starts_with(' '));
    lines
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':').filter(|key| !key.starts_with(' ')))
        .collect()
}

#[test]
fn inputs_of_the_action_are_those_of_its_page_and_its_script() {
    let action = read(Path::new(".github/actions/compare/action.yml"));
    let script = read(Path::new(".github/actions/compare/compare.sh"));
    let page = read(Path::new("docs/how-to/github-actions.md"));
    let inputs = keys_below(&action, "inputs");
    assert!(inputs.len() > 5 && inputs.contains("fail-if"), "{inputs:?}");

    let (_, section) = page.split_once("## Inputs\n").expect("a section on inputs");
    let rows = section.split("\n## ").next().unwrap_or_default().lines();
    let documented: BTreeSet<_> = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(documented, inputs);

    for input in &inputs {
        assert!(action.contains(&format!("inputs.{input} ")), "nothing uses the input `{input}`");
    }
    let passed = action.lines().filter_map(|line| line.trim().split_once(": ${{ inputs."));
    for (variable, _) in passed.filter(|(variable, _)| *variable == variable.to_uppercase()) {
        assert!(script.contains(&format!("${{{variable}:-")), "the script does not read {variable}");
    }

    // what the workflow of the page gives the action
    let (_, step) = page.split_once("/.github/actions/compare@").expect("a workflow that uses the action");
    let step = step.split("```").next().unwrap_or_default();
    let given = step.lines().filter_map(|line| line.strip_prefix("          ")?.split_once(':'));
    let given: BTreeSet<_> = given.map(|(key, _)| key).filter(|key| !key.starts_with(' ')).collect();
    assert!(given.contains("experiment") && given.is_subset(&inputs), "{given:?}");
}

#[test]
fn keys_of_a_block_end_with_it() {
    let yaml = "name: a\ninputs:\n  one:\n    required: true\n  two:\n    default: ''\noutputs:\n  three:\n";
    assert_eq!(keys_below(yaml, "inputs"), BTreeSet::from(["one", "two"]));
}
