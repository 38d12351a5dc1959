//! `cargo xtask`: writes the files that are generated from the code, and checks that they are up to date.
#![forbid(unsafe_code)]

mod book;
mod capabilities;
mod crate_graph;
mod factors;
mod generate;
#[cfg(test)]
mod imports;
mod kept_changes;
mod kept_ratios;
mod kept_results;
mod kept_topics;
mod kept_values;
mod notice;
mod page_charts;
mod page_tables;
mod pages;
mod recipes;
mod reference;
#[cfg(test)]
#[path = "../tests/tree/mod.rs"]
mod tests;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;

/// Error with a message.
type Error = Box<dyn std::error::Error>;

/// Maintain the files of this tree
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Write the files that are generated from the code
    Generate {
        /// Check that the files are up to date, and write nothing
        #[arg(long)]
        check: bool,
    },
    /// Print the licences of the packages that the programs and drivers contain
    Notice,
    Book(book::BookArgs),
    Recipes(recipes::RecipesArgs),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Generate { check: false } => generate::write(),
        Task::Generate { check: true } => generate::check(),
        Task::Notice => notice::print(),
        Task::Book(arguments) => book::write(&arguments),
        Task::Recipes(arguments) => recipes::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the root of the tree.
fn root() -> PathBuf {
    let mut path = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
    path.pop();
    path.pop();
    path
}
