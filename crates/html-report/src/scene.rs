//! Series of a page: the configurations of a result, with their names and colours.

use std::collections::BTreeMap;

use charts::{Series, Slot};
use experiment::{Batching, DriverDescription, Factors, Topology, Workload, configuration_names};
use report::parts;
use results::{CellResult, LogWindow, ResultDocument};

use crate::page::slot;

/// Function from the number of a run and a kind of times to its windows in ascending order of time, without empty ones. A result does
/// not contain them: the caller reads them from the log of the run. Without them, a chart over time is left out.
pub type RunWindows<'w> = dyn Fn(u32, &str) -> Vec<LogWindow> + 'w;

/// Result with its series.
pub(crate) struct Scene<'d> {
    /// Result.
    pub document: &'d ResultDocument,
    /// Series in the order of the plan.
    pub series: Vec<Configuration<'d>>,
    /// Index of the series of each cell, and the cell, by its id.
    cells: BTreeMap<&'d str, (usize, &'d CellResult)>,
    /// Windows of runs, for charts over time.
    pub windows: &'d RunWindows<'d>,
    /// Host and date.
    pub origin: String,
    /// Tool, host and date, at the bottom of each file with a chart.
    pub footer: String,
}

/// Cells that differ only in the points of curves: workload, size, load, batching of throughput, and number of endpoints.
pub(crate) struct Configuration<'d> {
    /// Name and colour.
    pub series: Series,
    /// Middleware and version; empty if unknown.
    pub middleware: String,
    /// Cells.
    pub cells: Vec<&'d CellResult>,
}

impl<'d> Scene<'d> {
    pub(crate) fn new(document: &'d ResultDocument, windows: &'d RunWindows<'d>) -> Self {
        let alike: Vec<Factors> = document.cells.iter().map(|cell| configuration(&cell.factors)).collect();
        let names = without_common_driver(configuration_names(&alike));
        let mut series: Vec<Configuration<'d>> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut cells: BTreeMap<&str, (usize, &CellResult)> = BTreeMap::new();
        for (cell, name) in document.cells.iter().zip(names) {
            let variant = document.experiment.variant(&cell.id);
            let name = variant.map_or_else(|| name.clone(), |variant| format!("{variant}: {name}"));
            let index = *known.entry(name.clone()).or_insert_with(|| {
                let middleware = document.drivers.get(&cell.factors.driver);
                let middleware = middleware.map_or_else(String::new, |driver| {
                    format!("{} {}", driver.middleware, driver.middleware_version)
                });
                series.push(Configuration {
                    series: Series::new(name, Slot::Ink),
                    middleware,
                    cells: Vec::new(),
                });
                series.len() - 1
            });
            series[index].cells.push(cell);
            cells.insert(&cell.id, (index, cell));
        }
        let is_bare = |configuration: &Configuration<'_>| {
            let description = document.drivers.get(&configuration.cells[0].factors.driver);
            description.is_some_and(DriverDescription::is_bare_socket)
        };
        let several = series.len() > 1;
        let (mut grey, mut coloured) = (false, 0);
        for configuration in &mut series {
            // The first bare socket is the grey one; a result of one series has a colour.
            if several && !grey && is_bare(configuration) {
                (grey, configuration.series.slot) = (true, Slot::S0);
            } else {
                configuration.series.slot = slot(coloured);
                coloured += 1;
            }
        }
        let host = document.host();
        let date = parts::date(host.started_unix_ns);
        let hosts = match document.hosts.len() {
            0 | 1 if host.name.is_empty() => "unknown host".to_owned(),
            0 | 1 => host.name.clone(),
            several => parts::count(several, "host"),
        };
        // A date is not divided at the end of a line.
        let date = date.get(..10).unwrap_or(&date).replace('-', "\u{2011}");
        let footer = format!("{} {}, {hosts}, {date}", document.tool.name, document.tool.version);
        // Host and date stay together.
        let origin = format!("{hosts}, {date}").replace(' ', "\u{a0}");
        Self { document, series, cells, windows, origin, footer }
    }

    /// Returns the series that has a cell.
    pub(crate) fn series_of(&self, cell: &str) -> Option<&Configuration<'d>> {
        self.cells.get(cell).map(|(index, _)| &self.series[*index])
    }

    /// Returns a cell by its id.
    pub(crate) fn cell(&self, id: &str) -> Option<&'d CellResult> {
        self.cells.get(id).map(|(_, cell)| *cell)
    }

    /// Returns the series with cells of a workload, with these cells.
    pub(crate) fn of_workload(&self, workload: Workload) -> Vec<(&Series, Vec<&'d CellResult>)> {
        let of = |configuration: &'_ Configuration<'d>| -> Vec<&'d CellResult> {
            configuration.cells.iter().copied().filter(|cell| cell.factors.workload == workload).collect()
        };
        let all = self.series.iter().map(|configuration| (&configuration.series, of(configuration)));
        all.filter(|(_, cells)| !cells.is_empty()).collect()
    }

    /// Formats the number of runs of these cells.
    pub(crate) fn runs_per_cell(&self, cells: &[&CellResult]) -> String {
        let counts = cells.iter().map(|cell| cell.claimed_runs().count()).filter(|runs| *runs > 0);
        number_of_runs(counts).unwrap_or_else(|| "no valid run".to_owned())
    }
}

/// Formats the numbers of runs of several cells; `None` without a cell.
pub(crate) fn number_of_runs(counts: impl Iterator<Item = usize> + Clone) -> Option<String> {
    let (least, most) = (counts.clone().min()?, counts.max()?);
    Some(if least == most { parts::count(most, "run") } else { format!("{least} to {most} runs") })
}

/// Returns names without the driver if all have the same, and are told apart by the rest.
fn without_common_driver(names: Vec<String>) -> Vec<String> {
    let rest =
        |name: &String| name.split_once(' ').map(|(driver, rest)| (driver.to_owned(), rest.to_owned()));
    let parts: Option<Vec<(String, String)>> = names.iter().map(rest).collect();
    match parts {
        // A single configuration is named as a whole.
        Some(parts)
            if parts.iter().all(|(driver, _)| *driver == parts[0].0)
                && parts.iter().any(|part| *part != parts[0]) =>
        {
            parts.into_iter().map(|(_, rest)| rest).collect()
        }
        _ => names,
    }
}

/// Returns the factors of a configuration: those of a cell, without the points of curves.
fn configuration(factors: &Factors) -> Factors {
    let topology = match factors.topology {
        Topology::Mesh { writers, readers } if writers == 1 || readers == 1 => Topology::PAIR,
        Topology::Mesh { writers, .. } => Topology::Mesh { writers, readers: 1 },
        Topology::Ring { .. } | Topology::FullMesh { .. } => Topology::PAIR,
    };
    let is_throughput = factors.workload == Workload::Throughput;
    Factors {
        workload: Workload::Latency,
        size_bytes: 1024,
        load: None,
        flows: Vec::new(),
        batch_bytes: if is_throughput { 0 } else { factors.batch_bytes },
        batching: if is_throughput { Batching::None } else { factors.batching },
        topology,
        writers_per_process: None,
        ..factors.clone()
    }
}

/// Position of a cell on an axis of endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Endpoints {
    /// Number of readers of one writer.
    Readers(u16),
    /// Number of writers of one reader.
    Writers(u16),
    /// Nodes of a ring.
    Nodes(u16),
    /// Participants that discover each other.
    Participants(u16),
}

impl Endpoints {
    /// Returns the position of a cell.
    pub(crate) const fn of(factors: &Factors) -> Self {
        match factors.topology {
            Topology::Mesh { writers, readers: 1 } if writers > 1 => Self::Writers(writers),
            Topology::Mesh { readers, .. } => Self::Readers(readers),
            Topology::Ring { nodes } => Self::Nodes(nodes),
            Topology::FullMesh { participants } => Self::Participants(participants),
        }
    }

    /// Returns the number.
    pub(crate) const fn number(self) -> u16 {
        match self {
            Self::Readers(n) | Self::Writers(n) | Self::Nodes(n) | Self::Participants(n) => n,
        }
    }

    /// Formats the number with its noun; `None` for a pair.
    pub(crate) fn words(self) -> Option<String> {
        match self {
            Self::Readers(1) | Self::Writers(1) => None,
            Self::Nodes(nodes) => Some(format!("a ring of {nodes} nodes")),
            _ => Some(format!("{} {}", self.number(), self.noun())),
        }
    }

    /// Returns what is counted.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Readers(_) => "readers",
            Self::Writers(_) => "writers",
            Self::Nodes(_) => "nodes",
            Self::Participants(_) => "participants",
        }
    }
}

/// Returns the different values of these cells in ascending order.
pub(crate) fn distinct<T: Ord>(cells: &[&CellResult], of: impl Fn(&CellResult) -> T) -> Vec<T> {
    let mut all: Vec<T> = cells.iter().map(|cell| of(cell)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the cells with the smallest number of endpoints, so that curves over other factors have one value of it.
pub(crate) fn fewest_endpoints<'d>(cells: &[&'d CellResult]) -> Vec<&'d CellResult> {
    let least = cells.iter().map(|cell| Endpoints::of(&cell.factors)).min();
    cells.iter().copied().filter(|cell| Some(Endpoints::of(&cell.factors)) == least).collect()
}
