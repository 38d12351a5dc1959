//! Conformance cases: a closed list of [`Case`]s, each of which tests a promise of the driver contract,
//! `include/ddsmark/driver.h`. A driver passes a case, fails it, or the case does not apply.
//!
//! A case opens its own writer and reader over loopback, in its own process. The cases about samples run a second
//! time with the reader in a second process, which calls [`serve()`]. Every wait in a case has a limit, but a driver
//! may crash, exit or hang. The caller therefore runs each case in a process that it can lose, and with a time
//! limit.
//!
//! ```text
//! lib.rs       Case, CaseOutcome, the list
//! sample.rs         received samples
//! endpoint.rs       configuration and matching of endpoints
//! remote_reader.rs  the reader in a second process, seen from the case
//! fixture.rs          a matched pair of writer and reader
//! serve.rs          the second process
//! process_snapshot.rs         threads, descriptors and shared memory files of this process
//! probes.rs         the cases that observe each policy
//! values.rs         the QoS policies, each with values that are not the default
//! cases/            the cases, by part of the contract
//! ```
#![forbid(unsafe_code)]

/// Fails the case with the text if the condition holds.
macro_rules! fail_if {
    ($condition:expr, $($text:tt)+) => {
        if $condition {
            return crate::broken(format!($($text)+));
        }
    };
}

/// Fails the case because a policy has no effect, with the text, if the condition holds.
macro_rules! no_effect_if {
    ($condition:expr, $($text:tt)+) => {
        if $condition {
            return crate::no_effect(format!($($text)+));
        }
    };
}

/// Ends the case as not applicable, with the text, if the condition holds.
macro_rules! skip_if {
    ($condition:expr, $($text:tt)+) => {
        if $condition {
            return crate::not_applicable(format!($($text)+));
        }
    };
}

mod cases;
mod endpoint;
mod fixture;
mod inlet;
mod probes;
mod process_snapshot;
mod remote_reader;
mod sample;
mod serve;
mod values;

use std::borrow::Cow;

pub use control::{CaseOutcome, OpenOptions};
use driver_abi::FEATURE_ONE_PROCESS;
use driver_host::{Driver, DriverError};
use experiment::{Policy, Support};

use crate::fixture::Fixture;
pub use crate::{
    probes::{PROBES, Probe, REJECTION},
    remote_reader::SpawnPeer,
    serve::serve,
};

/// Promise of the contract, with a test of whether a driver keeps it.
pub struct CaseSpec {
    /// Id of the case within one process, by which the probes name it.
    pub id: &'static str,
    /// Section or function of driver.h that makes the promise.
    pub section: &'static str,
    /// Text of the promise.
    pub promise: &'static str,
    run: fn(&Fixture<'_>) -> CaseResult,
}

/// Case: a promise of the contract, tested in one process or in two.
pub struct Case {
    /// Id of the case, as on the command line.
    pub id: Cow<'static, str>,
    /// Number of processes of writer and reader: 1 or 2.
    pub processes: u32,
    /// Promise and test.
    pub spec: &'static CaseSpec,
}

/// Reason for the early end of a case.
#[derive(Debug)]
enum Stop {
    Failed(String),
    /// The policy that the case observes has no effect.
    NoEffect(String),
    NotApplicable(String),
}

impl Stop {
    /// Returns the failure with the place where it was found before its text.
    fn at(self, place: &str) -> Self {
        match self {
            Self::Failed(how) => Self::Failed(format!("{place}: {how}")),
            other => other,
        }
    }
}

/// Result of the function of a case.
type CaseResult = Result<(), Stop>;

impl From<DriverError> for Stop {
    fn from(error: DriverError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Returns an error that fails the case.
fn broken<T>(how: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Failed(how.into()))
}

/// Returns an error that fails the case because a policy has no effect.
fn no_effect<T>(how: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::NoEffect(how.into()))
}

/// Returns an error that makes the case not applicable.
fn not_applicable<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::NotApplicable(why.into()))
}

impl Case {
    /// Runs the case with a driver that is opened as `way` says.
    ///
    /// - `name`: part of the names of all topics and files; letters, digits and `-`, unique on this host during the
    ///   case.
    /// - `domain`: DDS domain from 1 to 100 that no other process uses.
    /// - `start`: starts the second process of a case with two processes; the case ends that process.
    /// - `probes`: whether the case also runs if the driver does not declare the policies that it observes.
    #[must_use]
    pub fn run(
        &self,
        driver: &Driver,
        way: &OpenOptions,
        (name, domain): (&str, u32),
        start: &SpawnPeer<'_>,
        probes: bool,
    ) -> CaseOutcome {
        let start = (self.processes > 1).then_some(start);
        if start.is_some() && driver.has(FEATURE_ONE_PROCESS) {
            let reason = "the driver declares DDSMARK_FEATURE_ONE_PROCESS".to_owned();
            return CaseOutcome::NotApplicable { reason };
        }
        if let Some(reason) = self.undeclared(driver).filter(|_| !probes) {
            return CaseOutcome::NotApplicable { reason };
        }
        match (self.spec.run)(&Fixture::new(driver, way, name, domain, start, probes)) {
            Ok(()) => CaseOutcome::Passed,
            Err(Stop::Failed(reason)) => CaseOutcome::Failed { reason },
            Err(Stop::NoEffect(reason)) => CaseOutcome::NoEffect { reason },
            Err(Stop::NotApplicable(reason)) => CaseOutcome::NotApplicable { reason },
        }
    }

    /// Returns that the driver does not declare a policy that the case observes, if so.
    fn undeclared(&self, driver: &Driver) -> Option<String> {
        let lacks = |policy: Policy, levels: &[Support]| {
            !driver.description().support_of_ends(policy).iter().any(|support| levels.contains(support))
        };
        for Probe { policy, effect, .. } in PROBES {
            if effect.contains(&self.spec.id) && lacks(*policy, &[Support::Enforced]) {
                return Some(format!("{policy} is not declared as enforced"));
            }
        }
        for Probe { policy, matching, .. } in PROBES {
            if matching.contains(&self.spec.id) && lacks(*policy, &[Support::Enforced, Support::MatchedOnly])
            {
                return Some(format!("{policy} is not declared as enforced or matched_only"));
            }
        }
        None
    }
}

/// Returns all cases, in the order in which they are listed.
#[must_use]
pub fn cases() -> Vec<Case> {
    cases::all()
}

/// Returns the case with this id.
#[must_use]
pub fn case(id: &str) -> Option<Case> {
    cases().into_iter().find(|case| case.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_unique_ids_and_a_promise() {
        let mut ids: Vec<_> = cases().into_iter().map(|case| case.id).collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all);
        assert!(cases().iter().all(|case| !case.spec.promise.is_empty() && !case.spec.section.is_empty()));
        assert!(case("no-such-case").is_none());
    }
}
