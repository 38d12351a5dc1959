//! Simulation of whole experiments.

use experiment::{Cell, LOCAL_HOST, Plan};
use results::{
    Assembler, Block, BlockHost, Environment, HostRecord, Reference, ResultDocument, ResultHeader, State,
    with_rate,
};
use sim_model::ConfigError;

use stopping_rule::NextBlock;

use crate::{SimulatedRun, describe, simulator::Simulator};

impl Simulator {
    /// Executes an experiment as `ddsmark run` does, with as many blocks as the design or the pilot of a precision
    /// requires. The result has no verdicts.
    ///
    /// # Errors
    /// Returns an error for options or factors that the simulation does not support.
    pub fn experiment(&mut self, experiment: &Plan) -> Result<ResultDocument, ConfigError> {
        let names = experiment.cells.iter().map(|cell| &cell.factors.driver);
        let drivers = names.map(|name| {
            let described = self.drivers.get(name).cloned();
            (name.clone(), described.unwrap_or_else(|| describe(name, false)))
        });
        let interfaces = experiment.cells.iter().map(|cell| &cell.factors.interface);
        let host = describe::host(&self.host, interfaces);
        let header = ResultHeader::new(
            describe::tool(),
            vec![HostRecord::only(host, Environment::default())],
            experiment.clone(),
            drivers.collect(),
            Vec::new(),
        );
        let mut assembler = Assembler::new(header);
        self.limits = experiment.limits.clone();
        let max_rates = self.max_rates(experiment)?;
        let cells: Vec<Cell> = experiment.cells.iter().map(|cell| with_rate(cell, &max_rates)).collect();
        let mut log = stopping_rule::begin(experiment);
        log.max_rates = max_rates;
        let schedule = experiment.schedule();
        let stopped_by = loop {
            if stopping_rule::is_due(experiment, &log) {
                stopping_rule::decide(experiment, &mut log, |cell| assembler.runs_of(cell));
            }
            match stopping_rule::next(experiment, &schedule, &log) {
                NextBlock::Done(stopped_by) => break stopped_by,
                NextBlock::Block { number, repeats, runs } => {
                    for &scheduled in &runs {
                        let SimulatedRun { run, histograms } =
                            self.run(&cells[scheduled.cell], &experiment.design, scheduled)?;
                        assembler.add(run, &histograms);
                    }
                    let took_ns = experiment.expected_block_ns();
                    stopping_rule::add_quiet(&mut log, number, repeats, &runs, took_ns);
                }
            }
        };
        log.allocation.stopped_by = Some(stopped_by);
        assembler.set_log(log);
        let mut document = assembler.document(State::Complete);
        document.blocks = self.blocks(experiment);
        document.findings = findings::find(&document);
        Ok(document)
    }

    /// Returns the blocks with their references; empty if the design has no references.
    fn blocks(&self, experiment: &Plan) -> Vec<Block> {
        let design = &experiment.design;
        let length_ns = design.reference_ns(experiment.runs_per_block());
        if length_ns == 0 {
            return Vec::new();
        }
        let references = self.host.change.references(design.seed, design.blocks, length_ns);
        let block = |(number, around): (u32, &[Reference])| Block {
            number,
            repeats: None,
            noisy: false,
            reasons: Vec::new(),
            first_run: experiment.runs_before(number) as u32 + 1,
            complete: true,
            took_ns: None,
            hosts: vec![BlockHost {
                host: LOCAL_HOST.to_owned(),
                reference_before: around.first().cloned(),
                reference_after: around.last().cloned(),
                ..BlockHost::default()
            }],
            others: Vec::new(),
        };
        (1..).zip(references.windows(2)).map(block).collect()
    }
}
