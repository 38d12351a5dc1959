//! Lobby: all processes of a test announce themselves; the leader, publisher 0, waits for those that it expects, and invites
//! them. A process that does not fit is named, with the reason, on both sides.
//!
//! [`LeaderLobby`] and [`GuestLobby`] decide, without waiting; [`lead`] and [`join`] announce, wait and answer.

mod announcement;
mod gathering;
mod guest;
#[cfg(test)]
mod guest_tests;
mod leader;
#[cfg(test)]
mod leader_tests;
mod rules;

pub use announcement::{Announcement, DriverIdentity, Peer, clean};
pub(crate) use gathering::busy;
pub use gathering::{StopRequest, join, lead};
pub use guest::GuestLobby;
pub use leader::LeaderLobby;
pub use rules::LeaderRules;

use std::time::Duration;

/// Interval of announcements and of signs of life. Each process sends one at least every second.
pub const BEAT: Duration = Duration::from_millis(800);
/// Default time without a sign of life after which a process is lost.
pub const DEFAULT_SILENCE: Duration = Duration::from_secs(10);
/// Default time limit of a guest: the other side may be started by hand.
pub const DEFAULT_GUEST_LIMIT: Duration = Duration::from_secs(300);
