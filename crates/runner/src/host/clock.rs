//! Wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time since the Unix epoch in ns.
pub(crate) fn unix_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
