//! Different loads of the writing endpoints of a run.

use std::slice;

use crate::{
    factors::{
        load::Load, rate::RateSpec, table::Factor, topology::Topology, value::Value, values::FactorValues,
    },
    syntax::spanned_error::{PlanError, fault},
};

impl RateSpec {
    /// Returns the rates of the writing endpoints if they have rates of their own, else this one rate.
    pub(crate) fn of_writers(&self) -> &[Self] {
        match self {
            Self::PerWriter(rates) => rates,
            one => slice::from_ref(one),
        }
    }
}

impl Load {
    /// Creates the load of these writing endpoints: a single one if all have the same.
    pub(crate) fn per_writer(loads: Vec<Self>) -> Self {
        match &loads[..] {
            [first, others @ ..] if others.iter().all(|load| load == first) => first.clone(),
            _ => Self::PerWriter { loads },
        }
    }

    /// Returns the loads of the writing endpoints if they differ, else this one load.
    #[must_use]
    pub fn of_writers(&self) -> &[Self] {
        match self {
            Self::PerWriter { loads } => loads,
            one => slice::from_ref(one),
        }
    }

    /// Returns the load of the writing endpoint with this index.
    #[must_use]
    pub fn for_writer(&self, writer: usize) -> &Self {
        match self {
            // A plan has one for each writer.
            Self::PerWriter { loads } => loads.get(writer).unwrap_or(self),
            one => one,
        }
    }
}

/// Rejects rates of writing endpoints that are not those of the topology, or that depend on a measurement of one writer.
pub(crate) fn check(_: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let rate: RateSpec = value.to();
    let RateSpec::PerWriter(rates) = &rate else { return None };
    let is_measured = |rate: &&RateSpec| matches!(rate, RateSpec::Share(_) | RateSpec::Throttled(_));
    if let Some(measured) = rates.iter().find(is_measured) {
        let words = format!(
            "`{measured}` of one of several writers is not supported: it follows from a measurement of all"
        );
        return fault(words, "give each writer a rate such as `1000`, or `max`");
    }
    let topologies = all.all::<Topology>("topology");
    let differs =
        |topology: &&Topology| topology.mesh().is_none_or(|(writers, _)| usize::from(writers) != rates.len());
    let topology = topologies.values().find(differs)?;
    let words = format!(
        "`{rate}` has the rates of {} writers, and `topology = \"{topology}\"` other ones",
        rates.len()
    );
    fault(words, "give as many rates as the topology has writers, or one rate for all of them")
}
