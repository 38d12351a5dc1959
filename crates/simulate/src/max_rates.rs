//! Simulated measurement of maximum rates.

use experiment::{Plan, ScheduledRun};
use results::{MaxRate, MaxRateRun, UnpacedRate};
use sim_model::ConfigError;

use crate::{SimulatedRun, simulator::Simulator};

impl Simulator {
    /// Measures the maximum rates that rates in percent refer to, as a runner does before the first block.
    pub(crate) fn max_rates(&mut self, experiment: &Plan) -> Result<Vec<MaxRate>, ConfigError> {
        let unplanned = experiment.max_rates();
        let mut max_rates: Vec<MaxRate> = unplanned.iter().cloned().map(MaxRate::new).collect();
        // Numbered directly after the runs of the blocks: with their real numbers, above a million, a drift per run
        // would be extreme.
        for ((number, index), at) in experiment.maximum_runs(unplanned.len()).into_iter().zip(1..) {
            let design = &experiment.design;
            let at = experiment.runs() as u32 + at;
            let scheduled = ScheduledRun { number: at, block: 0, cell: 0, twin: false, duet: None };
            let SimulatedRun { run, .. } = self.run(&unplanned[index].cell, design, scheduled)?;
            let took_ns = design.warm_up_ns + design.measure_ns;
            let unpaced = UnpacedRate::from_run(&run, design.measure_ns);
            max_rates[index].add(MaxRateRun {
                number,
                started_unix_ns: 0,
                took_ns,
                failure: unpaced.as_ref().err().cloned(),
                unpaced: unpaced.ok(),
            });
        }
        Ok(max_rates)
    }
}
