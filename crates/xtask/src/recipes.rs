//! `cargo xtask recipes`: table of all recipes, from their dry runs on this host.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;
use serde_json::Value;

use crate::{Error, root};

/// Print the table of all recipes, from their dry runs on this host
#[derive(Args)]
pub struct RecipesArgs {
    /// Program to run [default: the optimized ddsmark of this tree]
    #[arg(long, value_name = "PROGRAM")]
    ddsmark: Option<PathBuf>,
    /// Override a value in a recipe; can be repeated
    #[arg(long = "set", value_name = "RECIPE:KEY=VALUE", value_parser = recipe_and_change)]
    sets: Vec<(String, String)>,
}

fn recipe_and_change(text: &str) -> Result<(String, String), String> {
    let (recipe, change) = text.split_once(':').ok_or("not RECIPE:KEY=VALUE")?;
    Ok((recipe.to_owned(), change.to_owned()))
}

/// Prints the table: one `ddsmark run RECIPE --dry-run --json` per recipe. Minimum detectable effects need a result
/// of `ddsmark selftest` with the drivers on this host.
pub fn run(arguments: &RecipesArgs) -> Result<(), Error> {
    let program = arguments.ddsmark.clone().unwrap_or_else(|| target().join("release/ddsmark"));
    let mut names: Vec<String> = fs::read_dir(root().join("recipes"))?
        .filter_map(|file| Some(file.ok()?.file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
        .collect();
    names.sort();
    let mut plans = Vec::new();
    for name in names {
        let changes: Vec<&str> =
            arguments.sets.iter().filter(|(recipe, _)| *recipe == name).map(|(_, set)| &**set).collect();
        plans.push((plan(&program, &name, &changes)?, changes.join(" ")));
    }
    print!("{}", table(&plans));
    Ok(())
}

fn plan(program: &Path, name: &str, changes: &[&str]) -> Result<Value, Error> {
    let mut command = Command::new(program);
    command.args(["run", name, "--dry-run", "--json"]);
    command.args(changes.iter().flat_map(|set| ["--set", set]));
    let output = command.output().map_err(|error| format!("cannot run `{}`: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("recipe `{name}`: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the build directory of cargo.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}

/// Returns the table in Markdown.
fn table(plans: &[(Value, String)]) -> String {
    let mut text =
        "| recipe | cells | blocks | claims | blocks needed | time | smallest effect (80 % probability) |\n\
                    |---|---|---|---|---|---|---|\n"
            .to_owned();
    for (plan, changes) in plans {
        let name = plan["name"].as_str().unwrap_or_default();
        let changes = if changes.is_empty() { String::new() } else { format!(" with `{changes}`") };
        let cells = plan["cells"].as_array().map_or(0, Vec::len);
        let least = plan["least_blocks"].as_u64().map_or_else(|| "-".to_owned(), |least| least.to_string());
        let minutes = plan["expected_ns"].as_f64().unwrap_or_default() / 60e9;
        text += &format!(
            "| `{name}`{changes} | {cells} | {} | {} | {least} | {minutes:.0} min | {} |\n",
            plan["design"]["blocks"],
            plan["claims"],
            smallest(plan)
        );
    }
    text
}

/// Returns the minimum detectable effects of a plan, by driver and metric.
fn smallest(plan: &Value) -> String {
    let drivers: Vec<String> = plan["smallest_effect"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|detectable_effects| {
            let driver = detectable_effects["driver"].as_str().unwrap_or_default();
            let effects: Vec<String> = detectable_effects["effects"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|effect| {
                    let metric = effect["metric"].as_str().unwrap_or_default();
                    match (effect["least_pct"].as_f64(), effect["most_pct"].as_f64()) {
                        (Some(least), Some(most)) => format!("{metric} {least:.1} to {most:.1} %"),
                        _ => format!("{metric} unknown"),
                    }
                })
                .collect();
            if effects.is_empty() {
                return format!("`{driver}`: unknown, no selftest");
            }
            format!("`{driver}`: {}", effects.join(", "))
        })
        .collect();
    if drivers.is_empty() { "no claims".to_owned() } else { drivers.join("; ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dry_run_becomes_a_table_row() {
        let with = json!({
            "name": "pair", "cells": [1, 2], "design": { "blocks": 8 }, "claims": 2, "least_blocks": 7,
            "expected_ns": 90_000_000_000_u64,
            "smallest_effect": [
                { "driver": "dds", "effects": [
                    { "metric": "rtt_p50", "least_pct": 1.24, "most_pct": 2.0 },
                    { "metric": "rtt_p99", "least_pct": null, "most_pct": null },
                ] },
                { "driver": "other", "effects": [] },
            ],
        });
        let without = json!({
            "name": "alone", "cells": [1], "design": { "blocks": 6 }, "claims": 0, "least_blocks": null,
            "expected_ns": 60_000_000_000_u64, "smallest_effect": [],
        });
        let table = table(&[(with, "factors.size=64".to_owned()), (without, String::new())]);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| `pair` with `factors.size=64` | 2 | 8 | 2 | 7 | 2 min | `dds`: rtt_p50 1.2 to 2.0 %, rtt_p99 unknown; \
                 `other`: unknown, no selftest |",
                "| `alone` | 1 | 6 | 0 | - | 1 min | no claims |",
            ]
        );
    }
}
