//! Lines of the experiment file of a test, each with the options that decide it.

use std::{fmt::Display, ops::Range};

use experiment::{Source, SpannedError};
use perftest::Settings;

use super::in_options;
use crate::cli::cli_error::{CliError, ExitStatus};

/// Lines of the file.
#[derive(Clone, Debug, Default)]
pub struct FileLines {
    text: String,
    /// Positions of each line, and its options.
    options: Vec<(Range<usize>, &'static [&'static str])>,
}

impl FileLines {
    /// Adds a line that these options decide.
    pub fn add(&mut self, options: &'static [&'static str], line: impl Display) {
        let begin = self.text.len();
        self.text.push_str(&format!("{line}\n"));
        self.options.push((begin..self.text.len(), options));
    }

    /// Returns the file.
    pub fn source(&self) -> Source {
        Source { path: "perftest".to_owned(), text: self.text.clone(), sets: Vec::new() }
    }

    /// Returns the rejection of a plan with the options that the user typed: those of the line, or without a line, of the QoS file.
    pub fn rejected(&self, settings: &Settings, error: &SpannedError) -> CliError {
        let line = self.options.iter().find(|(at, _)| !error.at.is_empty() && at.contains(&error.at.start));
        let options = line.map_or(&["qosFile", "qosprofile"][..], |(_, options)| options);
        let item = match options.iter().find_map(|option| settings.given(option)) {
            Some(given) => format!("{}: `{given}`: ", given.source),
            None => options
                .first()
                .filter(|_| line.is_some())
                .map_or_else(String::new, |option| format!("`-{option}`: ")),
        };
        let rejected = CliError::new(ExitStatus::WrongUse, format!("{item}{}", error.error), error.hint());
        in_options(settings, rejected)
    }
}
