//! Runs of the real runner with many virtual agents: one that is valid, and faults that are found.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use collector::RunReports;
use experiment::{Limits, Plan};
use results::{Run, RunState};

use super::{
    plan::{Case, Traffic, simulated_reports},
    script::Script,
    trial::execute,
    virtual_hosts::{Fleet, Silence, virtual_sites},
};

const AGENTS: usize = 200;

/// Returns a fan-out to readers on hosts of their own, its plan and its reports. Fewer windows take less time.
fn fan_out(traffic: Traffic) -> (Case, Plan, RunReports) {
    let case = Case { writers: 1, readers: AGENTS as u16 - 1, host_each: true, traffic };
    let mut plan = case.plan();
    plan.design.windows = 2;
    let reports = simulated_reports(&plan).expect("reports");
    (case, plan, reports)
}

/// Executes a run whose agents send these reports. Returns its record and what the agents share.
fn run(case: Case, plan: Plan, reports: &RunReports, silence: Option<Silence>) -> (Run, Arc<Fleet>) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("script");
    Script::write(&file, reports).expect("a script");
    let script = Script::open(&file).expect("a script");
    let (sites, fleet) = virtual_sites(case.host_names(), script, silence).expect("virtual hosts");
    let outcome = execute(plan, &sites, &directory.path().join("result"), &mut ()).expect("an outcome");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    (outcome.document.cells[0].runs[0].clone(), fleet)
}

#[test]
fn run_with_many_virtual_agents_reconciles() {
    for traffic in [Traffic::Throughput, Traffic::Paced] {
        let (case, plan, reports) = fan_out(traffic);
        let (run, fleet) = run(case, plan, &reports, None);
        assert_eq!(run.state, RunState::Valid, "{:?} {:?}", run.failure, run.warnings);
        assert_eq!((run.endpoints.len(), run.flows.len()), (AGENTS, AGENTS - 1));
        assert!(run.flows.iter().all(|flow| flow.counted.delivered > 0 && flow.counted.lost == 0));
        let hosts: BTreeSet<&str> = run.endpoints.iter().map(|endpoint| endpoint.host.as_str()).collect();
        assert_eq!((hosts.len(), fleet.living.load(Relaxed)), (AGENTS, 0));
    }
}

#[test]
fn silent_agent_of_many_fails_the_run_within_its_limit() {
    let (case, plan, reports) = fan_out(Traffic::Throughput);
    let (matching, grace) = (Duration::from_secs(2), Duration::from_secs(1));
    let [match_ns, grace_ns] = [matching, grace].map(|limit| limit.as_nanos() as u64);
    let limits = Limits { match_ns, grace_ns, ..Limits::default() };
    let began = Instant::now();
    let silence = Silence { agent: 117, phase: "match" };
    let (run, fleet) = run(case, Plan { limits, ..plan }, &reports, Some(silence));
    let failure = run.failure.expect("a failure");
    assert_eq!((run.state, failure.phase.as_str()), (RunState::Failed, "match"));
    assert_eq!(failure.endpoint.as_deref(), Some("reader-117"));
    assert_eq!(failure.error, "host `h118`: no answer within 3 s");
    // The limit of its exit, for 200 agents, would be 500 s.
    let took = began.elapsed();
    assert!(took >= matching + grace && took < Duration::from_secs(60), "{took:?}");
    assert_eq!(fleet.living.load(Relaxed), 0);
}

#[test]
fn report_that_does_not_reconcile_invalidates_the_run_of_many() {
    let (case, plan, mut reports) = fan_out(Traffic::Throughput);
    let reader = reports.agents[117].report.reader.as_mut().expect("a reader");
    reader.received[0].delivered -= 1;
    let (run, fleet) = run(case, plan, &reports, None);
    assert_eq!((run.state, fleet.living.load(Relaxed)), (RunState::Invalid, 0));
    let texts: Vec<&str> = run.warnings.iter().map(|warning| warning.text.as_str()).collect();
    assert!(texts[0].starts_with("writer@h1 -> reader-117@h118: "), "{texts:?}");
}
