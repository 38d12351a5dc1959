//! Rules of the leader, beyond numbers and ids.

use std::fmt;

use super::announcement::{DriverIdentity, Peer};
use crate::message::Outcome;

/// Rules that a guest must follow.
pub struct LeaderRules<'a> {
    /// Returns whether two different drivers interoperate.
    pub interoperate: &'a dyn Fn(&DriverIdentity, &DriverIdentity) -> bool,
    /// Compares the options of the leader, the first argument, and a guest. The error names the option and both values.
    pub compare: &'a dyn Fn(&Peer, &Peer) -> Result<(), Outcome>,
}

impl fmt::Debug for LeaderRules<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeaderRules")
    }
}
