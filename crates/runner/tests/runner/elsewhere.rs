//! Runs on a site that is not this host, as far as the runner can tell: another owner of names, another clock, and
//! values that arrive as JSON.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use control::MonotonicClock;
use experiment::Workload;
use results::{Environment, NoiseProbe, NoiseRule, Reference, RunState, State};
use serde::{Serialize, de::DeserializeOwned};
use site::{
    Agent, AgentCommand, AgentLog, Counters, DomainClaim, EnvironmentInputs, Facts, Hold, LocalSite, Owner,
    ReplySink, Site, SiteError,
};

use crate::rig::{Rig, local_site, run};

/// Site that behaves like one on another host. Records the names of its calls.
struct Elsewhere {
    site: LocalSite,
    clock: MonotonicClock,
    calls: Mutex<Vec<String>>,
}

impl Elsewhere {
    fn new(clock: MonotonicClock) -> Self {
        Self { site: local_site(), clock, calls: Mutex::default() }
    }

    fn called(&self, name: impl Into<String>) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(name.into());
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

/// Returns a value as it arrives from another host.
fn sent<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).expect("JSON")).expect("JSON")
}

impl Site for Elsewhere {
    fn launch(
        &self,
        command: &AgentCommand,
        log: AgentLog,
        replies: ReplySink,
    ) -> Result<Box<dyn Agent>, SiteError> {
        self.called("launch");
        self.site.launch(&sent(command), log, replies)
    }

    fn facts(&self) -> Result<Facts, SiteError> {
        sent(&self.site.facts())
    }

    fn environment(&self, inputs: &EnvironmentInputs) -> Result<Environment, SiteError> {
        sent(&self.site.environment(&sent(inputs)))
    }

    fn missing_file(&self, value: &str) -> Result<Option<PathBuf>, SiteError> {
        sent(&self.site.missing_file(value))
    }

    fn probe(&self, cores: &[u32], rule: &NoiseRule) -> Result<Option<NoiseProbe>, SiteError> {
        self.called("probe");
        sent(&self.site.probe(cores, &sent(rule)))
    }

    fn counters(&self, cores: &[u32]) -> Result<Counters, SiteError> {
        self.called("counters");
        sent(&self.site.counters(cores))
    }

    fn reference(
        &self,
        sender_cores: &[u32],
        receiver_cores: &[u32],
        length_ns: u64,
    ) -> Result<Reference, String> {
        self.called("reference");
        sent(&self.site.reference(sender_cores, receiver_cores, length_ns))
    }

    fn keep_awake(&self) -> Result<Hold, SiteError> {
        self.called("keep_awake");
        Ok(Box::new(()))
    }

    fn claim_domain(&self, number: u32) -> Result<DomainClaim, SiteError> {
        self.called("claim_domain");
        self.site.claim_domain(number)
    }

    fn owner(&self) -> Owner {
        sent(&Owner { pid: 4242, boot: "feedbeef".to_owned() })
    }

    fn clean(&self, name: &str) {
        self.called(format!("clean {name}"));
        self.site.clean(name);
    }

    fn sweep(&self) {
        self.called("sweep");
        self.site.sweep();
    }

    fn clock(&self) -> MonotonicClock {
        sent(&self.clock)
    }
}

#[test]
fn everything_on_the_host_of_the_agents_is_done_by_the_site() {
    let site = Elsewhere::new(MonotonicClock::of_this_process());
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Latency);
    rig.experiment.design.keep_awake = true;
    let document = rig.execute_on(&site);
    assert_eq!((document.state, run(&document, "d/latency").state), (State::Complete, RunState::Valid));
    // Before the block, the run, after the block. The first launch describes the driver.
    let expected = "launch sweep keep_awake probe reference counters claim_domain launch launch \
                    clean ddsmark-4242-feedbeef-1-1 counters probe reference";
    let mut calls = site.calls();
    // Another experiment on this host may have reserved the first domain.
    calls.dedup_by(|next, call| next == call && call == "claim_domain");
    assert_eq!(calls.join(" "), expected);
}

#[test]
fn one_way_latencies_need_the_clock_of_the_runner() {
    let own = MonotonicClock::of_this_process();
    let other_boot = MonotonicClock { boot_id: Some("another".to_owned()), ..own.clone() };
    let other_namespace = MonotonicClock { time_namespace: Some("time:[1]".to_owned()), ..own.clone() };
    for (clock, kinds) in [
        (own, &["one_way_back", "one_way_out", "rtt"][..]),
        (other_boot, &["rtt"]),
        (other_namespace, &["rtt"]),
    ] {
        let rig = Rig::new(&[("d", "")]).of_workload(Workload::Latency);
        let document = rig.execute_on(&Elsewhere::new(clock.clone()));
        let run = run(&document, "d/latency");
        assert_eq!(run.state, RunState::Valid, "{clock:?}");
        assert_eq!(run.latency.keys().collect::<Vec<_>>(), kinds, "{clock:?}");
    }
}
