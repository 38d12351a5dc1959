//! Table of what ddsmark can do: compared with the program, and the source of the column of ddsmark in other tables.

use std::{collections::BTreeSet, fs, path::Path};

use experiment::{FACTORS, HostSpec, Topology, Workload};
use results::Metric;

use crate::{Error, root};

/// Page with the table.
const PAGE: &str = "docs/reference/capabilities.md";
/// Pages with a table of tools whose first column of answers is that of ddsmark.
pub const COMPARISONS: [&str; 2] = ["README.md", "docs/explain/other-tools.md"];
/// Beginning of the header of each of these tables.
const HEADER: &str = "| | ddsmark |";

/// Row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Capability {
    /// Name of the row.
    pub name: String,
    /// Words about it.
    pub words: String,
    /// Names in the program, sorted; empty if it is not a list of names.
    pub names: BTreeSet<String>,
}

/// Returns the rows of the table.
pub fn read() -> Result<Vec<Capability>, Error> {
    Ok(rows(&fs::read_to_string(root().join(PAGE))?))
}

/// Returns the cells of a row of a table; `None` for other lines.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect())
}

/// Returns the rows of the table of a page.
pub fn rows(page: &str) -> Vec<Capability> {
    let table = page.lines().skip_while(|line| !line.starts_with(HEADER)).skip(2);
    let rows = table.map_while(cells).filter_map(|cells| {
        let [name, words, names] = <[&str; 3]>::try_from(cells).ok()?;
        let names = names.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect();
        Some(Capability { name: name.to_owned(), words: words.to_owned(), names })
    });
    rows.collect()
}

/// Returns the names of the program for each row that lists them.
pub fn of_the_program() -> Result<Vec<(&'static str, BTreeSet<String>)>, Error> {
    let reference = fs::read_to_string(root().join("docs/reference/cli.md"))?;
    let names = |all: &mut dyn Iterator<Item = &str>| all.map(ToOwned::to_owned).collect();
    Ok(vec![
        ("commands", commands(&reference)),
        ("it measures", names(&mut Workload::ALL.iter().map(|workload| workload.name()))),
        ("metrics", names(&mut Metric::ALL.iter().map(|metric| metric.name()))),
        ("middleware", drivers()?),
        ("several hosts", names(&mut HostSpec::kinds())),
        ("topologies", names(&mut Topology::FORMS.iter().copied())),
        ("DDS features", names(&mut FACTORS.iter().map(|factor| factor.key))),
        ("output", formats(&reference)),
    ])
}

/// Returns the commands of the reference of the command line.
fn commands(reference: &str) -> BTreeSet<String> {
    let titles = reference.lines().filter_map(|line| line.strip_prefix("## `ddsmark ")?.strip_suffix('`'));
    titles.filter(|command| !command.contains(' ')).map(ToOwned::to_owned).collect()
}

/// Returns the formats in which `ddsmark report` prints a result, besides text.
fn formats(reference: &str) -> BTreeSet<String> {
    let section = reference.split("\n## `ddsmark report`\n").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let output = section.split("\nOutput:\n").nth(1).unwrap_or_default();
    let output = output.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
    let flags = output.filter_map(|line| line.trim_start().strip_prefix("--"));
    // Without the name of its value.
    let flags = flags.map(|flag| flag.split([' ', '[']).next().unwrap_or(flag));
    // `--full` is more text, and `--overlay` adds figures to each format.
    flags.filter(|flag| !["full", "overlay"].contains(flag)).map(ToOwned::to_owned).collect()
}

/// Returns the folders of `drivers/` with a build file.
fn drivers() -> Result<BTreeSet<String>, Error> {
    let mut found = BTreeSet::new();
    for folder in fs::read_dir(root().join("drivers"))? {
        let folder = folder?.path();
        if ["Cargo.toml", "CMakeLists.txt"].iter().any(|file| folder.join(file).is_file()) {
            found.extend(folder.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    Ok(found)
}

/// Returns where the table and the program disagree: a name that only one of them has, and a denial beside names.
pub fn disagreements(table: &[Capability], program: &[(&str, BTreeSet<String>)]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, names) in program {
        let Some(row) = table.iter().find(|row| row.name == *name) else {
            found.push(format!("the row `{name}` is missing"));
            continue;
        };
        found.extend(names.difference(&row.names).map(|new| format!("`{name}` lacks `{new}`")));
        found.extend(row.names.difference(names).map(|old| format!("`{name}`: the program has no `{old}`")));
    }
    let is_denial = |words: &str| {
        let first = words.split_whitespace().next().unwrap_or_default();
        ["no", "none"].contains(&first.trim_matches(|sign: char| !sign.is_alphanumeric()))
    };
    let rows = table.iter().filter(|row| !row.names.is_empty());
    found.extend(
        rows.clone()
            .filter(|row| is_denial(&row.words))
            .map(|row| format!("`{}` denies its names", row.name)),
    );
    let unknown = rows.filter(|row| !program.iter().any(|(name, _)| *name == row.name));
    found.extend(unknown.map(|row| format!("nothing in the program is compared with `{}`", row.name)));
    found
}

/// Returns a page whose table of tools has the words of ddsmark.
pub fn with_column(page: &Path, text: &str, table: &[Capability]) -> Result<String, Error> {
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    let header = lines.iter().position(|line| line.starts_with(HEADER));
    let first = header.ok_or_else(|| format!("{}: no table begins with `{HEADER}`", page.display()))? + 2;
    for line in lines.iter_mut().skip(first) {
        let Some(mut cells) = cells(line) else { break };
        let row = table.iter().find(|row| row.name == cells[0]);
        let row = row.ok_or_else(|| format!("{}: {PAGE} has no row `{}`", page.display(), cells[0]))?;
        cells[1] = &row.words;
        *line = format!("| {} |", cells.join(" | "));
    }
    Ok(lines.join("\n") + "\n")
}
