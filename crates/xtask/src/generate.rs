//! Generated files: their sources, and a check that they are up to date.

use std::{fs, path::PathBuf, process::Command};

use results::{Comparison, KeptSelfTests, ResultDocument};

use crate::{
    Error, capabilities, crate_graph, factors, kept_results, page_charts, page_tables, pages::with_block,
    recipes::target, reference, root,
};

/// Generated file: its path from the root of the tree, and its expected text.
struct Generated {
    path: PathBuf,
    text: String,
}

/// Writes every generated file that is not up to date: first the data of tables and charts.
pub fn write() -> Result<(), Error> {
    for files in [data, all] {
        for file in files()? {
            if !file.is_current() {
                let path = root().join(&file.path);
                fs::create_dir_all(path.parent().ok_or("a file lies in a folder")?)?;
                fs::write(&path, &file.text)?;
                println!("wrote {}", file.path.display());
            }
        }
    }
    Ok(())
}

/// Returns an error if a generated file is not up to date, or the table of capabilities is not that of the program.
pub fn check() -> Result<(), Error> {
    let disagreements = capabilities::disagreements(&capabilities::read()?, &capabilities::of_the_program()?);
    if !disagreements.is_empty() {
        let hint = "correct docs/reference/capabilities.md, names and words, and run `make generate`";
        return Err(format!("{}\nhint: {hint}", disagreements.join("\n")).into());
    }
    let files = data()?.into_iter().chain(all()?);
    let stale: Vec<String> =
        files.filter(|file| !file.is_current()).map(|file| file.path.display().to_string()).collect();
    if stale.is_empty() {
        Ok(())
    } else {
        Err(format!("not up to date: {}\nhint: run `make generate`", stale.join(", ")).into())
    }
}

impl Generated {
    fn is_current(&self) -> bool {
        fs::read_to_string(root().join(&self.path)).is_ok_and(|text| text == self.text)
    }
}

/// Returns the tables that follow from kept results.
fn data() -> Result<Vec<Generated>, Error> {
    Ok(kept_results::tables()?.into_iter().map(|(path, text)| Generated { path, text }).collect())
}

/// Returns all other generated files.
fn all() -> Result<Vec<Generated>, Error> {
    let schemas = [
        ("result", results::json_schema::<ResultDocument>("A result of ddsmark")),
        ("comparison", results::json_schema::<Comparison>("A comparison of ddsmark")),
        ("selftest", results::json_schema::<KeptSelfTests>("What selftests of ddsmark found, by driver")),
        ("control", control::json_schema()),
        ("experiment", experiment::json_schema()),
    ];
    let schemas =
        schemas.map(|(name, text)| Generated { path: format!("schemas/{name}.schema.json").into(), text });
    let mut all = Vec::from(schemas);
    all.extend([
        architecture()?,
        Generated { path: "docs/reference/experiment-file.md".into(), text: experiment_file()? },
        Generated { path: "docs/reference/factors.md".into(), text: factors::reference() },
        Generated { path: "docs/reference/perftest.md".into(), text: perftest::reference() },
        Generated { path: "docs/reference/cli.md".into(), text: ddsmark(&["generate", "reference"])? },
    ]);
    let table = capabilities::read()?;
    for path in capabilities::COMPARISONS.map(PathBuf::from) {
        let text = fs::read_to_string(root().join(&path))?;
        all.push(Generated { text: capabilities::with_column(&path, &text, &table)?, path });
    }
    all.extend(page_charts::charts()?.into_iter().map(|(path, text)| Generated { path, text }));
    all.extend(page_tables::pages()?.into_iter().map(|(path, text)| Generated { path, text }));
    Ok(all)
}

/// Returns the reference of experiment files, from their schema.
fn experiment_file() -> Result<String, Error> {
    reference::of_schema(&serde_json::from_str(&experiment::json_schema())?)
}

/// Returns the output of a `ddsmark` command. The program is built together with the workspace and its tests: other features of its
/// dependencies would build all of them again, and replace the programs that tests may be using.
fn ddsmark(words: &[&str]) -> Result<String, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .args(["build", "--quiet", "--workspace", "--all-features", "--bins", "--tests"])
        .current_dir(root());
    let mut program = Command::new(target().join("debug/ddsmark"));
    program.args(words).current_dir(root());
    succeed(&mut build)?;
    succeed(&mut program)
}

/// Returns the output of a command.
fn succeed(command: &mut Command) -> Result<String, Error> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns ARCHITECTURE.md with its table of crates.
fn architecture() -> Result<Generated, Error> {
    let path = PathBuf::from("ARCHITECTURE.md");
    let text = fs::read_to_string(root().join(&path))?;
    Ok(Generated { path, text: with_block(&text, "crates", &crate_graph::table()?)? })
}
