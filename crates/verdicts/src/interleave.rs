//! Variants of one result, and how to measure two results as variants of one.

use std::collections::BTreeSet;

use results::{Cell, Comparison, Document};

use crate::{
    Asked, Refusal, Side, compare,
    differences::{environment, fields_of_both, unequal},
};

/// Compares variant B of a result with variant A; `None` if the result has no variants. They may differ in
/// everything in which the plan makes them differ.
///
/// # Errors
/// Returns an error if the variants must not be compared: see [`Refusal`].
pub fn compare_variants(
    place: &str,
    document: &Document,
    asked: &Asked,
) -> Option<Result<Comparison, Refusal>> {
    let variants = document.experiment.variants.as_ref()?;
    let cell = |id: &str| document.cells.iter().find(|cell| cell.id == id);
    let pairs: Vec<(&Cell, &Cell)> =
        variants.counterparts.iter().filter_map(|(b, a)| Some((cell(a)?, cell(b)?))).collect();
    let differing = |(a, b): &(&Cell, &Cell)| {
        let [a, b] = fields_of_both([(document, a), (document, b)]);
        unequal(&a, &b).into_iter().map(|difference| difference.field)
    };
    let factors: BTreeSet<String> = pairs.iter().flat_map(differing).collect();
    let asked = Asked { factors: factors.into_iter().collect(), ..asked.clone() };
    let is_of_b = |cell: &&Cell| variants.counterparts.contains_key(&cell.id);
    let (b, a): (Vec<&Cell>, Vec<&Cell>) = document.cells.iter().partition(is_of_b);
    // named as on the command line: both are cells of one result
    let side = |name: &str, cells| Side { name: format!("{place}:{name}/*"), document, cells };
    let compared = compare(&side("A", a), &side("B", b), &asked).map(|mut comparison| {
        let words = format!("A: {}; B: {}; measured in alternating blocks.", variants.a, variants.b);
        comparison.notes.insert(0, words);
        comparison
    });
    Some(compared)
}

/// Returns how to measure both results in alternating blocks, with the exact command if it follows from their
/// command lines.
#[must_use]
pub fn interleave_hint(baseline: &Document, treatment: &Document) -> String {
    match command(baseline, treatment) {
        Some(command) => format!("To measure both under the same conditions, in alternating blocks: `{command}`."),
        None => "To measure both under the same conditions, in alternating blocks, write what each was measured with as a \
                 variant: `ddsmark compare --interleave 'A' 'B'`; two builds of a driver are two files, two versions of a \
                 middleware `NAME@VERSION`, and a variable of the environment is `--set factors.env.NAME=VALUE`."
            .to_owned(),
    }
}

/// Returns the command that measures both, if their commands differ, or if variables or driver files differ.
fn command(baseline: &Document, treatment: &Document) -> Option<String> {
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

fn drivers(document: &Document) -> usize {
    let names: BTreeSet<&str> = document.cells.iter().map(|cell| cell.factors.driver.as_str()).collect();
    names.len()
}

const CHARACTERIZE: &str = "characterize";

/// Returns the arguments of a result as those of a variant, without output directory and seed. `None` if it was not
/// measured by a single command.
fn arguments(document: &Document) -> Option<Vec<String>> {
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
            "--out" | "--seed" => drop(words.next()),
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
