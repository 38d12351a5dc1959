//! CPU time and memory of each process of a system.

use std::cmp::Reverse;

use charts::{Axis, Bar, BarGroup, Bars, ChartKind, Estimate, Series};
use results::{CellResult, ProcessRecord};

use super::{
    choice::telling,
    distribution::{OfWorkload, at_one_size},
    frame::{Frame, names, sizes_and_n},
    limits::ONE_PANEL,
};
use crate::{
    page::Figure,
    scene::Scene,
    values::{Quantity, estimate},
};

/// Maximum number of processes in a chart.
const MOST: usize = 12;

/// Value of a process that is shown.
struct Subject {
    id: &'static str,
    short: &'static str,
    title: &'static str,
    quantity: Quantity,
    note: &'static str,
}

const SUBJECTS: [Subject; 2] = [
    Subject {
        id: "process-cpu",
        short: "CPU",
        title: "CPU time of each process",
        quantity: Quantity::ProcessCpu,
        note: "User and system time of all threads while samples flowed, of which ddsmark needs the same with each driver.",
    },
    Subject {
        id: "process-memory",
        short: "Memory",
        title: "Memory of each process",
        quantity: Quantity::ProcessMemory,
        note: "The most that was resident, with all libraries, and with the times that ddsmark records, which take the same with \
               each driver.",
    },
];

/// Returns CPU time and memory of each process of a mix or a system; empty if no cell has several flows.
pub(crate) fn figures(scene: &Scene<'_>, paced: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let mut cells = at_one_size(paced, false);
    cells.retain(|(_, cell)| cell.factors.flows.len() > 1);
    SUBJECTS.iter().filter_map(|subject| subject.figure(scene, cells.clone())).collect()
}

impl Subject {
    fn figure(&self, scene: &Scene<'_>, cells: Vec<(&Series, &CellResult)>) -> Option<Figure> {
        let (cells, why) =
            telling(scene, cells, (ONE_PANEL, |cell| self.quantity.median(cell)), |cell| *cell);
        let mut processes: Vec<String> = Vec::new();
        for name in cells.iter().flat_map(|(_, cell)| process_names(cell)) {
            if !processes.contains(&name) {
                processes.push(name);
            }
        }
        let mut groups: Vec<BarGroup> = processes.iter().map(|name| self.group(&cells, name)).collect();
        groups.retain(|group| highest(group) > 0);
        let all = groups.len();
        if all < 2 {
            return None;
        }
        groups.sort_by_key(|group| Reverse(highest(group)));
        groups.truncate(MOST);
        let part = match groups.len() {
            shown if shown < all => format!(" {shown} of {all} processes: those with the highest values."),
            _ => String::new(),
        };
        let shown: Vec<&CellResult> = cells.iter().map(|(_, cell)| *cell).collect();
        let frame = Frame {
            id: self.id,
            short: self.short,
            title: self.title.to_owned(),
            quantity: self.quantity,
            conditions: sizes_and_n(&shown, None),
            note: format!("Bar: median of the runs. Whisker: its interval. {}{part}", self.note),
            drawn: format!(
                "Bars from 0 of {} of {} processes, with {}.",
                self.quantity.words(),
                groups.len(),
                names(&cells)
            ),
        };
        let x =
            Axis { label: self.quantity.words().to_owned(), unit: self.quantity.unit(), ..Axis::default() };
        let bars = Bars { x, group_label: "process".to_owned(), parts: Vec::new(), groups };
        Some(frame.around(scene, (&shown, &why), ChartKind::Bars(bars)))
    }

    /// Returns the bars of a process: one for each cell that has it.
    fn group(&self, cells: &[(&Series, &CellResult)], name: &str) -> BarGroup {
        let bar = |(series, cell): &(&Series, &CellResult)| {
            let total = self.over_runs(cell, name)?;
            Some(Bar { series: (*series).clone(), parts: vec![total.value], total })
        };
        BarGroup { label: name.to_owned(), bars: cells.iter().filter_map(bar).collect() }
    }

    fn over_runs(&self, cell: &CellResult, name: &str) -> Option<Estimate> {
        let of_run = |run: &results::Run| {
            let process = run.processes.iter().find(|process| process.label() == name)?;
            self.quantity.of_process(process)
        };
        estimate(&cell.claimed_runs().filter_map(of_run).collect::<Vec<_>>())
    }
}

/// Returns the names of the processes of a cell, in their order.
fn process_names(cell: &CellResult) -> impl Iterator<Item = String> {
    cell.claimed_runs().next().into_iter().flat_map(|run| &run.processes).map(ProcessRecord::label)
}

/// Returns the highest value of a group, in an order of numbers above 0.
fn highest(group: &BarGroup) -> u64 {
    group.bars.iter().map(|bar| bar.total.value.max(0.0).to_bits()).max().unwrap_or(0)
}
