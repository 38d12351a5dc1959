//! Options of `perftest.ini`.

use std::collections::BTreeMap;

use crate::{
    entry::{Entries, Entry},
    error::{Cause, PerftestError, Source},
    generation::Generation,
    table::{IniKey, Kind, Match, OPTIONS, OptionRow, Part, resolve, similar},
    value::{OptionValue, boolean, on_command_line, period},
};

/// Text of a file with options.
#[derive(Clone, Copy, Debug)]
pub struct IniFile<'t> {
    /// Path for messages.
    pub path: &'t str,
    /// Text.
    pub text: &'t str,
}

/// Period of which the file has one part or both.
#[derive(Default)]
struct Halves<'t> {
    seconds: Option<&'t str>,
    nanoseconds: Option<&'t str>,
}

/// Returns the options of a file.
///
/// Lines that are empty or begin with `#`, `;` or `[` have no meaning. Keys are those of release 5.1.0.9.
pub(crate) fn parse(file: IniFile<'_>, generation: Generation) -> Result<Entries, PerftestError> {
    let mut entries = Entries::default();
    let mut lines: BTreeMap<(&str, Part), usize> = BTreeMap::new();
    let mut halves: BTreeMap<&str, Halves<'_>> = BTreeMap::new();
    for (index, line) in file.text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';', '[']) {
            continue;
        }
        let source = Source::File { path: file.path.into(), line: index + 1 };
        let error = |cause| PerftestError { source: source.clone(), item: line.to_owned(), cause };
        let (name, text) = line.split_once('=').ok_or_else(|| error(Cause::NotAnEntry))?;
        let (name, text) = (normalized(name), text.trim());
        let (row, key) = find(&name, generation).ok_or_else(|| error(unknown(&name)))?;
        if let Some(first) = lines.insert((row.name, key.part), index + 1) {
            return Err(error(Cause::Repeated { first }));
        }
        let value = match key.part {
            Part::Whole => whole(row, generation, text),
            Part::Inverted => boolean(text).map(|on| OptionValue::Flag(!on)),
            Part::Seconds => {
                let halves = halves.entry(row.name).or_default();
                halves.seconds = Some(text);
                both(row, generation, halves)
            }
            Part::Nanoseconds => {
                let halves = halves.entry(row.name).or_default();
                halves.nanoseconds = Some(text);
                both(row, generation, halves)
            }
        };
        let value = value.map_err(error)?;
        entries.0.push(Entry { row, value, item: line.to_owned(), source });
    }
    Ok(entries)
}

/// Returns a key in lower case, with single spaces.
fn normalized(key: &str) -> String {
    let words: Vec<String> = key.split_whitespace().map(str::to_ascii_lowercase).collect();
    words.join(" ")
}

fn find(name: &str, generation: Generation) -> Option<(&'static OptionRow, IniKey)> {
    let rows = OPTIONS.iter().filter(|row| row.edition(generation).is_some());
    let mut keys = rows.flat_map(|row| row.ini.iter().map(|key| (*row, *key)));
    keys.find(|(_, key)| key.name == name)
}

fn unknown(name: &str) -> Cause {
    let option = match resolve(name.trim_start_matches('-'), Generation::V5_1) {
        Match::One(row) if row.ini.is_empty() && row.name.eq_ignore_ascii_case(name) => Some(row.name),
        _ => None,
    };
    let keys = OPTIONS.iter().flat_map(|row| row.ini).map(|key| key.name);
    Cause::UnknownKey { similar: similar(name, keys), option }
}

/// Returns the value of a key that sets all of it.
fn whole(row: &'static OptionRow, generation: Generation, text: &str) -> Result<OptionValue, Cause> {
    let edition = row.edition(generation).ok_or(Cause::NotAnEntry)?;
    match row.kind {
        Kind::Flag => boolean(text).map(OptionValue::Flag),
        // `false` is the absence of the option.
        Kind::Sizes => {
            boolean(text).map(|on| if on { OptionValue::Sizes(Vec::new()) } else { OptionValue::Flag(false) })
        }
        _ => on_command_line(row, edition, generation, Some(text)),
    }
}

/// Returns a period; a part that the file does not have is 0.
fn both(row: &'static OptionRow, generation: Generation, halves: &Halves<'_>) -> Result<OptionValue, Cause> {
    let edition = row.edition(generation).ok_or(Cause::NotAnEntry)?;
    let (seconds, nanoseconds) = (halves.seconds.unwrap_or("0"), halves.nanoseconds.unwrap_or("0"));
    period(row, edition, seconds, nanoseconds).map(OptionValue::Period)
}
