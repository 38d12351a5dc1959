//! Output of a process: rows to standard output or to a file, and the JSON document.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write as _},
};

use perftest::{EffectiveValue, Json, JsonContext, OutputFormat, Row, Rows, Settings};
use rendezvous::Outcome;

use super::Process;
use crate::cli::{
    cli_error::{CliError, Result},
    output::{self, note},
};

/// Output of a process.
pub struct Printer {
    rows: Rows,
    file: Option<OutputFile>,
    latency_file: Option<OutputFile>,
    /// Whether the test has several sizes.
    scans: bool,
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
    /// First failure of a size, for the other processes.
    pub failure: Option<Outcome>,
}

impl Printer {
    /// Creates the output. The files are opened before anything is measured.
    pub fn new(settings: &Settings) -> Result<Self> {
        let output = &settings.local.output;
        let open = |option, path: &Option<String>| {
            path.as_ref().map(|path| OutputFile::open(option, path)).transpose()
        };
        Ok(Self {
            rows: Rows::new(settings),
            file: open("-outputFile", &output.file)?,
            latency_file: open("-latencyFile", &output.latency_file)?,
            scans: settings.shared.sizes.len() > 1,
            json: Json::default(),
            intervals: output.intervals,
            summarized: false,
            error: None,
            effective: Vec::new(),
            invalid: Vec::new(),
            failure: None,
        })
    }

    /// Prints a line. Lines that the file does not take go to standard output: nothing measured is lost.
    fn line(&mut self, line: Option<String>) {
        let Some(line) = line else { return };
        if let Some(file) = &self.file {
            let Err(error) = file.write([line.clone()]) else { return };
            note(&format!("warning: cannot write to `{}`; its next rows are printed", file.path));
            self.error.get_or_insert(error);
            self.file = None;
        }
        if let Err(error) = output::print(&format!("{line}\n")) {
            self.error.get_or_insert(error);
        }
    }

    /// Prints the heading of the rows of a kind during the test of a size.
    pub fn begin<R: Row>(&mut self, size: u64) {
        if self.intervals {
            self.line(self.rows.heading::<R>(size));
            self.summarized = false;
        }
    }

    /// Prints a row; one during the test only if this process prints them.
    pub fn row<R: Row>(&mut self, row: &R) {
        if !R::IS_SUMMARY && !self.intervals {
            return;
        }
        self.json.add(row);
        if R::IS_SUMMARY && !std::mem::replace(&mut self.summarized, true) {
            self.line(self.rows.heading::<R>(row.size_and_cpu().0));
        }
        self.line(self.rows.row(row));
    }

    /// Appends all latencies of a size, given as RTT in ns in the order of sending, to the file for them. An error is kept: the
    /// rows are printed all the same.
    pub fn latencies(&mut self, size: u64, rtts_ns: impl Iterator<Item = u64>) {
        let Self { rows, latency_file: Some(file), scans, error, .. } = self else { return };
        let heading = rows.latency_file_heading(size, *scans);
        let values = (1..).zip(rtts_ns).map(|(number, rtt_ns)| rows.latency_file_row(number, rtt_ns / 2));
        if let Err(failed) = file.write(heading.into_iter().chain(values)) {
            error.get_or_insert(failed);
        }
    }

    /// Prints the JSON document, if that is the format, and returns the first error of the output.
    pub fn finish(&mut self, process: &Process) -> Result<()> {
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
        for file in self.file.iter().chain(&self.latency_file) {
            if let Err(error) = file.sync() {
                self.error.get_or_insert(error);
            }
        }
        self.error.take().map_or(Ok(()), Err)
    }
}

/// File to which an option has lines appended.
struct OutputFile {
    option: &'static str,
    path: String,
    file: File,
}

impl OutputFile {
    fn open(option: &'static str, path: &str) -> Result<Self> {
        let path = path.to_owned();
        match OpenOptions::new().create(true).append(true).open(&path) {
            Ok(file) => Ok(Self { option, path, file }),
            Err(error) => Err(cannot_write(option, &path, &error)),
        }
    }

    /// Appends lines. They are in the file when it returns.
    fn write(&self, lines: impl IntoIterator<Item = String>) -> Result<()> {
        let mut buffer = BufWriter::new(&self.file);
        let written = lines.into_iter().try_for_each(|line| writeln!(buffer, "{line}"));
        written.and_then(|()| buffer.flush()).map_err(|error| {
            // Dropping the buffer would write the rest of it again.
            let _ = buffer.into_parts();
            cannot_write(self.option, &self.path, &error)
        })
    }

    fn sync(&self) -> Result<()> {
        match self.file.sync_all() {
            // A pipe or a device has nothing to synchronize.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
                Err(cannot_write(self.option, &self.path, &error))
            }
            _ => Ok(()),
        }
    }
}

fn cannot_write(option: &str, path: &str, error: &io::Error) -> CliError {
    let error = format!("cannot write to `{path}`: {error}");
    CliError::failed(error, format!("free space, or name another file with `{option}`"))
}
