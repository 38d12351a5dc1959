//! Programs that measure the same: two commands of ddsmark, and floors.

use std::{
    ffi::OsStr,
    fmt,
    path::Path,
    process::{Command, Output, Stdio},
};

use lab::Host;

use super::TransparencyArgs;
use crate::{Error, tree::release_programs};

/// Batch size of ddsmark in bytes, equal to that of the bare loops.
pub const BATCH_BYTES: u64 = 8192;
/// Runs of each program per round. The value of a round is their median.
pub const RUNS: usize = 3;
/// Measurement time of a run in ms, and of one beside `perftest`, which takes whole seconds.
const MS: u64 = 400;
const PERFTEST_MS: u64 = 1000;
/// Maximum duration of a program in a round, in s.
const TIME_LIMIT: &str = "120";
/// Bytes that a serialized sample has before the payload of a type without a key.
const LENGTH_BYTES: u64 = 4;
/// Number of samples in the queue of the writer of a bare loop.
const SEND_QUEUE: &str = "10000";

/// Program that measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program<'a> {
    /// `ddsmark characterize`.
    Characterize,
    /// `ddsmark perftest`, two processes that share only the network.
    Perftest,
    /// A bare loop, or the vendor's own tool.
    Floor(&'a str),
}

impl fmt::Display for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Characterize => f.write_str("characterize"),
            Self::Perftest => f.write_str("perftest"),
            Self::Floor(path) => {
                f.write_str(&Path::new(path).file_stem().unwrap_or_default().to_string_lossy())
            }
        }
    }
}

/// Workload with a size.
pub struct Case<'a> {
    pub workload: &'a str,
    pub size: u64,
    pub cores: [&'a str; 2],
    /// Virtual hosts of the endpoints; none on this host.
    pub hosts: &'a [Host],
    pub arguments: &'a TransparencyArgs,
}

impl Case<'_> {
    /// Returns the value of a program in a round; `None` if it does not have the workload.
    pub fn value(&self, program: Program<'_>) -> Result<Option<f64>, Error> {
        match program {
            Program::Characterize => self.characterize().map(Some),
            Program::Perftest => {
                let values = (0..RUNS).map(|_| self.perftest()).collect::<Result<_, _>>()?;
                Ok(Some(median(values)))
            }
            Program::Floor(path) => self.floor(path),
        }
    }

    /// Returns the measurement time of a run in ms.
    pub const fn ms(&self) -> u64 {
        if self.arguments.perftest { PERFTEST_MS } else { MS }
    }

    fn floor(&self, program: &str) -> Result<Option<f64>, Error> {
        let mut values = Vec::new();
        for _ in 0..RUNS {
            let (size, ms) = (self.size.to_string(), self.ms().to_string());
            let mut command = limited(program);
            let workload = match self.arguments.readers {
                1 => self.workload.to_owned(),
                readers => format!("{}/{readers}", self.workload),
            };
            command.args([&workload, &size, &ms]).args(self.cores).args(&self.arguments.transport);
            command.env("RECEIVE", &self.arguments.receive);
            for host in self.hosts {
                command.arg(&host.namespace).arg(host.address.to_string());
            }
            let output = command.output()?;
            if output.status.code() == Some(3) {
                return Ok(None);
            }
            let text = stdout_of(&command, output)?;
            let value = text.trim().parse::<f64>();
            values.push(value.map_err(|error| format!("`{program}` printed `{text}`: {error}"))?);
        }
        Ok(Some(median(values)))
    }

    fn characterize(&self) -> Result<f64, Error> {
        let results = tempfile::tempdir()?;
        let batch = if self.workload == "batched" { BATCH_BYTES } else { 0 };
        let mut command = limited(release_programs().join("ddsmark"));
        command
            .args(["characterize", "--json", "--warm-up", "200ms", "--driver", &self.arguments.driver])
            .args(["--workload", self.workload_of_ddsmark(), "--receive", &self.arguments.receive])
            .args(["--batch-bytes", &batch.to_string(), "--pin", &self.cores.join(",")])
            .args(["--size", &self.size.to_string(), "--runs", &RUNS.to_string()])
            .args(["--duration", &format!("{}ms", self.ms()), "--out"])
            .arg(results.path().join("result"))
            .args(["--topology", &format!("1-{}", self.arguments.readers)]);
        if self.workload == "latency" && self.arguments.readers > 1 {
            command.arg("--all-readers-echo");
        }
        if let Some(transport) = &self.arguments.transport {
            command.args(["--transport", transport]);
        }
        for host in self.hosts {
            command.args(["--host", &format!("{}=netns:{}", host.name, host.namespace)]);
        }
        let output = command.output()?;
        let values = self.values(&stdout_of(&command, output)?)?;
        if values.len() == RUNS {
            Ok(median(values))
        } else {
            Err(format!("only {} of {RUNS} runs succeeded", values.len()).into())
        }
    }

    /// Returns the value of one test, with the QoS, the queue and the receive mode of a bare loop. Each process, with
    /// the agent that it starts, is on one core.
    fn perftest(&self) -> Result<f64, Error> {
        let results = tempfile::tempdir()?;
        let result = results.path().join("result");
        let process = |host: usize| {
            let mut command = limited("taskset");
            command.args(["--cpu-list", self.cores[host]]).arg(release_programs().join("ddsmark"));
            command.args(["perftest", "-driver", &self.arguments.driver, "-nic", "lo", "-noPrint"]);
            command.args(["-useReadThread", "-waitsetEventCount", "1", "-sendQueueSize", SEND_QUEUE]);
            command
        };
        let mut subscriber = process(1).arg("-sub").stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let batch = if self.workload == "batched" { BATCH_BYTES } else { 0 };
        let mut publisher = process(0);
        publisher
            .args(["-pub", "-dataLen", &(self.size + LENGTH_BYTES).to_string()])
            .args(["-executionTime", &(self.ms() / 1000).to_string(), "-ddsmark-out"])
            .arg(&result);
        match self.workload {
            "latency" => publisher.arg("-latencyTest"),
            _ => publisher.args(["-batchSize", &batch.to_string()]),
        };
        let output = publisher.output();
        let ended = subscriber.wait()?;
        stdout_of(&publisher, output?)?;
        if !ended.success() {
            return Err(format!("the subscriber of {publisher:?}: {ended}").into());
        }
        let mut report = limited(release_programs().join("ddsmark"));
        report.args(["report", "--json"]).arg(&result);
        let output = report.output()?;
        let values = self.values(&stdout_of(&report, output)?)?;
        values.first().copied().ok_or_else(|| format!("no valid run: {publisher:?}").into())
    }

    /// Returns the values of the runs of a result. The unbatched cell comes first.
    fn values(&self, text: &str) -> Result<Vec<f64>, Error> {
        let result: serde_json::Value = serde_json::from_str(text)?;
        let runs = result["cells"].as_array().and_then(|cells| cells.last()?["runs"].as_array());
        let value_of = |run| value_of_readers(run, self.workload_of_ddsmark());
        Ok(runs.into_iter().flatten().filter_map(value_of).collect())
    }

    fn workload_of_ddsmark(&self) -> &'static str {
        if self.workload == "latency" { "latency" } else { "throughput" }
    }
}

/// Returns the median over the readers of their median RTTs, or of their rates. A run with one echo has its round trips
/// as a whole, not by flow.
fn value_of_readers(run: &serde_json::Value, workload: &str) -> Option<f64> {
    if workload != "latency" {
        return run.pointer("/measured/throughput/delivered_sps")?.as_f64();
    }
    let median_of = |record: &serde_json::Value| record.pointer("/latency/rtt/p50_ns")?.as_f64();
    let values: Vec<Option<f64>> = run["flows"].as_array()?.iter().map(median_of).collect();
    if values.iter().all(Option::is_none) {
        return median_of(run);
    }
    values.into_iter().collect::<Option<Vec<f64>>>().map(median)
}

fn limited(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", TIME_LIMIT]).arg(program);
    command
}

fn stdout_of(command: &Command, output: Output) -> Result<String, Error> {
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
    }
}

/// Returns the median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn round_trips_are_those_of_the_run_or_of_each_reader() {
        let rtt = |ns: u64| json!({ "latency": { "rtt": { "p50_ns": ns } } });
        let mut pair = rtt(20);
        pair["flows"] = json!([{ "name": "data" }]);
        assert_eq!(value_of_readers(&pair, "latency"), Some(20.0));
        let several = json!({ "flows": [rtt(30), rtt(10), rtt(20)] });
        assert_eq!(value_of_readers(&several, "latency"), Some(20.0));
        let one_is_missing = json!({ "flows": [rtt(30), {}, rtt(20)] });
        assert_eq!(value_of_readers(&one_is_missing, "latency"), None);
    }
}
