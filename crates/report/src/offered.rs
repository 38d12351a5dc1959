//! Load that the flows of a plan offer together.

use experiment::{OfferedLoad, Plan};
use results::format_value;

/// Maximum number of cells that are named for a load.
const NAMED: usize = 2;

/// Returns a line for each different load of cells with flows. Printed in a dry run and before the first run.
#[must_use]
pub fn offered_loads(experiment: &Plan) -> Vec<String> {
    let mut loads: Vec<(OfferedLoad, Vec<&str>)> = Vec::new();
    for offered in experiment.offered_loads() {
        match loads.iter_mut().find(|(load, _)| *load == offered.load) {
            Some((_, cells)) => cells.push(offered.cell),
            None => loads.push((offered.load, vec![offered.cell])),
        }
    }
    let several = loads.len() > 1;
    let line = |(load, cells): &(OfferedLoad, Vec<&str>)| {
        let mut of = cells.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        if cells.len() > NAMED {
            of.push_str(&format!(" and {} more", cells.len() - NAMED));
        }
        let of = if several { format!(" of {of}") } else { String::new() };
        let at_scale = if experiment.search.is_some() { " at scale 1" } else { "" };
        format!(
            "flows{of}{at_scale}: {} samples/s and {} Mbit/s of payload are written, {} samples/s and {} Mbit/s delivered to their readers",
            format_value(load.written_sps),
            format_value(load.written_bit_per_s / 1e6),
            format_value(load.delivered_sps),
            format_value(load.delivered_bit_per_s / 1e6)
        )
    };
    loads.iter().map(line).collect()
}
