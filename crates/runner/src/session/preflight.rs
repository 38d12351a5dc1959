//! Preflight: opens and closes each configuration of an experiment once before anything is measured. A rejection by a
//! driver is an input error. Other failures are left to the runs, which record them.

use collector::TraceFiles;
use control::Reply;
use experiment::{
    Batching, Cell, Design, Endpoint, Factors, Flow, Load, Pin, Plan, Qos, Queues, RunTopology, Workload,
};
use host::{AgentLog, Domains, RunBarrier};
use results::Failure;

use crate::{
    agents::{
        agent::AgentSpec,
        agent_set::AgentSet,
        phase_error::{Cause, PhaseError},
        take,
    },
    error::RunnerError,
    run::{
        run_clocks::{HostClocks, RunClocks, endpoint_hosts},
        run_ids::RunIds,
        run_phases::RunPhases,
    },
    session::opened_processes::opened_processes,
    sites::Sites,
    stop_token::StopToken,
};

/// Minimal measurement: nothing is recorded.
const MEASURE_NS: u64 = 1_000_000;
const WINDOWS: u32 = 1;
/// Message of the dynamic linker about a library of `LD_PRELOAD` that it ignores.
const IGNORED_LIBRARY: &str = "cannot be preloaded";

/// Opens and closes the endpoints of each configuration of an experiment. Calls `before` ahead of each one with the
/// number of opened configurations and their total. After a failure other than a rejection the other configurations of the driver are
/// skipped. A rejection is an error unless `spares` returns true for the cell.
///
/// # Errors
/// Returns an error if a driver rejects a configuration, no agent can be started, or a stop was requested.
///
/// # Panics
/// Panics if a host lacks the file of a driver.
pub fn preflight(
    sites: &Sites<'_>,
    experiment: &Plan,
    stop: &StopToken,
    spares: impl Fn(&Cell) -> bool,
    mut before: impl FnMut(usize, usize),
) -> Result<Preflight, RunnerError> {
    sites.sweep();
    let configurations = configurations(&experiment.cells);
    let design = Design {
        measure_ns: MEASURE_NS,
        windows: WINDOWS,
        spin: false,
        pin: Pin::None,
        ..experiment.design.clone()
    };
    let stage = Stage { sites, experiment, design, stop };
    let (mut names, mut failing) = (RunIds::new(experiment.design.domain), Vec::new());
    let mut found = Preflight::default();
    for (done, Configuration { cell, cells, .. }) in configurations.iter().enumerate() {
        let driver = cell.factors.driver.as_str();
        if failing.contains(&driver) {
            continue;
        }
        before(done, configurations.len());
        match stage.open(cell, &mut names)? {
            Opened::Well => {}
            Opened::Rejected { driver, failure } => {
                let (id, others) = (cell.id.clone(), cells - 1);
                let error = RunnerError::Rejected { driver, cell: id, others, failure: Box::new(failure) };
                if !spares(cell) {
                    return Err(error);
                }
                found.rejected.push((cell.clone(), error));
            }
            Opened::Failed(failure) => {
                failing.push(driver);
                let Failure { phase, error, .. } = failure;
                found
                    .notes
                    .push(format!("cell `{}` failed in phase `{phase}` of the preflight: {error}", cell.id));
            }
        }
    }
    Ok(found)
}

/// Findings of a preflight.
#[derive(Debug, Default)]
pub struct Preflight {
    /// Failures other than rejections.
    pub notes: Vec<String>,
    /// Cells whose configurations are rejected and may be left out, with the error of each.
    pub rejected: Vec<(Cell, RunnerError)>,
}

/// Rejects an experiment whose domain was requested, and that another experiment has reserved.
///
/// # Errors
/// Returns an error if the domain is in use, or the host of a site does not answer.
pub fn check_domain(sites: &Sites<'_>, experiment: &Plan) -> Result<(), RunnerError> {
    let Some(number) = experiment.design.domain else { return Ok(()) };
    if Domains::only(number).take(&sites.networks())?.is_shared {
        return Err(RunnerError::WrongUse {
            error: format!(
                "another experiment uses DDS domain {number}: each would discover the participants of the other one"
            ),
            hint: "wait until it has ended, request another domain, or leave `domain` out for a free one"
                .to_owned(),
        });
    }
    Ok(())
}

/// Inputs common to all configurations of an experiment.
struct Stage<'a> {
    sites: &'a Sites<'a>,
    experiment: &'a Plan,
    design: Design,
    stop: &'a StopToken,
}

/// Outcome of opening one or both roles of a configuration.
enum Opened {
    Well,
    /// Permanent rejection by the driver.
    Rejected {
        driver: String,
        failure: Failure,
    },
    Failed(Failure),
}

impl Stage<'_> {
    /// Opens each kind of process separately. Matching between them is not tested.
    fn open(&self, cell: &Cell, names: &mut RunIds) -> Result<Opened, RunnerError> {
        for endpoints in opened_processes(&RunTopology::of(&cell.factors, &self.design)) {
            let opened = self.open_process(cell, endpoints, names)?;
            if !matches!(opened, Opened::Well) {
                return Ok(opened);
            }
        }
        Ok(Opened::Well)
    }

    /// Opens the endpoints of one process as a run of this cell does up to the configure phase, then ends the process as
    /// a run does.
    fn open_process(
        &self,
        cell: &Cell,
        endpoints: Vec<Endpoint>,
        names: &mut RunIds,
    ) -> Result<Opened, RunnerError> {
        let limits = &self.experiment.limits;
        let (name, traces, alone) = (names.take(0, self.sites)?, TraceFiles::default(), RunBarrier::new());
        let driver = endpoints[0].driver.clone();
        let topology = RunTopology { endpoints }.in_run(&name.run);
        // One host: its clock is the common one.
        let clocks = HostClocks::default();
        let clocks = RunClocks::before_run(&clocks, endpoint_hosts(self.sites, &topology), true)?;
        let run = RunPhases {
            cell,
            design: &self.design,
            limits,
            topology,
            run_name: name.run,
            run_tag: name.tag,
            domain: name.domain.number,
            padding_bytes: 0,
            traces: &traces,
            clocks,
            on_progress: None,
            payload: None,
            barrier: alone.join(),
        };
        let endpoints = &run.topology.endpoints;
        let members: Vec<_> = endpoints.iter().enumerate().collect();
        let log = AgentLog::in_memory()?;
        let process = AgentSpec::of_endpoints(self.sites, &members, &cell.factors.env, 0, log);
        let site = process.site;
        let requests: Vec<_> = (0..endpoints.len()).map(|agent| (agent, run.configuration(agent))).collect();
        let mut agent_set = AgentSet::spawn(vec![process], limits, self.stop)?;
        let opened = agent_set.hellos().and_then(|_| {
            agent_set.ask(&requests, limits.configure_ns, take!(Reply::Configured(_) => ()))?;
            agent_set.dismiss()
        });
        let mut lines = agent_set.last_log_lines(0).into_iter();
        if let Some(line) = lines.find(|line| line.contains(IGNORED_LIBRARY)) {
            let error = format!("a library of LD_PRELOAD was not loaded for cell `{}`: {line}", cell.id);
            let hint = "name an existing shared library for this architecture".to_owned();
            return Err(RunnerError::WrongUse { error, hint });
        }
        let is_rejection = matches!(opened, Err(PhaseError::Phase { cause: Cause::Rejection, .. }));
        let ended = match opened {
            Ok(()) => Ok(Opened::Well),
            Err(phase_error) => match agent_set.fail(phase_error) {
                None => Err(RunnerError::Stopped),
                Some(failure) if is_rejection => Ok(Opened::Rejected { driver, failure }),
                Some(failure) => Ok(Opened::Failed(failure)),
            },
        };
        site.clean(&run.run_name);
        ended
    }
}

/// Configuration shared by several cells.
struct Configuration {
    kind: Factors,
    /// Cell with the largest batches and, among these, the largest samples.
    cell: Cell,
    /// Number of cells.
    cells: usize,
}

/// Returns the distinct configurations of the cells, in their order.
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

/// Returns the factors without those that do not change how streams are opened: load, links, and the way samples are written
/// and taken. Several flows may have different policies.
fn without_load(factors: &Factors) -> Factors {
    let workload = match factors.workload {
        Workload::Latency => Workload::Latency,
        Workload::Discovery => Workload::Discovery,
        Workload::Paced | Workload::Search if !factors.flows.is_empty() => Workload::Paced,
        Workload::Throughput | Workload::Paced | Workload::Search => Workload::Throughput,
    };
    let flows = factors.flows.iter().map(|flow| Flow { load: Load::Max, ..flow.clone() }).collect();
    let queues = Queues { receive_group: None, polling_delay_ns: None, ..factors.queues.clone() };
    Factors { workload, load: None, flows, queues, link: None, ..factors.clone() }
}

/// Returns the factors without those that depend on sizes. `max_samples` is among them: its default depends on the
/// size, and an explicit limit belongs to a `profile`.
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
