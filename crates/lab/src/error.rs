//! Errors of labs.

use experiment::PlanError;
use thiserror::Error;

/// Error of a lab.
#[derive(Debug, Error)]
pub enum LabError {
    /// This process may not create namespaces and links.
    #[error("a lab needs the privilege {missing}, which this process lacks")]
    Privilege {
        /// Names of the capabilities.
        missing: String,
    },
    /// A program is not installed.
    #[error("`{tool}` not found")]
    NoTool {
        /// Name of the program.
        tool: &'static str,
        /// Package that has it.
        package: &'static str,
    },
    /// A program that sets up a lab failed.
    #[error("cannot {action}: {message}")]
    Tool {
        /// Intended change.
        action: String,
        /// Message of the program.
        message: String,
    },
    /// The kernel lacks a feature.
    #[error("cannot {action}: the kernel has no {feature}: {message}")]
    Kernel {
        /// Intended change.
        action: String,
        /// Missing feature.
        feature: &'static str,
        /// Kernel module that has it.
        module: &'static str,
        /// Message of the program.
        message: String,
    },
    /// A system call failed.
    #[error("cannot {action}: {error}")]
    System {
        /// Intended action.
        action: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The number of hosts or the link is invalid.
    #[error(transparent)]
    Spec(#[from] PlanError),
    /// The name is not allowed.
    #[error("invalid name of a lab: `{0}`")]
    Name(String),
    /// A lab with this name exists.
    #[error("lab `{0}` is up already")]
    Exists(String),
    /// A namespace with the name of a host exists, and belongs to no lab.
    #[error("network namespace `{0}` exists already, and belongs to no lab")]
    NamespaceExists(String),
    /// No lab has this name.
    #[error("lab `{name}` not found")]
    NotFound {
        /// Requested name.
        name: String,
        /// Names of the labs that are up.
        available: Vec<String>,
    },
    /// The lab belongs to a running process that is not its keeper.
    #[error("lab `{name}` is in use by process {pid}")]
    InUse {
        /// Name of the lab.
        name: String,
        /// Process id of its owner.
        pid: u32,
    },
    /// This process runs in the lab.
    #[error("this process runs in a host of lab `{0}`")]
    Inside(String),
    /// The lab has no such host.
    #[error("host `{name}` not found in the lab")]
    NoHost {
        /// Requested name.
        name: String,
        /// Names of its hosts.
        available: Vec<String>,
    },
    /// Something did not happen within its time limit.
    #[error("{what} timed out after {seconds} s")]
    TimedOut {
        /// Awaited event.
        what: String,
        /// Time limit.
        seconds: u64,
    },
}

impl LabError {
    /// Returns the next step.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Privilege { .. } => {
                "run the command as root, for example with `sudo`; in a container, add these capabilities"
                    .to_owned()
            }
            Self::NoTool { package, .. } => {
                format!("install it: `apt-get install {package}`, or the equivalent package of your system")
            }
            Self::Tool { .. } => "check `dmesg`, and whether another program changes the network".to_owned(),
            Self::Kernel { module, .. } => {
                format!("load the kernel module: `modprobe {module}`, or use a kernel that has it")
            }
            Self::System { .. } => "run the command as root, and check that `/run` is writable".to_owned(),
            Self::Spec(error) => error.hint().to_owned(),
            Self::Name(_) => {
                "use up to 32 lowercase letters, digits and `-`, such as `lab`, beginning with a letter"
                    .to_owned()
            }
            Self::Exists(name) => {
                format!("remove it with `ddsmark lab down {name}`, or choose another name with `--name`")
            }
            Self::NamespaceExists(name) => {
                format!("remove it with `ip netns delete {name}`, or choose another name with `--name`")
            }
            Self::NotFound { available, .. } if available.is_empty() => {
                "no lab is up; create one with `ddsmark lab up`".to_owned()
            }
            Self::NotFound { available, .. } | Self::NoHost { available, .. } => {
                format!("available: {}", available.join(", "))
            }
            Self::InUse { pid, .. } => format!("end process {pid}; it removes its lab"),
            Self::Inside(_) => "run the command outside the lab".to_owned(),
            Self::TimedOut { .. } => "check the load of the host, and try again".to_owned(),
        }
    }

    /// Returns whether the request cannot be met on this host as it is; nothing was created.
    #[must_use]
    pub const fn is_rejection(&self) -> bool {
        matches!(
            self,
            Self::Privilege { .. }
                | Self::NoTool { .. }
                | Self::Spec(_)
                | Self::Name(_)
                | Self::Exists(_)
                | Self::NamespaceExists(_)
                | Self::NotFound { .. }
                | Self::InUse { .. }
                | Self::Inside(_)
                | Self::NoHost { .. }
        )
    }

    pub(crate) fn system(action: impl Into<String>, error: impl Into<std::io::Error>) -> Self {
        Self::System { action: action.into(), error: error.into() }
    }
}
