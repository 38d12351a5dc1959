//! Command that measures two results as variants of one.

use std::collections::BTreeSet;

use results::ResultDocument;

use crate::differences::{environment, unequal};

/// Returns how to measure both results in alternating blocks, with the exact command if it follows from their
/// command lines.
#[must_use]
pub fn interleave_hint(baseline: &ResultDocument, treatment: &ResultDocument) -> String {
    match command(baseline, treatment) {
        Some(command) => format!("To measure both under the same conditions, in alternating blocks: `{command}`."),
        None => "To measure both under the same conditions, in alternating blocks, write what each was measured with as a \
                 variant: `ddsmark compare --interleave 'A' 'B'`; two builds of a driver are two files, two versions of a \
                 middleware `NAME@VERSION`, and a variable of the environment is `--set factors.env.NAME=VALUE`."
            .to_owned(),
    }
}

/// Returns the command that measures both, if their commands differ, or if variables or driver files differ.
fn command(baseline: &ResultDocument, treatment: &ResultDocument) -> Option<String> {
    let mut variants = [arguments(baseline)?, arguments(treatment)?];
    if variants[0] == variants[1] {
        let is_run = |words: &[String]| words.first().is_some_and(|word| word != CHARACTERIZE);
        if !is_run(&variants[0]) {
            return None;
        }
        let (before, after) = (environment(baseline), environment(treatment));
        let values = [&before, &after];
        let mut found = false;
        for difference in unequal(&before, &after) {
            let set = |key: &str, value: Option<&String>| match value {
                Some(value) => format!("{key}={}", toml_text(value)),
                None => format!("{key}=false"),
            };
            let field = difference.field.as_str();
            // files that a variable names have their own field
            let variable = field.strip_prefix("env.variable.").filter(|name| !name.contains('/'));
            let file = field.strip_prefix("env.driver.").and_then(|field| field.strip_suffix("/file"));
            let key = match (variable, file) {
                (Some(name), _) => format!("factors.env.{name}"),
                (None, Some(_)) if drivers(baseline) == 1 => "factors.driver".to_owned(),
                _ => continue,
            };
            found = true;
            for (words, fields) in variants.iter_mut().zip(values) {
                words.extend(["--set".to_owned(), set(&key, fields.get(field))]);
            }
        }
        if !found {
            return None;
        }
    }
    let [a, b] = variants.map(|words| shlex::try_join(words.iter().map(String::as_str)).ok());
    shlex::try_join(["ddsmark", "compare", "--interleave", &a?, &b?]).ok()
}

/// Formats a text value for `--set`, quoted if it could be parsed as another type.
fn toml_text(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._:@+-".contains(c);
    let word = !value.is_empty()
        && value.chars().all(plain)
        && value.starts_with(|c: char| c == '/' || c.is_ascii_alphabetic());
    if word && value != "true" && value != "false" {
        value.to_owned()
    } else {
        serde_json::Value::from(value).to_string()
    }
}

fn drivers(document: &ResultDocument) -> usize {
    let names: BTreeSet<&str> = document.cells.iter().map(|cell| cell.factors.driver.as_str()).collect();
    names.len()
}

const CHARACTERIZE: &str = "characterize";

/// Returns the arguments of a result as those of a variant, without output directory and seed. `None` if it was not
/// measured by a single command.
fn arguments(document: &ResultDocument) -> Option<Vec<String>> {
    let mut words = document.tool.command_line.iter().skip(1).cloned();
    let mut kept = match words.next()?.as_str() {
        "run" => Vec::new(),
        CHARACTERIZE => vec![CHARACTERIZE.to_owned()],
        _ => return None,
    };
    while let Some(word) = words.next() {
        let value = |flag: &str| word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='));
        match word.as_str() {
            "--json" | "--force" => {}
            "-o" | "--out" | "--seed" => drop(words.next()),
            "--resume" => return None,
            "--set" => {
                let set = words.next()?;
                if !set.trim_start().starts_with("design.seed") {
                    kept.extend([word, set]);
                }
            }
            _ if value("--out") || value("--seed") => {}
            _ if value("--resume") => return None,
            _ => kept.push(word),
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::toml_text;

    #[test]
    fn values_of_set_stay_text() {
        let given = ["/x.so", "udp@1.2", "a,b", "false", "12", "", "file:///x.xml", "say \"hi\""];
        let expected = [
            "/x.so",
            "udp@1.2",
            "\"a,b\"",
            "\"false\"",
            "\"12\"",
            "\"\"",
            "file:///x.xml",
            "\"say \\\"hi\\\"\"",
        ];
        assert_eq!(given.map(toml_text), expected);
    }
}
