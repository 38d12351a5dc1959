//! Options that decide the parts of an experiment.

use experiment::{Span, SpannedError};
use perftest::Settings;

use super::in_options;
use crate::cli::cli_error::CliError;

/// Options that decide each part of an experiment. The place of a part in the list, from 1, is its position in errors of plans.
#[derive(Clone, Debug, Default)]
pub struct Origins(Vec<&'static [&'static str]>);

impl Origins {
    /// Returns the position of a part that these options decide.
    pub fn position(&mut self, options: &'static [&'static str]) -> Span {
        self.0.push(options);
        self.0.len()..self.0.len() + 1
    }

    /// Returns the rejection of a plan with the options that the user typed: those of the part, or without a position, of the QoS file.
    pub fn rejected(&self, settings: &Settings, error: &SpannedError) -> CliError {
        let part = error.at.start.checked_sub(1).and_then(|place| self.0.get(place));
        let options = part.copied().unwrap_or(&["qosFile", "qosprofile"]);
        let item = match options.iter().find_map(|option| settings.given(option)) {
            Some(given) => format!("{}: `{given}`: ", given.source),
            None => options
                .first()
                .filter(|_| part.is_some())
                .map_or_else(String::new, |option| format!("`-{option}`: ")),
        };
        let rejected = CliError::usage(format!("{item}{}", error.error), error.hint());
        in_options(settings, rejected)
    }
}
