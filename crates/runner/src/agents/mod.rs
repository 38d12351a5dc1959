//! Agents of one run, led together.

pub(crate) mod agent;
pub(crate) mod agent_set;
mod end_cause;
mod pending_replies;
pub(crate) mod phase_error;

/// Takes a part of one kind of reply, and gives back a reply of any other kind.
macro_rules! take {
    ($reply:pat => $part:expr) => {
        |reply| match reply {
            $reply => Ok($part),
            other => Err(other),
        }
    };
}
pub(crate) use take;
