//! Synthetic charts, one of each type: for the gallery and for tests. No value was measured.

mod cells;
mod counts;
mod runs;
mod sweeps;
mod tools;

use charts::Chart;

/// Returns all charts with their identifiers.
pub fn all() -> Vec<(&'static str, Chart)> {
    vec![
        ("forest", runs::forest()),
        ("strip", runs::strip(2)),
        ("strip_rows", runs::strip(6)),
        ("percentiles", runs::percentiles()),
        ("time", runs::time()),
        ("latency_over_size", sweeps::latency_over_size()),
        ("response_over_load", sweeps::response_over_load()),
        ("throughput_over_size", sweeps::throughput_over_size()),
        ("cpu", cells::cpu()),
        ("discovery", counts::discovery()),
        ("readers", counts::readers()),
        ("history", counts::history()),
        ("seconds", runs::seconds()),
        ("many", sweeps::many()),
        ("heat", cells::heat()),
        ("trials", cells::trials()),
        ("empty", cells::empty()),
    ]
}
