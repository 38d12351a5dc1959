//! Conformance cases, run by an agent instead of a run.

use std::{os::fd::OwnedFd, process::Command};

use control::{CaseInfo, CaseOutcome, OpenOptions};
use driver_host::Driver;

use crate::base::error::AgentError;

/// Returns all conformance cases.
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

/// Command-line flag of an agent that is the second process of a case.
pub const PEER: &str = "--peer";

/// Runs one case. A process started for it belongs to this process group, which the runner terminates.
pub fn check(
    driver: &Driver,
    case: &str,
    way: &OpenOptions,
    name: &str,
    domain: u32,
) -> Result<CaseOutcome, AgentError> {
    let case = conformance::case(case).ok_or_else(|| AgentError::NoCase(case.to_owned()))?;
    let start = |channel: OwnedFd| {
        Command::new("/proc/self/exe").arg("--driver").arg(driver.path()).arg(PEER).stdin(channel).spawn()
    };
    Ok(match case.run(driver, way, name, domain, &start) {
        conformance::CaseOutcome::Passed => CaseOutcome::Passed,
        conformance::CaseOutcome::Failed(reason) => CaseOutcome::Failed { reason },
        conformance::CaseOutcome::NotApplicable(reason) => CaseOutcome::NotApplicable { reason },
    })
}
