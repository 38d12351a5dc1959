//! Cells, designs and runs for tests.

use experiment::{
    Batching, Cell, Design, Factors, Load, Plan, Qos, Rate, Reliability, ScheduledRun, Workload,
};
use results::Run;
use sim_model::Config;
use simulate::Simulator;

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000 * MS;

pub fn constant(samples: u64) -> Load {
    Load::Constant { rate: Rate::per_second(samples) }
}

pub fn poisson(samples: u64) -> Load {
    Load::Poisson { rate: Rate::per_second(samples) }
}

pub fn cell(workload: Workload, reliable: bool, batch_bytes: u64, options: &[(&str, &str)]) -> Cell {
    let reliability = if reliable { Reliability::Reliable } else { Reliability::BestEffort };
    let factors = Factors {
        driver: "sim".to_owned(),
        transport: "local".to_owned(),
        workload,
        size_bytes: 1000,
        batch_bytes,
        batching: if batch_bytes > 0 { Batching::Application } else { Batching::None },
        qos: Qos { reliability: Some(reliability), ..Qos::default() },
        options: options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
        ..Factors::default()
    };
    Cell { id: "cell".to_owned(), factors }
}

/// Returns the cell of a paced run with one flow.
pub fn paced(load: Load, reliable: bool, options: &[(&str, &str)]) -> Cell {
    let mut cell = cell(Workload::Paced, reliable, 0, options);
    cell.factors.load = Some(load);
    cell
}

/// Number of windows of runs whose steady state is not tested. Each window costs more than all that is drawn for
/// it: a histogram is 229 KB.
pub const WINDOWS: u32 = 2;

pub fn design(measure_ns: u64) -> Design {
    Design {
        blocks: 3,
        seed: 7,
        warm_up_ns: 10 * MS,
        measure_ns,
        windows: WINDOWS,
        check_every: 1,
        ..Design::default()
    }
}

pub fn run(simulator: &mut Simulator, cell: &Cell, measure_ns: u64, number: u32) -> Run {
    let scheduled = ScheduledRun { number, block: number, cell: 0, twin: false, duet: None };
    simulator.run(cell, &design(measure_ns), scheduled).unwrap_or_else(|error| panic!("{error}")).run
}

pub fn config(options: &[(&str, &str)]) -> Config {
    Config::parse(options.iter().copied()).expect("a configuration")
}

pub fn experiment_of(cells: Vec<Cell>, design: Design) -> Plan {
    let (name, question) = ("simulated".to_owned(), "Is it seen?".to_owned());
    Plan { name, question, cells, design, ..Plan::default() }
}
