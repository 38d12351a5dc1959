//! Scale of the rates of a system, and its background flows.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    factors::{Factors, Workload, flow::Flow, load::Load, rate::Rate},
    syntax::scalar::{Rejection, Scalar, scalar, schema},
};

/// Factor of the rates of all flows, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scale(u32);

/// Millionths of 1.
const ONE: u32 = 1_000_000;
/// Valid scales in millionths.
const RANGE: std::ops::RangeInclusive<u32> = ONE / 1_000..=1_000 * ONE;

impl Scale {
    /// Rates as the flows have them.
    pub const ONE: Self = Self(ONE);

    const EXPECTED: &str =
        "a factor of all rates such as `2` or `0.5`, 0.001 to 1000, with at most six decimals";

    /// Creates a scale. Returns `None` for a value out of range, or with more than six decimals.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        let millionths = (value * f64::from(ONE)).round();
        let range = f64::from(*RANGE.start())..=f64::from(*RANGE.end());
        let nearest = range.contains(&millionths).then_some(Self(millionths as u32))?;
        ((nearest.factor() - value).abs() < 1e-9).then_some(nearest)
    }

    /// Returns the scale nearest to a factor, within the range of all scales.
    #[must_use]
    pub fn nearest(factor: f64) -> Self {
        let millionths = (factor * f64::from(ONE)).round();
        Self(millionths.clamp(f64::from(*RANGE.start()), f64::from(*RANGE.end())) as u32)
    }

    /// Returns the factor.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.0) / f64::from(ONE)
    }

    /// Returns a time between samples at this scale, in ns.
    fn time_ns(self, ns: u64) -> u64 {
        (u128::from(ns) * u128::from(ONE) / u128::from(self.0)).try_into().unwrap_or(u64::MAX)
    }

    /// Returns a rate at this scale: as many samples in another period.
    fn rate(self, rate: Rate) -> Rate {
        Rate { period_ns: self.time_ns(rate.period_ns).max(1), ..rate }
    }

    /// Multiplies the rates of a load.
    fn load(self, load: &mut Load) {
        match load {
            Load::Constant { rate } | Load::Poisson { rate } | Load::Burst { rate } => {
                *rate = self.rate(*rate);
            }
            // The plan rejects these in flows, and traces beside a scale.
            Load::PerWriter { .. }
            | Load::Share { .. }
            | Load::Max
            | Load::Throttled { .. }
            | Load::Trace { .. } => {}
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.factor().fmt(f)
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.factor())
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        scalar(deserializer, Self::EXPECTED, |scalar| {
            let value = match scalar {
                Scalar::Float(value) => Some(*value),
                Scalar::Integer(value) => Some(*value as f64),
                Scalar::Text(text) => text.trim().parse().ok(),
                Scalar::Flag(_) => return Err(Rejection::Type),
            };
            value.and_then(Self::new).ok_or(Rejection::Value)
        })
    }
}

schema!(Scale, "Scale", {
    "description": "A factor of all rates, with at most six decimals.",
    "type": "number",
    "minimum": 0.001,
    "maximum": 1000,
});

impl Factors {
    /// Returns the factors of a trial of a search over the scale: a paced run, with the rates of all flows multiplied.
    #[must_use]
    pub fn at_scale(&self, scale: Scale) -> Self {
        let mut trial = Self {
            workload: Workload::Paced,
            scale: Some(scale).filter(|scale| *scale != Scale::ONE),
            ..self.clone()
        };
        trial.flows.iter_mut().for_each(|flow| flow.scale(scale));
        trial
    }

    /// Applies the scale to the flows, and removes background flows from a cell without them.
    pub(crate) fn set_flows(&mut self) {
        if self.no_background {
            self.flows.retain(|flow| !flow.background);
        }
        if let Some(scale) = self.scale {
            self.flows.iter_mut().for_each(|flow| flow.scale(scale));
        }
    }
}

impl Flow {
    /// Multiplies the rate. The deadline stays: it is what the application needs.
    fn scale(&mut self, scale: Scale) {
        self.phase_ns = scale.time_ns(self.phase_ns);
        scale.load(&mut self.load);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_at_most_six_decimals() {
        assert_eq!(Scale::new(1.0), Some(Scale::ONE));
        assert_eq!(Scale::new(0.1).map(Scale::factor), Some(0.1));
        for wrong in [0.0, -1.0, 0.0001, 1.234_567_8, 1_001.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Scale::new(wrong), None, "{wrong}");
        }
        for text in ["1", "0.5", "1000", "\"2\""] {
            let scale: Scale = serde_json::from_str(text).expect("a scale");
            let again: Scale =
                serde_json::from_str(&serde_json::to_string(&scale).expect("JSON")).expect("a scale");
            assert_eq!(scale, again, "{text}");
        }
        assert!(serde_json::from_str::<Scale>("\"much\"").expect_err("a word").to_string().contains("0.5"));
    }

    #[test]
    fn trial_of_a_search_is_a_paced_run_at_its_scale() {
        let flow = Flow::new("a", 64, Load::Constant { rate: Rate::per_second(100) });
        let cell = Factors { workload: Workload::Search, flows: vec![flow], ..Factors::default() };
        let trial = cell.at_scale(Scale::nearest(1.8));
        assert_eq!((trial.workload, trial.scale), (Workload::Paced, Scale::new(1.8)));
        assert!((trial.offered_load().expect("a rate").written_sps - 180.0).abs() < 1e-3);
        assert_eq!(cell.at_scale(Scale::ONE).scale, None);
        let nearest = [0.0, 1e-9, 1.234_567_8, 1e9].map(|factor| Scale::nearest(factor).factor());
        assert_eq!(nearest, [0.001, 0.001, 1.234_568, 1000.0]);
    }

    #[test]
    fn rates_and_phases_are_scaled_and_deadlines_are_not() {
        let load = Load::Constant { rate: Rate::per_second(100) };
        let flow = Flow { phase_ns: 4_000_000, ..Flow::new("a", 64, load.clone()) };
        let background = Flow { background: true, ..Flow::new("b", 64, load) };
        let mut cell =
            Factors { scale: Scale::new(2.0), flows: vec![flow, background], ..Factors::default() };
        cell.set_flows();
        let load = Load::Constant { rate: Rate { samples: 100, period_ns: 500_000_000 } };
        assert_eq!((&cell.flows[0].load, cell.flows[0].phase_ns, cell.flows.len()), (&load, 2_000_000, 2));
        let mut alone = Factors { no_background: true, scale: None, ..cell };
        alone.set_flows();
        assert_eq!(alone.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(), ["a"]);
    }
}
