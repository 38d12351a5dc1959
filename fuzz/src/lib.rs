//! Fuzz targets: code that parses bytes from outside, which accepts them or names an error, and never panics.

mod checks;
mod targets;

pub use targets::{TARGETS, Target};

/// Returns the target of this name.
#[must_use]
pub fn find(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, run)| *run)
}
