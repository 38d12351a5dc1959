//! Rows with commas: those of generation 4.3.

use super::{
    number::{decimals, lost, lost_percent, micros},
    values::{LatencyInterval, LatencyRow, PERCENTS, ThroughputInterval, ThroughputRow},
};

/// Heading of a column, whose width its values have.
type Heading = String;

fn headings(names: &[&str]) -> Vec<Heading> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub fn latency_interval_headings(cpu: bool) -> Vec<Heading> {
    let names = ["Sample Size (Bytes)", "Latency (μs)", "Ave (μs)", "Std (μs)", "Min (μs)", "Max (μs)"];
    with_cpu(headings(&names), cpu)
}

pub fn latency_summary_headings(cpu: bool) -> Vec<Heading> {
    let mut all = headings(&["Sample Size (Bytes)", "Ave (μs)", "Std (μs)", "Min (μs)", "Max (μs)"]);
    all.extend(PERCENTS.iter().map(|percent| format!("{percent}% (μs)")));
    with_cpu(all, cpu)
}

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

pub fn latency_interval(row: &LatencyInterval, cpu: bool) -> String {
    let values = vec![
        row.size.to_string(),
        micros(Some(row.latency_us)),
        micros(Some(row.ave_us)),
        decimals(row.std_us, 1),
        micros(Some(row.min_us)),
        micros(Some(row.max_us)),
    ];
    line(&latency_interval_headings(cpu), values, row.cpu_percent)
}

pub fn latency_summary(row: &LatencyRow, cpu: bool) -> String {
    let mut values = vec![
        row.size.to_string(),
        micros(row.ave_us),
        decimals(row.std_us, 1),
        micros(row.min_us),
        micros(row.max_us),
    ];
    values.extend(row.percentiles.map(micros));
    line(&latency_summary_headings(cpu), values, row.cpu_percent)
}

pub fn throughput_interval(row: &ThroughputInterval, cpu: bool) -> String {
    let values = vec![
        row.size.to_string(),
        row.samples.to_string(),
        format!("{:.0}", row.samples_per_s),
        format!("{:.0}", row.samples_per_s_ave),
        format!("{:.1}", row.mbps),
        format!("{:.1}", row.mbps_ave),
        lost(row.lost),
        lost_percent(row.lost_percent),
    ];
    line(&throughput_interval_headings(cpu), values, row.cpu_percent)
}

pub fn throughput_summary(row: &ThroughputRow, cpu: bool) -> String {
    let values = vec![
        row.size.to_string(),
        row.samples.to_string(),
        format!("{:.0}", row.samples_per_s),
        format!("{:.1}", row.mbps),
        lost(row.lost),
        lost_percent(row.lost_percent),
    ];
    line(&throughput_summary_headings(cpu), values, row.cpu_percent)
}

/// Returns the values, each as wide as its heading; the CPU usage has the last heading, if it has one.
fn line(headings: &[Heading], mut values: Vec<String>, cpu_percent: Option<f64>) -> String {
    if values.len() < headings.len() {
        values.push(decimals(cpu_percent, 2));
    }
    let padded = headings.iter().zip(values).map(|(heading, value)| {
        let width = heading.chars().count();
        format!("{value:>width$}")
    });
    padded.collect::<Vec<_>>().join(", ")
}
