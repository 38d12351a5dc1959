//! Topics among which a writing endpoint spreads its samples.

use crate::{
    factors::{
        Workload,
        load::{Arrival, Load},
        rate::{Rate, RateSpec},
        table::{Factor, out_of_range},
        value::Value,
        values::FactorValues,
    },
    syntax::spanned_error::{PlanError, fault},
};

/// Maximum number of topics: that of the flows of a run.
const MAX_TOPICS: u32 = 1_000;

/// Rejects numbers out of range, and loads that cannot be divided evenly among topics.
pub(crate) fn check(row: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let number: u32 = value.to();
    if number == 1 {
        return None;
    }
    if !(1..=MAX_TOPICS).contains(&number) {
        return out_of_range(row, number, "use 1 to 1000 topics");
    }
    if !all.has_workload(Workload::Paced) {
        let hint = "use `ddsmark load --topics N`; with `--rate max` the topics are written in turn";
        return fault("`topics` has an effect on the workload `paced` only", hint);
    }
    if all.count("trace") > 0 {
        let words = "the samples of a trace are not divided among topics";
        return fault(words, "use `rate`, or one `[[flows]]` entry for each topic");
    }
    let rates = all.all::<RateSpec>("rate");
    if rates.values().any(|rate| matches!(rate, RateSpec::Throttled(_))) {
        let words = "a throttled rate is not supported with several topics";
        return fault(words, "use another rate, such as `max`");
    }
    let uneven = |rate: &RateSpec| {
        let mut bursts = rate.of_writers().iter().filter_map(RateSpec::bursts);
        bursts.any(|burst| !burst.samples.is_multiple_of(u64::from(number)))
    };
    let bursts = all.contains("arrival", &Arrival::Burst.into());
    let rate = rates.values().find(|rate| bursts && uneven(rate))?;
    let words = format!("the bursts of `{rate}` cannot be divided evenly among {number} topics");
    fault(words, "use bursts of a multiple of that number")
}

impl Load {
    /// Returns the part of one of `topics` topics, and the delay of its schedule in ns. With equal intervals, the
    /// topics take turns. A Poisson process is the sum of independent ones with equal parts of its rate.
    #[must_use]
    pub fn of_topic(&self, index: u32, topics: u32) -> (Self, u64) {
        let (part, parts) = (u64::from(index), u64::from(topics.max(1)));
        let less = |rate: Rate| Rate { period_ns: rate.period_ns.saturating_mul(parts), ..rate };
        match *self {
            Self::Constant { rate } => {
                let turn_ns = u128::from(rate.period_ns) * u128::from(part) / u128::from(rate.samples.max(1));
                (Self::Constant { rate: less(rate) }, u64::try_from(turn_ns).unwrap_or(u64::MAX))
            }
            Self::Poisson { rate } => (Self::Poisson { rate: less(rate) }, 0),
            Self::Burst { rate } => {
                (Self::Burst { rate: Rate { samples: (rate.samples / parts).max(1), ..rate } }, 0)
            }
            Self::Trace { .. }
            | Self::Share { .. }
            | Self::Max
            | Self::Throttled { .. }
            | Self::PerWriter { .. } => (self.clone(), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::plan::schedule::Schedule;

    fn times(load: &Load, offset_ns: u64, until_ns: u64) -> Vec<u64> {
        let schedule =
            || Schedule::new(load, 7, 0, Arc::default()).expect("intended times").delayed(offset_ns);
        let times: Vec<u64> = schedule().take_while(|at_ns| *at_ns < until_ns).collect();
        assert_eq!(schedule().planned(until_ns), times.len() as u64);
        times
    }

    proptest! {
        #[test]
        fn topics_together_have_the_schedule_of_one(
            samples in 1_u64..2_000, period_ms in 1_u64..1_000, topics in 1_u32..20, bursts in any::<bool>(),
        ) {
            let rate = Rate { samples, period_ns: period_ms * 1_000_000 };
            let load = match bursts {
                true => Load::Burst { rate: Rate { samples: samples * u64::from(topics), ..rate } },
                false => Load::Constant { rate },
            };
            let until_ns = rate.period_ns * 2 + 1;
            let mut all: Vec<u64> = (0..topics)
                .flat_map(|index| {
                    let (part, offset_ns) = load.of_topic(index, topics);
                    times(&part, offset_ns, until_ns)
                })
                .collect();
            all.sort_unstable();
            let one = times(&load, 0, until_ns);
            // Times are rounded to a ns in each topic, so one sample may be on the other side of the end.
            prop_assert!(all.len().abs_diff(one.len()) <= topics as usize);
            for (all, one) in all.iter().zip(&one) {
                prop_assert!(all.abs_diff(*one) <= 1, "{all} {one}");
            }
        }
    }

    #[test]
    fn poisson_rates_are_divided() {
        let load = Load::Poisson { rate: Rate::per_second(1_000) };
        let rate = Rate { samples: 1_000, period_ns: 4_000_000_000 };
        assert_eq!(load.of_topic(3, 4), (Load::Poisson { rate }, 0));
        assert_eq!(Load::Max.of_topic(3, 4), (Load::Max, 0));
    }
}
