//! Rows of a process, in its format.

use super::{
    csv, legacy,
    number::{Columns, Numbers},
    values::{LatencyInterval, LatencyRow, ThroughputInterval, ThroughputRow},
};
use crate::{
    generation::Generation,
    settings::{OutputFormat, Settings},
};

/// Format of the rows of a process. A row without a newline is `None` if the format is JSON: [`Json`](crate::Json)
/// collects the values, and prints them at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Format.
    pub format: OutputFormat,
    /// Generation.
    pub generation: Generation,
    /// Whether there are headings.
    pub headings: bool,
    /// Whether rows have the CPU usage.
    pub cpu: bool,
    /// Whether each column has a number.
    pub numbers: bool,
}

impl Rows {
    /// Creates the format of a process.
    #[must_use]
    pub const fn new(settings: &Settings) -> Self {
        let output = &settings.local.output;
        Self {
            format: output.format,
            generation: settings.generation,
            headings: output.headings,
            cpu: output.cpu,
            numbers: output.numbers,
        }
    }

    const fn columns(&self) -> Columns {
        Columns { generation: self.generation, cpu: self.cpu, numbers: Numbers { always: self.numbers } }
    }

    /// Returns the heading of latency rows during the test of one size.
    #[must_use]
    pub fn latency_interval_heading(&self, size: u64) -> Option<String> {
        let columns = csv::latency_interval_headings(self.cpu);
        self.heading(&format!("RTT/2 Latency Intervals for {size} Bytes:"), &columns)
    }

    /// Returns the heading of latency rows at the end.
    #[must_use]
    pub fn latency_summary_heading(&self) -> Option<String> {
        self.heading("RTT/2 Latency Summary:", &csv::latency_summary_headings(self.cpu))
    }

    /// Returns the heading of throughput rows during the test of one size.
    #[must_use]
    pub fn throughput_interval_heading(&self, size: u64) -> Option<String> {
        let columns = csv::throughput_interval_headings(self.cpu);
        self.heading(&format!("Throughput Intervals for {size} Bytes:"), &columns)
    }

    /// Returns the heading of throughput rows at the end.
    #[must_use]
    pub fn throughput_summary_heading(&self) -> Option<String> {
        self.heading("Throughput Summary:", &csv::throughput_summary_headings(self.cpu))
    }

    fn heading(&self, title: &str, columns: &[String]) -> Option<String> {
        match self.format {
            OutputFormat::Csv if self.headings => Some(format!("{title}\n{}", columns.join(", "))),
            OutputFormat::Legacy if self.headings && title.starts_with("RTT/2") => Some(title.to_owned()),
            _ => None,
        }
    }

    /// Returns a latency row during the test.
    #[must_use]
    pub fn latency_interval(&self, row: &LatencyInterval) -> Option<String> {
        match self.format {
            OutputFormat::Csv => Some(csv::latency_interval(row, self.columns())),
            OutputFormat::Legacy => Some(legacy::latency_interval(row, self.columns())),
            OutputFormat::Json => None,
        }
    }

    /// Returns a latency row at the end.
    #[must_use]
    pub fn latency_summary(&self, row: &LatencyRow) -> Option<String> {
        match self.format {
            OutputFormat::Csv => Some(csv::latency_summary(row, self.columns())),
            OutputFormat::Legacy => Some(legacy::latency_summary(row, self.columns())),
            OutputFormat::Json => None,
        }
    }

    /// Returns the heading of the latencies of one size in the file of all latencies. `several`: whether the file has those of
    /// several sizes.
    #[must_use]
    pub fn latency_file_heading(&self, size: u64, several: bool) -> Option<String> {
        let title = if several { format!("RTT/2 Latencies for {size} Bytes:\n") } else { String::new() };
        self.headings.then(|| format!("{title}Sample Number, RTT/2 (μs)"))
    }

    /// Returns a row of the file with all latencies: the number of the value, from 1, and RTT/2 in ns.
    #[must_use]
    pub fn latency_file_row(&self, number: u64, half_rtt_ns: u64) -> String {
        format!("{number}, {}.{:03}", half_rtt_ns / 1000, half_rtt_ns % 1000)
    }

    /// Returns a throughput row during the test.
    #[must_use]
    pub fn throughput_interval(&self, row: &ThroughputInterval) -> Option<String> {
        match self.format {
            OutputFormat::Csv => Some(csv::throughput_interval(row, self.columns())),
            OutputFormat::Legacy => Some(legacy::throughput_interval(row, self.columns())),
            OutputFormat::Json => None,
        }
    }

    /// Returns a throughput row at the end.
    #[must_use]
    pub fn throughput_summary(&self, row: &ThroughputRow) -> Option<String> {
        match self.format {
            OutputFormat::Csv => Some(csv::throughput_summary(row, self.columns())),
            OutputFormat::Legacy => Some(legacy::throughput_summary(row, self.columns())),
            OutputFormat::Json => None,
        }
    }
}
