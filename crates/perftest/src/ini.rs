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
        let (name, text) = line.split_once('=').ok_or_else(|| error(Cause::not_an_entry()))?;
        let (name, text) = (normalized(name), text.trim());
        let (row, key) = find(&name, generation).ok_or_else(|| error(unknown(&name)))?;
        if let Some(first) = lines.insert((row.name, key.part), index + 1) {
            let words = format!("has a value already, in line {first}");
            return Err(error(Cause::new(words, "remove one of the lines")));
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

/// Returns the cause of a key that no option has.
fn unknown(name: &str) -> Cause {
    let keys = OPTIONS.iter().flat_map(|row| row.ini).map(|key| key.name);
    let similar = similar(name, keys);
    let hint = match resolve(name.trim_start_matches('-'), Generation::V5_1) {
        Match::One(row) if row.ini.is_empty() && row.name.eq_ignore_ascii_case(name) => {
            format!("use `-{}` on the command line: it has no key", row.name)
        }
        _ if similar.is_empty() => "the reference of `ddsmark perftest` lists the keys".to_owned(),
        _ => format!("similar: {}", similar.join(", ")),
    };
    Cause::new("is not a key of perftest.ini", hint)
}

/// Returns the value of a key that sets all of it.
fn whole(row: &'static OptionRow, generation: Generation, text: &str) -> Result<OptionValue, Cause> {
    let edition = row.edition(generation).ok_or_else(Cause::not_an_entry)?;
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
    let edition = row.edition(generation).ok_or_else(Cause::not_an_entry)?;
    let (seconds, nanoseconds) = (halves.seconds.unwrap_or("0"), halves.nanoseconds.unwrap_or("0"));
    period(row, edition, seconds, nanoseconds).map(OptionValue::Period)
}
