//! Recipes: experiment files that come with ddsmark, one for each question.

use crate::cli::cli_error::{CliError, Result};

/// Embeds `recipes/NAME.toml` of the source tree.
macro_rules! recipes {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../recipes/", $name, ".toml")))),*]
    };
}

/// Names and texts of the recipes.
pub const RECIPES: &[(&str, &str)] = recipes![
    "smoke",
    "latency-vs-size",
    "throughput-vs-size",
    "loaded-latency",
    "loaded-latency-percent",
    "max-throughput",
    "batching",
    "demand-sweep",
    "bursts",
    "mix",
    "sierra-nevada",
    "mont-blanc",
    "vehicle",
    "large-data-11mb",
    "qos-cost",
    "history",
    "queues",
    "receive-modes",
    "transports",
    "fan-out-scaling",
    "fan-out-multicast",
    "fan-in",
    "mesh",
    "many-topics",
    "instances",
    "implementations",
    "discovery",
    "two-hosts",
    "slow-link",
    "lossy-link",
    "long-link",
    "seed-000",
    "seed-004",
];

/// Recipes of earlier versions, and the arguments that measure the same now.
const REPLACED: &[(&str, &str)] = &[
    ("ring-round-trip", "qos-cost --in-flight 1 --topology ring-2,ring-4,ring-8"),
    ("ring-pipelined", "qos-cost --in-flight 1,4,16,64"),
    ("seed-003-ring", "qos-cost --topology ring-3 --host lab:3,rate=100mbit"),
];

/// Returns the text of a recipe.
pub fn find(name: &str) -> Result<&'static str> {
    if let Some((_, arguments)) = REPLACED.iter().find(|(replaced, _)| *replaced == name) {
        let hint = format!("run `ddsmark run {arguments}`");
        let cause = format!("recipe `{name}` is part of the recipe `qos-cost` now");
        return Err(CliError::usage(cause, hint));
    }
    RECIPES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text).ok_or_else(|| {
        let known: Vec<&str> = RECIPES.iter().map(|(name, _)| *name).collect();
        let hint =
            format!("available: {}; a file needs a `/` or an extension such as `.toml`", known.join(", "));
        CliError::usage(format!("recipe `{name}` not found"), hint)
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use experiment::Source;

    use super::*;

    #[test]
    fn each_recipe_starts_with_its_question_and_parses() {
        for (name, text) in RECIPES {
            let source = Source { path: (*name).to_owned(), text: (*text).to_owned(), sets: Vec::new() };
            let file = source.read().unwrap_or_else(|fault| panic!("{name}: {fault:#?}"));
            let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
            assert!(comment.join(" ").contains(file.question.get()), "{name}: {comment:?}");
        }
    }

    #[test]
    fn every_file_is_a_recipe_of_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
        let files = fs::read_dir(folder).expect("the recipes").flatten();
        let files: BTreeSet<String> = files
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
            .collect();
        assert_eq!(files, RECIPES.iter().map(|(name, _)| (*name).to_owned()).collect());
    }
}
