//! Experiment with agents that follow a script.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use experiment::{Cell, Design, Factors, HostSpec, Limits, Plan, Qos, Reliability, Workload};
use host::{DriverFile, LocalSite, Site, host_warnings};
use results::{
    Directory, DirectoryError, Environment, HostRecord, ResultDocument, ResultHeader, Run, SavedExperiment,
    Tool,
};
use runner::{
    ExperimentOutcome, ExperimentRunner, Observer, OnProgress, Progress, RunnerError, SiteHost, Sites,
    StopToken, describe, preflight,
};

/// Time limit that is long enough for a busy host and short enough for a test that waits for it.
pub const SHORT_NS: u64 = 1_500_000_000;
const LONG_NS: u64 = 60_000_000_000;

pub struct Rig {
    pub directory: tempfile::TempDir,
    pub stop: StopToken,
    pub experiment: Plan,
    files: BTreeMap<String, PathBuf>,
}

impl Rig {
    /// Creates an experiment with one cell per workload and driver `(name, script)`, one run each, and limits that no
    /// run reaches.
    pub fn new(drivers: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut rig = Self {
            directory,
            stop: StopToken::new(),
            experiment: Plan {
                name: "test".to_owned(),
                question: "Does it end?".to_owned(),
                design: Design {
                    blocks: 1,
                    seed: 1,
                    warm_up_ns: 1_000_000,
                    measure_ns: 2_000_000,
                    windows: 4,
                    check_every: 1,
                    reference: false,
                    noise_probe: false,
                    ..Design::default()
                },
                limits: limits(LONG_NS),
                ..Plan::default()
            },
            files: BTreeMap::new(),
        };
        for &(driver, script) in drivers {
            let file = rig.directory.path().join(format!("{driver}.so"));
            fs::write(&file, script).unwrap();
            rig.files.insert(driver.to_owned(), file);
            for workload in [Workload::Latency, Workload::Throughput] {
                rig.experiment.cells.push(cell(driver, workload));
            }
        }
        rig
    }

    /// Adds a reference and a noise probe before and after each block, as experiments have them.
    pub fn with_host_checks(mut self) -> Self {
        (self.experiment.design.reference, self.experiment.design.noise_probe) = (true, true);
        self
    }

    pub fn of_workload(mut self, workload: Workload) -> Self {
        self.experiment.cells.retain(|cell| cell.factors.workload == workload);
        self
    }

    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.experiment.limits = limits;
        self
    }

    pub fn results(&self) -> PathBuf {
        self.directory.path().join("results")
    }

    pub fn preflight(&self, before: impl FnMut(usize, usize)) -> Result<Vec<String>, RunnerError> {
        preflight(
            &Sites::alone(&local_site(), self.files.clone()),
            &self.experiment,
            &self.stop,
            |_| false,
            before,
        )
        .map(|found| found.notes)
    }

    pub fn execute(&self) -> ResultDocument {
        self.execute_on(&local_site())
    }

    /// Executes the experiment on a site.
    pub fn execute_on(&self, site: &dyn Site) -> ResultDocument {
        self.execute_on_hosts(&Sites::alone(site, self.files.clone()))
    }

    /// Returns a host of the experiment.
    pub fn host<'s>(&self, name: &str, site: &'s dyn Site) -> SiteHost<'s> {
        SiteHost { name: name.to_owned(), site, files: self.files.clone(), network: None }
    }

    /// Executes the experiment on hosts.
    pub fn execute_on_hosts(&self, sites: &Sites<'_>) -> ResultDocument {
        let outcome = self.try_on_hosts(sites);
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        // The saved document equals the returned one.
        assert_eq!(Directory::load(&self.results()).unwrap(), outcome.document);
        outcome.document
    }

    /// Executes the experiment on hosts, as far as possible.
    pub fn try_on_hosts(&self, sites: &Sites<'_>) -> ExperimentOutcome {
        let directory = Directory::create(&self.results(), self.experiment.cells.len()).unwrap();
        self.session(sites, &directory, &self.stop).execute(&mut ())
    }

    /// Executes the experiment with a receiver of the progress of its agents.
    pub fn execute_observed(&self, on_progress: &OnProgress<'_>) -> ExperimentOutcome {
        let site = local_site();
        let sites = Sites::alone(&site, self.files.clone());
        let directory = Directory::create(&self.results(), self.experiment.cells.len()).unwrap();
        let session = self.session(&sites, &directory, &self.stop);
        ExperimentRunner { on_progress: Some(on_progress), ..session }.execute(&mut ())
    }

    pub fn execute_with(&self, observer: &mut dyn Observer) -> ExperimentOutcome {
        let site = local_site();
        let sites = Sites::alone(&site, self.files.clone());
        let directory = Directory::create(&self.results(), self.experiment.cells.len()).unwrap();
        self.session(&sites, &directory, &self.stop).execute(observer)
    }

    /// Resumes the experiment in the results directory.
    pub fn resume_with(
        &self,
        differences: &[&str],
        stop: &StopToken,
        observer: &mut dyn Observer,
    ) -> ExperimentOutcome {
        let SavedExperiment { directory, assembler, log } = reopened(&self.results());
        let site = local_site();
        let header = assembler.header().clone();
        let sites = Sites::alone(&site, self.files.clone());
        let session = ExperimentRunner { header, ..self.session(&sites, &directory, stop) };
        session.resume(
            assembler,
            log,
            differences.iter().map(|&difference| difference.to_owned()).collect(),
            observer,
        )
    }

    fn session<'s>(
        &self,
        sites: &'s Sites<'s>,
        directory: &'s Directory,
        stop: &'s StopToken,
    ) -> ExperimentRunner<'s> {
        let describe = |(name, path): (&String, &PathBuf)| {
            // A correct agent reports the description.
            let plain = self.directory.path().join("plain.so");
            fs::write(&plain, "").unwrap();
            let _ = path;
            let file = DriverFile { name: name.clone(), path: plain };
            (name.clone(), describe(sites.first().site, &file, &limits(LONG_NS), &StopToken::new()).unwrap())
        };
        let tool = Tool { name: "test".to_owned(), version: "0".to_owned(), command_line: Vec::new() };
        let record = |(index, host): (usize, &SiteHost<'_>)| HostRecord {
            name: host.name.clone(),
            at: HostSpec::Local,
            machine_of: sites.machine_of(index).map(ToOwned::to_owned),
            interface: None,
            properties: host.site.facts().unwrap().host,
            environment: Environment::default(),
        };
        let hosts: Vec<HostRecord> = sites.hosts().iter().enumerate().map(record).collect();
        let warnings = host_warnings(&hosts[0].properties);
        let descriptions = self.files.iter().map(describe).collect();
        ExperimentRunner {
            header: ResultHeader::new(tool, hosts, self.experiment.clone(), descriptions, warnings),
            sites,
            directory,
            stop,
            on_progress: None,
        }
    }
}

pub fn local_site() -> LocalSite {
    LocalSite::new(env!("CARGO_BIN_EXE_fake-agent"))
}

/// Returns the same limit for each phase.
pub fn limits(ns: u64) -> Limits {
    Limits {
        hello_ns: ns,
        configure_ns: ns,
        match_ns: ns,
        grace_ns: ns,
        drain_ns: ns,
        report_ns: ns,
        exit_ns: ns,
        ping_ns: None,
    }
}

fn cell(driver: &str, workload: Workload) -> Cell {
    let qos = Qos { reliability: Some(Reliability::Reliable), ..Qos::default() };
    Cell {
        id: format!("{driver}/{workload}"),
        factors: Factors {
            driver: driver.to_owned(),
            transport: "udp4".to_owned(),
            workload,
            size_bytes: 64,
            qos,
            ..Factors::default()
        },
    }
}

/// Returns the only run of a cell.
pub fn run<'d>(document: &'d ResultDocument, cell: &str) -> &'d Run {
    let cell = document.cells.iter().find(|candidate| candidate.id == cell).unwrap();
    &cell.runs[0]
}

/// Returns the child processes of this thread, alive or not yet reaped. For use when no agent should remain.
pub fn children() -> Vec<String> {
    let list = fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    list.split_whitespace().map(ToOwned::to_owned).collect()
}

/// Returns whether a process exists.
pub fn lives(pid: u32) -> bool {
    // A zombie that waits for init does not count.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// Observer that requests a stop when the given number of runs has ended.
pub struct StopAfter(pub u32, pub StopToken);

impl Observer for StopAfter {
    fn run_finished(&mut self, progress: &Progress, _: &Run, _: &Cell) {
        if progress.finished == self.0 {
            self.1.request();
        }
    }
}

/// Observer that records its notifications in order.
#[derive(Default)]
pub struct Diary(pub Vec<String>);

impl Observer for Diary {
    fn run_started(&mut self, progress: &Progress, cell: &Cell) {
        self.0.push(format!("{}/{} {} starts", progress.finished, progress.total, cell.id));
    }

    fn run_finished(&mut self, progress: &Progress, run: &Run, _: &Cell) {
        self.0.push(format!("{}/{} {} {:?}", progress.finished, progress.total, run.cell, run.state));
    }

    fn given_up(&mut self, progress: &Progress, driver: &str, failure: &results::Failure) {
        self.0.push(format!("{}/{} {driver}: {}", progress.finished, progress.total, failure.error));
    }
}

/// Returns the paths of all files below a directory, relative to it.
pub fn files_below(directory: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                files.push(entry.path().strip_prefix(directory).unwrap().display().to_string());
            }
        }
    }
    files.sort();
    files
}

/// Reopens a results directory. A child that another test starts may hold a copy of the lock briefly between fork and
/// exec.
fn reopened(results: &Path) -> SavedExperiment {
    for _ in 0..500 {
        match Directory::reopen(results) {
            Err(DirectoryError::InUse { .. }) => std::thread::sleep(Duration::from_millis(10)),
            saved => return saved.unwrap(),
        }
    }
    panic!("{} is in use", results.display());
}
