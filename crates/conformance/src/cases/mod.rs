//! The cases, by part of the contract.

mod honesty;
mod life;
mod multicast;
mod receiving;
mod traffic;

use crate::Case;

/// All, in the order in which they are told.
pub fn all() -> Vec<Case> {
    [life::CASES, traffic::CASES, receiving::CASES, honesty::CASES, multicast::CASES]
        .into_iter()
        .flatten()
        .map(Case::copy)
        .collect()
}

impl Case {
    const fn copy(&self) -> Self {
        Self { id: self.id, section: self.section, promise: self.promise, run: self.run }
    }
}
