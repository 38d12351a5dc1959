//! Verdicts on the share of samples that arrived.

use experiment::{Topology, Workload};
use results::{MAX_LATENCY_LOSS_PCT, Metric, Verdict};

use crate::{
    family::{self, Pair},
    part::Part,
};

/// Judges the share of samples that arrived, where too many are missing for a claim about latencies. It is a family of its own,
/// over all pairs whose latencies are compared, so that the family does not depend on what was measured.
pub(crate) fn judge(pairs: &[Pair<'_>]) -> Vec<Verdict> {
    let mut arrivals: Vec<Pair<'_>> = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.metric.is_latency()) {
        let pair = pair.clone().of_metric(Metric::Arrived);
        let is_there = |other: &Pair<'_>| other.metric == Metric::Arrived && pair.is_beside(other);
        if !pairs.iter().chain(&arrivals).any(is_there) {
            arrivals.push(pair);
        }
    }
    let verdicts = family::judge(&arrivals).into_iter().zip(&arrivals);
    verdicts.filter(|(_, pair)| pair.is_lossy()).map(|(verdict, _)| verdict).collect()
}

impl<'d> Pair<'d> {
    /// Selects another metric of the same runs.
    fn of_metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }

    /// Returns whether both compare the same cells, and flows of the same name.
    fn is_beside(&self, other: &Self) -> bool {
        let is_same = |one: &Part<'d>, other: &Part<'d>| std::ptr::eq(one.cell, other.cell);
        self.flow == other.flow
            && is_same(&self.treatment, &other.treatment)
            && is_same(&self.baseline, &other.baseline)
    }

    /// Returns whether the metric is that share, and each sample of both cells is a ping that is echoed.
    pub fn is_of_round_trips(&self) -> bool {
        let echoes_all = |part: &Part<'d>| {
            let factors = &part.cell.factors;
            let has_readers = matches!(factors.topology, Topology::Mesh { readers, .. } if readers > 1);
            factors.workload == Workload::Latency && (factors.all_readers_echo || !has_readers)
        };
        self.metric == Metric::Arrived && echoes_all(&self.treatment) && echoes_all(&self.baseline)
    }

    /// Returns whether more samples are missing on a side than a claim about latencies allows.
    fn is_lossy(&self) -> bool {
        [&self.treatment, &self.baseline]
            .iter()
            .any(|part| part.missing_pct(self.flow) > MAX_LATENCY_LOSS_PCT)
    }
}
