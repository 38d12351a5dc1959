//! Why what was written cannot be meant, and where it stands.

use crate::{MIN_SIZE_BYTES, Policy, TraceFault, is_driver_path, many::Span, units::Time};

/// What was refused, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub error: PlanError,
    /// Where; empty for what was not written in a file.
    pub at: Span,
}

impl PlanError {
    /// With its place.
    pub(crate) const fn at(self, at: Span) -> Refusal {
        Refusal { error: self, at }
    }
}

impl Refusal {
    /// The next step in the words of a file, where [`PlanError::hint`] has those of flags.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.error {
            PlanError::NoMulticast { .. } => {
                "leave `multicast` out, or name drivers that have the feature: `ddsmark drivers info D` shows it"
                    .to_owned()
            }
            PlanError::NotReliable { .. } => {
                "leave `reliability` out to give each driver the strongest guarantee it has".to_owned()
            }
            PlanError::StrayOption { .. } => {
                "add it to `driver` under `[factors]`, or drop the option".to_owned()
            }
            PlanError::TooFewRuns { min, .. } => format!("use {min} or more"),
            error => error.hint(),
        }
    }
}

/// Why what was written cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// An empty list of drivers, sizes or workloads.
    #[error("no {0} given")]
    Nothing(&'static str),
    /// A driver of which nothing is known.
    #[error("there is no driver `{driver}`")]
    NoDriver {
        /// The driver.
        driver: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A driver whose middleware is not on this host.
    #[error("the middleware of driver `{driver}` is not installed")]
    NotInstalled {
        /// The driver.
        driver: String,
    },
    /// A driver whose samples do not leave their process.
    #[error("driver `{driver}` cannot be measured: it does not reach from one process to another")]
    OneProcess {
        /// The driver.
        driver: String,
    },
    /// A size under the header.
    #[error("size {size} is too small: every sample begins with a header of {MIN_SIZE_BYTES} bytes")]
    TooSmall {
        /// The size.
        size: u64,
    },
    /// A size over what the transport carries.
    #[error("size {size} is too large: `{transport}` of driver `{driver}` carries up to {max} bytes")]
    TooLarge {
        /// The size.
        size: u64,
        /// The driver.
        driver: String,
        /// The transport.
        transport: String,
        /// Its limit.
        max: u64,
    },
    /// A transport that the driver has not.
    #[error("driver `{driver}` has no transport `{transport}`")]
    NoTransport {
        /// The driver.
        driver: String,
        /// The transport.
        transport: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// A transport that both drivers of a pair have, each in its own way.
    #[error(
        "the two of `{driver}` do not understand each other over `{transport}`: each version of a middleware lays out the \
         memory that it shares in its own way"
    )]
    NotShared {
        /// The pair.
        driver: String,
        /// The transport.
        transport: String,
        /// Those that the two share.
        known: Vec<String>,
    },
    /// A receive mode that the driver has not.
    #[error("driver `{driver}` cannot receive by {mode}")]
    NoReceiveMode {
        /// The driver.
        driver: String,
        /// The mode.
        mode: &'static str,
        /// Those that it has.
        known: Vec<&'static str>,
    },
    /// Multicast asked of a driver that has none.
    #[error("driver `{driver}` does not send by multicast")]
    NoMulticast {
        /// The driver.
        driver: String,
    },
    /// Reliability asked of a driver that has none.
    #[error("driver `{driver}` cannot guarantee delivery: reliability is unsupported")]
    NotReliable {
        /// The driver.
        driver: String,
    },
    /// An option that the driver has not.
    #[error("driver `{driver}` has no option `{option}`")]
    NoOption {
        /// The driver.
        driver: String,
        /// The option.
        option: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// An option for a driver that takes no part.
    #[error("an option was given for driver `{driver}`, which takes no part")]
    StrayOption {
        /// The driver.
        driver: String,
    },
    /// Too few runs to see a spread.
    #[error("{runs} runs of each cell are too few: at least {min} are needed to see how far runs differ")]
    TooFewRuns {
        /// What was asked.
        runs: u32,
        /// The least.
        min: u32,
    },
    /// A time that cannot be.
    #[error("{what} of {} s is out of range: {range}", *ns as f64 / 1e9)]
    Time {
        /// Which time.
        what: &'static str,
        /// The value.
        ns: u64,
        /// What is allowed.
        range: &'static str,
    },
    /// The same thing twice.
    #[error("{what} `{value}` is given twice")]
    Twice {
        /// What.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// A policy that the driver has not.
    #[error("driver `{driver}` has no policy {policy}: `{field}` cannot be asked of it")]
    NoPolicy {
        /// The driver.
        driver: String,
        /// The policy.
        policy: Policy,
        /// Its field.
        field: &'static str,
    },
    /// Batches, and nothing else, asked of a driver that cannot pack samples.
    #[error("driver `{driver}` cannot batch")]
    NoBatching {
        /// The driver.
        driver: String,
    },
    /// A profile that is not written.
    #[error("there is no profile `{profile}`")]
    NoProfile {
        /// Its name.
        profile: String,
        /// Those that are there.
        known: Vec<String>,
    },
    /// A choice of cells that chooses none.
    #[error("{0} matches no cell")]
    NoMatch(&'static str),
    /// Nothing is left to measure.
    #[error("no cell is left to measure")]
    NoCell,
    /// More than can be meant.
    #[error("{count} {what} are more than {max}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// So many.
        count: usize,
        /// The most.
        max: usize,
    },
    /// More time than there is.
    #[error(
        "{runs} runs would take about {}, more than the budget of {}", Time(*needed_ns), Time(*budget_ns)
    )]
    OverBudget {
        /// All runs of the least number of blocks.
        runs: usize,
        /// What they take.
        needed_ns: u64,
        /// What there is.
        budget_ns: u64,
    },
    /// A file of times that is none.
    #[error("trace `{file}`: {fault}")]
    Trace {
        /// The file.
        file: String,
        /// What is wrong in it, and where.
        fault: TraceFault,
    },
    /// What contradicts itself or says nothing.
    #[error("{words}")]
    Contradiction {
        /// In words.
        words: String,
        /// The next step.
        hint: &'static str,
    },
}

impl PlanError {
    /// The next step.
    #[must_use]
    pub fn hint(&self) -> String {
        let one_of = |known: &[String]| match known {
            [] => "it has none: leave it out".to_owned(),
            known => format!("it has {}", known.join(", ")),
        };
        match self {
            Self::Nothing(what) => format!("name at least one {}", what.trim_end_matches('s')),
            Self::TooSmall { .. } => format!("use a size of {MIN_SIZE_BYTES} or more"),
            Self::TooLarge { max, .. } => format!("use sizes up to {max}, or another transport or driver"),
            Self::NoTransport { known, .. } | Self::NoOption { known, .. } => one_of(known),
            Self::NotShared { known, .. } => format!("what both understand is {}", known.join(", ")),
            Self::NoReceiveMode { known, .. } => format!("it has {}", known.join(", ")),
            Self::NoDriver { known, .. } if known.is_empty() => "no driver is installed".to_owned(),
            Self::NoDriver { known, .. } => format!("there are {}", known.join(", ")),
            Self::NotInstalled { driver } if is_driver_path(driver) => {
                format!("`ddsmark drivers info {driver}` says what it looked for")
            }
            Self::NotInstalled { driver } => format!(
                "`ddsmark drivers install {driver}` installs it, with `--accept-licence` where it asks for that; `ddsmark drivers \
                 info {driver}` says what it looked for"
            ),
            Self::OneProcess { .. } => "it can only be tried with `ddsmark drivers check`".to_owned(),
            Self::NoMulticast { .. } => {
                "leave out `--multicast`, or name drivers that have the feature `multicast`: `ddsmark drivers info \
                 D` shows it"
                    .to_owned()
            }
            Self::NotReliable { .. } => {
                "use `--reliability strongest` to give each driver the strongest guarantee it has".to_owned()
            }
            Self::StrayOption { driver } => format!("add `--driver {driver}`, or drop the option"),
            Self::TooFewRuns { min, .. } => format!("use `--runs {min}` or more"),
            Self::Time { range, .. } => format!("choose a time within {range}"),
            Self::Twice { what, .. } => format!("name each {what} once"),
            Self::NoPolicy { driver, field: field @ ("send_queue" | "receive_queue"), .. } => format!(
                "the buffers of sockets are what `{driver}` holds: `{}`; or leave the driver out",
                field.replace("queue", "buffer")
            ),
            Self::NoPolicy { driver, policy, .. } => format!(
                "`ddsmark drivers info {driver}` says what it does with {policy}; leave the policy or the driver out"
            ),
            Self::NoBatching { .. } => "leave the driver out, or measure it unbatched with 0".to_owned(),
            Self::NoProfile { known, .. } => match known.as_slice() {
                [] => "write it as `[profiles.NAME]`".to_owned(),
                known => format!("profiles are {}", known.join(", ")),
            },
            Self::NoMatch(_) => "each value in it must be one of the cells\'; see `--dry-run`".to_owned(),
            Self::NoCell => "exclude less, or name drivers that can do what is asked".to_owned(),
            Self::TooMany { .. } => "give fewer values, or exclude more".to_owned(),
            Self::OverBudget { .. } => {
                "give more budget, measure for a shorter time, or plan fewer cells or blocks".to_owned()
            }
            Self::Trace { fault, .. } => fault.hint.to_owned(),
            Self::Contradiction { hint, .. } => (*hint).to_owned(),
        }
    }
}
