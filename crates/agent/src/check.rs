//! Instead of a run: the driver tried against the contract.

use std::{os::fd::OwnedFd, process::Command};

use control::{CaseInfo, Verdict, Way};
use driver_host::Driver;

use crate::session::AgentError;

/// All cases.
pub fn cases() -> Vec<CaseInfo> {
    let info = |case: conformance::Case| CaseInfo {
        id: case.id.into_owned(),
        section: case.section.to_owned(),
        promise: case.promise.to_owned(),
        processes: case.processes,
        observes: case.observes.to_vec(),
    };
    conformance::cases().into_iter().map(info).collect()
}

/// The word on the command line of an agent that is the second process of a case.
pub const PEER: &str = "--peer";

/// Tries one. What is started for it is of this process's group, which whoever started this one ends.
pub fn check(driver: &Driver, case: &str, way: &Way, name: &str, domain: u32) -> Result<Verdict, AgentError> {
    let case = conformance::case(case).ok_or_else(|| AgentError::NoCase(case.to_owned()))?;
    let start = |channel: OwnedFd| {
        Command::new("/proc/self/exe").arg("--driver").arg(driver.path()).arg(PEER).stdin(channel).spawn()
    };
    Ok(match case.run(driver, way, name, domain, &start) {
        conformance::Verdict::Passed => Verdict::Passed,
        conformance::Verdict::Failed(reason) => Verdict::Failed { reason },
        conformance::Verdict::NotApplicable(reason) => Verdict::NotApplicable { reason },
    })
}
