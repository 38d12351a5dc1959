//! Errors of requests that a guest rejects.

use host::SiteError;

/// Request of a leader that a guest rejects. Both sides report it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuestError {
    /// Item for which leader and guest were started with different values.
    #[error("different {item}: {leader} at the leader, {guest} at the guest")]
    Differs {
        /// Item, such as `domain`.
        item: String,
        /// Value that the leader requests.
        leader: String,
        /// Value that the guest was started with.
        guest: String,
    },
    /// Item that is out of range.
    #[error("a guest rejects {item}: {value}, at most {most}")]
    OutOfRange {
        /// Item.
        item: &'static str,
        /// Value that the leader requests.
        value: String,
        /// Highest value that a guest accepts.
        most: String,
    },
    /// Request that a guest never executes.
    #[error("a guest rejects {0}")]
    Forbidden(&'static str),
}

impl GuestError {
    /// Returns a suggested action.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Differs { item, .. } => format!("start leader and guest with the same {item}"),
            Self::OutOfRange { .. } | Self::Forbidden(_) => {
                "use the same build of ddsmark on both hosts; if it is the same, another program sends requests".to_owned()
            }
        }
    }
}

impl From<GuestError> for SiteError {
    fn from(error: GuestError) -> Self {
        Self::Rejected { hint: error.hint(), error: error.to_string() }
    }
}
