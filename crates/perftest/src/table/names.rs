//! Options by name: the exact name, else a unique prefix, else an alias, else the first option that begins with it.

use super::{
    other_options::{self, OtherOption},
    row::OptionRow,
    rows::OPTIONS,
};
use crate::generation::Generation;

/// Similarity from which a name is suggested.
const SIMILAR: f64 = 0.6;
/// Maximum number of suggested names.
const MOST_SIMILAR: usize = 3;
/// Maximum length of a name for which similar ones are sought: the comparison takes time with its square.
const MAX_NAME: usize = 64;

/// Options that a name can stand for.
#[derive(Clone, Debug)]
pub enum Match {
    /// One option.
    One(&'static OptionRow),
    /// Several options begin with the name: the first one by name, as the release takes it, and their number.
    First(&'static OptionRow, usize),
    /// Several options begin with the name, all of them additions to the release.
    Several(Vec<&'static OptionRow>),
    /// An option of the other generation.
    OtherGeneration(&'static OptionRow),
    /// An option of another release, that neither generation has.
    OtherRelease(&'static OtherOption),
    /// No option begins with the name.
    Unknown,
}

/// Returns the options that a name without its dash stands for. Case does not matter.
#[must_use]
pub fn resolve(name: &str, generation: Generation) -> Match {
    match among(name, generation) {
        Match::Unknown => match among(name, generation.other()) {
            Match::One(row) => Match::OtherGeneration(row),
            _ => other_options::find(name).map_or(Match::Unknown, Match::OtherRelease),
        },
        found => found,
    }
}

fn among(name: &str, generation: Generation) -> Match {
    let rows = || OPTIONS.iter().copied().filter(|row| row.edition(generation).is_some());
    if name.is_empty() {
        return Match::Unknown;
    }
    if let Some(row) = rows().find(|row| row.name.eq_ignore_ascii_case(name)) {
        return Match::One(row);
    }
    let starts = |full: &str| full.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let found: Vec<&'static OptionRow> = rows().filter(|row| starts(row.name)).collect();
    if let [row] = found[..] {
        return Match::One(row);
    }
    let is_alias =
        |row: &&'static OptionRow| row.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name));
    if let Some(row) = rows().find(is_alias) {
        return Match::One(row);
    }
    let of_release =
        |row: &&&'static OptionRow| row.edition(generation).is_some_and(|edition| !edition.added);
    match found.iter().filter(of_release).min_by_key(|row| row.name) {
        Some(first) => Match::First(first, found.len()),
        None if found.is_empty() => Match::Unknown,
        None => Match::Several(found),
    }
}

/// Returns the option of that exact name.
#[must_use]
pub fn find(name: &str) -> Option<&'static OptionRow> {
    OPTIONS.iter().copied().find(|row| row.name == name)
}

/// Returns the most similar of several names, the best first.
#[must_use]
pub fn similar<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    if name.len() > MAX_NAME {
        return Vec::new();
    }
    let name = name.to_ascii_lowercase();
    let close = |other: &str| strsim::normalized_damerau_levenshtein(&name, &other.to_ascii_lowercase());
    let mut rated: Vec<(f64, &str)> = names.into_iter().map(|other| (close(other), other)).collect();
    rated.retain(|(rate, _)| *rate >= SIMILAR);
    rated.sort_by(|a, b| b.0.total_cmp(&a.0));
    rated.into_iter().take(MOST_SIMILAR).map(|(_, other)| other).collect()
}
