//! Warnings about runs of a cell that differ widely, or that form groups.

use stats::{Modality, Mode, Spread, format_value, modality};

use crate::{
    schema::{Run, UNDER_DUET_INTERFERENCE, WarningKind},
    values::{format::format_spread, rules::WIDE_SPREAD},
};

/// Ratio of two neighbouring groups from which on a warning names them. Values with a tail seldom have groups that are so far
/// apart, so few warnings are false.
const FAR_APART: f64 = 1.5;

/// Returns the value of a metric in a run.
type ValueOf = fn(&Run) -> Option<f64>;

/// Returns the kind and the text of a warning if the main metric of a cell has a wide range over its valid runs.
pub(crate) fn differing_runs(valid: &[&Run]) -> Option<(WarningKind, String)> {
    let metrics: [(&str, &str, ValueOf); 4] = [
        ("median response", " µs", |run| typical_us(run, "response")),
        ("samples delivered", "/s", |run| Some(run.throughput()?.delivered_sps)),
        ("median RTT", " µs", |run| typical_us(run, "rtt")),
        ("time until all are matched", " µs", |run| Some(run.discovery()?.all_matched_ns? as f64 / 1e3)),
    ];
    let (what, unit, runs) = metrics.iter().find_map(|(what, unit, value)| {
        let runs: Vec<(u32, f64)> = valid.iter().filter_map(|run| Some((run.block, value(run)?))).collect();
        (!runs.is_empty()).then_some((what, unit, runs))
    })?;
    let values: Vec<f64> = runs.iter().map(|(_, value)| *value).collect();
    let spread = Spread::from_values(&values)?;
    let relative = spread.half_range_relative().filter(|relative| *relative > WIDE_SPREAD)?;
    let interference = match valid.iter().any(|run| run.duet.is_some()) {
        true => format!(", {UNDER_DUET_INTERFERENCE}"),
        false => String::new(),
    };
    Some(match modality(&values) {
        Modality::Several(groups) if are_far_apart(&groups) => {
            let groups: Vec<String> = groups.iter().map(|group| words(group, &runs, unit)).collect();
            let text = format!("{} runs form groups: {what} {}{interference}", spread.n, groups.join(", "));
            (WarningKind::Groups, text)
        }
        _ => {
            let text = format!(
                "{} runs differ widely: {what} from {} to {}{unit} (±{} %){interference}",
                spread.n,
                format_value(spread.min),
                format_value(spread.max),
                format_spread(relative * 100.0)
            );
            (WarningKind::Spread, text)
        }
    })
}

fn typical_us(run: &Run, kind: &str) -> Option<f64> {
    Some(run.latency.get(kind)?.p50_ns? as f64 / 1e3)
}

fn are_far_apart(groups: &[Mode]) -> bool {
    groups.windows(2).any(|pair| pair[1].location >= FAR_APART * pair[0].location)
}

/// Formats a group: its typical value, and how many runs it has in which blocks. `runs` has the block and the value of each run.
fn words(group: &Mode, runs: &[(u32, f64)], unit: &str) -> String {
    let blocks: Vec<u32> = runs
        .iter()
        .filter(|(_, value)| (group.from..=group.to).contains(value))
        .map(|(block, _)| *block)
        .collect();
    let (first, last) = (blocks.iter().min().unwrap_or(&0), blocks.iter().max().unwrap_or(&0));
    format!("near {}{unit} ({} runs in blocks {first} to {last})", format_value(group.location), blocks.len())
}
