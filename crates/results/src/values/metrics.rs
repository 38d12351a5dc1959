//! Values of the metrics of a run.

use std::collections::BTreeMap;

use recording::QUANTILES;
use stats::{median, min_n_for, supports_quantile, total};

use crate::{
    schema::{
        CellResult, FlowRecord, Run, RunState, Timeliness, latency::Latency, metric::Metric,
        steady::SteadyClass,
    },
    values::shortfall::Shortfall,
};

/// Reason why a quantile has no value in a valid run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LackingQuantile {
    /// The run has too few samples for it. Such runs are the slow ones: those with enough samples do not stand for all.
    TooFewSamples {
        /// Number of samples.
        n: u64,
        /// Number of samples that it needs.
        needs: u64,
    },
    /// It lies among the lost round trips: it is longer than all values.
    Lost,
}

impl LackingQuantile {
    fn of(latency: &Latency, quantile: usize) -> Option<Self> {
        let q = QUANTILES[quantile];
        if latency.n == 0 || latency.quantiles()[quantile].is_some() {
            return None;
        }
        if supports_quantile(latency.n, q) && latency.is_lost(q) {
            return Some(Self::Lost);
        }
        Some(Self::TooFewSamples { n: latency.n, needs: min_n_for(q) })
    }
}

/// Share of the samples of a run.
#[derive(Clone, Copy)]
struct Share {
    /// Share in percent.
    observed_pct: f64,
    /// Share in percent as claims use it: it has a ratio to others although nothing was counted.
    claimed_pct: f64,
}

/// Returns the missed share of flows: of each that at the reader that missed most. `None` without deadlines.
fn missed<'r>(flows: impl Iterator<Item = &'r FlowRecord>) -> Option<Share> {
    let mut worst: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for flow in flows {
        let Timeliness { missed, planned, .. } = *flow.timeliness.as_ref()?;
        let known = worst.entry(&flow.name).or_insert((missed, planned));
        if u128::from(missed) * u128::from(known.1) > u128::from(known.0) * u128::from(planned) {
            *known = (missed, planned);
        }
    }
    let missed = total(worst.values().map(|(missed, _)| *missed)) as f64;
    let planned = total(worst.values().map(|(_, planned)| *planned)) as f64;
    (planned > 0.0).then(|| Share {
        observed_pct: 100.0 * missed / planned,
        claimed_pct: 100.0 * (missed + 0.5) / (planned + 1.0),
    })
}

/// Returns the share of the samples that arrived; `None` if none was to arrive.
fn arrived(shortfall: Shortfall) -> Option<Share> {
    let arrived = (shortfall.expected - shortfall.missing.min(shortfall.expected)) as f64;
    let expected = shortfall.expected as f64;
    (shortfall.expected > 0).then(|| Share {
        observed_pct: 100.0 * arrived / expected,
        claimed_pct: 100.0 * arrived.max(0.5) / expected,
    })
}

impl Run {
    /// Returns the value of a metric of a valid run, in its unit; `None` if it was not measured, if there are too
    /// few samples, or if it is 0 or not finite and thus has no ratio.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        if self.state != RunState::Valid {
            return None;
        }
        let value = match (metric, metric.quantile()) {
            (_, Some((kind, quantile))) => self.latency.get(kind)?.quantiles()[quantile].map(|ns| ns as f64),
            (Metric::Delivered, _) => self.throughput().map(|throughput| throughput.delivered_sps),
            (Metric::Goodput, _) => self.throughput().map(|throughput| throughput.goodput_mbps),
            (Metric::Ndr | Metric::Pdr | Metric::Slo, _) => {
                metric.aim().and_then(|aim| self.conditional_sps(aim))
            }
            (Metric::Headroom, _) => self.headroom(),
            (Metric::AllMatched, _) => {
                self.discovery().and_then(|discovery| discovery.all_matched_ns).map(|ns| ns as f64)
            }
            (Metric::SampleHop, _) => self.ring().and_then(|ring| ring.per_sample_hop_ns),
            (Metric::Arrived | Metric::Missed, _) => self.share(metric, None).map(|share| share.claimed_pct),
            (Metric::CpuWriter, _) => self.cpu_ns_per_sample.as_ref().map(|cpu| cpu.writer),
            (_, None) => self.cpu_ns_per_sample.as_ref().map(|cpu| cpu.reader),
        };
        value.filter(|value| value.is_finite() && *value > 0.0)
    }

    /// Like [`Run::value`], for one of several flows or groups of them; for all flows together if `flow` is `None`. Latencies are those
    /// of the reader with the longest; of a group, the median over its flows.
    #[must_use]
    pub fn value_of(&self, metric: Metric, flow: Option<&str>) -> Option<f64> {
        let Some(name) = flow else { return self.value(metric) };
        if self.state != RunState::Valid {
            return None;
        }
        if let Some(share) = self.share(metric, flow) {
            return Some(share.claimed_pct);
        }
        let (kind, quantile) = metric.quantile()?;
        let mut worst: BTreeMap<&str, u64> = BTreeMap::new();
        for flow in self.flows.iter().filter(|flow| flow.is_of(name)) {
            let ns = flow.latency.get(kind)?.quantiles()[quantile].filter(|ns| *ns > 0)?;
            let known = worst.entry(&flow.name).or_default();
            *known = ns.max(*known);
        }
        let of_flows: Vec<f64> = worst.into_values().map(|ns| ns as f64).collect();
        median(&of_flows)
    }

    /// Like [`Run::value_of`], as it is shown: a share is that of the samples, and may be 0.
    #[must_use]
    pub fn observed(&self, metric: Metric, flow: Option<&str>) -> Option<f64> {
        let share = self.share(metric, flow).filter(|_| self.state == RunState::Valid);
        share.map(|share| share.observed_pct).or_else(|| self.value_of(metric, flow))
    }

    /// Returns the share that a metric is, of the flows of this name or of all; `None` for other metrics.
    fn share(&self, metric: Metric, flow: Option<&str>) -> Option<Share> {
        let same = self.flows.iter().filter(|of| flow.is_none_or(|name| of.is_of(name)));
        match metric {
            Metric::Arrived => arrived(same.map(FlowRecord::shortfall).sum()),
            Metric::Missed => missed(same),
            _ => None,
        }
    }

    /// Returns the latencies of the kind of a metric, over all flows or of each flow of this name, and the index of its quantile; none if the metric is no
    /// quantile.
    fn latencies(&self, metric: Metric, flow: Option<&str>) -> impl Iterator<Item = (&Latency, usize)> {
        let of_flows =
            self.flows.iter().filter(move |of| flow.is_some_and(|name| of.is_of(name))).map(|of| &of.latency);
        let all = flow.is_none().then_some(&self.latency).into_iter().chain(of_flows);
        metric.quantile().into_iter().flat_map(move |(kind, quantile)| {
            all.clone().filter_map(move |latency| Some((latency.get(kind)?, quantile)))
        })
    }

    /// Returns the maximum error of this metric that comes from the clocks of two hosts, in ns; 0 for all others.
    #[must_use]
    pub fn clock_error_ns(&self, metric: Metric, flow: Option<&str>) -> u64 {
        self.latencies(metric, flow).map(|(latency, _)| latency.clock_error_ns).max().unwrap_or(0)
    }

    /// Returns why a valid run lacks this metric, if it is a quantile that was measured; of several flows, the reason with the fewest
    /// samples.
    #[must_use]
    pub fn lacking_quantile(&self, metric: Metric, flow: Option<&str>) -> Option<LackingQuantile> {
        if self.state != RunState::Valid {
            return None;
        }
        self.latencies(metric, flow).filter_map(|(of, quantile)| LackingQuantile::of(of, quantile)).min()
    }

    /// Returns whether the run has no steady state in the series that this metric depends on.
    #[must_use]
    pub fn is_unsteady(&self, metric: Metric) -> bool {
        let judged = metric.steadied_by().iter().filter_map(|kind| self.steady_state.get(*kind));
        judged
            .into_iter()
            .any(|state| matches!(state.verdict, SteadyClass::NoSteadyState | SteadyClass::Cyclic))
    }
}

impl CellResult {
    /// Returns the values of a metric of the runs that medians are based on; a value among the lost round trips is infinite. `None` if a
    /// run has too few samples for it: the others are the quick ones.
    #[must_use]
    pub fn values_of(&self, metric: Metric, flow: Option<&str>) -> Option<Vec<f64>> {
        let mut values = Vec::new();
        for run in self.claimed_runs() {
            match run.lacking_quantile(metric, flow) {
                Some(LackingQuantile::TooFewSamples { .. }) => return None,
                Some(LackingQuantile::Lost) => values.push(f64::INFINITY),
                None => values.extend(run.value_of(metric, flow)),
            }
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(name: &str, reader: &str, missed: u64) -> FlowRecord {
        let timeliness = Timeliness {
            deadline_ns: 1,
            limit_pct: 0.1,
            planned: 99,
            missed,
            is_met: missed == 0,
            mean_age_ns: 0.0,
            gaps: None,
        };
        FlowRecord {
            name: name.to_owned(),
            reader: reader.to_owned(),
            timeliness: Some(timeliness),
            ..FlowRecord::default()
        }
    }

    #[test]
    fn missed_share_is_that_of_the_worst_reader_of_each_flow() {
        let flows = [flow("a", "r1", 3), flow("a", "r2", 7), flow("b", "r1", 0), flow("b", "r2", 0)];
        let shares =
            |flows: &[FlowRecord]| missed(flows.iter()).map(|share| [share.observed_pct, share.claimed_pct]);
        assert_eq!(shares(&flows[..2]), Some([100.0 * 7.0 / 99.0, 7.5]));
        assert_eq!(shares(&flows[2..]), Some([0.0, 0.5]), "none missed, and a ratio to others");
        assert_eq!(shares(&flows).map(|[_, claimed]| claimed), Some(100.0 * 7.5 / 199.0));
        assert_eq!(shares(&[FlowRecord::default()]), None);
    }
}
