//! Judgement of a trial of a search over the scale of a system: by the flow that is the worst compared with its own limit.

use experiment::{Factors, Flow, Scale, Search};
use stats::search::Loads;

use crate::schema::{FlowRecord, Timeliness, WorstFlow};

/// Flows of a trial, as the goal `system` judges them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemTrial {
    /// Largest share of the samples of a flow that missed its deadline beyond its limit, 0 to 1; 0 if each flow keeps its limit.
    pub excess: f64,
    /// Flow whose missed share is the largest multiple of its limit; `None` if none missed a deadline.
    pub worst: Option<WorstFlow>,
}

impl SystemTrial {
    /// Judges the flows of a run. Those that the plan has as background do not count.
    #[must_use]
    pub fn new(recorded: &[FlowRecord], planned: &[Flow]) -> Self {
        let is_judged =
            |record: &&FlowRecord| !planned.iter().any(|flow| flow.background && flow.name == record.name);
        let routes = recorded.iter().filter(is_judged);
        let routes: Vec<(&FlowRecord, &Timeliness)> =
            routes.filter_map(|flow| Some((flow, flow.timeliness.as_ref()?))).collect();
        let excess = routes.iter().map(|(_, timeliness)| excess(timeliness)).fold(0.0, f64::max);
        let missing = routes.iter().filter(|(_, timeliness)| timeliness.missed > 0);
        let worst = missing.max_by_key(|(_, timeliness)| timeliness.strain());
        let worst = worst.map(|(flow, timeliness)| WorstFlow {
            flow: flow.name.clone(),
            group: flow.group.clone(),
            reader: flow.reader.clone(),
            missed_pct: timeliness.missed_pct(),
            limit_pct: timeliness.limit_pct,
        });
        Self { excess, worst }
    }
}

/// Returns the share of the planned samples that missed the deadline beyond the limit.
fn excess(timeliness: &Timeliness) -> f64 {
    if timeliness.is_met {
        return 0.0;
    }
    // A flow that exceeds its limit by less than a rounding error does exceed it.
    ((timeliness.missed_pct() - timeliness.limit_pct) / 100.0).clamp(f64::MIN_POSITIVE, 1.0)
}

impl WorstFlow {
    /// Returns the name of its row in reports: that of its group, if it has one.
    #[must_use]
    pub fn row(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.flow)
    }
}

/// Returns the loads that a search over the scale of a cell may try: the sum of the rates of its flows, from scale 1 on. `None` without
/// flows.
#[must_use]
pub fn system_loads(search: &Search, factors: &Factors) -> Option<Loads> {
    let range = search.scales.as_ref()?;
    let all_sps = factors.offered_load()?.written_sps;
    let shortest_ns = search.goals.iter().map(|goal| goal.initial_trial_ns).min()?;
    // One sample in the shortest trial; a little more, since periods are whole ns.
    let least_sps = 1.001e9 / shortest_ns as f64;
    let (lowest, highest) = (all_sps * range.lowest.factor(), all_sps * range.highest.factor());
    let floor_sps = lowest.max(least_sps);
    Some(Loads {
        floor_sps,
        ceiling_sps: highest,
        start_sps: all_sps.clamp(floor_sps, highest.max(floor_sps)),
    })
}

/// Returns the scale at which the flows of a cell have a load together, in samples/s; `None` without flows.
#[must_use]
pub fn scale_at(factors: &Factors, load_sps: f64) -> Option<Scale> {
    let all_sps = factors.offered_load()?.written_sps;
    (all_sps > 0.0).then(|| Scale::nearest(load_sps / all_sps))
}

#[cfg(test)]
mod tests {
    use experiment::{Load, Rate};

    use super::*;

    fn record(name: &str, missed: u64, limit_pct: f64) -> FlowRecord {
        let planned = 1_000;
        let timeliness = Timeliness {
            limit_pct,
            planned,
            missed,
            is_met: missed as f64 <= limit_pct / 100.0 * planned as f64,
            ..Timeliness::default()
        };
        FlowRecord { name: name.to_owned(), timeliness: Some(timeliness), ..FlowRecord::default() }
    }

    fn judged(records: &[FlowRecord]) -> (f64, Option<String>) {
        let background = Flow { background: true, ..Flow::new("map", 64, Load::Max) };
        let trial = SystemTrial::new(records, &[background]);
        (trial.excess, trial.worst.map(|worst| worst.flow))
    }

    #[test]
    fn worst_flow_is_the_one_that_exceeds_its_own_limit_most() {
        // 2 % of 1 %, 0.3 % of 0.1 %: three times its limit is worse than twice.
        let (excess, worst) = judged(&[record("camera", 20, 1.0), record("command", 3, 0.1)]);
        assert!((excess - 0.01).abs() < 1e-12, "{excess}");
        assert_eq!(worst.as_deref(), Some("command"));
        // Nothing may be missed: one sample is infinitely more than the limit.
        let (excess, worst) = judged(&[record("camera", 500, 1.0), record("stop", 1, 0.0)]);
        assert!((excess - 0.49).abs() < 1e-12, "{excess}");
        assert_eq!(worst.as_deref(), Some("stop"));
    }

    #[test]
    fn flows_within_their_limits_and_background_flows_do_not_fail_a_trial() {
        let (excess, worst) = judged(&[record("camera", 10, 1.0), record("map", 900, 0.1)]);
        assert_eq!((excess, worst.as_deref()), (0.0, Some("camera")), "the limit itself is kept");
        assert_eq!(judged(&[record("camera", 0, 0.0)]), (0.0, None));
        let (excess, _) = judged(&[record("camera", 11, 1.0)]);
        assert!(excess > 0.0);
    }

    #[test]
    fn loads_are_sums_of_all_rates_between_the_scales() {
        let flow = |name, rate| Flow::new(name, 64, Load::Constant { rate: Rate::per_second(rate) });
        let cell = Factors { flows: vec![flow("a", 100), flow("b", 400)], ..Factors::default() };
        let range = experiment::ScaleRange { lowest: Scale::nearest(0.1), highest: Scale::nearest(20.0) };
        let search = Search { scales: Some(range), ..Search::default() };
        let loads = system_loads(&search, &cell).expect("flows");
        assert_eq!((loads.floor_sps, loads.ceiling_sps, loads.start_sps), (50.0, 10_000.0, 500.0));
        assert_eq!(scale_at(&cell, 900.0), Some(Scale::nearest(1.8)));
        assert_eq!(system_loads(&Search::default(), &cell), None);
        assert_eq!(scale_at(&Factors::default(), 900.0), None);
    }
}
