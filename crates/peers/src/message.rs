//! Messages of the lobby and of the streams.

use serde::{Deserialize, Serialize};

use crate::lobby::Announcement;

/// First byte of a message with bytes of a stream, and of all others, which are JSON.
const DATA: u8 = 1;
const JSON: u8 = 0;

/// Message of a process.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Bytes of the stream to this process, in order.
    Data(Vec<u8>),
    /// Any other message.
    Control(Control),
}

/// Message without bytes of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case", deny_unknown_fields)]
pub enum Control {
    /// To all: the sender is in the lobby.
    Announce(Box<Announcement>),
    /// To a guest: all are there, and the streams begin.
    Invite,
    /// To a guest or the leader: they do not meet.
    Reject(Outcome),
    /// To a guest or the leader: the sender lives.
    Beat,
    /// To a guest or the leader: bytes of the stream that the application has taken, since its start.
    Taken {
        /// Number of bytes.
        bytes: u64,
    },
    /// To a guest or the leader: the stream to this process has ended.
    End,
    /// To a guest or the leader: the sender ends.
    Goodbye(Outcome),
}

/// Result of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whether the process ends as intended.
    pub success: bool,
    /// Reason, without a hint.
    pub text: String,
    /// Suggested next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Outcome {
    /// Creates the result of a process that ends as intended.
    #[must_use]
    pub fn success(text: impl Into<String>) -> Self {
        Self { success: true, text: text.into(), hint: None }
    }

    /// Creates the result of a process that fails.
    #[must_use]
    pub fn failure(text: impl Into<String>, hint: Option<String>) -> Self {
        Self { success: false, text: text.into(), hint }
    }
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// Returns an error if it is not valid.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        match bytes.split_first() {
            Some((&DATA, data)) => Ok(Self::Data(data.to_vec())),
            Some((&JSON, json)) => match serde_json::from_slice(json) {
                Ok(control) => Ok(Self::Control(control)),
                Err(error) => Err(format!("invalid control message: {error}")),
            },
            Some((kind, _)) => Err(format!("invalid control message: kind {kind}")),
            None => Err("invalid control message: it is empty".to_owned()),
        }
    }

    /// Returns the bytes of the message.
    ///
    /// # Panics
    /// Never: every message has a representation as JSON.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Data(data) => [&[DATA], &data[..]].concat(),
            Self::Control(control) => {
                let mut bytes = vec![JSON];
                serde_json::to_writer(&mut bytes, control).expect("a message is JSON");
                bytes
            }
        }
    }
}
