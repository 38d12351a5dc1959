//! Reference values of blocks and metrics.

use crate::schema::{
    Block, BlockHost, ReferenceMetric,
    metric::{Metric, P50},
};

impl Block {
    /// Returns the reference value of the block: the measurement before it, with several machines the geometric mean over
    /// them; `None` if that of one is missing. The one after
    /// it belongs to the next block. If two blocks shared a measurement, its error would be in both, and rank tests
    /// would claim more than their level allows.
    #[must_use]
    pub fn reference(&self, metric: ReferenceMetric) -> Option<f64> {
        // A host on the machine of an earlier one has neither a reference nor an error.
        let measured = |host: &&BlockHost| host.reference_before.is_some() || host.reference_error.is_some();
        let logs: Option<Vec<f64>> = self
            .hosts
            .iter()
            .filter(measured)
            .map(|host| {
                let value = metric.value(host.reference_before.as_ref()?)?;
                (value.is_finite() && value > 0.0).then(|| value.ln())
            })
            .collect();
        match logs?.as_slice() {
            [] => None,
            [one] => metric
                .value(self.hosts.iter().find(measured)?.reference_before.as_ref()?)
                .filter(|_| one.is_finite()),
            logs => Some((logs.iter().sum::<f64>() / logs.len() as f64).exp()),
        }
    }
}

impl Metric {
    /// Returns whether interruptions of the host can be most of this metric, whatever the references show: a high quantile, and
    /// samples that missed their deadlines.
    #[must_use]
    pub fn is_of_the_tail(self) -> bool {
        self == Self::Missed || self.references(false) == [ReferenceMetric::RttP99]
    }

    /// Returns the reference values that a change of this metric between two results is compared with. The first is
    /// the metric's own. If the host was disturbed, others follow, since a quantile does not always show a
    /// disturbance of some round trips.
    #[must_use]
    pub fn references(self, disturbed: bool) -> &'static [ReferenceMetric] {
        use ReferenceMetric::{Rate, RttP50, RttP99, SampleTime};
        let of = |own: &'static [_], all: &'static [_]| if disturbed { all } else { own };
        match (self, self.quantile()) {
            (Self::CpuWriter | Self::CpuReader, _) => &[SampleTime],
            (Self::AllMatched | Self::SampleHop, _) | (_, Some((_, P50))) => {
                of(&[RttP50], &[RttP50, RttP99, SampleTime])
            }
            (_, Some(_)) => of(&[RttP99], &[RttP99, RttP50, SampleTime]),
            (_, None) => &[Rate],
        }
    }
}
