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

    /// Creates the result of a process that fails. A hint at the end of the text, in a line of its own, becomes the hint; other
    /// lines are joined: no text has control characters.
    #[must_use]
    pub fn failure(text: impl Into<String>, hint: Option<String>) -> Self {
        let text = text.into();
        let (error, hint) = match text.split_once("\nhint: ") {
            Some((error, own)) => (error, hint.or_else(|| Some(own.to_owned()))),
            None => (text.as_str(), hint),
        };
        Self { success: false, text: one_line(error), hint: hint.as_deref().map(one_line) }
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

/// Returns the lines of a text as one.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_has_its_hint_apart_and_no_lines() {
        let of = |text: &str, hint: Option<&str>| {
            let Outcome { text, hint, .. } = Outcome::failure(text, hint.map(ToOwned::to_owned));
            (text, hint)
        };
        let expected = ("a / b".to_owned(), Some("c / d".to_owned()));
        assert_eq!(of("a\n  b\nhint: c\n d", None), expected);
        assert_eq!(of("a\nb", Some("c\nd")), expected);
        assert_eq!(of("a\nb\nhint: e", Some("c\nd")), expected);
        assert_eq!(of("a: hint: b", None), ("a: hint: b".to_owned(), None));
    }
}
