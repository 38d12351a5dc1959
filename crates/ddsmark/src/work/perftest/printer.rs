//! Output of a process: rows to standard output or to a file, and the JSON document.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
};

use perftest::{
    EffectiveValue, Json, JsonContext, LatencyInterval, LatencyRow, OutputFormat, Rows, Settings,
    ThroughputInterval, ThroughputRow,
};

use super::Process;
use crate::cli::{
    cli_error::{CliError, ExitStatus},
    output,
};

/// Output of a process.
pub struct Printer {
    rows: Rows,
    file: Option<(String, File)>,
    json: Json,
    intervals: bool,
    /// Whether the heading of summary rows was printed.
    summarized: bool,
    /// First error of the output, with which the process ends.
    error: Option<CliError>,
    /// Effective values, once they are known.
    pub effective: Vec<EffectiveValue>,
    /// Reasons why the test is not valid.
    pub invalid: Vec<String>,
}

impl Printer {
    /// Creates the output. The file is opened before anything is measured.
    pub fn new(settings: &Settings) -> Result<Self, CliError> {
        let output = &settings.local.output;
        let file = output.file.as_ref().map(|path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.map(|file| (path.clone(), file)).map_err(|error| cannot_write(path, &error))
        });
        Ok(Self {
            rows: Rows::new(settings),
            file: file.transpose()?,
            json: Json::default(),
            intervals: output.intervals,
            summarized: false,
            error: None,
            effective: Vec::new(),
            invalid: Vec::new(),
        })
    }

    fn line(&mut self, line: Option<String>) {
        let Some(line) = line else { return };
        let written = match &mut self.file {
            None => output::print(&format!("{line}\n")),
            Some((path, file)) => writeln!(file, "{line}").map_err(|error| cannot_write(path, &error)),
        };
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }

    /// Prints the heading of latency rows during the test of a size.
    pub fn begin_latency(&mut self, size: u64) {
        if self.intervals {
            let heading = self.rows.latency_interval_heading(size);
            self.line(heading);
            self.summarized = false;
        }
    }

    /// Prints the heading of throughput rows during the test of a size.
    pub fn begin_throughput(&mut self, size: u64) {
        if self.intervals {
            let heading = self.rows.throughput_interval_heading(size);
            self.line(heading);
            self.summarized = false;
        }
    }

    /// Prints a latency row during the test.
    pub fn latency_interval(&mut self, row: &LatencyInterval) {
        self.json.latency_interval(row);
        self.line(self.rows.latency_interval(row));
    }

    /// Prints a throughput row during the test.
    pub fn throughput_interval(&mut self, row: &ThroughputInterval) {
        self.json.throughput_interval(row);
        self.line(self.rows.throughput_interval(row));
    }

    /// Prints the latency row of a size.
    pub fn latency_summary(&mut self, row: &LatencyRow) {
        self.json.latency_summary(row);
        if !std::mem::replace(&mut self.summarized, true) {
            self.line(self.rows.latency_summary_heading());
        }
        self.line(self.rows.latency_summary(row));
    }

    /// Prints the throughput row of a size.
    pub fn throughput_summary(&mut self, row: &ThroughputRow) {
        self.json.throughput_summary(row);
        if !std::mem::replace(&mut self.summarized, true) {
            self.line(self.rows.throughput_summary_heading());
        }
        self.line(self.rows.throughput_summary(row));
    }

    /// Prints the JSON document, if that is the format, and returns the first error of the output.
    pub fn finish(&mut self, process: &Process) -> Result<(), CliError> {
        if self.rows.format == OutputFormat::Json {
            let context = JsonContext {
                versions: process.versions(),
                host: process.host_texts(),
                effective: &self.effective,
                invalid: &self.invalid,
            };
            let document = self.json.document(&process.settings, &context);
            self.line(Some(document));
        }
        if let Some((path, file)) = &self.file
            && let Err(error) = file.sync_all()
        {
            let error = cannot_write(path, &error);
            self.error.get_or_insert(error);
        }
        self.error.take().map_or(Ok(()), Err)
    }
}

fn cannot_write(path: &str, error: &std::io::Error) -> CliError {
    let error = format!("cannot write to `{path}`: {error}");
    CliError::new(ExitStatus::Failed, error, "name another file with `-outputFile`")
}
