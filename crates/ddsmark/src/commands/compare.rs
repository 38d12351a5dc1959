//! `ddsmark compare`: two results, cells of one result, or two variants.

use std::path::Path;

use results::{CellResult, Directory, ResultDocument};
use verdicts::{CompareOptions, CompareSide, Criterion};

use super::interleave;
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        result_args::CompareArgs,
    },
    work::comparison::{conclude, variants},
};

pub fn execute(flags: &CompareArgs) -> Result<ExitStatus> {
    let options = compare_options(flags)?;
    match (&flags.interleave, &flags.baseline, &flags.treatment) {
        (Some(variants), ..) => interleave::execute(variants, flags, &options),
        (None, Some(baseline), Some(treatment)) => {
            let (before, after) = (Named::parse(baseline), Named::parse(treatment));
            let (baseline, treatment) =
                (Directory::load(Path::new(before.path))?, Directory::load(Path::new(after.path))?);
            let compared = verdicts::compare(&before.side(&baseline)?, &after.side(&treatment)?, &options);
            conclude(compared, flags)
        }
        (None, baseline, _) => {
            let out = baseline.as_deref().unwrap_or_default();
            variants(out, &Directory::load(Path::new(out))?, &options, flags)
        }
    }
}

/// Returns the options of the comparison.
fn compare_options(flags: &CompareArgs) -> Result<CompareOptions> {
    let criteria = flags.fail_if.iter().map(|text| criterion(text)).collect::<Result<_, _>>()?;
    Ok(CompareOptions {
        factors: flags.factor.clone(),
        metrics: flags.metric.clone(),
        criteria,
        force: flags.force,
    })
}

fn criterion(text: &str) -> Result<Criterion> {
    Criterion::parse(text).map_err(|fault| {
        let width = text[fault.at.clone()].chars().count().max(1);
        let mark = format!("{}{}", " ".repeat(text[..fault.at.start].chars().count()), "^".repeat(width));
        let error = format!("`--fail-if`: {}", fault.error);
        CliError::usage(error, fault.hint).with_details(vec![text.to_owned(), mark])
    })
}

/// A result, with a pattern for its cells.
struct Named<'t> {
    text: &'t str,
    path: &'t str,
    cells: Option<&'t str>,
}

impl<'t> Named<'t> {
    /// Splits at the first colon after an existing path. A text that is itself an existing path is not split.
    fn parse(text: &'t str) -> Self {
        let whole = Self { text, path: text, cells: None };
        if Path::new(text).exists() {
            return whole;
        }
        let colons = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let mut existing = colons.filter(|(path, _)| Path::new(path).exists());
        existing.next().map_or(whole, |(path, cells)| Self { text, path, cells: Some(cells) })
    }

    fn side<'d>(&self, document: &'d ResultDocument) -> Result<CompareSide<'d>> {
        let is_meant = |cell: &&CellResult| self.cells.is_none_or(|pattern| matches(pattern, &cell.id));
        let cells: Vec<&CellResult> = document.cells.iter().filter(is_meant).collect();
        match (cells.is_empty(), self.cells) {
            (true, Some(pattern)) => {
                let ids = document.cells.iter().map(|cell| cell.id.clone()).collect();
                let error = format!("`{}` has no cell `{pattern}`", self.path);
                let hint = "name one of these cells, or several with `*`";
                Err(CliError::usage(error, hint).with_details(ids))
            }
            _ => Ok(CompareSide { name: self.name(), document, cells }),
        }
    }

    fn name(&self) -> String {
        // The cells are listed next to it.
        if self.cells.is_some() { self.path.to_owned() } else { self.text.to_owned() }
    }
}

/// Returns whether a text matches a pattern, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    text.strip_prefix(before).is_some_and(|rest| {
        (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(after, &rest[at..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_matches_any_text() {
        for (pattern, text) in [("a/b", "a/b"), ("*", ""), ("*/b", "a/b"), ("a*", "a/b"), ("*a*c", "bac/c")] {
            assert!(matches(pattern, text), "{pattern}, {text}");
        }
        for (pattern, text) in [("a", "a/b"), ("*/c", "a/b"), ("a*b", "a"), ("", "a")] {
            assert!(!matches(pattern, text), "{pattern}, {text}");
        }
    }

    #[test]
    fn cells_stand_behind_the_colon_of_a_path_that_exists() {
        let named = |text: &'static str| (Named::parse(text).path, Named::parse(text).cells);
        assert_eq!(named("/:udp/*"), ("/", Some("udp/*")));
        assert_eq!(named("/"), ("/", None));
        assert_eq!(named("/nowhere:udp"), ("/nowhere:udp", None));
    }
}
