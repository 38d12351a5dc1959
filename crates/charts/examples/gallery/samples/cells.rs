//! Bars, heat tables and trials.

use charts::{
    Axis, Bar, BarGroup, Bars, Better, Chart, ChartKind, Estimate, Heat, HeatCell, HeatRow, Lines, Outcome,
    Panel, Scale, SearchTrials, Slot, Trial, Trials, Unit,
};

use super::tools::{Numbers, SIZES, chart, drivers, sizes, socket, times};

pub fn cpu() -> Chart {
    let mut numbers = Numbers(13);
    let [a, b, ..] = drivers();
    let groups = [("64", 1.0), ("256", 1.05), ("1024", 1.2), ("4096", 1.5), ("63\u{202f}000", 4.0)];
    let groups = groups.map(|(label, factor)| {
        let bars =
            [(socket(), 1_900.0, 1_300.0), (a.clone(), 3_900.0, 4_200.0), (b.clone(), 10_800.0, 7_400.0)];
        let bars = bars.map(|(series, writer, reader)| {
            let parts = vec![numbers.around(writer * factor, 0.1), numbers.around(reader * factor, 0.1)];
            let sum: f64 = parts.iter().sum();
            Bar { series, total: Estimate::within(sum, sum * 0.9, sum * 1.15), parts }
        });
        BarGroup { label: label.to_owned(), bars: bars.to_vec() }
    });
    let bars = Bars {
        x: Axis { label: "CPU time per sample".to_owned(), unit: Unit::Nanoseconds, ..Axis::default() },
        group_label: "bytes".to_owned(),
        parts: vec!["writer".to_owned(), "reader".to_owned()],
        groups: groups.to_vec(),
    };
    chart(
        "A 64-byte sample costs 8.1 \u{b5}s of CPU time with Driver A and 18 \u{b5}s with Driver B",
        Some(Better::Less),
        "CPU time per delivered sample, \u{b5}s, writer + reader, unbatched, median of 5 runs",
        "Line: range of the sum.",
        ChartKind::Bars(bars),
    )
}

pub fn heat() -> Chart {
    let mut numbers = Numbers(41);
    let mut value = |row: usize, column: usize| {
        numbers.around(15_000.0 * 1.3_f64.powi(row as i32) + 0.8 * SIZES[column], 0.1)
    };
    let rows = (0..10).map(|row| HeatRow {
        label: format!(
            "Driver {}, {}",
            ["A", "B", "C", "D", "E"][row / 2],
            ["udp", "shared memory"][row % 2]
        ),
        cells: (0..6)
            .map(|column| HeatCell {
                value: if row == 7 && column > 3 { f64::NAN } else { value(row, column) },
                hollow: (row * 7 + column * 3) % 11 == 5,
                detail: String::new(),
            })
            .collect(),
    });
    let heat = Heat {
        row_label: "driver, transport".to_owned(),
        column_label: "sample size (bytes)".to_owned(),
        columns: ["64", "256", "1024", "4096", "16\u{202f}384", "63\u{202f}000"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        unit: Unit::Nanoseconds,
        slot: Slot::S1,
    };
    chart(
        "Round trips of 60 cells",
        Some(Better::Less),
        "RTT p50, \u{b5}s, median of 5 runs",
        "The stronger the colour, the longer. Outline: compare with care.",
        ChartKind::Heat(heat),
    )
}

pub fn trials() -> Chart {
    let [a, b, ..] = drivers();
    let searches = [(a, 118e3), (b, 61e3)].map(|(series, limit)| {
        let (mut low, mut high) = (0.0, 200e3);
        let trials = (0..9).map(|index| {
            let load = f64::midpoint(low, high);
            let outcome = match () {
                () if index == 6 => Outcome::Inconclusive,
                () if load < limit => Outcome::Passed,
                () => Outcome::Failed,
            };
            match outcome {
                Outcome::Passed => low = load,
                Outcome::Failed => high = load,
                Outcome::Inconclusive => high -= 1500.0,
            }
            Trial { load, outcome, detail: "2 s".to_owned() }
        });
        SearchTrials {
            series,
            trials: trials.collect(),
            found: Some(Estimate::within(limit, limit * 0.97, limit * 1.02)),
        }
    });
    let y =
        Axis { label: String::new(), unit: Unit::SamplesPerSecond, scale: Scale::FromZero, ticks: vec![] };
    chart(
        "Driver A sustains 118\u{202f}000 samples/s, Driver B 61\u{202f}000",
        Some(Better::More),
        "Load of each trial in samples/s, goal: no loss, 64 bytes",
        "Filled: passed. Cross: failed. Hollow: inconclusive. Line: the load that was found, with its bounds.",
        ChartKind::Trials(Trials { y, searches: searches.to_vec() }),
    )
}

pub fn empty() -> Chart {
    chart(
        "All runs failed",
        None,
        "RTT p50",
        "",
        ChartKind::Lines(Lines { x: sizes(), y: times(Scale::Log), panels: vec![Panel::default()] }),
    )
}
