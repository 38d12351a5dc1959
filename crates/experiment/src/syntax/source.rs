//! Text of an experiment file with the changes of the command line, and errors that point into both.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Range,
};

use serde::de::DeserializeOwned;
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue, Deserializer},
};

use crate::syntax::{
    deserialization_error::{DeserializationError, WANTS_WORD, as_text, key_at},
    one_or_many::Span,
    spanned_error::SpannedError,
};

/// Text of an experiment file, and the changes of the command line.
///
/// Positions are bytes of the file's text, followed by each change in turn, with one byte between them.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path of the file, for messages.
    pub path: String,
    /// Text of the file.
    pub text: String,
    /// Changes of the command line. Later ones win over those of other flags.
    pub sets: Vec<Override>,
}

/// Value on the command line that replaces one of an experiment file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    flag: String,
    /// Flag and value as the user wrote them, for messages.
    shown_as: String,
    /// `KEY=VALUE`, with dots in the key.
    text: String,
    /// Position of the part of the text that the user gave.
    value_at: usize,
}

impl Override {
    /// Creates a change by `--set`, whose text is `KEY=VALUE` with dots in the key.
    #[must_use]
    pub fn set(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { flag: "--set".to_owned(), shown_as: format!("--set {text}"), text, value_at: 0 }
    }

    /// Creates a change by a flag of its own, such as `--size`, for a key with dots, such as `factors.size`.
    #[must_use]
    pub fn flag(flag: impl Into<String>, key: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let (flag, key, value) = (flag.into(), key.as_ref(), value.as_ref());
        let shown_as = format!("{flag} {value}");
        Self { flag, shown_as, text: format!("{key}={value}"), value_at: key.len() + 1 }
    }

    /// Sets what messages show instead of the flag and its value, if the user wrote something else.
    #[must_use]
    pub fn shown_as(mut self, shown_as: impl Into<String>) -> Self {
        self.shown_as = shown_as.into();
        self
    }

    /// Returns the flag as given, such as `--size`.
    #[must_use]
    pub fn flag_name(&self) -> &str {
        &self.flag
    }

    /// Returns whether the user did not write the value as it is here.
    fn is_rewritten(&self) -> bool {
        !self.shown_as.ends_with(self.value())
    }

    /// Returns what the user gave after the flag.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.text[self.value_at..]
    }
}

const NO_KEY: &str = "no key before `=`";
const KEY_HINT: &str = "write a key, such as `design.blocks`";

/// A change of the command line, as TOML texts.
struct Change {
    /// `KEY=0`, preceded by blanks so that TOML positions match those of the source.
    key: String,
    /// `v=VALUE`, preceded by blanks likewise; may be invalid TOML.
    value: String,
    /// Value as given.
    plain: String,
    at: Span,
    value_at: usize,
}

impl Change {
    /// Returns the change as nested tables; `None` if the key is invalid.
    fn table(&self) -> Option<DeTable<'_>> {
        let mut table = DeTable::parse(&self.key).ok()?.into_inner();
        *leaf(&mut table)? = self.typed();
        Some(table)
    }

    /// Returns the value as TOML, if it is valid TOML; else as a list, if it has commas; else as text.
    fn typed(&self) -> Spanned<DeValue<'_>> {
        if !self.plain.contains('\n')
            && let Ok(document) = DeTable::parse(&self.value)
            && let Some((_, value)) = document.into_inner().into_iter().next()
        {
            return value;
        }
        let whole = self.value_at..self.value_at + self.plain.len();
        if !self.plain.contains(',') {
            return Spanned::new(whole, text(&self.plain));
        }
        let mut list = DeArray::new();
        let mut begin = self.value_at;
        for part in self.plain.split(',') {
            list.push(Spanned::new(begin..begin + part.len(), element(part)));
            begin += part.len() + 1;
        }
        Spanned::new(whole, DeValue::Array(list))
    }
}

/// Parses an element of a list: a whole number, `true`, `false`, text in quotes, or plain text.
fn element(part: &str) -> DeValue<'_> {
    match DeValue::parse(part.trim()).map(Spanned::into_inner) {
        Ok(value @ (DeValue::Boolean(_) | DeValue::Integer(_) | DeValue::String(_))) => value,
        _ => text(part),
    }
}

fn text(word: &str) -> DeValue<'_> {
    DeValue::String(word.trim().into())
}

/// Error in an experiment file, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Position and cause: `file.toml:3:1: ...`.
    pub error: String,
    /// The line, and a mark below it; empty if the error concerns the whole file.
    pub excerpt: Vec<String>,
    /// Hint for the user.
    pub hint: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)
    }
}

impl std::error::Error for Diagnostic {}

impl Source {
    /// Parses the file and applies the changes.
    ///
    /// # Errors
    /// Returns an error if the text is not valid TOML, or not a valid `T`.
    pub(crate) fn read_as<T: DeserializeOwned>(&self) -> Result<T, Diagnostic> {
        let document = DeTable::parse(&self.text).map_err(|error| self.syntax(&error, 0))?;
        let span = document.span();
        let mut table = document.into_inner();
        let changes: Vec<Change> =
            (0..self.sets.len()).map(|set| self.change(set)).collect::<Result<_, _>>()?;
        self.check_repeated(&changes)?;
        for change in &changes {
            merge(&mut table, change.table().ok_or_else(|| self.fault(change.at.clone(), NO_KEY, KEY_HINT))?);
        }
        let whole = Spanned::new(span.clone(), table.clone());
        T::deserialize(Deserializer::from(whole)).map_err(|error| self.shape::<T>(&error, &span, table))
    }

    /// Rejects a key that one flag gives twice: which of the values was meant is unknown.
    fn check_repeated(&self, changes: &[Change]) -> Result<(), Diagnostic> {
        let mut seen = BTreeSet::new();
        for (set, change) in self.sets.iter().zip(changes) {
            let key = set.text.split_once('=').map_or("", |(key, _)| key.trim());
            if !seen.insert((&set.flag, key)) {
                let error = format!("`{key}` is given twice");
                let hint = "give it once; where several values can be measured, as a list with commas";
                return Err(self.fault(change.at.clone(), &error, hint));
            }
        }
        Ok(())
    }

    /// Adds the position in the text to a rejection.
    #[must_use]
    pub fn rejected(&self, error: &SpannedError) -> Diagnostic {
        self.fault(error.at.clone(), &error.error.to_string(), error.hint())
    }

    /// Creates an error at a position. An empty position is the whole file.
    #[must_use]
    pub fn fault(&self, at: Span, error: &str, hint: impl Into<String>) -> Diagnostic {
        let hint = hint.into();
        if at.is_empty() {
            return Diagnostic { error: format!("{}: {error}", self.path), excerpt: Vec::new(), hint };
        }
        let set = self.sets.iter().enumerate().rev().find(|(index, _)| at.start >= self.begin(*index));
        if let Some((index, set)) = set {
            let (begin, end) = (self.begin(index) + set.value_at, self.begin(index) + set.text.len());
            // The whole value is wrong if its key is, and needs no mark.
            let is_whole = at.start <= begin && at.end >= end || at.start < begin;
            let mark = || excerpt(set.value(), at.start - begin..at.end.saturating_sub(begin)).1;
            let excerpt = if is_whole || set.is_rewritten() { Vec::new() } else { mark() };
            return Diagnostic { error: format!("{}: {error}", set.shown_as), excerpt, hint };
        }
        let ((line, column), excerpt) = excerpt(&self.text, at);
        Diagnostic { error: format!("{}:{line}:{column}: {error}", self.path), excerpt, hint }
    }

    /// Returns the position of the first byte of a change.
    fn begin(&self, set: usize) -> usize {
        self.text.len() + 1 + self.sets[..set].iter().map(|set| set.text.len() + 1).sum::<usize>()
    }

    fn change(&self, set: usize) -> Result<Change, Diagnostic> {
        let begin = self.begin(set);
        let text = &self.sets[set].text;
        let at = begin..begin + text.len();
        let Some((key, plain)) = text.split_once('=') else {
            let hint = "write for example `factors.size=64,1024` or `design.blocks=12`";
            return Err(self.fault(at, "not KEY=VALUE", hint));
        };
        if key.trim().is_empty() || key.contains(['\n', '#']) {
            return Err(self.fault(at, NO_KEY, KEY_HINT));
        }
        // The blanks shift the positions of TOML to those in this source.
        let value_at = begin + key.len() + 1;
        Ok(Change {
            key: format!("{}{key}=0", " ".repeat(begin)),
            value: format!("{}v={plain}", " ".repeat(value_at - 2)),
            plain: plain.to_owned(),
            at,
            value_at,
        })
    }

    /// Returns the keys with dots that the command line sets, without quotes, and whether a flag of its own sets each.
    pub(crate) fn overridden(&self) -> BTreeMap<String, bool> {
        let key = |set: &Override| Some((set.text.split_once('=')?.0.replace('"', ""), set.value_at > 0));
        self.sets.iter().filter_map(key).collect()
    }

    /// Converts a TOML syntax error.
    fn syntax(&self, error: &toml::de::Error, begin: usize) -> Diagnostic {
        let at = error.span().unwrap_or(begin..begin);
        // If the end of the text is missing, the position is its last byte.
        let at = if at.is_empty() { at.start.saturating_sub(1)..at.start } else { at };
        let hint = "write valid TOML; see https://toml.io and docs/reference/experiment-file.md";
        self.fault(at, error.message(), hint)
    }

    /// Converts an error of deserialization.
    fn shape<T: DeserializeOwned>(
        &self,
        error: &toml::de::Error,
        span: &Span,
        mut table: DeTable<'_>,
    ) -> Diagnostic {
        let at = error.span().unwrap_or(0..0);
        // If a table lacks a key, no single line is wrong.
        let at = if at.start == 0 && at.end >= self.text.len() { 0..0 } else { at };
        let set = self.sets.iter().enumerate().rev().find(|(index, _)| at.start >= self.begin(*index));
        let flag = set.map(|(_, set)| set).filter(|set| set.value_at > 0);
        // A flag such as `--qos` has keys of its own in its value.
        let is_one_key = |set: &&Override| set.shown_as == format!("{} {}", set.flag, set.value());
        let item = flag.filter(is_one_key).map(|set| set.flag.clone()).or_else(|| key_at(&table, &at));
        let explained =
            |error: &toml::de::Error| DeserializationError::explained(error.message(), item.as_deref());
        let mut found = explained(error);
        // A number where one of several words is expected: the error of a text names the words.
        let is_of_words = error.message().contains(", expected enum ") || error.message() == WANTS_WORD;
        if is_of_words && as_text(&mut table, &at) {
            let again = T::deserialize(Deserializer::from(Spanned::new(span.clone(), table))).err();
            found =
                again.filter(|again| again.span() == error.span()).map_or(found, |again| explained(&again));
        }
        let hint = if flag.is_some() { without_quotes(&found.hint) } else { found.hint };
        self.fault(at, &found.error, hint)
    }
}

/// Returns a hint whose examples between backticks are without quotes, as on a command line.
fn without_quotes(hint: &str) -> String {
    let bare = |part: &str| part.strip_prefix('"')?.strip_suffix('"').map(str::to_owned);
    let parts = hint.split('`').enumerate();
    let parts: Vec<String> = parts
        .map(|(place, part)| bare(part).filter(|_| place % 2 == 1).unwrap_or_else(|| part.to_owned()))
        .collect();
    parts.join("`")
}

/// Returns line and column of a position, both from 1, and the line with a mark below the range.
fn excerpt(text: &str, at: Range<usize>) -> ((usize, usize), Vec<String>) {
    let floor = |byte: usize| {
        let byte = byte.min(text.len());
        (0..=byte).rev().find(|&byte| text.is_char_boundary(byte)).unwrap_or(0)
    };
    let (start, end) = (floor(at.start), floor(at.end));
    let begin = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let column = text[begin..start].chars().count();
    let width = text[start..end.max(start)].lines().next().unwrap_or_default().chars().count();
    let width = width.clamp(1, line.chars().count().saturating_sub(column).max(1));
    let number = text[..start].matches('\n').count() + 1;
    // Tabs are kept so that the mark is below the right column.
    let blanks: String = line.chars().take(column).map(|c| if c == '\t' { c } else { ' ' }).collect();
    ((number, column + 1), vec![line.to_owned(), format!("{blanks}{}", "^".repeat(width))])
}

/// Returns the value of the innermost table.
fn leaf<'t, 'i>(table: &'t mut DeTable<'i>) -> Option<&'t mut Spanned<DeValue<'i>>> {
    let (_, value) = table.iter_mut().next()?;
    if !value.get_ref().is_table() {
        return Some(value);
    }
    match value.get_mut() {
        DeValue::Table(inner) => leaf(inner),
        _ => None,
    }
}

/// Merges a change into a table: values replace values, tables are merged.
fn merge<'t>(table: &mut DeTable<'t>, change: DeTable<'t>) {
    for (key, mut value) in change {
        let old = table.remove(&key);
        if let Some(mut old) = old
            && let (DeValue::Table(old), DeValue::Table(new)) = (old.get_mut(), value.get_mut())
        {
            let new = std::mem::take(new);
            let mut merged = std::mem::take(old);
            merge(&mut merged, new);
            *value.get_mut() = DeValue::Table(merged);
        }
        table.insert(key, value);
    }
}
