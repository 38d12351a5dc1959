//! Conformance check of a driver: each case in an agent of its own. A driver that crashes, exits or hangs fails one
//! case only.

use std::time::Duration;

use control::{CaseInfo, Order, Reply, Verdict, Way};
use experiment::Limits;
use results::Failure;

use super::search_path::DriverFile;
use crate::{
    RunnerError, Stop,
    agents::{
        agent::{Log, Member},
        crew::{Crew, unexpected},
        domain::Domains,
        launcher::Launcher,
        leftovers,
    },
};

/// Returns the available cases. To be called before [`check`]: removes what earlier runners left behind, and reports
/// a driver that cannot be loaded.
///
/// # Errors
/// Returns an error if the file is not a driver, implements another version of the contract, or fails.
pub fn cases(
    launcher: &dyn Launcher,
    driver: &DriverFile,
    limits: &Limits,
    stop: &Stop,
) -> Result<Vec<CaseInfo>, RunnerError> {
    leftovers::sweep();
    let asked = ask(launcher, driver, Order::Cases, limits.report_ns, limits, stop, |reply| match reply {
        Reply::Cases { cases } => Ok(cases),
        other => Err(other),
    })?;
    match asked {
        Asked::Answered(cases) => Ok(cases),
        Asked::AnsweredBadly(_, failure) | Asked::Failed(failure) => {
            Err(RunnerError::Driver { driver: driver.name.clone(), failure: Box::new(failure) })
        }
    }
}

/// Executes one case with a time limit. A driver that ends its process or hangs fails the case.
///
/// # Errors
/// Returns an error if no agent can be started or a stop was requested.
pub fn check(
    launcher: &dyn Launcher,
    driver: &DriverFile,
    case: &str,
    way: &Way,
    limit: Duration,
    stop: &Stop,
) -> Result<Verdict, RunnerError> {
    let name = leftovers::case_name(case);
    let domain = Domains::new().take();
    let order =
        Order::Check { case: case.to_owned(), name: name.clone(), domain: domain.number, way: way.clone() };
    let limit_ns = limit.as_nanos() as u64;
    let tried = ask(launcher, driver, order, limit_ns, &Limits::default(), stop, |reply| match reply {
        Reply::Checked(verdict) => Ok(verdict),
        other => Err(other),
    });
    leftovers::remove(&name);
    Ok(match tried? {
        Asked::Answered(verdict) => verdict,
        // The outcome of the case says more than the process exit after it.
        Asked::AnsweredBadly(verdict @ Verdict::Failed { .. }, _) => verdict,
        Asked::AnsweredBadly(_, failure) | Asked::Failed(failure) => {
            Verdict::Failed { reason: words_of(&failure) }
        }
    })
}

/// Outcome of one request.
enum Asked<T> {
    Answered(T),
    /// Answer followed by an unsuccessful exit of the agent.
    AnsweredBadly(T, Failure),
    Failed(Failure),
}

/// Starts an agent, sends one request and returns its reply.
fn ask<T>(
    launcher: &dyn Launcher,
    driver: &DriverFile,
    order: Order,
    limit_ns: u64,
    limits: &Limits,
    stop: &Stop,
    expected: impl FnOnce(Reply) -> Result<T, Reply>,
) -> Result<Asked<T>, RunnerError> {
    let member = Member::alone(driver.path.clone(), Log::in_memory()?);
    let mut crew = Crew::muster(launcher, vec![member], limits, stop)?;
    let phase = order.phase();
    let mut answer = None;
    let ended = crew.hellos().and_then(|_| {
        let [(agent, reply)] = crew.order(&[(0, order)], limit_ns)?;
        answer = Some(expected(reply).map_err(|other| unexpected(phase, agent, &other))?);
        crew.dismiss()
    });
    let failure = match ended {
        Ok(()) => None,
        Err(trouble) => Some(crew.fail(trouble).ok_or(RunnerError::Stopped)?),
    };
    Ok(match (answer, failure) {
        (Some(answer), None) => Asked::Answered(answer),
        (Some(answer), Some(failure)) => Asked::AnsweredBadly(answer, failure),
        (None, failure) => Asked::Failed(failure.expect("without an answer there is a failure")),
    })
}

fn words_of(failure: &Failure) -> String {
    let mut words = failure.error.clone();
    if failure.phase != "check" {
        words = format!("{}: {words}", failure.phase);
    }
    if let Some(line) = failure.last_words.last() {
        words.push_str(&format!("; last line of its output: {line}"));
    }
    words
}
