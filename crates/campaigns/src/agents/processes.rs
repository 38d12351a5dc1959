//! Trials in processes of their own, and what the kernel counts for them.

use std::{
    fs,
    io::Read as _,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::{
    plan::{Case, MEASURE_NS, WARM_UP_NS},
    trial::Values,
};
use crate::{Error, tree::release_programs};

/// Interval at which threads, descriptors and memory of a process are read.
const POLL: Duration = Duration::from_millis(25);

/// Executes one run of virtual agents, which may have this much memory.
pub fn execute_trial(case: Case, script: &Path, limit_kib: u64) -> Result<Values, Error> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("agents-trial").arg(script).args(case.arguments());
    let (printed, counts) = watch(&mut command, limit_kib)?;
    let mut values: Values = serde_json::from_str(&printed)?;
    values.extend(counts);
    Ok(values)
}

/// Executes one run of `ddsmark` with a process for each agent, on this host.
pub fn execute_processes(case: Case, driver: &str, limit_kib: u64) -> Result<Values, Error> {
    let results = tempfile::tempdir()?;
    let milliseconds = |ns: u64| format!("{}ms", ns / 1_000_000);
    let mut command = Command::new(release_programs().join("ddsmark"));
    command
        .args(["throughput", "--driver", driver, "--size", "64", "--runs", "1", "--pin", "none"])
        .args(["--topology", &case.to_string(), "--warm-up", &milliseconds(WARM_UP_NS)])
        .args(["--duration", &milliseconds(MEASURE_NS), "--out"])
        .arg(results.path().join("result"));
    let (_, counts) = watch(&mut command, limit_kib)?;
    Ok(counts.into())
}

/// Executes a command. Returns what it prints, and the highest numbers of its threads and open descriptors.
fn watch(command: &mut Command, limit_kib: u64) -> Result<(String, [(String, f64); 2]), Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (mut threads, mut descriptors) = (0, 0);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if status_of(&child, "VmRSS") > limit_kib {
            child.kill()?;
            child.wait()?;
            return Err(format!("more than {} GiB of memory", limit_kib >> 20).into());
        }
        threads = threads.max(status_of(&child, "Threads"));
        let open = fs::read_dir(format!("/proc/{}/fd", child.id())).map_or(0, Iterator::count);
        descriptors = descriptors.max(open);
        thread::sleep(POLL);
    };
    let [mut printed, mut errors] = [String::new(), String::new()];
    child.stdout.take().map(|mut stream| stream.read_to_string(&mut printed)).transpose()?;
    child.stderr.take().map(|mut stream| stream.read_to_string(&mut errors)).transpose()?;
    if !status.success() {
        return Err(format!("{status}: {}", errors.trim()).into());
    }
    let counts = [("threads", threads as f64), ("descriptors", descriptors as f64)];
    Ok((printed, counts.map(|(name, count)| (name.to_owned(), count))))
}

/// Returns a number from the status of a process; 0 if it has ended.
fn status_of(child: &Child, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
