//! Settings of a process: typed, with all defaults.

mod build;
mod local;
mod rules;
mod shared;

use std::fmt;

pub use build::Defaults;
pub use local::{Local, Nic, Output, OutputFormat, Pacing, PayloadFile, QosFile, Receive, Transport};
use serde::Serialize;
pub use shared::{Batch, History, Mode, SCAN_SIZES, Shared};

use crate::{
    command_line::CommandLine,
    entry::Entry,
    error::{PerftestError, Source},
    generation::Generation,
    ini::IniFile,
    table::Role,
    value::OptionValue,
    warning::Warning,
};

/// Settings of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Generation of the command line.
    pub generation: Generation,
    /// Role.
    pub role: Role,
    /// Name of the driver.
    pub driver: String,
    /// Settings that the publisher decides. A subscriber has defaults until it [adopts](Self::adopt) an offer.
    pub shared: Shared,
    /// Settings that each process decides.
    pub local: Local,
    /// Options that the user gave.
    pub given: Vec<GivenOption>,
}

/// Option that the user gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GivenOption {
    /// Name without the dash.
    pub option: &'static str,
    /// Value as the command line takes it; `true` and `false` for a flag.
    pub value: String,
    /// Source.
    #[serde(serialize_with = "source_text")]
    pub source: Source,
}

fn source_text<S: serde::Serializer>(source: &Source, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(source)
}

impl fmt::Display for GivenOption {
    /// Writes the option as it is typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.as_str() {
            "true" => write!(f, "-{}", self.option),
            value => write!(f, "-{} {value}", self.option),
        }
    }
}

impl GivenOption {
    fn from_entry(entry: &Entry) -> Self {
        let value = match &entry.value {
            OptionValue::Sizes(sizes) if sizes.is_empty() => {
                OptionValue::Sizes(SCAN_SIZES.to_vec()).to_string()
            }
            OptionValue::OptionalInteger(None) => "true".to_owned(),
            value => value.to_string(),
        };
        Self { option: entry.row.name, value, source: entry.source.clone() }
    }
}

impl CommandLine {
    /// Returns the settings, and warnings about options without effect.
    ///
    /// `file` is the file of [`CommandLine::config_file`]. The command line takes precedence over it.
    ///
    /// # Errors
    /// Returns an error if an option of the file is not valid, an option is not for this role or not supported by
    /// ddsmark, or options contradict each other.
    pub fn settings(
        &self,
        file: Option<IniFile<'_>>,
        defaults: &Defaults<'_>,
    ) -> Result<(Settings, Vec<Warning>), PerftestError> {
        build::build(self, file, defaults)
    }
}

impl Settings {
    /// Returns the value of an option, if the user gave it.
    #[must_use]
    pub fn given(&self, option: &str) -> Option<&GivenOption> {
        self.given.iter().rev().find(|given| given.option == option)
    }

    /// Returns the option that decides the rate, as typed; `None` if the rate has no limit.
    #[must_use]
    pub fn requested_rate(&self) -> Option<String> {
        let pacing = &self.local.pacing;
        let options = [
            (pacing.samples_per_s.is_some(), "pubRate"),
            (pacing.bits_per_s.is_some(), "pubRatebps"),
            (pacing.sleep_ms > 0, "sleep"),
            (pacing.spin_count > 0, "spin"),
        ];
        let (_, option) = options.into_iter().find(|(decides, _)| *decides)?;
        Some(self.given(option).map_or_else(|| format!("-{option}"), ToString::to_string))
    }
}
