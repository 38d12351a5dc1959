//! Instead of a run: the driver tried against the contract.

use control::{CaseInfo, Verdict};
use driver_host::Driver;

use crate::session::AgentError;

/// All cases.
pub fn cases() -> Vec<CaseInfo> {
    let info = |case: conformance::Case| CaseInfo {
        id: case.id.to_owned(),
        section: case.section.to_owned(),
        promise: case.promise.to_owned(),
    };
    conformance::cases().into_iter().map(info).collect()
}

/// Tries one.
pub fn check(driver: &Driver, case: &str, name: &str, domain: u32) -> Result<Verdict, AgentError> {
    let case = conformance::case(case).ok_or_else(|| AgentError::NoCase(case.to_owned()))?;
    Ok(match case.run(driver, name, domain) {
        conformance::Verdict::Passed => Verdict::Passed,
        conformance::Verdict::Failed(reason) => Verdict::Failed { reason },
        conformance::Verdict::NotApplicable(reason) => Verdict::NotApplicable { reason },
    })
}
