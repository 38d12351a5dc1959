//! Errors of the planner, with their position in the experiment file.

use std::borrow::Cow;

use crate::syntax::{
    driver_name::is_driver_path,
    input_file::FileError,
    one_or_many::{Located, OneOrMany, Span},
    similar,
    units::MIN_SIZE_BYTES,
};

/// Rejected value, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpannedError {
    /// Cause.
    pub error: PlanError,
    /// Position in the file; empty for a value that is not from a file.
    pub at: Span,
}

impl PlanError {
    /// Adds the position.
    pub(crate) const fn at(self, at: Span) -> SpannedError {
        SpannedError { error: self, at }
    }
}

impl SpannedError {
    /// Returns the next step for the user of a file; [`PlanError::hint`] has that of flags.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.error {
            PlanError::NoMulticast { .. } => {
                "remove `multicast`, or use drivers with this feature: see `ddsmark drivers info D`"
                    .to_owned()
            }
            PlanError::NotReliable { .. } => {
                "remove `reliability` to use the strongest guarantee of each driver".to_owned()
            }
            PlanError::StrayOption { .. } => "add it to `driver`, or remove the option".to_owned(),
            PlanError::NoRuns => "use 1 or more; findings need 3".to_owned(),
            error => error.hint(),
        }
    }
}

/// Returns an error with these words, such as that two things contradict each other.
pub(crate) fn contradiction(words: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> PlanError {
    PlanError::Contradiction { words: words.into(), hint: hint.into() }
}

/// Returns the error of a file that the experiment names.
pub(crate) fn of_file(kind: &str, file: &str, fault: &FileError) -> PlanError {
    contradiction(format!("{kind} `{file}`: {fault}"), fault.hint.to_string())
}

/// Words of a contradiction, and the next step.
pub(crate) type Fault = (String, &'static str);

/// Returns the reason that two things contradict each other.
pub(crate) fn fault(words: impl Into<String>, hint: &'static str) -> Option<Fault> {
    Some((words.into(), hint))
}

impl<T> Located<T> {
    /// Rejects the value, because it contradicts something.
    pub(crate) fn refused<R>(
        &self,
        words: impl Into<String>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Result<R, SpannedError> {
        Err(contradiction(words, hint).at(self.span()))
    }
}

/// Reason why an experiment cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Empty list of drivers, sizes or workloads.
    #[error("no {0} given")]
    Nothing(&'static str),
    /// Driver whose middleware is not installed on this host.
    #[error("the middleware of driver `{driver}` is not installed")]
    NotInstalled {
        /// Name of the driver.
        driver: String,
    },
    /// Driver whose samples do not leave the process.
    #[error("driver `{driver}` cannot be measured: it does not reach from one process to another")]
    OneProcess {
        /// Name of the driver.
        driver: String,
    },
    /// Payload smaller than the sample header.
    #[error("size {size} is too small: every sample begins with a header of {MIN_SIZE_BYTES} bytes")]
    TooSmall {
        /// Payload in bytes.
        size: u64,
    },
    /// Payload larger than the transport supports.
    #[error("size {size} is too large: `{transport}` of driver `{driver}` carries up to {max} bytes")]
    TooLarge {
        /// Payload in bytes.
        size: u64,
        /// Name of the driver.
        driver: String,
        /// Name of the transport.
        transport: String,
        /// Maximum payload of the transport in bytes.
        max: u64,
    },
    /// Transport that the driver does not have.
    #[error("driver `{driver}` has no transport `{transport}`")]
    NoTransport {
        /// Name of the driver.
        driver: String,
        /// Name of the transport.
        transport: String,
        /// Available transports.
        known: Vec<String>,
    },
    /// Receive mode that the driver does not support.
    #[error("driver `{driver}` cannot receive by {mode}")]
    NoReceiveMode {
        /// Name of the driver.
        driver: String,
        /// Name of the receive mode.
        mode: &'static str,
        /// Supported receive modes.
        known: Vec<&'static str>,
    },
    /// Multicast requested of a driver that does not support it.
    #[error("driver `{driver}` does not send by multicast")]
    NoMulticast {
        /// Name of the driver.
        driver: String,
    },
    /// Reliable delivery requested of a driver that does not support it.
    #[error("driver `{driver}` cannot guarantee delivery: reliability is unsupported")]
    NotReliable {
        /// Name of the driver.
        driver: String,
    },
    /// Option that the driver does not have.
    #[error("driver `{driver}` has no option `{option}`")]
    NoOption {
        /// Name of the driver.
        driver: String,
        /// Name of the option.
        option: String,
        /// Available options.
        known: Vec<String>,
    },
    /// Option of a driver that is not measured.
    #[error("an option was given for driver `{driver}`, which is not measured")]
    StrayOption {
        /// Name of the driver.
        driver: String,
    },
    /// No run of each cell.
    #[error("0 runs of each cell measure nothing")]
    NoRuns,
    /// Time out of range.
    #[error("{what} of {} s is out of range: {range}", *ns as f64 / 1e9)]
    Time {
        /// Name of the time.
        what: &'static str,
        /// Value in ns.
        ns: u64,
        /// Valid range.
        range: &'static str,
    },
    /// Value that is given twice.
    #[error("{what} `{value}` is given twice")]
    Twice {
        /// Name of the factor or key.
        what: &'static str,
        /// Duplicate value.
        value: String,
    },
    /// Number above its maximum.
    #[error("{count} {what} are more than {max}")]
    TooMany {
        /// Name of the counted items.
        what: &'static str,
        /// Requested number.
        count: usize,
        /// Maximum number.
        max: usize,
    },
    /// Any other reason.
    #[error("{words}")]
    Contradiction {
        /// Error text.
        words: String,
        /// Hint for the user.
        hint: Cow<'static, str>,
    },
}

impl PlanError {
    /// Returns the next step for the user.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Nothing(what) => format!("name at least one {}", what.trim_end_matches('s')),
            Self::TooSmall { .. } => format!("use a size of {MIN_SIZE_BYTES} or more"),
            Self::TooLarge { max, .. } => format!("use sizes up to {max}, or another transport or driver"),
            Self::NoTransport { known, .. } => available(known),
            Self::NoOption { option, known, .. } => {
                similar::one_of(option, known.iter().map(String::as_str), "available:")
            }
            Self::NoReceiveMode { known, .. } => format!("available: {}", known.join(", ")),
            Self::NotInstalled { driver } if is_driver_path(driver) => {
                format!("see `ddsmark drivers info {driver}`")
            }
            Self::NotInstalled { driver } => format!(
                "install it with `ddsmark drivers install {driver}`, and `--accept-licence` if required; see \
                 `ddsmark drivers info {driver}`"
            ),
            Self::OneProcess { .. } => "test it with `ddsmark drivers check`".to_owned(),
            Self::NoMulticast { .. } => {
                "remove `--multicast`, or use drivers with the feature `multicast`: see `ddsmark drivers info D`"
                    .to_owned()
            }
            Self::NotReliable { .. } => "use `--qos strongest`, or leave it out".to_owned(),
            Self::StrayOption { driver } => format!("add `--driver {driver}`, or remove the option"),
            Self::NoRuns => "use `--runs 1` or more; findings need 3".to_owned(),
            Self::Time { range, .. } => format!("choose a time within {range}"),
            Self::Twice { what, .. } => format!("name each {what} once"),
            Self::TooMany { what: "runs", .. } => "plan fewer runs of each cell, or fewer cells".to_owned(),
            Self::TooMany { .. } => "use fewer values, or exclude more cells".to_owned(),
            Self::Contradiction { hint, .. } => hint.to_string(),
        }
    }
}

/// Returns a hint with the names that are known.
pub(crate) fn available(known: &[String]) -> String {
    format!("available: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })
}

/// Rejects a value that is given twice.
pub(crate) fn all_distinct<T: PartialEq + std::fmt::Display>(
    what: &'static str,
    values: &OneOrMany<T>,
) -> Result<(), SpannedError> {
    for (index, value) in values.0.iter().enumerate() {
        if values.0[..index].contains(value) {
            let at: Span = value.span();
            return Err(PlanError::Twice { what, value: value.get().to_string() }.at(at));
        }
    }
    Ok(())
}
