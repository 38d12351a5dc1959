//! `cargo validation soak`: a long run that checks whether its processes grow.
//!
//! A run of the workload `paced` at half of the highest sustained rate found by searches, or at a given rate. The
//! experiment is stopped after its first saved run. The memory of the runner and of each agent is read once per
//! second (`/proc/PID/statm`), from one minute after the agents started until they end. Allocated memory must not
//! grow; resident memory grows when allocated memory is first used.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use results::{Directory, Metric, ResultDocument, RunState};
use stats::{slope, slope_interval};

use crate::{Error, tree::release_programs};

/// Time after the start of a process in which growth is ignored.
const SETTLING: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_secs(1);
/// Maximum time beyond the planned duration.
const TIME_LIMIT: Duration = Duration::from_secs(180);
/// Minimum growth to report, as a share of a process's memory over the whole run.
const GROWN: f64 = 0.01;

/// Time series: seconds, and bytes of resident memory and of data and stack.
type MemoryCurve = Vec<(f64, [f64; 2])>;
const KINDS: [&str; 2] = ["resident", "allocated"];

/// Measure for a long time, and check that no process grows
#[derive(Args)]
pub struct SoakArgs {
    /// Driver to measure
    #[arg(long, value_name = "NAME")]
    driver: String,
    /// Samples per second, instead of half of the highest sustained rate
    #[arg(long, value_name = "N")]
    rate: Option<f64>,
    /// Sample size in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    size: u64,
    /// Duration of the run in minutes
    #[arg(long, value_name = "N", default_value_t = 20.0)]
    minutes: f64,
    /// Directory of the programs
    #[arg(long, value_name = "DIR", default_value_os_t = release_programs(), hide_default_value = true)]
    programs: PathBuf,
}

/// Executes the run and prints its measurements. Returns an error if the memory of a process grew or a sample was
/// not delivered.
pub fn run(arguments: &SoakArgs) -> Result<(), Error> {
    let SoakArgs { driver, size, minutes, .. } = arguments;
    let program = arguments.programs.join("ddsmark");
    let directory = tempfile::tempdir()?;
    let rate = match arguments.rate {
        Some(rate) => rate,
        None => half_of_sustained(&program, driver, *size, directory.path())?,
    };
    let text = format!(
        "question = \"Do processes grow?\"\nworkload = \"paced\"\n[factors]\ndriver = \"{driver}\"\nsize = {size}\nrate = {rate:.0}\n\
         [design]\nmeasure = \"{:.0}s\"\n",
        minutes * 60.0
    );
    let result = directory.path().join("soak");
    let mut child = start(&program, &text, &result)?;
    let limit = Duration::from_secs_f64(minutes * 60.0) + TIME_LIMIT;
    let courses = watch(&mut child, &result, limit)?;
    let document = Directory::load(&result)?;
    println!("{driver}, {size} B, paced at {rate:.0}/s for {minutes} min");
    let mut faults = delivered(&document)?;
    println!("{:<24} {:>6} {:>12} {:>14}   95 % interval", "memory", "n", "median KiB", "KiB in an hour");
    for (process, curve) in &courses {
        for (index, kind) in KINDS.into_iter().enumerate() {
            let curve: Vec<(f64, f64)> = curve.iter().map(|(at, bytes)| (*at, bytes[index])).collect();
            let fault = grown(&format!("{process}, {kind}"), &curve);
            faults.extend(fault.filter(|_| kind == "allocated"));
        }
    }
    println!("{:<24} {:>6} {:>12.0}", "files of the result", "", bytes_in(&result)? as f64 / 1024.0);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ").into()) }
}

fn start(program: &Path, experiment: &str, result: &Path) -> Result<Child, Error> {
    let file = result.with_extension("toml");
    fs::write(&file, experiment)?;
    let mut command = Command::new(program);
    command.arg("run").arg(&file).arg("--out").arg(result);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(result.with_extension("log"))?);
    Ok(command.spawn()?)
}

/// Returns half of the rate found by searches without loss.
fn half_of_sustained(program: &Path, driver: &str, size: u64, directory: &Path) -> Result<f64, Error> {
    let text = format!(
        "question = \"How much?\"\nworkload = \"search\"\n[factors]\ndriver = \"{driver}\"\nsize = {size}\n\
         [search]\ngoals = \"ndr\"\n[design]\nblocks = 3\n"
    );
    let result = directory.join("search");
    let status = start(program, &text, &result)?.wait()?;
    let log = || fs::read_to_string(result.with_extension("log")).unwrap_or_default();
    let document = Directory::load(&result).map_err(|error| format!("{error}: {}", log()))?;
    let runs = document.cells.iter().flat_map(|cell| &cell.runs);
    let found: Vec<f64> = runs.filter_map(|run| run.value(Metric::Ndr)).collect();
    let Some(median) = stats::median(&found) else {
        return Err(format!("the searches found no rate: {status}").into());
    };
    println!("{driver}: {median:.0}/s are sustained without loss (median of searches: {found:.0?})");
    Ok(median / 2.0)
}

/// Returns the memory of a runner and its agents over time. Interrupts the runner after its first saved run.
fn watch(runner: &mut Child, result: &Path, limit: Duration) -> Result<BTreeMap<String, MemoryCurve>, Error> {
    let begin = Instant::now();
    let mut seen: BTreeMap<u32, (Instant, MemoryCurve)> = BTreeMap::new();
    let mut stop_requested = false;
    while runner.try_wait()?.is_none() {
        if begin.elapsed() > limit {
            runner.kill()?;
            runner.wait()?;
            return Err("the run timed out".into());
        }
        if stop_requested {
            thread::sleep(EVERY);
            continue;
        }
        if fs::read_dir(result.join("runs")).is_ok_and(|mut runs| runs.any(|run| is_record(&run))) {
            kill(Pid::from_raw(runner.id().cast_signed()), Signal::SIGINT)?;
            stop_requested = true;
        }
        for process in [vec![runner.id()], children(runner.id())?].concat() {
            let (since, curve) = seen.entry(process).or_insert_with(|| (Instant::now(), MemoryCurve::new()));
            if let Some(bytes) = memory(process).filter(|_| since.elapsed() >= SETTLING) {
                curve.push((since.elapsed().as_secs_f64(), bytes));
            }
        }
        thread::sleep(EVERY);
    }
    if !stop_requested {
        let log = fs::read_to_string(result.with_extension("log"))?;
        return Err(format!("no run was saved: {log}").into());
    }
    let mut agents = 0;
    let mut name = |process| {
        if process == runner.id() {
            return "runner".to_owned();
        }
        agents += 1;
        format!("agent {agents}")
    };
    // agents of the interrupted run existed only briefly
    let long = seen.into_iter().filter(|(_, (_, curve))| !curve.is_empty());
    Ok(long.map(|(process, (_, curve))| (name(process), curve)).collect())
}

fn is_record(entry: &std::io::Result<fs::DirEntry>) -> bool {
    entry.as_ref().is_ok_and(|entry| entry.path().extension().is_some_and(|extension| extension == "json"))
}

/// Returns the running child processes of a process.
fn children(parent: u32) -> Result<Vec<u32>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // after the name in parentheses: state and parent
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
        if after.split(' ').nth(1).and_then(|word| word.parse::<u32>().ok()) == Some(parent) {
            found.push(process);
        }
    }
    Ok(found)
}

/// Returns the resident memory and the data and stack of a process in bytes; `None` after its end.
fn memory(process: u32) -> Option<[f64; 2]> {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: Vec<f64> = statm.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok()?? as f64;
    let of = |field: usize| pages.get(field).map(|pages| pages * page);
    Some([of(1).filter(|bytes| *bytes > 0.0)?, of(5)?])
}

/// Prints the memory statistics of a process. Returns an error text if the growth is significant (95 %) and more
/// than a hundredth over the run.
fn grown(process: &str, curve: &[(f64, f64)]) -> Option<String> {
    let (Some(slope), Some(interval), Some(median)) = (
        slope(curve),
        slope_interval(curve),
        stats::median(&curve.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>()),
    ) else {
        return Some(format!("{process}: too few readings ({})", curve.len()));
    };
    let hourly = |per_second: f64| per_second * 3600.0 / 1024.0;
    println!(
        "{process:<24} {:>6} {:>12.0} {:>14.1}   {:.1}..{:.1}",
        curve.len(),
        median / 1024.0,
        hourly(slope),
        hourly(interval.low),
        hourly(interval.high)
    );
    let took = curve.last()?.0 - curve.first()?.0;
    (interval.low > 0.0 && slope * took > GROWN * median).then(|| format!("{process} grew"))
}

/// Prints the delivered samples. Returns error texts for runs that are not valid or did not deliver all samples.
fn delivered(document: &ResultDocument) -> Result<Vec<String>, Error> {
    let mut faults = Vec::new();
    for run in document.cells.iter().flat_map(|cell| &cell.runs) {
        let (Some(paced), Some(throughput)) = (run.paced(), run.throughput()) else {
            return Err(format!("run {} has no values: {:?}", run.number, run.failure).into());
        };
        println!(
            "{} planned, {} unsent, {} delivered, {} lost, {} undelivered",
            paced.planned, paced.unsent, throughput.delivered, throughput.lost, throughput.undelivered
        );
        for process in &run.processes {
            println!(
                "{}: {} pages touched for the first time while measuring",
                process.endpoints.join(", "),
                process.usage.minor_faults
            );
        }
        if run.state != RunState::Valid || throughput.lost + throughput.undelivered > 0 {
            faults.push(format!("run {} is {:?}, and did not deliver all", run.number, run.state));
        }
    }
    Ok(faults)
}

fn bytes_in(directory: &Path) -> Result<u64, Error> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.metadata()?;
        sum += if kind.is_dir() { bytes_in(&entry.path())? } else { kind.len() };
    }
    Ok(sum)
}
