//! One run of the real runner over virtual agents, in a process of its own: what it costs that process.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use clap::Args;
use experiment::{HostSpec, Plan};
use nix::time::{ClockId, clock_gettime};
use results::{Directory, Environment, HostRecord, ResultDocument, ResultHeader, Run, RunState, Tool};
use runner::{ExperimentOutcome, ExperimentRunner, Observer, Progress, SiteHost, Sites, StopToken};
use simulate::describe;
use site::Site as _;

use super::{
    plan::{Case, MEASURE_NS, WARM_UP_NS},
    script::{PHASES, Script},
    virtual_hosts::{VirtualSite, virtual_sites},
};
use crate::Error;

/// Values of a run by name.
pub type Values = BTreeMap<String, f64>;

/// One run of an agents campaign
#[derive(Args)]
pub struct TrialArgs {
    /// File with the replies of the agents
    script: PathBuf,
    #[command(flatten)]
    case: Case,
}

/// Executes the run, and prints its values as JSON.
pub fn run(arguments: &TrialArgs) -> Result<(), Error> {
    let directory = tempfile::tempdir()?;
    let script = Script::open(&arguments.script)?;
    let values = measure(arguments.case, script, &directory.path().join("result"))?;
    println!("{}", serde_json::to_string(&values)?);
    Ok(())
}

/// Wall clock and CPU time of this process.
#[derive(Clone, Copy)]
struct Moment {
    wall: Instant,
    cpu: Duration,
}

impl Moment {
    fn now() -> Self {
        let cpu = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default();
        Self { wall: Instant::now(), cpu }
    }

    /// Returns wall clock and CPU time since then, in ms.
    fn ms_to(self, later: Self) -> (f64, f64) {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        (ms(later.wall - self.wall), ms(later.cpu.saturating_sub(self.cpu)))
    }
}

/// Observer that notes when the run starts and when it is saved.
#[derive(Default)]
struct RunTimes {
    started: Option<Moment>,
    finished: Option<Moment>,
}

impl Observer for RunTimes {
    fn run_started(&mut self, _: &Progress, _: &experiment::Cell) {
        self.started = Some(Moment::now());
    }

    fn run_finished(&mut self, _: &Progress, _: &Run, _: &experiment::Cell) {
        self.finished = Some(Moment::now());
    }
}

/// Executes an experiment with one run, which has to be valid. Returns the values of the run.
fn measure(case: Case, script: Script, results: &Path) -> Result<Values, Error> {
    let (sites, fleet) = virtual_sites(case.host_names(), script, None)?;
    let mut times = RunTimes::default();
    let resident_kib = status("VmRSS")?;
    let outcome = execute(case.plan(), &sites, results, &mut times)?;
    let ended = Moment::now();
    let peak_kib = status("VmHWM")?;
    if let Some(error) = outcome.error {
        return Err(error.into());
    }
    let run = only_valid_run(&outcome.document)?;
    let (Some(started), Some(finished)) = (times.started, times.finished) else {
        return Err("the run was not executed".into());
    };
    let mut values = Values::new();
    let mut insert = |name: &str, value: f64| {
        values.insert(name.to_owned(), value);
    };
    let (run_ms, run_cpu_ms) = started.ms_to(finished);
    let (_, end_cpu_ms) = finished.ms_to(ended);
    let mut in_phases_ms = 0.0;
    for phase in PHASES {
        let took_ns = run.phases_ns.get(phase).copied().unwrap_or(0);
        let planned_ns = match phase {
            "warm_up" => WARM_UP_NS,
            "measure" => MEASURE_NS,
            _ => 0,
        };
        in_phases_ms += took_ns as f64 / 1e6;
        insert(phase, took_ns.saturating_sub(planned_ns) as f64 / 1e6);
    }
    let planned_ms = (WARM_UP_NS + MEASURE_NS) as f64 / 1e6;
    insert("beyond", run_ms - planned_ms);
    insert("evaluate_and_save", run_ms - in_phases_ms);
    insert("run_cpu", run_cpu_ms);
    insert("end_cpu", end_cpu_ms);
    insert("memory_mib", (peak_kib - resident_kib) / 1024.0);
    insert("requests_kib", fleet.request_bytes.load(Relaxed) as f64 / 1024.0);
    insert("replies_kib", fleet.reply_bytes.load(Relaxed) as f64 / 1024.0);
    for (name, file) in
        [("run_kib", "runs/0001.json"), ("hlog_kib", "runs/0001.hlog"), ("result_kib", "result.json")]
    {
        // A run without histograms has no such file.
        let bytes = fs::metadata(results.join(file)).map_or(0, |file| file.len());
        insert(name, bytes as f64 / 1024.0);
    }
    let begin = Moment::now();
    let document = Directory::load(results)?;
    let loaded = Moment::now();
    let text = report::terminal(&document, report::Options { width: None });
    insert("load_cpu", begin.ms_to(loaded).1);
    insert("report_cpu", loaded.ms_to(Moment::now()).1);
    insert("report_kib", text.len() as f64 / 1024.0);
    Ok(values)
}

/// Executes an experiment on virtual hosts.
pub fn execute(
    plan: Plan,
    sites: &[VirtualSite],
    results: &Path,
    observer: &mut dyn Observer,
) -> Result<ExperimentOutcome, Error> {
    let files: BTreeMap<String, PathBuf> = [("sim".to_owned(), PathBuf::from("virtual"))].into();
    let host = |site: &'_ VirtualSite| -> Result<HostRecord, Error> {
        let properties = site.facts()?.host;
        let interface = plan.design.hosts.first().and_then(|host| host.interface.clone());
        let (name, at) = (properties.name.clone(), HostSpec::Local);
        Ok(HostRecord {
            name,
            at,
            machine_of: None,
            interface,
            properties,
            environment: Environment::default(),
        })
    };
    let records = sites.iter().map(host).collect::<Result<Vec<_>, Error>>()?;
    let hosts = sites.iter().zip(&records).map(|(site, record)| {
        let name = record.name.clone();
        SiteHost { name, site, files: files.clone(), network: None }
    });
    let sites = Sites::new(hosts.collect());
    let tool = Tool { name: "campaigns".to_owned(), version: "0".to_owned(), command_line: Vec::new() };
    let drivers = [("sim".to_owned(), describe("sim", false))].into();
    let directory = Directory::create(results, 1)?;
    let experiment = ExperimentRunner {
        header: ResultHeader::new(tool, records, plan, drivers, Vec::new()),
        sites: &sites,
        directory: &directory,
        stop: &StopToken::new(),
        on_progress: None,
    };
    Ok(experiment.execute(observer))
}

/// Returns the run of a result; an error if it is not valid.
fn only_valid_run(document: &ResultDocument) -> Result<&Run, Error> {
    let run = document.cells.first().and_then(|cell| cell.runs.first()).ok_or("the result has no run")?;
    if run.state == RunState::Valid {
        return Ok(run);
    }
    let failure = run.failure.as_ref().map(|failure| format!("{}: {}", failure.phase, failure.error));
    let warning = run.warnings.first().map(|warning| warning.text.clone());
    Err(failure.or(warning).unwrap_or_default().into())
}

/// Returns a value in KiB of the memory of this process.
fn status(name: &str) -> Result<f64, Error> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number =
        line.and_then(|line| line.split_whitespace().next()).ok_or("the kernel reports no memory")?;
    Ok(number.parse()?)
}
