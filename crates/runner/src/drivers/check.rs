//! Conformance check of a driver: each case in an agent of its own. A driver that crashes, exits or hangs fails one
//! case only.

use std::time::Duration;

use control::{CaseInfo, CaseOutcome, OpenOptions, PolicyProbe, Reply, Request};
use experiment::Limits;
use host::{AgentLog, Domains, DriverFile, Site};
use results::Failure;

use crate::{
    agents::{agent::AgentSpec, agent_set::AgentSet, take},
    error::RunnerError,
    stop_token::StopToken,
};

/// The conformance cases, and which of them observe each policy.
#[derive(Clone, Debug)]
pub struct Cases {
    /// Cases, in the order in which they are listed.
    pub all: Vec<CaseInfo>,
    /// Cases that observe each policy, in the order of the contract.
    pub probes: Vec<PolicyProbe>,
    /// Case that passes if requests for unsupported policies are rejected.
    pub rejection: String,
}

/// Options of a case.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions<'a> {
    /// Transport and options of the driver.
    pub way: &'a OpenOptions,
    /// Time limit.
    pub limit: Duration,
    /// Whether the case also runs if the driver does not declare the policies that it observes.
    pub probes: bool,
}

/// Returns the available cases. To be called before [`check`]: removes what earlier runners left behind, and reports
/// a driver that cannot be loaded.
///
/// # Errors
/// Returns an error if the file is not a driver, implements another version of the contract, or fails.
pub fn cases(
    site: &dyn Site,
    driver: &DriverFile,
    limits: &Limits,
    stop: &StopToken,
) -> Result<Cases, RunnerError> {
    site.sweep();
    let cases = take!(Reply::Cases { cases, probes, rejection } => Cases { all: cases, probes, rejection });
    let outcome = ask(site, driver, Request::Cases, limits.report_ns, limits, stop, cases)?;
    match outcome {
        CheckRequest::Answered(cases) => Ok(cases),
        CheckRequest::AnsweredBadly(_, failure) | CheckRequest::Failed(failure) => {
            Err(RunnerError::Driver { driver: driver.name.clone(), failure: Box::new(failure) })
        }
    }
}

/// Executes one case with a time limit. A driver that ends its process or hangs fails the case.
///
/// # Errors
/// Returns an error if no agent can be started or a stop was requested.
pub fn check(
    site: &dyn Site,
    driver: &DriverFile,
    case: &str,
    options: CheckOptions<'_>,
    stop: &StopToken,
) -> Result<CaseOutcome, RunnerError> {
    let name = site.owner().case_name(case);
    let domain = Domains::new().take(&[site])?;
    let order = Request::Check {
        case: case.to_owned(),
        name: name.clone(),
        domain: domain.number,
        way: options.way.clone(),
        probes: options.probes,
    };
    let limit_ns = options.limit.as_nanos() as u64;
    let verdict = take!(Reply::Checked(verdict) => verdict);
    let tried = ask(site, driver, order, limit_ns, &Limits::default(), stop, verdict);
    site.clean(&name);
    Ok(match tried? {
        CheckRequest::Answered(verdict) => verdict,
        // The outcome of the case says more than the process exit after it.
        CheckRequest::AnsweredBadly(
            verdict @ (CaseOutcome::Failed { .. } | CaseOutcome::NoEffect { .. }),
            _,
        ) => verdict,
        CheckRequest::AnsweredBadly(_, failure) | CheckRequest::Failed(failure) => {
            CaseOutcome::Failed { reason: words_of(&failure) }
        }
    })
}

/// Outcome of one request.
enum CheckRequest<T> {
    Answered(T),
    /// Answer followed by an unsuccessful exit of the agent.
    AnsweredBadly(T, Failure),
    Failed(Failure),
}

/// Starts an agent, sends one request and returns its reply.
fn ask<T>(
    site: &dyn Site,
    driver: &DriverFile,
    order: Request,
    limit_ns: u64,
    limits: &Limits,
    stop: &StopToken,
    expected: impl Fn(Reply) -> Result<T, Reply>,
) -> Result<CheckRequest<T>, RunnerError> {
    let member = AgentSpec::alone(site, driver.clone(), AgentLog::in_memory()?);
    let mut agent_set = AgentSet::spawn(vec![member], limits, stop)?;
    let mut answer = None;
    let ended = agent_set.hellos().and_then(|_| {
        answer = agent_set.ask(&[(0, order)], limit_ns, expected)?.pop();
        agent_set.dismiss()
    });
    let failure = match ended {
        Ok(()) => None,
        Err(phase_error) => Some(agent_set.fail(phase_error).ok_or(RunnerError::Stopped)?),
    };
    Ok(match (answer, failure) {
        (Some(answer), None) => CheckRequest::Answered(answer),
        (Some(answer), Some(failure)) => CheckRequest::AnsweredBadly(answer, failure),
        (None, failure) => CheckRequest::Failed(failure.expect("without an answer there is a failure")),
    })
}

fn words_of(failure: &Failure) -> String {
    let mut words = failure.error.clone();
    if failure.phase != "check" {
        words = format!("{}: {words}", failure.phase);
    }
    if let Some(line) = failure.last_log_lines.last() {
        words.push_str(&format!("; last line of its output: {line}"));
    }
    words
}
