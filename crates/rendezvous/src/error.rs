//! Errors of mailboxes, lobbies and streams.

/// Reason why processes do not meet, or lose each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct RendezvousError {
    text: String,
    hint: Option<String>,
    /// Whether this process was asked to stop.
    pub is_stopped: bool,
    /// Error of a driver that rejects the participant of the mailbox permanently.
    pub refused: Option<String>,
}

impl RendezvousError {
    /// Creates an error with a suggested next step.
    pub fn new(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::with(text, Some(hint.into()))
    }

    /// Creates an error with a suggested next step, if there is one.
    pub fn with(text: impl Into<String>, hint: Option<String>) -> Self {
        Self { text: text.into(), hint, is_stopped: false, refused: None }
    }

    /// Returns a suggested next step.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
