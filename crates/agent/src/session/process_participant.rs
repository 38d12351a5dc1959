//! Participants of a process: one for each endpoint, or one that several endpoints share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use driver_host::Participant;

use crate::base::error::AgentError;

/// Participant that endpoints of this process may share.
#[derive(Clone, Debug, Default)]
pub struct ProcessParticipant(Arc<Mutex<Weak<Mutex<Participant>>>>);

/// Open participant of an endpoint. The last endpoint that has it closes it.
#[derive(Debug)]
pub struct OpenParticipant(Arc<Mutex<Participant>>);

impl ProcessParticipant {
    /// Returns the participant that other endpoints of this process have opened, or opens it.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub(super) fn join(
        &self,
        open: impl FnOnce() -> Result<Participant, AgentError>,
    ) -> Result<OpenParticipant, AgentError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(participant) = known.upgrade() {
            return Ok(OpenParticipant(participant));
        }
        let opened = OpenParticipant::new(open()?);
        *known = Arc::downgrade(&opened.0);
        Ok(opened)
    }
}

impl OpenParticipant {
    /// Creates a participant that no other endpoint uses.
    pub(super) fn new(participant: Participant) -> Self {
        Self(Arc::new(Mutex::new(participant)))
    }

    /// Waits until no other endpoint opens entities of the participant: its functions are called by one thread at a time.
    pub(super) fn lock(&self) -> MutexGuard<'_, Participant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the participant, unless another endpoint still has it.
    ///
    /// # Errors
    /// Returns the driver's error if the close fails.
    pub(super) fn close(self) -> Result<(), AgentError> {
        let Some(participant) = Arc::into_inner(self.0) else { return Ok(()) };
        Ok(participant.into_inner().unwrap_or_else(PoisonError::into_inner).close()?)
    }
}
