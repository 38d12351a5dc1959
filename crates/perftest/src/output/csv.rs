//! Rows with commas: those of generation 4.3.

use super::{
    number::Columns,
    values::{LatencyInterval, LatencyRow, PERCENTS, ThroughputInterval, ThroughputRow},
};

/// Heading of a column, whose width its values have.
type Heading = String;

fn headings(names: &[&str]) -> Vec<Heading> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the headings of the latency rows of each sample; with `cpu`, also that of the CPU.
pub fn latency_interval_headings(cpu: bool) -> Vec<Heading> {
    let names = ["Sample Size (Bytes)", "Latency (μs)", "Ave (μs)", "Std (μs)", "Min (μs)", "Max (μs)"];
    with_cpu(headings(&names), cpu)
}

/// Returns the headings of the latency row of a test.
pub fn latency_summary_headings(cpu: bool) -> Vec<Heading> {
    let mut all = headings(&["Sample Size (Bytes)", "Ave (μs)", "Std (μs)", "Min (μs)", "Max (μs)"]);
    all.extend(PERCENTS.iter().map(|percent| format!("{percent}% (μs)")));
    with_cpu(all, cpu)
}

/// Returns the headings of the throughput rows of each second.
pub fn throughput_interval_headings(cpu: bool) -> Vec<Heading> {
    let names = [
        "Sample Size (Bytes)",
        "Total Samples",
        " Samples/s",
        "Avg Samples/s",
        "    Mbps",
        "Avg Mbps",
        "Lost Samples",
        "Lost Samples (%)",
    ];
    with_cpu(headings(&names), cpu)
}

/// Returns the headings of the throughput row of a test.
pub fn throughput_summary_headings(cpu: bool) -> Vec<Heading> {
    let names = [
        "Sample Size (Bytes)",
        "Total Samples",
        "Avg Samples/s",
        "Avg Mbps",
        "Lost Samples",
        "Lost Samples (%)",
    ];
    with_cpu(headings(&names), cpu)
}

fn with_cpu(mut headings: Vec<Heading>, cpu: bool) -> Vec<Heading> {
    if cpu {
        headings.push("CPU (%)".to_owned());
    }
    headings
}

/// Returns the latency row of a sample.
pub fn latency_interval(row: &LatencyInterval, columns: Columns) -> String {
    let numbers = columns.numbers;
    let values = vec![
        row.size.to_string(),
        numbers.micros(Some(row.latency_us)),
        numbers.micros(Some(row.ave_us)),
        numbers.deviation(row.std_us, 1),
        numbers.micros(Some(row.min_us)),
        numbers.micros(Some(row.max_us)),
    ];
    line(&latency_interval_headings(columns.cpu), values, numbers.decimals(row.cpu_percent, 2))
}

/// Returns the latency row of a test.
pub fn latency_summary(row: &LatencyRow, columns: Columns) -> String {
    let numbers = columns.numbers;
    let mut values = vec![
        row.size.to_string(),
        numbers.micros(row.ave_us),
        numbers.deviation(row.std_us, row.samples),
        numbers.micros(row.min_us),
        numbers.micros(row.max_us),
    ];
    values.extend(row.printed().map(|us| numbers.micros(us)));
    line(&latency_summary_headings(columns.cpu), values, numbers.decimals(row.cpu_percent, 2))
}

/// Returns the throughput row of a second.
pub fn throughput_interval(row: &ThroughputInterval, columns: Columns) -> String {
    let numbers = columns.numbers;
    let values = vec![
        row.size.to_string(),
        row.samples.to_string(),
        format!("{:.0}", row.samples_per_s),
        format!("{:.0}", row.samples_per_s_ave),
        format!("{:.1}", row.mbps),
        format!("{:.1}", row.mbps_ave),
        numbers.lost(row.lost),
        numbers.lost_percent(row.lost_percent),
    ];
    line(&throughput_interval_headings(columns.cpu), values, numbers.decimals(row.cpu_percent, 2))
}

/// Returns the throughput row of a test.
pub fn throughput_summary(row: &ThroughputRow, columns: Columns) -> String {
    let numbers = columns.numbers;
    let values = vec![
        row.size.to_string(),
        row.samples.to_string(),
        format!("{:.0}", row.samples_per_s),
        format!("{:.1}", row.mbps),
        numbers.lost(row.lost),
        numbers.lost_percent(row.lost_percent),
    ];
    line(&throughput_summary_headings(columns.cpu), values, numbers.decimals(row.cpu_percent, 2))
}

/// Returns the values, each as wide as its heading; the CPU usage has the last heading, if it has one.
fn line(headings: &[Heading], mut values: Vec<String>, cpu: String) -> String {
    if values.len() < headings.len() {
        values.push(cpu);
    }
    let padded = headings.iter().zip(values).map(|(heading, value)| {
        let width = heading.chars().count();
        format!("{value:>width$}")
    });
    padded.collect::<Vec<_>>().join(", ")
}
