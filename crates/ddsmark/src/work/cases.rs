//! Conformance cases of a driver, and their outcomes.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use host::DriverFile;
use report::{CaseResult, ProbedPolicy};
use runner::{CaseOutcome, CheckOptions, PolicyProbe, RunnerError};

use super::local::Local;

/// Executes one case.
pub fn try_case(
    local: &Local,
    driver: &DriverFile,
    id: &str,
    options: CheckOptions<'_>,
) -> Result<CaseResult, RunnerError> {
    Ok(match runner::check(&local.site, driver, id, options, &local.stop)? {
        CaseOutcome::Passed => CaseResult::Passed,
        CaseOutcome::Failed { reason } => CaseResult::Failed(reason),
        CaseOutcome::NoEffect { reason } => CaseResult::NoEffect(reason),
        CaseOutcome::NotApplicable { reason } => CaseResult::NotApplicable(reason),
    })
}

/// Returns a policy with the outcomes of its probes.
pub fn probed(probe: &PolicyProbe, found: &dyn Fn(&str) -> CaseResult) -> ProbedPolicy {
    let outcomes = |ids: &[String]| ids.iter().map(|id| (id.clone(), found(id))).collect();
    ProbedPolicy {
        policy: probe.policy,
        kinds: probe.kinds.clone(),
        effect: outcomes(&probe.effect),
        matching: outcomes(&probe.matching),
        unobservable: probe.unobservable.clone(),
    }
}

/// Applies `work` to all items, `jobs` at a time. Returns the results in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: u32, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((i, item)) = items.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            done.push((i, work(item)));
        }
        done
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a worker does not panic")).collect()
    });
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}
