//! Ends of an agent: of its control channel and of its process.

use std::fmt;

use control::ChannelError;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use super::error::SiteError;

/// Exit of an agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessExit {
    /// Exit with this status.
    Status(i32),
    /// Kill by this signal, which another process or the kernel sent.
    Signal(i32),
    /// Kill by the site after the time limit.
    Killed,
    /// No exit even after the kill: the process hangs in the kernel.
    Stuck,
    /// Not known, because its host is lost.
    Unknown,
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Status(code) => write!(f, "exited with status {code}"),
            Self::Signal(number) => match Signal::try_from(number) {
                Ok(signal) => write!(f, "was killed by signal {number} ({signal})"),
                Err(_) => write!(f, "was killed by signal {number}"),
            },
            Self::Killed => f.write_str("did not exit and was killed"),
            Self::Stuck => f.write_str("cannot be killed: it hangs in the kernel"),
            Self::Unknown => f.write_str("ended in an unknown way: its host is lost"),
        }
    }
}

/// End of an agent's control channel, with its cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelEnd {
    /// Channel closed by the agent, or broken. The exit of the agent's process may say more.
    #[error("{0}")]
    Gone(String),
    /// Invalid message.
    #[error("{0}")]
    Invalid(String),
    /// Loss of the host of the agent.
    #[error("{0}")]
    Lost(SiteError),
}

impl From<ChannelError> for ChannelEnd {
    fn from(error: ChannelError) -> Self {
        let text = error.to_string();
        match error {
            ChannelError::Closed | ChannelError::Broken(_) => Self::Gone(text),
            ChannelError::Malformed(_) | ChannelError::TimedOut(_) => Self::Invalid(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_exit_names_the_signal_if_it_has_a_name() {
        assert_eq!(ProcessExit::Signal(9).to_string(), "was killed by signal 9 (SIGKILL)");
        assert_eq!(ProcessExit::Signal(63).to_string(), "was killed by signal 63");
        assert_eq!(ProcessExit::Status(3).to_string(), "exited with status 3");
    }

    #[test]
    fn channel_end_keeps_the_text_of_the_channel_error() {
        let closed = ChannelEnd::from(ChannelError::Closed);
        assert_eq!(closed.to_string(), ChannelError::Closed.to_string());
        assert!(matches!(closed, ChannelEnd::Gone(_)));
        let malformed = ChannelEnd::from(ChannelError::Malformed("no JSON".to_owned()));
        assert!(matches!(&malformed, ChannelEnd::Invalid(text) if text.contains("no JSON")), "{malformed:?}");
    }
}
