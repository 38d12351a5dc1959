//! Runs on a site that is not this host, as far as the runner can tell: another owner of names, another clock, and
//! values that arrive as JSON.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use control::MonotonicClock;
use experiment::{HostSpec, LinkSpec, Load, Placement, PlannedHost, Rate, Workload};
use hdrhistogram::Histogram;
use host::{
    Agent, AgentCommand, AgentLog, ClockClient, ClockExchange, ClockReading, ClockResponder, Counters,
    DomainClaim, EnvironmentInputs, Facts, Guard, LocalSite, Owner, ReplySink, Site, SiteError,
};
use results::{
    Environment, LinkFrames, LinkLateness, LinkReading, LinkRecord, NoiseProbe, NoiseRule, Reference,
    RunState, RunningExperiment, State,
};
use runner::{HostLinks, RunnerError, Sites};
use serde::{Serialize, de::DeserializeOwned};

use crate::rig::{Rig, local_site, run};

/// Site that behaves like one on another host. Records the names of its calls.
struct Elsewhere {
    site: LocalSite,
    clock: MonotonicClock,
    owner: Owner,
    /// Number of calls after which the host is lost.
    fails_after: Option<usize>,
    /// Number of clock exchanges after which no other is possible.
    exchanges: usize,
    calls: Mutex<Vec<String>>,
    /// Number of readings of its facts.
    facts: AtomicUsize,
}

fn owner(pid: u32, boot: &str) -> Owner {
    Owner { pid, boot: boot.to_owned() }
}

impl Elsewhere {
    fn new(clock: MonotonicClock) -> Self {
        Self {
            site: local_site(),
            clock,
            owner: owner(4242, "feedbeef"),
            fails_after: None,
            exchanges: usize::MAX,
            calls: Mutex::default(),
            facts: AtomicUsize::default(),
        }
    }

    /// Returns whether the host is lost: so many calls were made.
    fn is_lost(&self) -> bool {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.fails_after.is_some_and(|last| calls > last)
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
        self.facts.fetch_add(1, Relaxed);
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

    fn keep_awake(&self) -> Result<Guard, SiteError> {
        self.called("keep_awake");
        Ok(Box::new(()))
    }

    fn claim_domain(&self, number: u32) -> Result<DomainClaim, SiteError> {
        self.called("claim_domain");
        if self.is_lost() {
            let (host, error) = ("right".to_owned(), "its stream ended".to_owned());
            return Err(SiteError::Lost { host, error, hint: None });
        }
        self.site.claim_domain(number)
    }

    fn announce(&self, directory: &Path) -> Result<(RunningExperiment, Option<Guard>), SiteError> {
        self.called("announce");
        self.site.announce(directory)
    }

    fn announced(&self) -> Result<Vec<RunningExperiment>, SiteError> {
        self.called("announced");
        self.site.announced()
    }

    fn owner(&self) -> Owner {
        sent(&self.owner)
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

    fn clock_responder(&self, responder: &ClockResponder) -> Result<(SocketAddr, Guard), SiteError> {
        self.called("clock_responder");
        self.site.clock_responder(&sent(responder))
    }

    fn clock_exchange(&self, client: &ClockClient) -> Result<Vec<ClockExchange>, SiteError> {
        let exchanges = self.calls().iter().filter(|call| *call == "clock_exchange").count();
        self.called("clock_exchange");
        if exchanges >= self.exchanges {
            return Err(SiteError::Clock { error: "no packet returned".to_owned() });
        }
        sent(&self.site.clock_exchange(&sent(client)))
    }

    fn clock_reading(&self) -> Result<ClockReading, SiteError> {
        sent(&self.site.clock_reading())
    }
}

#[test]
fn everything_on_the_host_of_the_agents_is_done_by_the_site() {
    let site = Elsewhere::new(MonotonicClock::of_this_process());
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Latency).with_host_checks();
    rig.experiment.design.keep_awake = true;
    let document = rig.execute_on(&site);
    assert_eq!((document.state, run(&document, "d/latency").state), (State::Complete, RunState::Valid));
    // Before the block, the run, after the block. The first launch describes the driver.
    let expected = "launch sweep announce keep_awake probe reference announced counters claim_domain launch launch \
                    clean ddsmark-4242-feedbeef-1-1 counters probe reference announced";
    let mut calls = site.calls();
    // Another experiment on this host may have reserved the first domain.
    calls.dedup_by(|next, call| next == call && call == "claim_domain");
    assert_eq!(calls.join(" "), expected);
}

/// The clock of the runner does not matter: all agents read that of their site.
#[test]
fn agents_of_one_site_have_one_clock() {
    let own = MonotonicClock::of_this_process();
    let other_boot = MonotonicClock { boot_id: Some("another".to_owned()), ..own.clone() };
    let other_namespace = MonotonicClock { time_namespace: Some("time:[1]".to_owned()), ..own.clone() };
    for clock in [own, other_boot, other_namespace] {
        let rig = Rig::new(&[("d", "")]).of_workload(Workload::Latency);
        let site = Elsewhere::new(clock.clone());
        let document = rig.execute_on(&site);
        let run = run(&document, "d/latency");
        assert_eq!(run.state, RunState::Valid, "{clock:?}");
        assert_eq!(
            run.latency.keys().collect::<Vec<_>>(),
            ["one_way_back", "one_way_out", "rtt"],
            "{clock:?}"
        );
        assert!(run.endpoints.iter().all(|endpoint| endpoint.clock_error_ns == Some(0)), "{clock:?}");
        assert!(!site.calls().iter().any(|call| call.starts_with("clock_")), "{:?}", site.calls());
    }
}

/// Returns the hosts of a plan.
fn planned(names: [&str; 2]) -> Vec<PlannedHost> {
    let host = |name: &str| PlannedHost::new(name, HostSpec::Local, Some("lo".to_owned()));
    names.map(host).into()
}

fn placement(text: &str) -> Placement {
    serde_json::from_value(text.into()).expect("a placement")
}

#[test]
fn endpoints_run_on_the_sites_of_their_places() {
    let clock = MonotonicClock::of_this_process();
    let (left, right) = (Elsewhere::new(clock.clone()), Elsewhere::new(clock));
    let right = Elsewhere { owner: owner(17, "0123abcd"), ..right };
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Latency).with_host_checks();
    rig.experiment.design.hosts = planned(["left", "right"]);
    let mut swapped = rig.experiment.cells[0].clone();
    swapped.id.push_str("/swapped");
    swapped.factors.placement = placement("writer@right,reader@left");
    rig.experiment.cells.push(swapped);
    let sites = Sites::new(vec![rig.host("left", &left), rig.host("right", &right)]);
    let document = rig.execute_on_hosts(&sites);
    let hosts = |cell| {
        let run = run(&document, cell);
        assert_eq!(run.state, RunState::Valid, "{:?}", run.failure);
        run.endpoints.iter().map(|endpoint| format!("{}@{}", endpoint.id, endpoint.host)).collect::<Vec<_>>()
    };
    assert_eq!(hosts("d/latency"), ["pinger@left", "echo@right"]);
    assert_eq!(hosts("d/latency/swapped"), ["pinger@right", "echo@left"]);
    // One host describes the driver; each host has one agent of each run.
    let count =
        |site: &Elsewhere, call: &str| site.calls().iter().filter(|known| known.starts_with(call)).count();
    assert_eq!((count(&left, "launch"), count(&right, "launch")), (3, 2));
    for site in [&left, &right] {
        assert_eq!(count(site, "sweep"), 1);
        // The names of the runs have the owners of both hosts.
        let cleaned = site.calls().into_iter().filter(|call| call.starts_with("clean")).collect::<Vec<_>>();
        assert!(cleaned[0].starts_with("clean ddsmark-4242-feedbeef-ddsmark-17-0123abcd-1-"), "{cleaned:?}");
        assert_eq!(cleaned.len(), 2);
        assert!(count(site, "claim_domain") >= 2 && count(site, "counters") == 2);
    }
    // Both are on this machine: one host has the probes and references.
    assert_eq!(document.hosts[1].machine_of.as_deref(), Some("left"));
    assert_eq!((count(&left, "probe"), count(&right, "probe")), (2, 0));
    // And the cores that agents may use. The record of each host has its own facts.
    assert_eq!((left.facts.load(Relaxed), right.facts.load(Relaxed)), (2, 1));
    let [left, right] = &document.blocks[0].hosts[..] else { panic!("{:?}", document.blocks) };
    assert!(left.before.is_some() && left.reference_after.is_some() && left.counters.is_some());
    assert!(right.before.is_none() && right.reference_error.is_none() && right.counters.is_some());
}

#[test]
fn machines_are_probed_each_and_a_noisy_one_is_named() {
    let clock = MonotonicClock::of_this_process();
    let other = MonotonicClock { boot_id: Some("another".to_owned()), ..clock.clone() };
    let (left, right) = (Elsewhere::new(clock), Elsewhere::new(other));
    let right = Elsewhere { owner: owner(17, "0123abcd"), ..right };
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Latency).with_host_checks();
    rig.experiment.design.hosts = planned(["left", "right"]);
    let sites = Sites::new(vec![rig.host("left", &left), rig.host("right", &right)]);
    let mut document = rig.execute_on_hosts(&sites);
    // The clocks were compared, and times between them have an error.
    let measured = run(&document, "d/latency");
    assert_eq!(measured.latency.keys().collect::<Vec<_>>(), ["one_way_back", "one_way_out", "rtt"]);
    let errors: Vec<_> = measured.endpoints.iter().map(|endpoint| endpoint.clock_error_ns).collect();
    assert!(errors[0] == Some(0) && errors[1].is_some_and(|error| error > 0), "{errors:?}");
    let block = &mut document.blocks[0];
    assert!(block.hosts.iter().all(|host| host.before.is_some() && host.reference_before.is_some()));
    let host = &mut block.hosts[1];
    for core in [&mut host.before, &mut host.after].into_iter().flatten().flat_map(|probe| &mut probe.cores) {
        core.stolen_pct = 50.0;
    }
    let reasons = document.noise_rule.as_ref().expect("a rule").judge_hosts(&document.blocks[0], None);
    assert!(reasons.iter().any(|reason| reason.starts_with("host `right`: 50.0 % of core ")), "{reasons:?}");
}

#[test]
fn run_without_a_clock_exchange_has_no_times_between_hosts() {
    let clock = MonotonicClock::of_this_process();
    let other = MonotonicClock { boot_id: Some("another".to_owned()), ..clock.clone() };
    // Before any run, or after the first measurement of the clocks.
    for exchanges in [0, 1] {
        for workload in [Workload::Latency, Workload::Throughput, Workload::Paced] {
            let (left, right) = (Elsewhere::new(clock.clone()), Elsewhere::new(other.clone()));
            let right = Elsewhere { owner: owner(17, "0123abcd"), exchanges, ..right };
            let mut rig = Rig::new(&[("d", "")]);
            rig.experiment.cells.retain(|cell| {
                (cell.factors.workload == Workload::Latency) == (workload == Workload::Latency)
            });
            let cell = &mut rig.experiment.cells[0];
            cell.factors.workload = workload;
            if workload == Workload::Paced {
                let rate = Rate { samples: 1000, period_ns: 2_000_000 };
                cell.factors.load = Some(Load::Constant { rate });
            }
            rig.experiment.design.hosts = planned(["left", "right"]);
            let sites = Sites::new(vec![rig.host("left", &left), rig.host("right", &right)]);
            let document = rig.execute_on_hosts(&sites);
            let run = &document.cells[0].runs[0];
            let errors: Vec<_> = run.endpoints.iter().map(|endpoint| endpoint.clock_error_ns).collect();
            match workload {
                Workload::Paced if exchanges == 0 => {
                    let failure = run.failure.as_ref().expect("it needs a common start");
                    assert!(
                        failure.error.ends_with("no packet returned") && failure.hint.is_some(),
                        "{failure:?}"
                    );
                    continue;
                }
                Workload::Paced => {
                    assert_eq!(run.state, RunState::Invalid, "{:?}", run.warnings);
                    continue;
                }
                Workload::Latency => assert!(run.latency.keys().eq(["rtt"]), "{:?}", run.latency.keys()),
                _ => {
                    assert!(run.throughput().is_some_and(|throughput| throughput.delivered_sps > 0.0));
                    let texts: Vec<&str> = run.warnings.iter().map(|warning| warning.text.as_str()).collect();
                    assert!(
                        texts.iter().any(|text| text.starts_with("the clocks of the hosts")),
                        "{texts:?}"
                    );
                }
            }
            assert_eq!(run.state, RunState::Valid, "{workload:?}: {:?} {:?}", run.failure, run.warnings);
            assert_eq!(errors, [Some(0), None]);
        }
    }
}

#[test]
fn experiment_ends_before_the_next_run_when_a_host_is_lost() {
    let clock = MonotonicClock::of_this_process();
    let (left, right) = (Elsewhere::new(clock.clone()), Elsewhere::new(clock));
    // Its calls: sweep, counters, the first domain, an agent, and the removal of files.
    let right = Elsewhere { owner: owner(17, "0123abcd"), fails_after: Some(5), ..right };
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Latency);
    rig.experiment.design.blocks = 3;
    rig.experiment.design.hosts = planned(["left", "right"]);
    let sites = Sites::new(vec![rig.host("left", &left), rig.host("right", &right)]);
    let outcome = rig.try_on_hosts(&sites);
    let error = outcome.error.expect("a lost host").to_string();
    assert_eq!(error, "host `right` is lost: its stream ended");
    let states: Vec<RunState> = outcome.document.cells[0].runs.iter().map(|run| run.state).collect();
    assert!(states.len() < 3 && states.iter().all(|state| *state == RunState::Valid), "{states:?}");
    assert_eq!(outcome.document.state, State::Interrupted);
}

/// Links that cannot have a loss. Records what they are set to, for which hosts, and the hosts that are released.
#[derive(Default)]
struct Links(Mutex<Vec<(LinkSpec, String)>>, Mutex<u64>, Mutex<Vec<String>>);

impl HostLinks for Links {
    fn set(&self, link: &LinkSpec, hosts: &[&str]) -> Result<LinkRecord, RunnerError> {
        self.0.lock().unwrap().push((*link, hosts.join(" ")));
        if link.loss_ppm > 0 {
            let (error, hint) = ("cannot set the loss".to_owned(), "load the module".to_owned());
            return Err(RunnerError::Failed { error, hint: Some(hint) });
        }
        Ok(LinkRecord::new(link))
    }

    fn release(&self, hosts: &[&str]) {
        self.2.lock().unwrap().push(hosts.join(" "));
    }

    /// Counts one more frame at each reading, each later than the one before.
    fn reading(&self) -> Result<LinkReading, RunnerError> {
        let mut readings = self.1.lock().unwrap();
        *readings += 1;
        let frames = LinkFrames { sent: 10 + *readings, lost: 5 * *readings, ..LinkFrames::default() };
        let mut lateness = Histogram::new_with_bounds(1, 1_000_000, 2).expect("valid bounds");
        (1..=*readings).for_each(|late_ns| lateness.record(late_ns).expect("in range"));
        Ok(LinkReading { frames, lateness })
    }
}

#[test]
fn links_are_set_before_each_run_and_recorded() {
    let site = Elsewhere::new(MonotonicClock::of_this_process());
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Latency);
    let cells = ["", "delay=1ms", "loss=1%"].map(|text| {
        let mut cell = rig.experiment.cells[0].clone();
        cell.id = format!("d/latency/{text}");
        cell.factors.link = (!text.is_empty()).then(|| text.parse().expect("a link"));
        cell
    });
    rig.experiment.cells = cells.into();
    let links = Links::default();
    let sites = Sites::new(vec![rig.host("local", &site)]).with_links(&links);
    let document = rig.execute_on_hosts(&sites);
    let [plain, delayed, failed] =
        ["", "delay=1ms", "loss=1%"].map(|text| run(&document, &format!("d/latency/{text}")));
    assert_eq!((plain.state, &plain.link), (RunState::Valid, &None));
    let link = delayed.link.as_ref().expect("a link");
    assert_eq!((delayed.state, link.delay_ns), (RunState::Valid, 1_000_000));
    // Those of the run alone: the counters are read before and after it.
    assert_eq!(link.frames, Some(LinkFrames { sent: 1, lost: 5, ..LinkFrames::default() }));
    let late = LinkLateness { frames: 1, p50_ns: 2, p99_ns: None, max_ns: 2 };
    assert_eq!(link.lateness, Some(late));
    // A run whose link cannot be set is not attempted.
    let failure = failed.failure.as_ref().expect("a failure");
    assert_eq!((failed.state, &failed.link, failure.phase.as_str()), (RunState::Failed, &None, "hello"));
    assert_eq!(
        (failure.error.as_str(), failure.hint.as_deref()),
        ("cannot set the loss", Some("load the module"))
    );
    let hosts: Vec<String> = links.0.lock().unwrap().iter().map(|(_, hosts)| hosts.clone()).collect();
    assert_eq!(hosts, ["local", "local"]);
    assert_eq!(*links.2.lock().unwrap(), hosts);
}
