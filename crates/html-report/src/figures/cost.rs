//! CPU time and bytes on the wire per sample.

use charts::{Axis, Bar, BarGroup, Bars, ChartKind, Line, Lines, Scale, Series, Unit};
use results::CellResult;

use super::{
    choice::telling,
    distribution::{OfWorkload, cells_of, kept},
    frame::{Frame, names, sizes_and_n},
    limits::{MOST_SERIES, ONE_PANEL},
    sizes::{panels, points, size_axis, sizes},
};
use crate::{
    page::Figure,
    scene::Scene,
    values::{Quantity, bytes, cpu_parts},
};

/// Maximum number of groups of bars; more sizes are lines.
const MOST_GROUPS: usize = 8;

/// Returns the cost of throughput, or else of round trips.
pub(crate) fn figures(
    scene: &Scene<'_>,
    throughput: &OfWorkload<'_, '_>,
    latency: &OfWorkload<'_, '_>,
) -> Vec<Figure> {
    let (all, parts, what) = match throughput.is_empty() {
        false => (throughput, ["writer", "reader"], "unbatched throughput"),
        true => (latency, ["pinger", "echo"], "round trips"),
    };
    let cpu = Subject {
        id: "cpu",
        short: "CPU",
        title: "CPU time per sample",
        quantity: Quantity::Cpu,
        what,
        note: format!(
            "Solid: {}. Pale: {}. Whisker: interval of the sum. User and system time of all threads of a process.",
            parts[0], parts[1]
        ),
        parts: parts.map(str::to_owned).to_vec(),
        of_parts: |cell| Some(cpu_parts(cell)?.to_vec()),
    };
    let wire = Subject {
        id: "wire",
        short: "Wire",
        title: "Bytes on the wire per byte of payload",
        quantity: Quantity::WirePerByte,
        what: "unbatched throughput",
        note: "Received on the interface of the reader, from all programs: headers, acknowledgments and repeats are the part \
               above 1."
            .to_owned(),
        parts: vec!["received".to_owned()],
        of_parts: |cell| Some(vec![Quantity::WirePerByte.over_runs(cell)?.value]),
    };
    let wire = if throughput.is_empty() { None } else { wire.figure(scene, unbatched(throughput)) };
    cpu.figure(scene, unbatched(all)).into_iter().chain(wire).collect()
}

/// Cost that is shown.
struct Subject {
    id: &'static str,
    short: &'static str,
    title: &'static str,
    quantity: Quantity,
    what: &'static str,
    note: String,
    parts: Vec<String>,
    of_parts: fn(&CellResult) -> Option<Vec<f64>>,
}

fn unbatched<'s, 'd>(all: &OfWorkload<'s, 'd>) -> Vec<(&'s Series, Vec<&'d CellResult>)> {
    kept(all, |cell| cell.factors.batch_bytes == 0)
}

impl Subject {
    /// Returns bars for few sizes and series, lines for many; none for a single number.
    fn figure(self, scene: &Scene<'_>, all: Vec<(&Series, Vec<&CellResult>)>) -> Option<Figure> {
        let (all, why) =
            telling(scene, all, (MOST_SERIES, |cell| self.quantity.median(cell)), |cells| cells[0]);
        let sizes = sizes(&all);
        let cells = cells_of(&all);
        if cells.iter().filter(|cell| (self.of_parts)(cell).is_some()).count() < 2 {
            return None;
        }
        let as_bars = sizes.len() <= MOST_GROUPS && (all.len() <= ONE_PANEL || sizes.len() <= 2);
        let kind = if as_bars { self.bars(&sizes, &all) } else { self.lines(&sizes, &all) };
        let mut conditions = vec![self.what.to_owned()];
        conditions.extend(sizes_and_n(&cells, None));
        let drawn = format!(
            "{} of {} for {} sample sizes.",
            if as_bars { "Bars from 0" } else { "Lines on logarithmic axes" },
            names(&all),
            sizes.len()
        );
        let note = if as_bars { self.note } else { "Mark: median of the runs with its interval.".to_owned() };
        let (id, short, title, quantity) = (self.id, self.short, self.title.to_owned(), self.quantity);
        let frame = Frame { id, short, title, quantity, conditions, note, drawn };
        Some(frame.around(scene, (&cells, &why), kind))
    }

    fn bars(&self, sizes: &[u64], all: &OfWorkload<'_, '_>) -> ChartKind {
        let group = |size: &u64| BarGroup {
            label: bytes(*size),
            bars: all
                .iter()
                .filter_map(|(series, cells)| {
                    let cell = cells.iter().find(|cell| cell.factors.size_bytes == *size)?;
                    let parts = (self.of_parts)(cell)?;
                    let total = self.quantity.over_runs(cell)?;
                    Some(Bar { series: (*series).clone(), parts, total })
                })
                .collect(),
        };
        ChartKind::Bars(Bars {
            x: Axis {
                label: self.quantity.words().to_owned(),
                unit: self.quantity.unit(),
                ..Axis::default()
            },
            group_label: "sample size".to_owned(),
            parts: self.parts.clone(),
            groups: sizes.iter().map(group).filter(|group| !group.bars.is_empty()).collect(),
        })
    }

    fn lines(&self, sizes: &[u64], all: &OfWorkload<'_, '_>) -> ChartKind {
        let line = |(series, cells): &(&Series, Vec<&CellResult>)| Line {
            series: (*series).clone(),
            named: true,
            points: points(cells.iter().copied(), |cell| Some(cell.factors.size_bytes as f64), self.quantity),
            ..Line::default()
        };
        let lines: Vec<(&Series, Vec<Line>)> = all.iter().map(|of| (of.0, vec![line(of)])).collect();
        let panels = panels(&lines, &[]);
        let unit: Unit = self.quantity.unit();
        ChartKind::Lines(Lines {
            x: size_axis(sizes, Scale::Log),
            y: Axis { unit, scale: Scale::Log, ..Axis::default() },
            panels,
        })
    }
}
