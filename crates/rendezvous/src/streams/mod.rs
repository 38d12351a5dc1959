//! Byte streams between the leader and each guest, carried as messages.
//!
//! A stream has a pipe for each direction. Its bytes are sent while the other application takes them: at most
//! [`WINDOW`] bytes are on their way. Each side sends a sign of life at least every second.

mod end;
mod link;
mod pipes;
mod pump;
mod session;

pub use end::{SessionEnd, SessionEvent};
pub use session::{PeerStream, Session, SessionOptions};

pub use crate::lobby::DEFAULT_SILENCE;

/// Maximum number of bytes that were sent, and that the other application has not taken yet.
pub const WINDOW: usize = 256 << 10;
