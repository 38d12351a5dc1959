//! Before anything is measured, each configuration of an experiment is opened once, as its runs will open it, and closed again.
//! What a driver refuses then is wrong input; whatever else fails is left to the runs, which say what became of it.

use std::{collections::BTreeMap, path::PathBuf};

use control::{Reply, Role};
use experiment::{
    Batching, Cell, Design, Experiment, Factors, Flow, Load, Qos, Queues, Workload, drivers_of_ends,
};
use results::Failure;

use crate::{
    Launcher, RunnerError, Stop,
    agent::Log,
    crew::{Crew, Member, Trouble, unexpected},
    leftovers,
    meeting::Meeting,
    pair::{PairRun, roles},
    run::Names,
    traces::Times,
    variables::ignored_library,
};

/// Nothing is recorded: the recorders are as small as can be.
const MEASURE_NS: u64 = 1_000_000;
const WINDOWS: u32 = 1;

/// Opens both ends of each configuration of an experiment, and closes them. `before` is told how many were opened, and of how
/// many, before each. Returns, in words, what failed otherwise than by being refused; of such a driver no more is tried.
///
/// # Errors
/// A driver refuses what is asked of it, no agent can be started, or somebody wishes to stop.
///
/// # Panics
/// If the file of a driver is missing from `files`.
pub fn rehearse(
    launcher: &dyn Launcher,
    experiment: &Experiment,
    files: &BTreeMap<String, PathBuf>,
    stop: &Stop,
    mut before: impl FnMut(usize, usize),
) -> Result<Vec<String>, RunnerError> {
    leftovers::sweep();
    let configurations = configurations(&experiment.cells);
    let design =
        Design { measure_ns: MEASURE_NS, windows: WINDOWS, spin: false, ..experiment.design.clone() };
    let stage = Stage { launcher, experiment, design, files, stop };
    let (mut names, mut failing, mut notes) = (Names::new(), Vec::new(), Vec::new());
    for (done, Configuration { cell, cells, .. }) in configurations.iter().enumerate() {
        let driver = cell.factors.driver.as_str();
        if failing.contains(&driver) {
            continue;
        }
        before(done, configurations.len());
        match stage.open(cell, &mut names)? {
            Opened::Well => {}
            Opened::Refused { driver, failure } => {
                let (cell, others) = (cell.id.clone(), cells - 1);
                return Err(RunnerError::Refused { driver, cell, others, failure: Box::new(failure) });
            }
            Opened::Failed(failure) => {
                failing.push(driver);
                let Failure { phase, error, .. } = failure;
                notes
                    .push(format!("cell `{}` failed in phase `{phase}` when it was tried: {error}", cell.id));
            }
        }
    }
    Ok(notes)
}

/// What every rehearsal of an experiment needs.
struct Stage<'a> {
    launcher: &'a dyn Launcher,
    experiment: &'a Experiment,
    design: Design,
    files: &'a BTreeMap<String, PathBuf>,
    stop: &'a Stop,
}

/// What became of an end, or of both.
enum Opened {
    Well,
    /// Its driver will not, whenever it is asked.
    Refused {
        driver: String,
        failure: Failure,
    },
    Failed(Failure),
}

impl Stage<'_> {
    /// Each end alone: nothing is tried here of how two find each other.
    fn open(&self, cell: &Cell, names: &mut Names) -> Result<Opened, RunnerError> {
        for role in ends(&cell.factors) {
            let opened = self.open_end(cell, role, names)?;
            if !matches!(opened, Opened::Well) {
                return Ok(opened);
            }
        }
        Ok(Opened::Well)
    }

    /// As a run of this cell begins, up to its configuration; then as it ends.
    fn open_end(&self, cell: &Cell, role: Role, names: &mut Names) -> Result<Opened, RunnerError> {
        let limits = &self.experiment.limits;
        let (name, times, alone) = (names.take(0), Times::default(), Meeting::new());
        let pair = PairRun {
            cell,
            design: &self.design,
            limits,
            run_name: name.run,
            run_tag: name.tag,
            domain: name.domain.number,
            padding_bytes: 0,
            cpus: [None, None],
            times: &times,
            meeting: alone.join(),
        };
        let [writer, reader] = drivers_of_ends(&cell.factors.driver);
        let driver = if role.drives() { writer } else { reader };
        let file = self.files[driver].clone();
        let variables = cell.factors.env.clone();
        let member =
            Member { role: Some(role), driver: file, variables, padding_bytes: 0, log: Log::in_memory()? };
        let mut crew = Crew::muster(self.launcher, vec![member], limits, self.stop)?;
        let order = pair.configuration(role);
        let phase = order.phase();
        let opened = crew.hellos().and_then(|_| {
            let [(agent, reply)] = crew.order(&[(0, order)], limits.configure_ns)?;
            match reply {
                Reply::Configured(_) => crew.dismiss(),
                other => Err(unexpected(phase, agent, &other)),
            }
        });
        if let Some(line) = ignored_library(crew.last_words(0)) {
            return Err(RunnerError::IgnoredLibrary { cell: cell.id.clone(), line });
        }
        let is_refusal = matches!(opened, Err(Trouble::Refused { .. }));
        let ended = match opened {
            Ok(()) => Ok(Opened::Well),
            Err(trouble) => match crew.fail(trouble) {
                None => Err(RunnerError::Stopped),
                Some(failure) if is_refusal => Ok(Opened::Refused { driver: driver.to_owned(), failure }),
                Some(failure) => Ok(Opened::Failed(failure)),
            },
        };
        leftovers::remove(&pair.run_name);
        ended
    }
}

/// The ends that are opened: of two that open the same with one driver, one.
fn ends(factors: &Factors) -> Vec<Role> {
    let [serving, driving] = roles(factors.workload);
    let [writer, reader] = drivers_of_ends(&factors.driver);
    let alike = factors.workload == Workload::Latency && writer == reader;
    if alike { vec![driving] } else { vec![serving, driving] }
}

/// What is opened alike for several cells.
struct Configuration {
    kind: Factors,
    /// The one of them with the largest batches, and then with the largest samples.
    cell: Cell,
    /// How many they are.
    cells: usize,
}

/// What is opened for these cells, in their order.
fn configurations(cells: &[Cell]) -> Vec<Configuration> {
    let size = |factors: &Factors| (factors.batch_bytes, factors.size_bytes);
    let mut found: Vec<Configuration> = Vec::new();
    for cell in cells {
        let cell = Cell { id: cell.id.clone(), factors: without_load(&cell.factors) };
        let kind = without_sizes(&cell.factors);
        match found.iter_mut().find(|known| known.kind == kind) {
            Some(known) => {
                known.cells += 1;
                if size(&cell.factors) > size(&known.cell.factors) {
                    known.cell = cell;
                }
            }
            None => found.push(Configuration { kind, cell, cells: 1 }),
        }
    }
    found
}

/// Streams of samples are opened alike, however they are written and taken. Several flows may have policies of their own.
fn without_load(factors: &Factors) -> Factors {
    let workload = match factors.workload {
        Workload::Latency => Workload::Latency,
        Workload::Paced if !factors.flows.is_empty() => Workload::Paced,
        Workload::Throughput | Workload::Paced | Workload::Search => Workload::Throughput,
    };
    let flows = factors.flows.iter().map(|flow| Flow { load: Load::Max, ..flow.clone() }).collect();
    let queues = Queues { receive_group: None, polling_delay_ns: None, ..factors.queues.clone() };
    Factors { workload, load: None, flows, queues, ..factors.clone() }
}

/// Without what sizes decide, the limit of the samples that may wait among it: where that is written, the profile tells it.
fn without_sizes(factors: &Factors) -> Factors {
    Factors {
        size_bytes: 0,
        batch_bytes: factors.batch_bytes.min(1),
        batching: Batching::None,
        qos: Qos { max_samples: None, ..factors.qos.clone() },
        qos_of_ends: factors.qos_of_ends.clone().map(|mut ends| {
            (ends.writer.max_samples, ends.reader.max_samples) = (None, None);
            ends
        }),
        ..factors.clone()
    }
}
