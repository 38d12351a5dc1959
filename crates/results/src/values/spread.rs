//! Spread of the delivered rate over the readers, or over the writers, of a run.

use std::collections::{BTreeMap, BTreeSet};

use stats::median;

use crate::schema::{EndpointSpread, FlowRecord, Throughput};

impl EndpointSpread {
    /// Returns the spread over the readers; `None` if there is only one.
    #[must_use]
    pub fn of_readers(flows: &[FlowRecord], of_run: &Throughput) -> Option<Self> {
        Self::of(rates(flows, of_run, |flow| &flow.reader), 1.0)
    }

    /// Returns the spread over the writers; `None` if there is only one.
    #[must_use]
    pub fn of_writers(flows: &[FlowRecord], of_run: &Throughput) -> Option<Self> {
        let readers = rates(flows, of_run, |flow| &flow.reader).len();
        Self::of(rates(flows, of_run, |flow| &flow.writer), readers.max(1) as f64)
    }

    fn of(rates: BTreeMap<&str, f64>, divisor: f64) -> Option<Self> {
        if rates.len() < 2 {
            return None;
        }
        let rates: Vec<(&str, f64)> = rates.into_iter().map(|(id, sps)| (id, sps / divisor)).collect();
        let by_rate = |a: &&(&str, f64), b: &&(&str, f64)| a.1.total_cmp(&b.1);
        let (lowest, highest) = (rates.iter().min_by(by_rate)?, rates.iter().max_by(by_rate)?);
        Some(Self {
            endpoints: rates.len() as u32,
            lowest: lowest.0.to_owned(),
            lowest_sps: lowest.1,
            highest: highest.0.to_owned(),
            highest_sps: highest.1,
            fairness: fairness(&rates.iter().map(|(_, sps)| *sps).collect::<Vec<_>>()),
        })
    }

    /// Returns the medians over runs, with the endpoints that were lowest and highest most often; `None` without runs.
    #[must_use]
    pub fn over_runs<'s>(runs: impl Iterator<Item = &'s Self>) -> Option<Self> {
        let runs: Vec<&Self> = runs.collect();
        let of = |value: fn(&Self) -> f64| median(&runs.iter().map(|run| value(run)).collect::<Vec<_>>());
        Some(Self {
            endpoints: runs.first()?.endpoints,
            lowest: most_frequent(runs.iter().map(|run| run.lowest.as_str()))?,
            lowest_sps: of(|run| run.lowest_sps)?,
            highest: most_frequent(runs.iter().map(|run| run.highest.as_str()))?,
            highest_sps: of(|run| run.highest_sps)?,
            fairness: of(|run| run.fairness)?,
        })
    }
}

/// Returns the delivered rate by endpoint, summed over its flows: their shares of the rate of the run, whose mean is over the
/// readers.
fn rates<'f>(
    flows: &'f [FlowRecord],
    of_run: &Throughput,
    endpoint: fn(&FlowRecord) -> &str,
) -> BTreeMap<&'f str, f64> {
    let readers: BTreeSet<&str> = flows.iter().map(|flow| flow.reader.as_str()).collect();
    let each = of_run.delivered_sps * readers.len() as f64 / of_run.delivered_in_time.max(1) as f64;
    let mut rates = BTreeMap::new();
    for flow in flows {
        *rates.entry(endpoint(flow)).or_insert(0.0) += flow.delivered_in_time as f64 * each;
    }
    rates
}

/// Returns Jain's fairness index; 1 if nothing was delivered.
fn fairness(rates: &[f64]) -> f64 {
    let (sum, squares): (f64, f64) = (rates.iter().sum(), rates.iter().map(|rate| rate * rate).sum());
    if squares > 0.0 { sum * sum / (rates.len() as f64 * squares) } else { 1.0 }
}

fn most_frequent<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{schema::DeliveryCounts, values::writing_time::WritingTime};

    fn flow(writer: &str, reader: &str, delivered_in_time: u64) -> FlowRecord {
        let (writer, reader) = (writer.to_owned(), reader.to_owned());
        FlowRecord { writer, reader, delivered_in_time, ..FlowRecord::default() }
    }

    #[test]
    fn readers_have_the_sum_of_their_writers_and_writers_the_mean_over_their_readers() {
        let flows = [flow("a", "x", 100), flow("a", "y", 60), flow("b", "x", 300), flow("b", "y", 240)];
        let counted = DeliveryCounts { delivered: 700, ..DeliveryCounts::default() };
        let rates = WritingTime::new(0, 1_000_000_000).throughput([400; 2], &counted, &[], 2);
        let of_run = Throughput { delivered_sps: 350.0, delivered_in_time: 700, ..rates };
        let readers = EndpointSpread::of_readers(&flows, &of_run).expect("two readers");
        assert_eq!((readers.lowest.as_str(), readers.lowest_sps), ("y", 300.0));
        assert_eq!((readers.highest.as_str(), readers.highest_sps), ("x", 400.0));
        let writers = EndpointSpread::of_writers(&flows, &of_run).expect("two writers");
        assert_eq!((writers.lowest.as_str(), writers.lowest_sps), ("a", 80.0));
        assert_eq!((writers.highest.as_str(), writers.highest_sps), ("b", 270.0));
        assert_eq!(writers.fairness, 350.0 * 350.0 / (2.0 * (80.0 * 80.0 + 270.0 * 270.0)));
        assert_eq!(EndpointSpread::of_readers(&flows[..1], &of_run), None);
    }

    #[test]
    fn values_over_runs_are_medians() {
        let spread = |lowest: &str, lowest_sps| EndpointSpread {
            endpoints: 2,
            lowest: lowest.to_owned(),
            lowest_sps,
            highest: "z".to_owned(),
            highest_sps: 10.0,
            fairness: 0.5,
        };
        let runs = [spread("x", 3.0), spread("y", 1.0), spread("x", 2.0)];
        let over = EndpointSpread::over_runs(runs.iter()).expect("runs");
        assert_eq!((over.lowest.as_str(), over.lowest_sps, over.fairness), ("x", 2.0, 0.5));
        assert_eq!(EndpointSpread::over_runs([].into_iter()), None);
    }

    proptest! {
        #[test]
        fn fairness_lies_between_one_nth_and_one(rates in prop::collection::vec(0.0_f64..1e9, 1..20)) {
            let index = fairness(&rates);
            prop_assert!(index <= 1.0 + 1e-9 && index >= 1.0 / rates.len() as f64 - 1e-9, "{index}");
            let equal = vec![rates[0]; rates.len()];
            prop_assert!((fairness(&equal) - 1.0).abs() < 1e-9);
        }
    }
}
