//! Formatting of lists and ranges, and the numbers of a finding.

use std::collections::{BTreeMap, BTreeSet};

use results::{CellResult, Finding, FindingKind, format_micros, format_value};
use stats::Spread;

/// Maximum number of values over sizes that are listed one by one.
const TOLD: usize = 4;

/// Formats a range: `1.2 to 1.4`, or one value if both are the same text.
pub(crate) fn between(min: &str, max: &str) -> String {
    if min == max { min.to_owned() } else { format!("{min} to {max}") }
}

/// Formats a range of values.
pub(crate) fn values(min: f64, max: f64) -> String {
    between(&format_value(min), &format_value(max))
}

/// Formats a range of times in ns as µs.
pub(crate) fn micros(min_ns: f64, max_ns: f64) -> String {
    between(&format_micros(min_ns), &format_micros(max_ns))
}

/// Formats the number of runs: `3 runs each`, or the range if cells have different numbers.
pub(crate) fn runs<'s>(spreads: impl Iterator<Item = &'s Spread>) -> String {
    let counts: Vec<usize> = spreads.map(|spread| spread.n).collect();
    let (min, max) = (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    format!("{} runs each", between(&min.to_string(), &max.to_string()))
}

/// Formats a list: `a, b and c`.
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Formats sizes: `64, 128 and 256 bytes`.
pub(crate) fn sizes(of: impl Iterator<Item = u64>) -> String {
    format!("{} bytes", list(&of.map(|size| size.to_string()).collect::<Vec<_>>()))
}

/// Formats values over sizes: all of a few; otherwise the first, the last, and the range of those in between.
pub(crate) fn over_sizes<T>(
    items: &[T],
    value: impl Fn(&T) -> f64,
    word: impl Fn(&T) -> String,
    range: impl Fn(f64, f64) -> String,
) -> String {
    match items {
        [first, inner @ .., last] if items.len() > TOLD => {
            let values = || inner.iter().map(&value);
            let least = values().fold(f64::INFINITY, f64::min);
            let most = values().fold(f64::NEG_INFINITY, f64::max);
            let inner = format!("at {} sizes between them {}", inner.len(), range(least, most));
            format!("{}; {}; {inner}", word(first), word(last))
        }
        few => few.iter().map(word).collect::<Vec<_>>().join("; "),
    }
}

/// Formats a sentence about the sizes at which ranges overlap; empty if there are none.
pub(crate) fn overlap(at: &[u64]) -> String {
    if at.is_empty() {
        return String::new();
    }
    format!(" At {} the runs of the two overlap, so no difference shows.", sizes(at.iter().copied()))
}

/// Text of a finding.
pub(crate) struct Sentences {
    /// Main sentence.
    pub headline: String,
    /// Sentences that explain or limit it; may be empty.
    pub more: String,
}

impl From<String> for Sentences {
    fn from(headline: String) -> Self {
        Self { headline, more: String::new() }
    }
}

impl From<(String, String)> for Sentences {
    fn from((headline, more): (String, String)) -> Self {
        Self { headline, more: more.trim().to_owned() }
    }
}

/// Creates a finding of these cells, with its numbers. Numbers that are not finite are left out, because JSON has
/// none.
pub(crate) fn finding<'c>(
    kind: FindingKind,
    text: impl Into<Sentences>,
    cells: impl Iterator<Item = &'c CellResult>,
    numbers: impl IntoIterator<Item = (impl Into<String>, f64)>,
) -> Finding {
    let numbers = numbers.into_iter().filter(|(_, number)| number.is_finite());
    let numbers: BTreeMap<String, f64> = numbers.map(|(name, number)| (name.into(), number)).collect();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let cells = cells.filter(|cell| known.insert(&cell.id)).map(|cell| cell.id.clone()).collect();
    let Sentences { headline, more } = text.into();
    let text = if more.is_empty() { headline.clone() } else { format!("{headline} {more}") };
    Finding { kind, limits: Vec::new(), headline, text, cells, numbers, growth: None }
}

/// Returns median, minimum and maximum with names that end in the unit: `NAME_UNIT`, `NAME_min_UNIT`,
/// `NAME_max_UNIT`.
pub(crate) fn three(name: &str, unit: &str, spread: &Spread) -> [(String, f64); 3] {
    [
        (format!("{name}_{unit}"), spread.median),
        (format!("{name}_min_{unit}"), spread.min),
        (format!("{name}_max_{unit}"), spread.max),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sizes_are_shortened_to_ends_and_range() {
        let text = |items: &[f64]| {
            over_sizes(items, |item| *item, |item| format!("{item}"), |min, max| format!("{min} to {max}"))
        };
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[1.0, 2.0, 3.0, 4.0]), "1; 2; 3; 4");
        assert_eq!(text(&[2.0, 3.0, 9.0, 4.0, 1.0, 5.0]), "2; 5; at 4 sizes between them 1 to 9");
    }

    #[test]
    fn words_are_joined() {
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&[]), "");
        assert_eq!(list(&words[..1]), "a");
        assert_eq!(list(&words), "a, b and c");
        assert_eq!(between("3", "3"), "3");
        assert_eq!(between("3", "5"), "3 to 5");
    }
}
