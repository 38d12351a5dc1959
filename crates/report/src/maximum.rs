//! Maximum rates that loads in percent refer to, as text.

use results::{CellResult, MaxRate, MaxRateRun, format_value};

use crate::number::count;

/// Legend for loads in percent.
pub(crate) const LEGEND: &str = "A load in percent refers to the maximum rate of the same cell, measured without a schedule before the first block: the \
     lower of offered and delivered samples/s. A flow may not sustain the rate that it delivers in overload; the workload \
     `search` finds the highest sustained rate.";

/// Returns the maximum rates of these cells, one line per maximum.
pub(crate) fn lines(max_rates: &[MaxRate], cells: &[&CellResult]) -> Vec<String> {
    let line = |maximum: &MaxRate| {
        let cell = cells.iter().find(|cell| maximum.cells.contains(&cell.id))?;
        let factors = &cell.factors;
        let what = format!("100 % at {} bytes, batch {}", factors.size_bytes, factors.batch());
        Some(match (maximum.sps, maximum.spread()) {
            (Some(sps), Some(spread)) => {
                let failed = match maximum.runs.len() - spread.n {
                    0 => String::new(),
                    failed => format!(", {failed} more failed"),
                };
                format!(
                    "{what}: {}/s, the median of {} as fast as it goes ({} to {}/s{failed})",
                    format_value(sps),
                    count(spread.n, "run"),
                    format_value(spread.min),
                    format_value(spread.max)
                )
            }
            _ if maximum.is_complete() => {
                format!("{what}: not known, all runs that were to measure it failed")
            }
            _ => format!("{what}: not known, {} of its runs were made", maximum.runs.len()),
        })
    };
    max_rates.iter().filter_map(line).collect()
}

/// Returns the progress line of a run that measured a maximum: its number of all, and its outcome.
#[must_use]
pub fn maximum_line(maximum: &MaxRate, run: &MaxRateRun, done: usize, total: usize) -> String {
    let width = total.to_string().len();
    let outcome = match (&run.unpaced, &run.failure) {
        (Some(unpaced), _) => {
            format!(
                "{}/s offered, {}/s delivered",
                format_value(unpaced.offered_sps),
                format_value(unpaced.delivered_sps)
            )
        }
        (None, Some(failure)) => {
            let whose =
                failure.endpoint.as_ref().map_or_else(String::new, |endpoint| format!(" ({endpoint})"));
            format!("FAILED in `{}`{whose}: {}", failure.phase, failure.error)
        }
        (None, None) => "nothing measured".to_owned(),
    };
    let known = maximum.sps.filter(|_| maximum.runs.last().is_some_and(|last| last.number == run.number));
    let known = known.map_or_else(String::new, |sps| format!("; 100 % is {}/s", format_value(sps)));
    format!("[maximum {done:>width$}/{total}] {}: {outcome}{known}", maximum.id)
}
