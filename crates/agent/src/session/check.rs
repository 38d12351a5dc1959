//! Conformance cases, run by an agent instead of a run.

use std::{os::fd::OwnedFd, process::Command};

use control::{CaseInfo, CaseOutcome, OpenOptions, PolicyProbe, Reply};
use driver_host::Driver;

use crate::base::error::AgentError;

/// Returns all conformance cases, and which of them observe each policy.
pub fn cases() -> Reply {
    let info = |case: conformance::Case| CaseInfo {
        id: case.id.into_owned(),
        section: case.spec.section.to_owned(),
        promise: case.spec.promise.to_owned(),
        processes: case.processes,
    };
    let ids = |of: &[&str]| {
        let is_one = |case: &conformance::Case| of.contains(&case.spec.id);
        conformance::cases().into_iter().filter(is_one).map(|case| case.id.into_owned()).collect()
    };
    let probe = |probe: &conformance::Probe| PolicyProbe {
        policy: probe.policy,
        kinds: probe.kinds.to_owned(),
        effect: ids(probe.effect),
        matching: ids(probe.matching),
        unobservable: probe.unobservable.to_owned(),
    };
    Reply::Cases {
        cases: conformance::cases().into_iter().map(info).collect(),
        probes: conformance::PROBES.iter().map(probe).collect(),
        rejection: conformance::REJECTION.to_owned(),
    }
}

/// Command-line flag of an agent that is the second process of a case.
pub const PEER: &str = "--peer";

/// Runs one case. A process started for it belongs to this process group, which the runner terminates.
pub fn check(
    driver: &Driver,
    case: &str,
    way: &OpenOptions,
    name_and_domain: (&str, u32),
    probes: bool,
) -> Result<CaseOutcome, AgentError> {
    let case = conformance::case(case).ok_or_else(|| AgentError::NoCase(case.to_owned()))?;
    let start = |channel: OwnedFd| {
        Command::new("/proc/self/exe").arg("--driver").arg(driver.path()).arg(PEER).stdin(channel).spawn()
    };
    Ok(case.run(driver, way, name_and_domain, &start, probes))
}
