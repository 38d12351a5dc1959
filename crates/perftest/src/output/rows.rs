//! Rows of a process, in its format.

use serde_json::Value;

use crate::{
    generation::Generation,
    settings::{OutputFormat, Settings},
};

/// Heading of the CPU usage.
const CPU: &str = "CPU (%)";

/// Row of the output, of one kind.
pub trait Row {
    /// Title above the rows of this kind; `SIZE` stands for the size of the samples.
    const TITLE: &'static str;
    /// Headings of the columns, without that of the CPU usage. Values are as wide as their headings.
    const HEADINGS: &'static [&'static str];
    /// Whether it is the row at the end of a size.
    const IS_SUMMARY: bool;

    /// Returns the size of the samples in bytes, and the CPU usage.
    fn size_and_cpu(&self) -> (u64, Option<f64>);

    /// Returns the values of the columns.
    fn values(&self, rows: &Rows) -> Vec<String>;

    /// Returns the values with labels.
    fn labelled(&self, rows: &Rows) -> String;

    /// Returns the fields of a JSON document.
    fn fields(&self) -> Value;
}

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

    /// Returns the heading of the rows of a kind, of samples of one size.
    #[must_use]
    pub fn heading<R: Row>(&self, size: u64) -> Option<String> {
        let title = R::TITLE.replace("SIZE", &size.to_string());
        match self.format {
            OutputFormat::Csv if self.headings => {
                let cpu = self.cpu.then_some(CPU);
                let columns: Vec<&str> = R::HEADINGS.iter().copied().chain(cpu).collect();
                Some(format!("{title}\n{}", columns.join(", ")))
            }
            OutputFormat::Legacy if self.headings && title.starts_with("RTT/2") => Some(title),
            _ => None,
        }
    }

    /// Returns a row.
    #[must_use]
    pub fn row<R: Row>(&self, row: &R) -> Option<String> {
        let cpu = || self.decimals(row.size_and_cpu().1, 2);
        match self.format {
            OutputFormat::Csv => {
                let columns = R::HEADINGS.iter().copied().zip(row.values(self));
                let padded = columns.chain(self.cpu.then(|| (CPU, cpu()))).map(|(heading, value)| {
                    let width = heading.chars().count();
                    format!("{value:>width$}")
                });
                Some(padded.collect::<Vec<_>>().join(", "))
            }
            OutputFormat::Legacy => {
                let cpu = if self.cpu { format!(" CPU {} (%)", cpu()) } else { String::new() };
                Some(row.labelled(self) + &cpu)
            }
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
}
