//! Whether a sender held its plan: where it was too late, response times tell of it, not of the middleware.

use std::{collections::BTreeMap, fmt};

use experiment::Load;

use crate::Latency;

/// Of the period, and of the median response: what a send lag may be.
const TOLERABLE: f64 = 0.1;
/// With more of the measured time than this in write calls, these are why the sender is late.
const BUSY: f64 = 0.5;

/// How late a sender was, that was too late.
#[derive(Clone, Debug, PartialEq)]
pub struct Lateness {
    /// The highest quantile of the send lag that the samples support, up to 99 %: its name and its value.
    lag: (&'static str, f64),
    /// What that is too much of, in words.
    beyond: Vec<String>,
    /// Share of the measured time that write calls took.
    writing: f64,
}

impl Lateness {
    /// Of a flow with this load and these latencies, measured for so long. None if it held its plan, or had none.
    #[must_use]
    pub fn of(load: &Load, latency: &BTreeMap<String, Latency>, measured_ns: u64) -> Option<Self> {
        let period_ns = period_ns(load)?;
        let lag = latency.get("send_lag")?;
        let quantiles = [("99 %", lag.p99_ns), ("90 %", lag.p90_ns), ("50 %", lag.p50_ns)];
        let lag = quantiles.into_iter().find_map(|(name, ns)| Some((name, ns? as f64)))?;
        let median = latency.get("response").and_then(|response| response.p50_ns).map(|ns| ns as f64);
        let bounds = [("the period", Some(period_ns)), ("the median response", median)];
        let beyond: Vec<String> = bounds
            .into_iter()
            .filter_map(|(what, ns)| Some((what, ns?)))
            .filter(|(_, ns)| lag.1 > TOLERABLE * ns)
            .map(|(what, ns)| format!("{what} ({} µs)", micros(ns)))
            .collect();
        let calls = latency.get("write_call").map_or(0.0, |calls| calls.mean_ns * calls.n as f64);
        let writing = calls / measured_ns.max(1) as f64;
        (!beyond.is_empty()).then_some(Self { lag, beyond, writing })
    }
}

/// Between two samples on average; of bursts between two of them.
fn period_ns(load: &Load) -> Option<f64> {
    match load.known()? {
        Load::Constant { rate } | Load::Poisson { rate } => {
            Some(rate.period_ns as f64 / rate.samples.max(1) as f64)
        }
        Load::Burst { rate } => Some(rate.period_ns as f64),
        Load::Trace { trace } => Some(trace.length_ns as f64 / trace.samples.saturating_sub(1).max(1) as f64),
        Load::Share { .. } | Load::Max | Load::Throttled { .. } => None,
    }
}

fn micros(ns: f64) -> String {
    let digits = if ns < 9_995.0 { 2 } else { 1 };
    format!("{:.digits$}", ns / 1e3)
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lag: (quantile, lag), beyond, writing } = self;
        let percent = 100.0 * writing;
        write!(
            f,
            "sender-limited: {quantile} of the send lag is {} µs, more than a tenth of {}, so response times are not a \
             property of the middleware's delivery; write calls took {percent:.1} % of the time",
            micros(*lag),
            beyond.join(" and of "),
        )?;
        if *writing > BUSY {
            f.write_str(": it is their duration, or back-pressure, that holds the sender up")
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_histogram;
    use experiment::Rate;

    fn latency(ns: u64, n: u64) -> Latency {
        let mut histogram = new_histogram();
        histogram.record_n(ns, n).expect("within bounds");
        Latency::of_histogram(&histogram, ns as f64, 0.0, ns, ns)
    }

    fn run(lag_ns: u64, response_ns: u64, write_ns: u64, n: u64) -> BTreeMap<String, Latency> {
        [("send_lag", lag_ns), ("response", response_ns), ("write_call", write_ns)]
            .map(|(kind, ns)| (kind.to_owned(), latency(ns, n)))
            .into()
    }

    const RATE: Load = Load::Constant { rate: Rate::per_second(1000) };

    #[test]
    fn a_lag_of_over_a_tenth_of_the_period_or_of_the_response_is_too_much() {
        let said = |lag, response| {
            Lateness::of(&RATE, &run(lag, response, 5_000, 1000), 1_000_000_000).map(|l| l.beyond)
        };
        assert_eq!(said(1_000, 30_000), None);
        assert_eq!(said(4_000, 30_000), Some(vec!["the median response (30.0 µs)".to_owned()]));
        assert_eq!(said(110_000, 2_000_000), Some(vec!["the period (1000.0 µs)".to_owned()]));
        assert_eq!(said(110_000, 120_000).map(|beyond| beyond.len()), Some(2));
    }

    #[test]
    fn the_words_tell_the_quantile_that_the_samples_support_and_what_the_calls_took() {
        let words = |n, write_ns| {
            Lateness::of(&RATE, &run(500_000, 600_000, write_ns, n), 1_000_000_000)
                .expect("too late")
                .to_string()
        };
        assert!(words(1000, 5_000).starts_with("sender-limited: 99 % of the send lag is 500.0 µs"));
        assert!(words(1000, 5_000).ends_with("write calls took 0.5 % of the time"));
        assert!(
            words(1000, 900_000).contains("took 90.0 % of the time: it is their duration, or back-pressure")
        );
        assert!(words(100, 5_000).starts_with("sender-limited: 90 % of"));
        assert!(Lateness::of(&RATE, &run(500_000, 600_000, 5_000, 3), 1_000_000_000).is_none());
    }

    #[test]
    fn without_intended_times_nobody_is_late_and_a_burst_has_its_own_period() {
        assert_eq!(Lateness::of(&Load::Max, &run(500_000, 600_000, 5_000, 1000), 1_000_000_000), None);
        let burst = Load::Burst { rate: Rate { samples: 100, period_ns: 100_000_000 } };
        assert_eq!(Lateness::of(&burst, &run(500_000, 60_000_000, 5_000, 1000), 1_000_000_000), None);
    }
}
