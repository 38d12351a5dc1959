//! Mailbox: messages that agents of several hosts exchange over a topic, instead of a run.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use experiment::ParticipantSpec;
use serde::{Deserialize, Serialize};

/// Number of bytes that an agent adds to a message on the topic.
pub const MAILBOX_TAG_BYTES: usize = 8;
/// Maximum number of messages of a reply; the rest follows with the next one.
pub const MAX_RECEIVED: usize = 64;

/// Mailbox to open: a participant with a writer and a reader of one topic, both reliable, transient-local and keep-all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenMailbox {
    /// DDS domain.
    pub domain: u32,
    /// Name of the run, unique on this host while it lasts: letters, digits and `-`.
    pub run_name: String,
    /// Participant.
    pub participant: ParticipantSpec,
    /// Topic: letters, digits and `_`.
    pub topic: String,
    /// Maximum size of a message in bytes.
    pub max_message_bytes: u32,
}

/// Messages to post, and the time to wait for others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exchange {
    /// Messages to post, in this order.
    pub post: Vec<MailboxMessage>,
    /// Maximum time to wait for a first message of another agent, in ns. The next request ends the wait.
    pub wait_ns: u64,
}

/// Messages of other agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exchanged {
    /// Number of messages that the middleware has accepted, from the first one. It had no room for the rest.
    pub posted: u32,
    /// Messages of other agents, in the order of their arrival; at most [`MAX_RECEIVED`].
    pub received: Vec<MailboxMessage>,
    /// Number of other readers of the topic that are matched now.
    pub matched: u32,
    /// Number of samples on the topic since the mailbox was opened that are no messages: too short for a tag, longer than a
    /// message may be, or overwritten.
    pub ignored: u64,
}

/// Bytes of a message; in JSON as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Encoded", into = "Encoded")]
#[cfg_attr(feature = "schema", schemars(with = "Encoded"))]
pub struct MailboxMessage(pub Vec<u8>);

/// Base64 of the bytes of a message.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(rename = "MailboxMessage"))]
struct Encoded(String);

impl From<MailboxMessage> for Encoded {
    fn from(message: MailboxMessage) -> Self {
        Self(STANDARD.encode(message.0))
    }
}

impl TryFrom<Encoded> for MailboxMessage {
    type Error = base64::DecodeError;

    fn try_from(encoded: Encoded) -> Result<Self, base64::DecodeError> {
        STANDARD.decode(encoded.0).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_message_are_base64() {
        let message = MailboxMessage(vec![0, 255, b'"', b'\n']);
        let json = serde_json::to_string(&message).expect("JSON");
        assert_eq!(json, "\"AP8iCg==\"");
        assert_eq!(serde_json::from_str::<MailboxMessage>(&json).expect("a message"), message);
        assert!(serde_json::from_str::<MailboxMessage>("\"A\"").is_err());
    }
}
