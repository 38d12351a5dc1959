//! Rules of maximum rates: when they are known, their spread and their failure.

use experiment::{Cell, Factors, MAXIMUM_RUNS, MaxRateCell};
use stats::{Spread, format_value};

use crate::{
    schema::{Failure, MAXIMUM_PHASE, MaxRate, MaxRateRun, Run, RunState, UnpacedRate, Warning, WarningKind},
    values::{format::format_spread, rules::WIDE_SPREAD},
};

impl UnpacedRate {
    /// Creates the record from a run without a schedule.
    ///
    /// # Errors
    /// Returns the cause of the failure if the run failed, is not valid, or delivered no samples.
    pub fn from_run(run: &Run, duration_ns: u64) -> Result<Self, Failure> {
        let nothing =
            |error: String| Failure { phase: MAXIMUM_PHASE.to_owned(), error, ..Failure::default() };
        if let Some(failure) = &run.failure {
            return Err(failure.clone());
        }
        match run.throughput() {
            Some(throughput) if run.state == RunState::Valid && throughput.delivered > 0 => Ok(Self {
                duration_ns,
                offered_sps: throughput.offered_sps,
                delivered_sps: throughput.delivered_sps,
            }),
            Some(_) if run.state == RunState::Valid => {
                Err(nothing("written as fast as it goes, no sample came".to_owned()))
            }
            _ => {
                let why = run.warnings.first().map_or("it has no rates", |warning| &warning.text);
                Err(nothing(format!("its throughput contradict each other: {why}")))
            }
        }
    }

    /// Returns the lower of the offered and the delivered rate. They are close for a flow with back-pressure; for a
    /// flow that loses samples, the delivered rate is lower.
    #[must_use]
    pub const fn maximum_sps(&self) -> f64 {
        self.offered_sps.min(self.delivered_sps)
    }
}

impl MaxRate {
    /// Creates the maximum before it is measured.
    #[must_use]
    pub fn new(MaxRateCell { cell, of }: MaxRateCell) -> Self {
        Self { id: cell.id, cells: of, sps: None, runs: Vec::new() }
    }

    /// Adds a run. After the last run, the rate that is 100 % is known.
    pub fn add(&mut self, run: MaxRateRun) {
        self.runs.push(run);
        if self.is_complete() {
            self.sps = self.spread().map(|spread| spread.median);
        }
    }

    /// Returns whether all of its runs were executed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.runs.len() >= MAXIMUM_RUNS as usize
    }

    /// Returns the range over its runs; `None` if all of them failed.
    #[must_use]
    pub fn spread(&self) -> Option<Spread> {
        let measured = self.runs.iter().filter_map(|run| run.unpaced.as_ref());
        Spread::from_values(&measured.map(UnpacedRate::maximum_sps).collect::<Vec<_>>())
    }

    /// Returns the warning for all loads that refer to this maximum.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let spread = self.spread().filter(|_| self.is_complete())?;
        let half = spread.half_range_relative().filter(|half| *half > WIDE_SPREAD)?;
        let text = format!(
            "what 100 % is, `{}`, differs widely over its {} runs: {}/s to {}/s, ±{} %; another time the same percent \
             may be another rate",
            self.id,
            spread.n,
            format_value(spread.min),
            format_value(spread.max),
            format_spread(100.0 * half)
        );
        Some(Warning::new(WarningKind::Spread, text))
    }

    /// Returns the failure of the cells that need this maximum, if all of its runs failed.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        let last = self.runs.last().filter(|_| self.is_complete() && self.sps.is_none())?.failure.as_ref()?;
        let Failure { phase, endpoint, error, .. } = last;
        let whose = endpoint.as_ref().map_or_else(String::new, |endpoint| format!(" of the {endpoint}"));
        Some(Failure {
            phase: MAXIMUM_PHASE.to_owned(),
            error: format!(
                "not attempted: what 100 % is could not be measured, all {} runs as fast as it goes failed, the last one in \
                 phase `{phase}`{whose}: {error}",
                self.runs.len()
            ),
            hint: Some("give the rate in samples a second, or leave it out".to_owned()),
            ..last.clone()
        })
    }
}

/// Returns the cell with the rate of its load in percent, if the maximum is known.
#[must_use]
pub fn with_rate(cell: &Cell, max_rates: &[MaxRate]) -> Cell {
    let of = max_rates.iter().find(|maximum| maximum.cells.contains(&cell.id));
    match (&cell.factors.load, of.and_then(|maximum| maximum.sps)) {
        (Some(load), Some(sps)) => {
            let load = Some(load.clone().with_maximum(sps));
            Cell { id: cell.id.clone(), factors: Factors { load, ..cell.factors.clone() } }
        }
        _ => cell.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u32, rates: Option<(f64, f64)>) -> MaxRateRun {
        let unpaced = rates.map(|(offered_sps, delivered_sps)| UnpacedRate {
            duration_ns: 1,
            offered_sps,
            delivered_sps,
        });
        let failure = unpaced.is_none().then(|| Failure {
            phase: "measure".to_owned(),
            endpoint: Some("writer".to_owned()),
            error: "it broke".to_owned(),
            hint: None,
            last_log_lines: Vec::new(),
        });
        MaxRateRun { number, started_unix_ns: 0, took_ns: 1, unpaced, failure }
    }

    fn maximum(rates: &[Option<(f64, f64)>]) -> MaxRate {
        let mut maximum = MaxRate { id: "d/max".to_owned(), cells: Vec::new(), sps: None, runs: Vec::new() };
        for (number, rates) in (1..).zip(rates) {
            maximum.add(run(number, *rates));
        }
        maximum
    }

    #[test]
    fn max_rate_is_the_median_of_the_lower_rates_of_all_runs() {
        let rates = [Some((500.0, 400.0)), Some((410.0, 420.0)), Some((900.0, 390.0))];
        assert_eq!(maximum(&rates[..2]).sps, None);
        let whole = maximum(&rates);
        assert_eq!((whole.sps, whole.failure()), (Some(400.0), None));
        let spread = whole.spread().expect("three");
        assert_eq!((spread.n, spread.min, spread.max), (3, 390.0, 410.0));
        assert_eq!(whole.warning(), None);
        let wide = maximum(&[Some((500.0, 400.0)), Some((500.0, 490.0)), Some((500.0, 399.0))]);
        let text = wide.warning().expect("a tenth and more").text;
        assert!(text.contains("over its 3 runs: 399/s to 490/s, ±11 %"), "{text}");
    }

    #[test]
    fn runs_that_failed_take_no_part_and_where_all_did_it_says_why() {
        let one = maximum(&[None, Some((500.0, 400.0)), None]);
        assert_eq!(
            (one.sps, one.spread().map(|spread| spread.n), one.failure()),
            (Some(400.0), Some(1), None)
        );
        assert_eq!(maximum(&[None, None]).failure(), None);
        let failure = maximum(&[None, None, None]).failure().expect("nothing was measured");
        assert_eq!(failure.phase, MAXIMUM_PHASE);
        assert!(failure.error.ends_with("in phase `measure` of the writer: it broke"), "{}", failure.error);
    }
}
