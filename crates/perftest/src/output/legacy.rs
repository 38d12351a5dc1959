//! Rows with labels: those of generation 5.1, and those of 4.3 with `-outputFormat legacy`.

use super::{
    number::Columns,
    values::{LatencyInterval, LatencyRow, PERCENTS, ThroughputInterval, ThroughputRow},
};
use crate::generation::Generation;

/// Number of percentiles of generation 5.1: up to 99.99 %.
const PERCENTILES_5_1: usize = 4;

/// Widths of columns: 0 in generation 5.1, which aligns nothing.
struct Widths {
    size: usize,
    time: usize,
    samples: usize,
    rate: usize,
    lost: usize,
    gap: &'static str,
}

const fn widths(generation: Generation) -> Widths {
    match generation {
        Generation::V5_1 => Widths { size: 0, time: 0, samples: 0, rate: 0, lost: 0, gap: " " },
        Generation::V4_3 => Widths { size: 5, time: 6, samples: 8, rate: 7, lost: 5, gap: "  " },
    }
}

/// Returns the latency line of a sample.
pub fn latency_interval(row: &LatencyInterval, columns: Columns) -> String {
    let (generation, numbers) = (columns.generation, columns.numbers);
    let Widths { time, gap, .. } = widths(generation);
    let us = |value| format!("{:>time$} us", numbers.micros(value));
    let std = numbers.deviation(row.std_us, 1);
    format!(
        "RTT/2 Latency: {}{gap}Ave {}{gap}Std {std:>time$} us{gap}Min {}{gap}Max {}{}",
        us(Some(row.latency_us)),
        us(Some(row.ave_us)),
        us(Some(row.min_us)),
        us(Some(row.max_us)),
        cpu_text(row.cpu_percent, columns)
    )
}

/// Returns the latency lines of a test.
pub fn latency_summary(row: &LatencyRow, columns: Columns) -> String {
    let (generation, numbers) = (columns.generation, columns.numbers);
    let Widths { size, time, .. } = widths(generation);
    let us = |value| format!("{:>time$} us", numbers.micros(value));
    let percentiles = match generation {
        Generation::V5_1 => PERCENTILES_5_1,
        Generation::V4_3 => PERCENTS.len(),
    };
    let percentiles: Vec<String> = (PERCENTS.iter().zip(row.printed()).take(percentiles))
        .map(|(percent, value)| format!("{percent}% {}", us(value)))
        .collect();
    let std = numbers.deviation(row.std_us, row.samples);
    format!(
        "Length: {:>size$} Latency: Ave {} Std {std:>time$} us Min {} Max {} {}{}",
        row.size,
        us(row.ave_us),
        us(row.min_us),
        us(row.max_us),
        percentiles.join(" "),
        cpu_text(row.cpu_percent, columns)
    )
}

/// Returns the throughput line of a second.
pub fn throughput_interval(row: &ThroughputInterval, columns: Columns) -> String {
    let generation = columns.generation;
    let Widths { samples, rate, gap, .. } = widths(generation);
    format!(
        "Packets: {:>samples$}{gap}Packets/s: {:>rate$.0}{gap}Packets/s(ave): {:>rate$.0}{gap}Mbps: {:>rate$.1}{gap}\
         Mbps(ave): {:>rate$.1}{gap}{}{}",
        row.samples,
        row.samples_per_s,
        row.samples_per_s_ave,
        row.mbps,
        row.mbps_ave,
        lost_text(row.lost, row.lost_percent, columns),
        cpu_text(row.cpu_percent, columns)
    )
}

/// Returns the throughput line of a test.
pub fn throughput_summary(row: &ThroughputRow, columns: Columns) -> String {
    let generation = columns.generation;
    let Widths { size, samples, rate, gap, .. } = widths(generation);
    format!(
        "Length: {:>size$}{gap}Packets: {:>samples$}{gap}Packets/s(ave): {:>rate$.0}{gap}Mbps(ave): {:>rate$.1}{gap}{}{}",
        row.size,
        row.samples,
        row.samples_per_s,
        row.mbps,
        lost_text(row.lost, row.lost_percent, columns),
        cpu_text(row.cpu_percent, columns)
    )
}

fn lost_text(samples: Option<u64>, percent: Option<f64>, columns: Columns) -> String {
    let (Widths { lost: width, .. }, numbers) = (widths(columns.generation), columns.numbers);
    let text = format!("Lost: {:>width$}", numbers.lost(samples));
    match (columns.generation, samples) {
        (Generation::V4_3, Some(_)) => format!("{text} ({}%)", numbers.lost_percent(percent)),
        _ => text,
    }
}

fn cpu_text(percent: Option<f64>, columns: Columns) -> String {
    if columns.cpu { format!(" CPU {} (%)", columns.numbers.decimals(percent, 2)) } else { String::new() }
}
