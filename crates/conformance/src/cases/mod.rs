//! Conformance cases, by part of the contract.

use std::borrow::Cow;

/// Defines cases: the id, the function, the part of the contract, and the promise of each.
macro_rules! cases {
    ($($id:literal $run:expr, $section:expr => $promise:expr;)*) => {
        &[$(CaseSpec { id: $id, section: $section, promise: $promise, run: $run }),*]
    };
}

mod disposal;
mod effects;
mod instances;
mod keys;
mod lifecycle;
mod limits;
mod loans;
mod memory;
mod multicast;
mod offers;
mod participants;
mod peers;
mod readback;
mod receiving;
mod traffic;

use crate::{Case, CaseSpec};

/// Cases, by part of the contract, in the order in which they are listed.
const ALL: [&[CaseSpec]; 15] = [
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
    instances::CASES,
    disposal::CASES,
    offers::CASES,
    limits::CASES,
    memory::CASES,
];

/// Returns the definitions of all cases within one process.
pub fn specs() -> impl Iterator<Item = &'static CaseSpec> {
    ALL.into_iter().flatten()
}

/// Returns the definitions of the cases on policies.
#[cfg(test)]
pub fn of_policies() -> impl Iterator<Item = &'static CaseSpec> {
    [effects::CASES, instances::CASES, disposal::CASES, offers::CASES, limits::CASES].into_iter().flatten()
}

/// Returns all cases, in the order in which they are listed.
pub fn all() -> Vec<Case> {
    let case = |spec: &'static CaseSpec, id: Cow<'static, str>, processes| Case { id, processes, spec };
    let mut all: Vec<Case> = specs().map(|spec| case(spec, spec.id.into(), 1)).collect();
    // the cases about samples again, over the path that the middleware takes between processes
    let samples =
        [traffic::CASES, keys::CASES, peers::CASES, loans::CASES, limits::CASES].into_iter().flatten();
    all.extend(samples.map(|spec| case(spec, format!("{}-across", spec.id).into(), 2)));
    all.extend(traffic::ACROSS.iter().map(|spec| case(spec, spec.id.into(), 2)));
    all
}
