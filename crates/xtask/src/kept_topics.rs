//! Topics of systems in kept results.

use results::{CellFlow, CellResult, EndedProcess, Metric, Run};

/// Topic of a system, at all its readers; of copies, the one that suffers most.
pub struct Topic<'c> {
    cell: &'c CellResult,
    name: &'c str,
    /// Values at the reader that suffers most.
    at_worst_reader: &'c CellFlow,
}

impl<'c> Topic<'c> {
    /// Returns the topic with this name, or the worst one of the group with this name; `None` if the cell has neither.
    pub fn of(cell: &'c CellResult, name: &str) -> Option<Self> {
        let planned = cell.factors.flows.iter();
        let own = planned.filter(|flow| flow.name == name || flow.group.as_deref() == Some(name));
        let names: Vec<&str> = own.map(|flow| flow.name.as_str()).collect();
        let values = cell.paced.as_ref()?.flows.iter().filter(|flow| names.contains(&flow.name.as_str()));
        let at_worst_reader = values.max_by_key(|flow| flow.strain())?;
        Some(Self { cell, name: &at_worst_reader.name, at_worst_reader })
    }

    /// Returns the share of the planned samples of all runs that missed the deadline at the worst reader, in percent; `None` without a
    /// deadline.
    pub fn missed_pct(&self) -> Option<f64> {
        self.at_worst_reader.timeliness.as_ref().map(results::CellTimeliness::missed_pct)
    }

    /// Returns in how many of the runs the topic met its deadline at all readers, as in `5 of 6`. Runs in which one of its processes ended
    /// are among those that did not.
    pub fn met(&self) -> String {
        let is_met = |run: &&Run| {
            let own = run.flows.iter().filter(|flow| flow.name == self.name);
            own.filter_map(|flow| flow.timeliness.as_ref()).all(|of| of.is_met)
        };
        let system = self.cell.paced.as_ref().and_then(|paced| paced.system.as_ref());
        let is_own = |of: &&EndedProcess| of.flows.iter().any(|flow| flow == self.name);
        let ended = system.map_or(0, |system| system.ended.iter().filter(is_own).count());
        let met = self.cell.valid_runs().filter(is_met).count();
        format!("{met} of {}", self.cell.valid_runs().count() + ended)
    }

    /// Returns the values of a metric that verdicts compare: of each run that counts, that of the slowest reader. `None` if a run has too few
    /// samples for it.
    pub fn values_of(&self, metric: Metric) -> Option<Vec<f64>> {
        self.cell.values_of(metric, Some(self.name))
    }
}

#[cfg(test)]
mod tests {
    use results::{Directory, ResultDocument, VerdictKind};
    use stats::median;

    use super::*;
    use crate::root;

    fn kept(name: &str) -> ResultDocument {
        Directory::load(&root().join(format!("docs/explain/data/{name}.json.gz"))).unwrap()
    }

    #[test]
    fn times_of_a_topic_are_those_that_its_verdict_compares() {
        let document = kept("systems-sierra-nevada");
        let mut compared = 0;
        for verdict in document.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison) {
            let Some(name) = verdict.flow.as_deref().filter(|_| verdict.metric == Metric::ResponseP50) else {
                continue;
            };
            for side in [&verdict.treatment, &verdict.baseline] {
                let cell = document.cells.iter().find(|cell| cell.id == side.cell).unwrap();
                let values = Topic::of(cell, name).unwrap().values_of(verdict.metric).unwrap();
                assert_eq!(median(&values), side.median, "{name} in {}", side.cell);
                compared += 1;
            }
        }
        assert_eq!(compared, 2 * 13);
    }

    #[test]
    fn topic_is_met_if_it_is_at_all_readers() {
        let document = kept("systems-sierra-nevada-noisy");
        let parana = Topic::of(&document.cells[0], "parana").unwrap();
        assert_eq!(parana.met(), "3 of 22", "5 at the worst reader");
        assert!(
            parana.values_of(Metric::Missed).is_some() && Topic::of(&document.cells[0], "none").is_none()
        );
    }

    #[test]
    fn worst_copy_of_a_group_is_its_topic() {
        let document = kept("systems-vehicle");
        let of = |cell: usize, name| Topic::of(&document.cells[cell], name).map(|topic| topic.name);
        assert_eq!([of(0, "camera"), of(1, "camera")], [Some("camera-6"), Some("camera-3")]);
    }
}
