//! Errors of the planner, with their position in the experiment file.

use crate::syntax::{
    driver_name::is_driver_path,
    input_file::FileError,
    one_or_many::{OneOrMany, Span},
    similar,
    units::{MIN_SIZE_BYTES, Time},
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

/// Returns the error that two things contradict each other.
pub(crate) fn contradiction(words: impl Into<String>, hint: &'static str) -> PlanError {
    PlanError::Contradiction { words: words.into(), hint }
}

/// Reason why an experiment cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Empty list of drivers, sizes or workloads.
    #[error("no {0} given")]
    Nothing(&'static str),
    /// Unknown driver.
    #[error("driver `{driver}` not found")]
    NoDriver {
        /// Name of the driver.
        driver: String,
        /// Available drivers.
        known: Vec<String>,
    },
    /// Unknown name of published figures.
    #[error("published figures `{name}` not found")]
    NoFigures {
        /// Name in the file.
        name: String,
        /// Available names.
        known: Vec<String>,
    },
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
    /// Transport that both drivers of a pair have, but in incompatible formats.
    #[error(
        "the two of `{driver}` do not understand each other over `{transport}`: each version of a middleware lays out the \
         memory that it shares in its own way"
    )]
    NotShared {
        /// Names of the two drivers.
        driver: String,
        /// Name of the transport.
        transport: String,
        /// Transports that the two drivers share.
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
    /// Policy that the driver does not support.
    #[error("driver `{driver}` does not support policy {policy}: `{field}` cannot be requested")]
    NoPolicy {
        /// Name of the driver.
        driver: String,
        /// Name of the policy.
        policy: &'static str,
        /// Key of the policy in the file.
        field: &'static str,
    },
    /// Only batched measurements requested of a driver that cannot batch.
    #[error("driver `{driver}` cannot batch")]
    NoBatching {
        /// Name of the driver.
        driver: String,
    },
    /// Unknown profile.
    #[error("profile `{profile}` not found")]
    NoProfile {
        /// Name of the profile.
        profile: String,
        /// Available profiles.
        known: Vec<String>,
    },
    /// Unknown base of profiles.
    #[error("base `{base}` not found")]
    NoBase {
        /// Name of the base.
        base: String,
        /// Available bases.
        known: Vec<String>,
    },
    /// Host that the experiment does not have.
    #[error("host `{host}` not found")]
    NoHost {
        /// Name of the host.
        host: String,
        /// Hosts of the experiment.
        known: Vec<String>,
    },
    /// Endpoint that no run has.
    #[error("endpoint `{endpoint}` not found")]
    NoEndpoint {
        /// Name in a placement.
        endpoint: String,
        /// Endpoints of the runs.
        known: Vec<String>,
    },
    /// Selection that matches no cell.
    #[error("{what} matches no cell{}", why.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    NoMatch {
        /// Name of the selection.
        what: &'static str,
        /// Part that no cell has; `None` if each part is one of some cell.
        why: Option<String>,
        /// Next step, if there is a better one than for all selections.
        hint: Option<String>,
    },
    /// No cell is left to measure.
    #[error("no cell is left to measure{}", .notes.iter().map(|note| format!("; {note}")).collect::<String>())]
    NoCell {
        /// Notes about what is left out.
        notes: Vec<String>,
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
    /// Expected duration longer than the budget.
    #[error(
        "{runs} runs would take about {}, more than the budget of {}", Time(*needed_ns), Time(*budget_ns)
    )]
    OverBudget {
        /// Number of planned runs.
        runs: usize,
        /// Expected duration in ns.
        needed_ns: u64,
        /// Budget in ns.
        budget_ns: u64,
    },
    /// Invalid trace file.
    #[error("trace `{file}`: {fault}")]
    Trace {
        /// Name of the file.
        file: String,
        /// Error in the file, with its position.
        fault: FileError,
    },
    /// Invalid QoS file, or a profile that it does not have.
    #[error("QoS file `{file}`: {fault}")]
    QosFile {
        /// Name of the file.
        file: String,
        /// Error in the file, with its position.
        fault: FileError,
    },
    /// Contradictory values, or a value without effect.
    #[error("{words}")]
    Contradiction {
        /// Error text.
        words: String,
        /// Hint for the user.
        hint: &'static str,
    },
}

impl PlanError {
    /// Returns the next step for the user.
    #[must_use]
    pub fn hint(&self) -> String {
        let one_of = |known: &[String]| match known {
            [] => "available: none".to_owned(),
            known => format!("available: {}", known.join(", ")),
        };
        match self {
            Self::Nothing(what) => format!("name at least one {}", what.trim_end_matches('s')),
            Self::TooSmall { .. } => format!("use a size of {MIN_SIZE_BYTES} or more"),
            Self::TooLarge { max, .. } => format!("use sizes up to {max}, or another transport or driver"),
            Self::NoTransport { known, .. } | Self::NoFigures { known, .. } => one_of(known),
            Self::NoOption { option, known, .. } => {
                similar::one_of(option, known.iter().map(String::as_str), "available:")
            }
            Self::NotShared { known, .. } => format!("available for both: {}", known.join(", ")),
            Self::NoReceiveMode { known, .. } => format!("available: {}", known.join(", ")),
            Self::NoDriver { known, .. } if known.is_empty() => "no driver is installed".to_owned(),
            Self::NoDriver { known, .. } => format!("there are {}", known.join(", ")),
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
            Self::NoPolicy { driver, field: field @ ("send_queue" | "receive_queue"), .. } => format!(
                "set the socket buffer of `{driver}` with `{}`, or remove the driver",
                field.replace("queue", "buffer")
            ),
            Self::NoPolicy { driver, policy, .. } => format!(
                "remove the policy or the driver; see {policy} in `ddsmark drivers info {driver}`"
            ),
            Self::NoBatching { .. } => "remove the driver, or use 0 to measure it unbatched".to_owned(),
            Self::NoProfile { known, .. } => match known.as_slice() {
                [] => "define it as `[profiles.NAME]`, or name a preset, `shipped` or such as `ros2:sensor_data`, or a profile of a file, \
                       `FILE.xml#LIBRARY::PROFILE`"
                    .to_owned(),
                known => format!("available: {}", known.join(", ")),
            },
            Self::NoBase { known, .. } => match known.as_slice() {
                [] => "define it as `[bases.NAME]`, or leave `base` out".to_owned(),
                known => format!("available: {}", known.join(", ")),
            },
            Self::NoHost { known, .. } if known.is_empty() => {
                "name hosts with `--host NAME=SPEC`, or with `[[host]]` in the file".to_owned()
            }
            Self::NoHost { known, .. } => one_of(known),
            Self::NoEndpoint { known, .. } => {
                format!("{}; roles such as `writer` and `reader`", one_of(known))
            }
            Self::NoMatch { hint: Some(hint), .. } => hint.clone(),
            Self::NoMatch { .. } => {
                "each value in it must be one of the cells', and one cell must have all of them; see `--dry-run`".to_owned()
            }
            Self::NoCell { .. } => "exclude less, or name drivers that can do what is asked".to_owned(),
            Self::TooMany { what: "runs", .. } => "plan fewer runs of each cell, or fewer cells".to_owned(),
            Self::TooMany { .. } => "use fewer values, or exclude more cells".to_owned(),
            Self::OverBudget { .. } => {
                "increase the budget, shorten the runs, or plan fewer cells or blocks".to_owned()
            }
            Self::Trace { fault, .. } | Self::QosFile { fault, .. } => fault.hint.to_string(),
            Self::Contradiction { hint, .. } => (*hint).to_owned(),
        }
    }
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
