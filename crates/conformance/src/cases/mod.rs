//! Conformance cases, by part of the contract.

use std::borrow::Cow;

mod effects;
mod keys;
mod lifecycle;
mod limits;
mod loans;
mod memory;
mod multicast;
mod participants;
mod peers;
mod readback;
mod receiving;
mod traffic;

use experiment::Policy;

use crate::{Case, CaseResult, fixture::Fixture};

/// Definition of a case.
pub struct CaseSpec {
    /// Id, by which `--case` selects it.
    pub id: &'static str,
    /// Part of the contract.
    pub section: &'static str,
    /// Promise of the contract that the case checks.
    pub promise: &'static str,
    /// Policies whose effect the case observes; it runs only if the driver declares each as enforced, by writers or readers.
    pub observes: &'static [Policy],
    /// Runs the case.
    pub run: fn(&Fixture<'_>) -> CaseResult,
}

/// Returns all cases, in the order in which they are listed.
pub fn all() -> Vec<Case> {
    let mut all = Vec::new();
    for cases in [
        lifecycle::CASES,
        traffic::CASES,
        keys::CASES,
        peers::CASES,
        participants::CASES,
        loans::CASES,
        receiving::CASES,
        readback::CASES,
        multicast::CASES,
        effects::CASES,
        limits::CASES,
        memory::CASES,
    ] {
        all.extend(cases.iter().map(|case| case.to_case(case.id.into(), 1)));
    }
    // the cases about samples again, over the path that the middleware takes between processes
    let samples =
        [traffic::CASES, keys::CASES, peers::CASES, loans::CASES, limits::CASES].into_iter().flatten();
    all.extend(samples.map(|case| case.to_case(format!("{}-across", case.id).into(), 2)));
    all.extend(traffic::ACROSS.iter().map(|case| case.to_case(case.id.into(), 2)));
    all
}

impl CaseSpec {
    const fn to_case(&self, id: Cow<'static, str>, processes: u32) -> Case {
        Case {
            id,
            processes,
            section: self.section,
            promise: self.promise,
            observes: self.observes,
            run: self.run,
        }
    }
}
