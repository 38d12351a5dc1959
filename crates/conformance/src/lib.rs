//! What the driver contract, `include/ddsmark/driver.h`, promises: a closed list of [`Case`]s, each of which a driver
//! passes, fails, or is not concerned by.
//!
//! A case opens what it needs, with a writer and a reader of its own, over loopback: in the process that it runs in, and
//! what concerns samples a second time with the reader in a process of its own, which [`serve`] plays. Every wait in it
//! has a limit, but a driver may crash, exit or hang: whoever runs a case does so in a process that may be lost, and gives
//! it a time limit.
//!
//! ```text
//! lib.rs       Case, Verdict, the list
//! bench.rs     a matched pair of writer and reader, and what arrives
//! peer.rs      the reader in a second process
//! census.rs    threads, descriptors and shared-memory files of this process
//! values.rs    the policies, each with values that are not the default
//! cases/       the cases, by part of the contract
//! ```
#![forbid(unsafe_code)]

mod bench;
mod cases;
mod census;
mod peer;
mod values;

use std::borrow::Cow;

pub use control::Way;
use driver_abi::FEATURE_ONE_PROCESS;
use driver_host::{Driver, DriverError};
use experiment::{Policy, Support};

use crate::bench::Bench;
pub use crate::peer::{Start, serve};

/// One promise of the contract, and how to see whether a driver keeps it.
pub struct Case {
    /// Its name, as on the command line.
    pub id: Cow<'static, str>,
    /// In how many processes writer and reader are: 1 or 2.
    pub processes: u32,
    /// The section of driver.h on which it rests, or the function.
    pub section: &'static str,
    /// The promise, in words.
    pub promise: &'static str,
    /// Policies whose effect it observes: it runs only where the driver declares all of them as enforced, and shows the
    /// effect where it passes.
    pub observes: &'static [Policy],
    run: fn(&Bench<'_>) -> Held,
}

/// Whether a driver keeps a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As far as the case can see.
    Passed,
    /// It does not.
    Failed(String),
    /// It never made it: it does not declare the feature.
    NotApplicable(String),
}

/// Why a case ends early.
#[derive(Debug)]
enum Stop {
    Failed(String),
    NotApplicable(String),
}

/// What a case returns.
type Held = Result<(), Stop>;

impl From<DriverError> for Stop {
    fn from(error: DriverError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// The promise is broken.
fn broken<T>(how: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Failed(how.into()))
}

/// The promise was never made.
fn not_applicable<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::NotApplicable(why.into()))
}

impl Case {
    /// Runs it against a driver that is opened this way. `name` is in the names of all topics and files: letters, digits and `-`, unique on this
    /// host meanwhile; in `domain`, 1 to 100, there is nobody else. `start` starts the second process of a case that has
    /// two; the case ends it.
    #[must_use]
    pub fn run(&self, driver: &Driver, way: &Way, name: &str, domain: u32, start: &Start<'_>) -> Verdict {
        let start = (self.processes > 1).then_some(start);
        if start.is_some() && driver.has(FEATURE_ONE_PROCESS) {
            return Verdict::NotApplicable(
                "it declares that it does not reach beyond one process".to_owned(),
            );
        }
        let undeclared = |policy: &&Policy| driver.description().support(**policy) != Support::Enforced;
        if let Some(policy) = self.observes.iter().find(undeclared) {
            return Verdict::NotApplicable(format!("{policy} is not declared as enforced"));
        }
        match (self.run)(&Bench::new(driver, way, name, domain, start)) {
            Ok(()) => Verdict::Passed,
            Err(Stop::Failed(reason)) => Verdict::Failed(reason),
            Err(Stop::NotApplicable(reason)) => Verdict::NotApplicable(reason),
        }
    }
}

/// All cases, in the order in which they are told.
#[must_use]
pub fn cases() -> Vec<Case> {
    cases::all()
}

/// The case of that name.
#[must_use]
pub fn case(id: &str) -> Option<Case> {
    cases().into_iter().find(|case| case.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_names_of_their_own_and_a_promise() {
        let mut ids: Vec<_> = cases().into_iter().map(|case| case.id).collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all);
        assert!(cases().iter().all(|case| !case.promise.is_empty() && !case.section.is_empty()));
        assert!(case("no-such-case").is_none());
    }
}
