//! `cargo xtask generate [--check]`: writes the files that are generated from the code, or checks that they are up
//! to date.
#![forbid(unsafe_code)]

mod factors;
mod flags;
mod generate;
#[cfg(test)]
mod imports;
mod kills;
mod recipes;
mod reference;
mod rooms;
mod slowdown;
mod soak;
#[cfg(test)]
#[path = "../tests/tree/mod.rs"]
mod tests;
mod transparency;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

const USAGE: &str = "usage: cargo xtask generate [--check]\n       cargo xtask kills --driver NAME[,NAME] [--runs N] [--seed S]";

/// Error with a message.
type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["generate"] => generate::write(),
        ["generate", "--check"] => generate::check(),
        ["kills", rest @ ..] => kills::run(rest),
        ["recipes", rest @ ..] => recipes::run(rest),
        ["slowdown", rest @ ..] => slowdown::run(rest),
        ["slowdown-probe"] => slowdown::probe(),
        ["soak", rest @ ..] => soak::run(rest),
        ["transparency", rest @ ..] => transparency::run(rest),
        _ => {
            eprintln!(
                "{USAGE}\n{}\n{}\n{}\n{}",
                recipes::USAGE,
                slowdown::USAGE,
                soak::USAGE,
                transparency::USAGE
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the build directory of cargo.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}

/// Returns the root of the tree.
fn root() -> PathBuf {
    let mut path = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
    path.pop();
    path.pop();
    path
}
