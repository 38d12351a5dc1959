//! Handle of an open participant, shared by the participant and its entities.

use std::ptr::NonNull;

use driver_abi as abi;

use crate::table::Table;

/// Handle of a participant. Closes the participant when the last owner is dropped.
pub struct ParticipantInner {
    pub table: Table,
    pub handle: NonNull<abi::Participant>,
}

// SAFETY: the contract (section 3) allows different entities of a participant in different threads at the same
// time. The participant itself is used by its owner only, and closed after its last entity.
unsafe impl Send for ParticipantInner {}
// SAFETY: as above; the only functions of the participant that a shared reference reaches are
// `participant_settings` and the open functions. `Participant` is `!Sync` and keeps these to one thread.
unsafe impl Sync for ParticipantInner {}

impl Drop for ParticipantInner {
    fn drop(&mut self) {
        if let Some(close) = self.table.participant_close {
            // SAFETY: all entities hold an `Arc` of this, so none is left; closed once, here.
            unsafe { close(self.handle.as_ptr()) };
        }
    }
}
