//! Tables of a driver: throughput, latency, and cost per sample.

use results::{
    CellLatency, CellResult, Latency, MAX_LATENCY_LOSS_PCT, QUANTILES, Run, RunState, Throughput, WireBytes,
    format_micros, format_spread, format_value,
};
use stats::Spread;

use crate::{factor_columns::FactorColumns, layout::Grid};

/// Mark of a row that is copied from the unbatched table.
pub(crate) const SAME_AS_UNBATCHED: &str = "=";
/// Mark of a latency with too many lost pings.
pub(crate) const LOSSY: &str = "!";

/// Mark of a quantile that is not supported by each run.
pub(crate) const POOLED: &str = "*";

/// Returns whether a cell has a pooled quantile.
pub(crate) fn has_pooled(cell: &CellResult) -> bool {
    let flows = cell.paced.iter().flat_map(|paced| &paced.flows).flat_map(|flow| flow.latency.values());
    cell.latency.values().chain(flows).any(|latency| !latency.pooled.is_empty())
}

/// Returns whether times of a cell have the error of the clocks of two hosts.
pub(crate) fn has_clock_error(cell: &CellResult) -> bool {
    let flows = cell.paced.iter().flat_map(|paced| &paced.flows).flat_map(|flow| flow.latency.values());
    cell.latency.values().chain(flows).any(|latency| latency.clock_error_ns > 0)
}

/// Legend of samples per take.
pub(crate) const SAMPLES_PER_TAKE: &str = "Samples/take is the number of samples that the reader's application gets at a time: mean and \
    maximum. ddsmark forms the groups in the application, not the middleware. Times include the wait for the group.";

/// Heading of the goodput that the links between hosts can carry.
const LINK_CARRIES: &str = "Link carries (Mbit/s)";
/// Legend of [`LINK_CARRIES`].
pub(crate) const LINK_CEILING: &str = "Link carries is the highest goodput of UDP over IPv4 on the link between the hosts, of samples \
    of this size. Counted for each frame: preamble 8, header 14, checksum 4, gap 12 and IP header 20 bytes, and once for each \
    datagram the UDP header of 8 bytes. A middleware adds headers that are not counted, so it stays below.";

/// Returns whether samples of a cell are received in groups.
pub(crate) const fn grouped(cell: &CellResult) -> bool {
    cell.factors.queues.receive_group.is_some()
}

/// Formats the samples per take of the reader's application, mean and maximum over all flows.
pub(crate) fn per_take(cell: &CellResult) -> String {
    let takes = cell.throughput.as_ref().and_then(|throughput| throughput.takes.as_ref());
    takes.map_or_else(
        || "-".to_owned(),
        |takes| format!("{} (max {})", format_value(takes.mean_samples), takes.max_samples),
    )
}

/// Returns whether samples of a cell arrived too late for its rate.
pub(crate) fn has_tail(cell: &CellResult) -> bool {
    cell.throughput.as_ref().is_some_and(|throughput| throughput.tail.samples > 0)
}

/// Formats the time from the last write to the last arrival, in ms.
pub(crate) fn tail_ms(throughput: &Throughput) -> String {
    format_value(throughput.tail.ns as f64 / 1e6)
}

/// Fills a table: a row for each cell, which begins with its factors. `entries` adds the others; if it returns `None`, a text
/// says why the cell has no values.
pub(crate) fn by_cell(
    keys: &FactorColumns,
    mut grid: Grid,
    cells: &[&CellResult],
    entries: impl Fn(&CellResult, &mut Vec<String>) -> Option<()>,
) -> Grid {
    for cell in cells {
        let mut row = keys.entries(cell);
        if entries(cell, &mut row).is_none() {
            grid.fill(&mut row, nothing(cell));
        }
        grid.row(row);
    }
    grid
}

/// Returns the throughput table by size. Rows whose flag is set are copied from the unbatched cells.
pub(crate) fn throughput(rows: &[(&CellResult, bool)]) -> Grid {
    let grouped = rows.iter().any(|(cell, _)| grouped(cell));
    let keys = FactorColumns::new(&["size"], &rows.iter().map(|(cell, _)| *cell).collect::<Vec<_>>());
    let mut grid = keys.grid().left([""]).right(["Samples"]).spread(["Samples/s", "Mbit/s"]);
    let ceilings = rows.iter().any(|(cell, _)| cell.link_ceiling.is_some());
    if ceilings {
        grid = grid.right([LINK_CARRIES]);
    }
    grid = grid
        .right(["Lost", "Missing (%)"])
        .close("± pp")
        .right(["UDP drops"])
        .spread(["CPU writer (µs/sample)", "CPU reader (µs/sample)"]);
    let tails = rows.iter().any(|(cell, _)| has_tail(cell));
    if tails {
        grid = grid.right(["Tail (samples)"]).close("(ms)");
    }
    if grouped {
        grid = grid.right(["Samples/take"]);
    }
    for (cell, same) in rows {
        let mut row = keys.entries(cell);
        row.push(if *same { SAME_AS_UNBATCHED.to_owned() } else { String::new() });
        match &cell.throughput {
            Some(throughput) => {
                let spread = |of: fn(&Throughput) -> f64| spread(cell, |run| run.throughput().map(of));
                row.extend([
                    throughput.delivered.to_string(),
                    format_value(throughput.delivered_sps),
                    spread(|t| t.delivered_sps),
                    format_value(throughput.goodput_mbps),
                    spread(|t| t.goodput_mbps),
                ]);
                if ceilings {
                    let ceiling = cell.link_ceiling.map(|ceiling| format_value(ceiling.goodput_mbps));
                    row.push(ceiling.unwrap_or_else(unsupported));
                }
                row.extend([
                    throughput.lost.to_string(),
                    format_value(cell.shortfall().pct()),
                    lost_spread(cell),
                    dropped(cell).map_or_else(unsupported, |dropped| dropped.to_string()),
                ]);
                row.extend(cpu(cell));
                if tails {
                    row.extend([throughput.tail.samples.to_string(), tail_ms(throughput)]);
                }
                row.extend(grouped.then(|| per_take(cell)));
            }
            None => grid.fill(&mut row, nothing(cell)),
        }
        grid.row(row);
    }
    grid
}

/// Returns the table of write calls and interface traffic, by size and batch ceiling.
pub(crate) fn writing(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size", "batch_bytes"], cells);
    let grid = keys.grid().spread([
        "Write p50 (µs)",
        "p90 (µs)",
        "p99 (µs)",
        "p99.9 (µs)",
        "Max (µs)",
        "Wire (B/sample)",
        "Wire (packets/sample)",
    ]);
    by_cell(&keys, grid, cells, |cell, row| {
        let call = cell.latency.get("write_call")?;
        row.extend((0..4).flat_map(|index| quantile_entries(cell, "write_call", index)));
        row.push(format_micros(call.max_ns as f64));
        row.push(spread(cell, |run| Some(run.latency.get("write_call")?.max_ns as f64)));
        let wire = |bytes: fn(&WireBytes) -> u64| {
            let (traffic, sent) = cell.valid_runs().try_fold((0_u64, 0_u64), |(traffic, sent), run| {
                let of_run = (bytes(run.wire.as_ref()?), run.throughput()?.sent);
                Some((traffic.saturating_add(of_run.0), sent.saturating_add(of_run.1)))
            })?;
            (sent > 0).then(|| format_value(traffic as f64 / sent as f64))
        };
        for traffic in [(|wire| wire.rx_bytes) as fn(&WireBytes) -> u64, |wire| wire.rx_packets] {
            row.push(wire(traffic).unwrap_or_else(unsupported));
            row.push(spread(cell, |run| {
                let sent = run.throughput()?.sent;
                (sent > 0).then_some(traffic(run.wire.as_ref()?) as f64 / sent as f64)
            }));
        }
        Some(())
    })
}

/// Returns the table of the RTT by size.
pub(crate) fn latency(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size"], cells);
    let grid = keys
        .grid()
        .left([""])
        .right(["n"])
        .spread(["Mean (µs)", "SD (µs)", "Min (µs)", "Max (µs)"])
        .spread(["p50 (µs)", "p90 (µs)", "p99 (µs)", "p99.9 (µs)", "p99.99 (µs)", "p99.9999 (µs)"]);
    by_cell(&keys, grid, cells, |cell, row| {
        let mark = if cell.shortfall().pct() > MAX_LATENCY_LOSS_PCT { LOSSY } else { "" };
        row.push(mark.to_owned());
        let rtt = cell.latency.get("rtt")?;
        row.push(rtt.n.to_string());
        let moments: [(f64, Moment); 4] = [
            (rtt.mean_ns, |latency| latency.mean_ns),
            (rtt.sd_ns, |latency| latency.sd_ns),
            (rtt.min_ns as f64, |latency| latency.min_ns as f64),
            (rtt.max_ns as f64, |latency| latency.max_ns as f64),
        ];
        for (of_cell, of_run) in moments {
            row.push(format_micros(of_cell));
            row.push(spread(cell, |run| run.latency.get("rtt").map(of_run)));
        }
        row.extend((0..QUANTILES.len()).flat_map(|index| quantile_entries(cell, "rtt", index)));
        Some(())
    })
}

/// Returns the table of one-way times, losses and cost of a round trip.
pub(crate) fn directions(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size"], cells);
    let grid = keys
        .grid()
        .spread(["RTT p50 (µs)", "Out p50 (µs)", "Back p50 (µs)"])
        .right(["Lost", "Lost (%)"])
        .close("± pp")
        .spread(["CPU pinger (µs/sample)", "CPU echo (µs/sample)"]);
    by_cell(&keys, grid, cells, |cell, row| {
        cell.latency.get("rtt")?;
        let kinds = ["rtt", "one_way_out", "one_way_back"];
        row.extend(kinds.into_iter().flat_map(|kind| quantile_entries(cell, kind, 0)));
        let lost = stats::total(cell.valid_runs().flat_map(Run::counts).map(|counted| counted.lost));
        row.extend([lost.to_string(), format_value(cell.shortfall().pct()), lost_spread(cell)]);
        row.extend(cpu(cell));
        Some(())
    })
}

/// Mean, standard deviation or extreme of a run.
type Moment = fn(&Latency) -> f64;

/// Formats a quantile of a cell in µs. It is marked if a run does not support it. A time between two hosts has the error
/// of their clocks, and is not available if the error exceeds it.
pub(crate) fn quantile(latency: &CellLatency, index: usize) -> String {
    let resolved = latency.quantiles()[index].filter(|ns| latency.is_resolved(*ns));
    let Some(ns) = resolved else { return unsupported() };
    let mark = if latency.is_pooled(QUANTILES[index]) { POOLED } else { "" };
    let error = match latency.clock_error_ns {
        0 => String::new(),
        error_ns => format!(" ± {}", format_micros(error_ns as f64)),
    };
    format!("{}{mark}{error}", format_micros(ns))
}

/// Formats a quantile of a latency of the cell, and its half-range over the runs.
pub(crate) fn quantile_entries(cell: &CellResult, kind: &str, index: usize) -> [String; 2] {
    let value = cell.latency.get(kind).map_or_else(unsupported, |latency| quantile(latency, index));
    [value, quantile_spread(cell, index, |run| run.latency.get(kind))]
}

/// Formats the half-range of a quantile over the runs.
pub(crate) fn quantile_spread(
    cell: &CellResult,
    index: usize,
    of_run: impl Fn(&Run) -> Option<&Latency>,
) -> String {
    spread(cell, |run| Some(of_run(run)?.quantiles()[index]? as f64))
}

pub(crate) fn unsupported() -> String {
    "n/a".to_owned()
}

/// Returns the datagrams dropped at full socket buffers in the valid runs; `None` if a run does not report them.
fn dropped(cell: &CellResult) -> Option<u64> {
    cell.valid_runs().try_fold(0_u64, |sum, run| Some(sum.saturating_add(run.udp_buffer_drops?)))
}

/// Formats the CPU time per sample in µs at the writer and the reader, each with its half-range.
pub(crate) fn cpu(cell: &CellResult) -> [String; 4] {
    let Some(median) = &cell.cpu_ns_per_sample else {
        return [unsupported(), String::new(), unsupported(), String::new()];
    };
    [
        format_value(median.writer / 1e3),
        spread(cell, |run| Some(run.cpu_ns_per_sample.as_ref()?.writer)),
        format_value(median.reader / 1e3),
        spread(cell, |run| Some(run.cpu_ns_per_sample.as_ref()?.reader)),
    ]
}

/// Formats the half-range of a value over the runs, in percent of the median; empty if a run lacks the value.
pub(crate) fn spread(cell: &CellResult, of: impl Fn(&Run) -> Option<f64>) -> String {
    let values: Option<Vec<f64>> = cell.claimed_runs().map(of).collect();
    values
        .and_then(|values| Spread::from_values(&values)?.half_range_relative())
        .map_or_else(String::new, |share| format_spread(100.0 * share))
}

/// Formats the half-range of the loss over the runs in percentage points, because the median can be 0.
pub(crate) fn lost_spread(cell: &CellResult) -> String {
    let lost: Vec<f64> = cell.claimed_runs().map(|run| run.shortfall().pct()).collect();
    Spread::from_values(&lost)
        .map_or_else(String::new, |spread| format_spread((spread.max - spread.min) / 2.0))
}

/// Returns the reason why the cell has no values.
pub(crate) fn nothing(cell: &CellResult) -> String {
    let any = |state| cell.runs.iter().any(|run| run.state == state);
    let why = match () {
        () if cell.runs.is_empty() => "not run",
        () if any(RunState::Invalid) => "invalid",
        () if any(RunState::Failed) => "failed",
        () => "nothing",
    };
    why.to_owned()
}
