//! Numbers within sentences: written as charts write them, and kept on a line with their units.

use crate::number::{NBSP, separated};

/// Units that follow a number after a space.
const UNITS: [&str; 29] = [
    "%",
    "ns",
    "µs",
    "ms",
    "s",
    "min",
    "h",
    "Hz",
    "kHz",
    "MHz",
    "B",
    "byte",
    "bytes",
    "kB",
    "MB",
    "GB",
    "KiB",
    "MiB",
    "GiB",
    "bit/s",
    "kbit/s",
    "Mbit/s",
    "Gbit/s",
    "B/s",
    "MB/s",
    "MiB/s",
    "samples/s",
    "packets/s",
    "1/s",
];

/// Returns a sentence whose numbers look as those of charts, as in `63 000 B` or `−5.1 %`: thin spaces from five digits on, a minus
/// sign, and no line break between a number and its unit.
///
/// Names stay as they are: words between backticks, versions, dates and other words that contain a number.
#[must_use]
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd number of backticks is text.
    let has_code = parts.len() % 2 == 1;
    let part = |(index, part): (usize, &&str)| match has_code && index % 2 == 1 {
        true => (*part).to_owned(),
        false => with_numbers(part, true),
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join("`")
}

/// Returns a text with no-break spaces between numbers and their units.
pub(crate) fn kept_together(text: &str) -> String {
    with_numbers(text, false)
}

fn with_numbers(text: &str, is_prose: bool) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let number = &number[..length(number)];
        rest = &rest[start + number.len()..];
        let is_negative = before.ends_with('-') && begins(before.strip_suffix('-').unwrap_or(before), &shown);
        let is_number = (is_negative || begins(before, &shown)) && ends(rest);
        match before.strip_suffix('-').filter(|_| is_prose && is_negative && is_number) {
            Some(before) => {
                shown.push_str(before);
                shown.push('\u{2212}');
            }
            None => shown.push_str(before),
        }
        if is_prose && is_number {
            shown.push_str(&separated(number));
        } else {
            shown.push_str(number);
        }
        if is_number && let Some(unit) = rest.strip_prefix(' ').filter(|unit| begins_with_unit(unit)) {
            shown.push(NBSP);
            rest = unit;
        }
    }
    shown + rest
}

/// Returns the number of bytes of the number that a text begins with: digits, and a point only between digits.
fn length(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let whole = digits(text);
    let decimals = text[whole..].strip_prefix('.').map_or(0, digits);
    if decimals == 0 { whole } else { whole + 1 + decimals }
}

/// Returns whether a number may begin after this text, of which `shown` is what precedes it.
fn begins(text: &str, shown: &str) -> bool {
    let mut letters = text.chars().rev().chain(shown.chars().rev());
    match letters.next() {
        Some('.') => letters.next() == Some('.'),
        Some(c) => c.is_whitespace() || "([{+\u{2212}<>\u{2264}\u{2265}\u{2248}~±".contains(c),
        None => true,
    }
}

/// Returns whether a number may end before this text.
fn ends(text: &str) -> bool {
    let mut letters = text.chars();
    match letters.next() {
        // The end of a sentence, or of a range; not a version.
        Some('.') => letters.next().is_none_or(|c| c.is_whitespace() || c == '.'),
        Some(',') => letters.next().is_none_or(char::is_whitespace),
        Some(c) => c.is_whitespace() || ")]};:!?%\u{2026}".contains(c),
        None => true,
    }
}

fn begins_with_unit(text: &str) -> bool {
    let is_of_unit = |c: char| c.is_alphanumeric() || "%/".contains(c);
    let end = text.find(|c: char| !is_of_unit(c)).unwrap_or(text.len());
    UNITS.contains(&&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_sentences_are_those_of_charts() {
        for (text, shown) in [
            ("With 63000 bytes, 5.1 % less", "With 63\u{202f}000\u{a0}bytes, 5.1\u{a0}% less"),
            ("1234567.5 samples/s.", "1\u{202f}234\u{202f}567.5\u{a0}samples/s."),
            (
                "-5.1 % (95 % -61234..-4.2)",
                "\u{2212}5.1\u{a0}% (95\u{a0}% \u{2212}61\u{202f}234..\u{2212}4.2)",
            ),
            ("at 10000, 20000 and 30000.", "at 10\u{202f}000, 20\u{202f}000 and 30\u{202f}000."),
            ("12 samples in 8765 µs", "12 samples in 8765\u{a0}µs"),
            ("größe 12345 µs", "größe 12\u{202f}345\u{a0}µs"),
            ("5 secrets of 3 bytesize", "5 secrets of 3 bytesize"),
            ("64", "64"),
            ("", ""),
        ] {
            assert_eq!(prose(text), shown);
            assert_eq!(prose(shown), shown, "twice is once");
        }
    }

    #[test]
    fn numbers_of_names_stay() {
        for text in [
            "ring-2 of 2026-11-27, --pin=-1",
            "udp/latency/63000/a",
            "version 10.12345.1 at 127.0.0.1:12345",
            "commit 2025123a, sim@12345, x12345",
            "`size 63000 B` and `-5 %`",
            "cores 0-3,4-70000",
        ] {
            assert_eq!(prose(text), text);
        }
        assert_eq!(prose("an open ` and 63000"), "an open ` and 63\u{202f}000");
    }

    #[test]
    fn labels_only_keep_numbers_with_their_units() {
        assert_eq!(kept_together("63000 B at -5 %"), "63000\u{a0}B at -5\u{a0}%");
        assert_eq!(kept_together("a-64 B"), "a-64 B");
    }
}
