//! Values of the metrics of a run.

use stats::supports_quantile;

use crate::{FlowRecord, Latency, Metric, Run, RunState, Shortfall, SteadyClass, schema::metric::Quantile};

impl Run {
    /// Returns the value of a metric of a valid run, in its unit; `None` if it was not measured, if there are too
    /// few samples, or if it is 0 or not finite and thus has no ratio.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        if self.state != RunState::Valid {
            return None;
        }
        let value = match (metric, metric.quantile()) {
            (_, Some((kind, quantile))) => quantile.value(self.latency.get(kind)?).map(|ns| ns as f64),
            (Metric::Delivered, _) => self.throughput().map(|throughput| throughput.delivered_sps),
            (Metric::Goodput, _) => self.throughput().map(|throughput| throughput.goodput_mbps),
            (Metric::Ndr | Metric::Pdr | Metric::Slo, _) => {
                metric.aim().and_then(|aim| self.conditional_sps(aim))
            }
            (Metric::AllMatched, _) => {
                self.discovery().and_then(|discovery| discovery.all_matched_ns).map(|ns| ns as f64)
            }
            (Metric::SampleHop, _) => self.ring().and_then(|ring| ring.per_sample_hop_ns),
            (Metric::Arrived, _) => self.shortfall().arrived_pct(),
            (Metric::CpuWriter, _) => self.cpu_ns_per_sample.as_ref().map(|cpu| cpu.writer),
            (_, None) => self.cpu_ns_per_sample.as_ref().map(|cpu| cpu.reader),
        };
        value.filter(|value| value.is_finite() && *value > 0.0)
    }

    /// Like [`Run::value`], for one of several flows; for all flows together if `flow` is `None`.
    #[must_use]
    pub fn value_of(&self, metric: Metric, flow: Option<&str>) -> Option<f64> {
        let Some(name) = flow else { return self.value(metric) };
        if self.state != RunState::Valid {
            return None;
        }
        if metric == Metric::Arrived {
            let same = self.flows.iter().filter(|flow| flow.name == name);
            return same.map(FlowRecord::shortfall).sum::<Shortfall>().arrived_pct();
        }
        let (kind, quantile) = metric.quantile()?;
        let flow = self.flows.iter().find(|flow| flow.name == name)?;
        quantile.value(flow.latency.get(kind)?).filter(|ns| *ns > 0).map(|ns| ns as f64)
    }

    /// Returns the maximum error of this metric that comes from the clocks of two hosts, in ns; 0 for all others.
    #[must_use]
    pub fn clock_error_ns(&self, metric: Metric, flow: Option<&str>) -> u64 {
        let latency = match flow {
            Some(name) => self.flows.iter().find(|flow| flow.name == name).map(|flow| &flow.latency),
            None => Some(&self.latency),
        };
        let of_kind = metric.quantile().and_then(|(kind, _)| latency?.get(kind));
        of_kind.map_or(0, |latency| latency.clock_error_ns)
    }

    /// Returns whether a valid run lacks this metric because of lost round trips, not because `n` is too small.
    #[must_use]
    pub fn is_lost(&self, metric: Metric) -> bool {
        let latency = |(kind, quantile)| Some((self.latency.get(kind)?, quantile));
        let lost = metric.quantile().filter(|_| self.state == RunState::Valid).and_then(latency);
        lost.is_some_and(|(latency, quantile): (&Latency, Quantile)| {
            supports_quantile(latency.n, quantile.q()) && latency.is_lost(quantile.q())
        })
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
