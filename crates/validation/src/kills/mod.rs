//! `cargo validation kills`: kills agents of real experiments, and what leads to their hosts, and counts the consequences beyond
//! their runs.

mod hosts;
mod judge;
mod plan;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use results::Directory;
use testbed::process;

use self::{
    hosts::{HostKillCounts, HostKills, Reach, Victim},
    judge::{KillCounts, files_of, judge},
    plan::Batch,
};
use crate::{Error, tree::release_programs};

/// Maximum time without a saved run, longer than any run: after that the runner hangs.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Maximum time for an orphaned process to disappear.
const LEAVING: Duration = Duration::from_secs(5);

/// Kill agents of real experiments, and count the damage beyond their runs
#[derive(Args)]
pub struct KillsArgs {
    /// Driver; can be repeated
    #[arg(long = "driver", value_name = "NAME", value_delimiter = ',', required = true)]
    drivers: Vec<String>,
    /// Number of random kills, instead of one for each phase, role and driver
    #[arg(long, value_name = "N")]
    runs: Option<usize>,
    /// Number of virtual hosts to place the endpoints on: kills agents and what leads to their hosts at random, and needs root
    #[arg(long, value_name = "N", requires = "runs", value_parser = clap::value_parser!(u32).range(2..=16))]
    hosts: Option<u32>,
    /// Way to reach the virtual hosts
    #[arg(long, value_enum, requires = "hosts", default_value_t = Reach::Netns)]
    reach: Reach,
    /// Kind of process to kill on virtual hosts, or on the way to them; can be repeated [default: all that there are]
    #[arg(long = "victim", value_enum, value_name = "KIND", value_delimiter = ',', requires = "hosts")]
    victims: Vec<Victim>,
    /// Seed of the random kills
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Directory of the programs
    #[arg(long, value_name = "DIR", default_value_os_t = release_programs(), hide_default_value = true)]
    programs: PathBuf,
}

/// Executes the campaign and prints its counts. Returns an error if a count that must be 0 is not.
pub fn run(arguments: &KillsArgs) -> Result<(), Error> {
    let KillsArgs { runs, seed, programs, hosts, .. } = arguments;
    let drivers: Vec<&str> = arguments.drivers.iter().map(String::as_str).collect();
    if let Some((hosts, kills)) = hosts.zip(*runs) {
        return run_on_hosts(arguments, &drivers, hosts, kills);
    }
    let batches = match runs {
        None => plan::each(&drivers),
        Some(runs) => plan::random(&drivers, *runs, *seed),
    };
    let begin = Instant::now();
    let mut counts = KillCounts::default();
    for batch in &batches {
        counts.add(experiment(batch, &drivers, programs)?);
    }
    let cells = (2 * drivers.len()) as u32;
    let drawn = runs.map_or("each phase, role and driver".to_owned(), |_| format!("seed {seed}"));
    let runs = batches.iter().map(|batch| batch.runs).sum::<u32>() * cells;
    println!(
        "{} agents killed in {runs} runs ({drawn}), {:.0} s",
        counts.killed,
        begin.elapsed().as_secs_f64()
    );
    conclude(&counts, "agents that had just ended when they were to be killed")
}

/// Executes a campaign on virtual hosts and prints its counts.
fn run_on_hosts(arguments: &KillsArgs, drivers: &[&str], hosts: u32, kills: usize) -> Result<(), Error> {
    let KillsArgs { programs, reach, seed, .. } = arguments;
    let available = Victim::of(*reach);
    if let Some(other) = arguments.victims.iter().find(|victim| !available.contains(victim)) {
        let available: Vec<String> = available.iter().map(ToString::to_string).collect();
        let available = available.join(", ");
        return Err(format!("no `{other}` with `--reach {reach}`\nhint: available: {available}").into());
    }
    let victims = if arguments.victims.is_empty() { available } else { &arguments.victims };
    let begin = Instant::now();
    let campaign = HostKills { drivers, programs, hosts, reach: *reach, victims };
    let HostKillCounts { counts, killed, runs } = campaign.execute(kills, *seed)?;
    let kinds: Vec<String> = killed.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    println!(
        "{} processes on {hosts} hosts over {reach} killed in {runs} runs (seed {seed}), {:.0} s: {}",
        counts.killed,
        begin.elapsed().as_secs_f64(),
        kinds.join(", ")
    );
    conclude(&counts, "kills that failed no run of their own")
}

/// Prints the counts. Returns an error if one that must be 0 is not.
fn conclude(counts: &KillCounts, late: &str) -> Result<(), Error> {
    if counts.late > 0 {
        println!("{:>6}  {late}", counts.late);
    }
    for (what, count) in counts.faults() {
        println!("{count:>6}  {what}");
    }
    if counts.faults().iter().all(|(_, count)| *count == 0) && counts.complaints.is_empty() {
        Ok(())
    } else {
        Err(counts.complaints.join("\n").into())
    }
}

/// Executes one experiment with its kills.
fn experiment(batch: &Batch, drivers: &[&str], programs: &Path) -> Result<KillCounts, Error> {
    let directory = tempfile::tempdir()?;
    let [plan, result] = ["kills", "result"].map(|name| directory.path().join(name));
    fs::create_dir(&plan)?;
    fs::write(plan.join("plan"), plan::text(&batch.kills))?;
    let mark = format!("DDSMARK_KILLS={}", plan.display());
    let mut child = Command::new(programs.join("ddsmark"))
        .args(arguments(drivers, batch.runs as usize, &result))
        .env("DDSMARK_KILLS", &plan)
        .env("DDSMARK_AGENT", programs.join("killing-agent"))
        .stdin(Stdio::null())
        .stdout(File::create(directory.path().join("stdout"))?)
        .stderr(File::create(directory.path().join("stderr"))?)
        .spawn()?;
    let runner = child.id();
    let ended = await_end(&mut child, &result)?;
    let mut counts = match Directory::load(&result) {
        Ok(document) => judge(&document, &batch.kills, batch.runs, &read_outcomes(&plan)?),
        Err(error) => {
            let stderr = fs::read_to_string(directory.path().join("stderr"))?;
            KillCounts {
                runs_lost: batch.runs * 2 * drivers.len() as u32,
                complaints: vec![format!("{error}: {stderr}")],
                ..KillCounts::default()
            }
        }
    };
    match ended {
        None => counts.hangs += 1,
        Some(status) if status.code() == Some(3) => {}
        Some(status) => counts.complaints.push(format!("ddsmark ended: {status}, not with 3")),
    }
    counts.orphans += left_processes(|| Ok(process::with_variable(&mark)?))?;
    counts.files_left += files_of(Path::new("/dev/shm"), &format!("ddsmark-{runner}-"))?.len() as u32;
    Ok(counts)
}

/// Returns the arguments of `ddsmark` for an experiment with this number of runs of each cell.
fn arguments(drivers: &[&str], runs: usize, result: &Path) -> Vec<String> {
    let text = "characterize --size 64 --batch-bytes 0 --pin none --duration 40ms --warm-up 40ms --no-reference --set \
                design.noise_probe=false";
    let mut arguments: Vec<String> = text.split(' ').map(str::to_owned).collect();
    arguments.extend(["--driver".to_owned(), drivers.join(",")]);
    arguments.extend(["--runs".to_owned(), runs.to_string()]);
    arguments.extend(["--out".to_owned(), result.display().to_string()]);
    arguments
}

/// Returns the number of these processes that do not end, and kills them.
fn left_processes<P: IntoIterator<Item = i32>>(
    processes: impl Fn() -> Result<P, Error>,
) -> Result<u32, Error> {
    let begin = Instant::now();
    loop {
        let left: Vec<i32> = processes()?.into_iter().collect();
        if left.is_empty() {
            return Ok(0);
        }
        if begin.elapsed() > LEAVING {
            let killed = left.into_iter().filter(|pid| process::kill_alive(*pid));
            return Ok(killed.count() as u32);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the exit status of the runner; `None` if it saved no run for the maximum time.
fn await_end(child: &mut Child, result: &Path) -> Result<Option<ExitStatus>, Error> {
    let saved = || fs::read_dir(result.join("runs")).map_or(0, Iterator::count);
    let (mut before, mut since) = (0, Instant::now());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if saved() != before {
            (before, since) = (saved(), Instant::now());
        }
        if since.elapsed() > TIME_LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the outcome of each kill by its name.
fn read_outcomes(plan: &Path) -> Result<BTreeMap<String, String>, Error> {
    let mut came = BTreeMap::new();
    for entry in fs::read_dir(plan.join("done"))? {
        let entry = entry?;
        came.insert(entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path())?);
    }
    Ok(came)
}
