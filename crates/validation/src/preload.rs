//! The preloaded library that delays sends, its actual delay, and experiments whose agents load it.

mod probe;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

pub use probe::{cost_ns, run as probe};

use results::{CellResult, Directory, Metric, ResultDocument, Run};

use crate::{Error, tree::root};

/// Number of sends per round trip: a ping and its echo are sent with one call each.
pub const SENDS_PER_ROUND_TRIP: f64 = 2.0;

/// Builds the library in this directory and returns its path. With `SLOW_SEND_NS` it spins before each call that sends.
pub fn build(directory: &Path) -> Result<PathBuf, Error> {
    let library = directory.join("slow_send.so");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
        .arg(root().join("tests/preload/slow_send.c"))
        .arg("-o")
        .arg(&library)
        .arg("-ldl");
    output_of(&mut cc)?;
    Ok(library)
}

/// Executes a command and returns its standard output.
pub fn output_of(command: &mut Command) -> Result<String, Error> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
    }
}

/// Returns the beginning of an experiment file: latency of a driver, whose agents load the library with each of these delays in turn.
pub fn factors(question: &str, driver: &str, size: u64, library: &Path, delays_ns: &[u64]) -> String {
    format!(
        "question = {question:?}\nworkload = \"latency\"\n[factors]\ndriver = {driver:?}\nsize = {size}\n\
         env = {{ LD_PRELOAD = {library:?}, SLOW_SEND_NS = {delays_ns:?} }}\n"
    )
}

/// Executes an experiment with files of this name in a directory, and returns its result.
pub fn experiment(
    programs: &Path,
    directory: &Path,
    name: &str,
    text: &str,
) -> Result<ResultDocument, Error> {
    let [file, result] = ["toml", "result"].map(|end| directory.join(format!("{name}.{end}")));
    fs::write(&file, text)?;
    output_of(Command::new(programs.join("ddsmark")).arg("run").arg(&file).arg("--out").arg(&result))?;
    Ok(Directory::load(&result)?)
}

/// Returns the median RTTs of some runs of a cell.
pub fn median_rtts(cell: &CellResult, which: impl Fn(&Run) -> bool) -> Vec<f64> {
    let runs = cell.runs.iter().filter(|run| which(run));
    runs.filter_map(|run| run.value(Metric::RttP50)).collect()
}
