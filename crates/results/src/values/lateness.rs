//! Classification of late senders: sender-limited, or held up by back-pressure of the middleware.

use std::{collections::BTreeMap, fmt};

use experiment::Load;
use stats::format_value;

use crate::{
    schema::{Usage, latency::Latency},
    values::format::format_micros,
};

/// Maximum tolerable send lag, as a share of the period and of the median response time.
const TOLERABLE: f64 = 0.1;
/// Threshold for the share of the send lag that is due to write calls, and for the share of the time that write
/// calls take.
const MOST: f64 = 0.5;
/// Share of a core. A writing thread that used or waited for more than this, and mostly writes, has no time left. A
/// busy thread that writes less spins until the next intended send time: it has time left.
const BUSY: f64 = 0.9;
/// Share of a core. A process was kept from its cores if its threads waited for more than this and used less.
const HALF: f64 = 0.5;

/// Measurements of a sender in addition to its latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sender {
    /// Share of the send lags of all samples that is due to write calls, 0 to 1.
    pub in_writes: f64,
    /// Share of a core that the writing thread used or waited for ([`Usage::busy`]).
    pub busy: f64,
    /// Share of a core that all threads of the process used; can exceed 1.
    pub used: f64,
    /// Share of a core that all threads of the process waited for; can exceed 1.
    pub waited: f64,
}

impl Sender {
    /// Creates the record from the share of the send lag that is due to write calls, and the usage of the process.
    #[must_use]
    pub fn new(in_writes: f64, usage: &Usage) -> Self {
        Self { in_writes, busy: usage.busy(), used: usage.used(), waited: usage.waited() }
    }
}

/// Cause of a late sender.
#[derive(Clone, Copy, PartialEq)]
enum Cause {
    /// The thread was woken late, or lost its core.
    Woken,
    /// Other processes kept its write calls from a core.
    Starved,
    /// Writing takes all of the thread's time.
    Writing,
    /// Back-pressure of the middleware.
    HeldUp,
}

/// Lateness of a sender that exceeded the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Lateness {
    /// Highest quantile of the send lag that the samples support, up to 99 %: name, and value in ns.
    lag: (&'static str, f64),
    /// Descriptions of the limits that were exceeded.
    beyond: Vec<String>,
    /// Share of the writing time that write calls took, 0 to 1.
    writing: f64,
    sender: Sender,
}

impl Lateness {
    /// Returns the lateness of the sender of a flow, or `None` if it kept its schedule or has no intended send
    /// times. `writing_ns` is the measurement, or the time to the end of the last write if that is longer.
    #[must_use]
    pub fn classify(
        load: &Load,
        latency: &BTreeMap<String, Latency>,
        writing_ns: u64,
        sender: Sender,
    ) -> Option<Self> {
        let period_ns = load.mean_period_ns()?;
        let lag = latency.get("send_lag")?;
        let quantiles = [("99 %", lag.p99_ns), ("90 %", lag.p90_ns), ("50 %", lag.p50_ns)];
        let lag = quantiles.into_iter().find_map(|(name, ns)| Some((name, ns? as f64)))?;
        let median = latency.get("response").and_then(|response| response.p50_ns).map(|ns| ns as f64);
        let bounds = [("the period", Some(period_ns)), ("the median response", median)];
        let beyond: Vec<String> = bounds
            .into_iter()
            .filter_map(|(what, ns)| Some((what, ns?)))
            .filter(|(_, ns)| lag.1 > TOLERABLE * ns)
            .map(|(what, ns)| format!("{what} ({} µs)", format_micros(ns)))
            .collect();
        let calls = latency.get("write_call").map_or(0.0, |calls| calls.mean_ns * calls.n as f64);
        // the mean is rounded, so the product can exceed the time
        let writing = (calls / writing_ns.max(1) as f64).min(1.0);
        (!beyond.is_empty()).then_some(Self { lag, beyond, writing, sender })
    }

    fn cause(&self) -> Cause {
        let Sender { in_writes, busy, used, waited } = self.sender;
        if in_writes <= MOST {
            Cause::Woken
        } else if waited > HALF && used < HALF {
            Cause::Starved
        } else if busy > BUSY && self.writing > MOST {
            Cause::Writing
        } else {
            Cause::HeldUp
        }
    }

    /// Returns whether back-pressure is the cause: write calls made the sender late, and its thread had time left.
    /// Otherwise the cause is the sender: it was woken late, its calls had no core, or writing takes all of one.
    #[must_use]
    pub fn is_back_pressure(&self) -> bool {
        self.cause() == Cause::HeldUp
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lag: (quantile, lag), beyond, writing, sender } = self;
        let [writing, of_lag] = [writing, &sender.in_writes].map(|share| format_value(100.0 * share));
        let word = if self.is_back_pressure() { "back-pressure" } else { "sender-limited" };
        let not_its = "response times are not a property of the middleware's delivery";
        let what = match self.cause() {
            Cause::HeldUp => "the middleware holds its writer up".to_owned(),
            Cause::Writing => {
                format!("what writing costs holds the sender up, whose thread had no time left, so {not_its}")
            }
            Cause::Starved => {
                let [used, waited] =
                    [sender.used, sender.waited].map(|of_a_core| format_value(100.0 * of_a_core));
                format!(
                    "its process was kept from its cores (threads used {used} % of one, and waited for one for {waited} % \
                     of the time), so {not_its}"
                )
            }
            Cause::Woken => not_its.to_owned(),
        };
        write!(
            f,
            "{word}: {quantile} of the send lag is {} µs, more than a tenth of {}: {what}; write calls took {writing} % of the \
             time and are {of_lag} % of the lag",
            format_micros(*lag),
            beyond.join(" and of "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Rate;
    use recording::{Distribution, new_histogram};

    fn latency(ns: u64, n: u64) -> Latency {
        let mut histogram = new_histogram();
        histogram.record_n(ns, n).expect("within bounds");
        let all = Distribution { n, mean_ns: ns as f64, min_ns: ns, max_ns: ns, ..Distribution::default() };
        Latency::of_merged(&all, &histogram, 0)
    }

    fn run(lag_ns: u64, response_ns: u64, write_ns: u64, n: u64) -> BTreeMap<String, Latency> {
        [("send_lag", lag_ns), ("response", response_ns), ("write_call", write_ns)]
            .map(|(kind, ns)| (kind.to_owned(), latency(ns, n)))
            .into()
    }

    const RATE: Load = Load::Constant { rate: Rate::per_second(1000) };

    #[test]
    fn lag_over_a_tenth_of_period_or_response_is_reported() {
        let beyond_limits = |lag, response| {
            Lateness::classify(&RATE, &run(lag, response, 5_000, 1000), 1_000_000_000, Sender::default())
                .map(|late| late.beyond)
        };
        assert_eq!(beyond_limits(1_000, 30_000), None);
        assert_eq!(beyond_limits(4_000, 30_000), Some(vec!["the median response (30.0 µs)".to_owned()]));
        assert_eq!(beyond_limits(110_000, 2_000_000), Some(vec!["the period (1000 µs)".to_owned()]));
        assert_eq!(beyond_limits(110_000, 120_000).map(|beyond| beyond.len()), Some(2));
    }

    #[test]
    fn text_has_the_supported_quantile_and_the_call_times() {
        let late = |n, write_ns| {
            let run = run(500_000, 600_000, write_ns, n);
            Lateness::classify(
                &RATE,
                &run,
                1_000_000_000,
                Sender { in_writes: 0.03, busy: 0.2, ..Sender::default() },
            )
        };
        let words = late(1000, 5_000).expect("too late").to_string();
        assert!(words.starts_with("sender-limited: 99 % of the send lag is 500 µs"), "{words}");
        assert!(words.ends_with("write calls took 0.500 % of the time and are 3.00 % of the lag"), "{words}");
        assert!(late(100, 5_000).expect("too late").to_string().starts_with("sender-limited: 90 % of"));
        assert_eq!(late(3, 5_000), None);
    }

    #[test]
    fn only_idle_writer_delayed_by_calls_is_under_back_pressure() {
        let writing = |write_ns, in_writes, busy| {
            let run = run(500_000, 600_000, write_ns, 1000);
            let sender = Sender { in_writes, busy, used: busy, ..Sender::default() };
            Lateness::classify(&RATE, &run, 1_000_000_000, sender).expect("too late")
        };
        let late = |in_writes, busy| writing(900_000, in_writes, busy);
        let held = late(0.97, 0.1);
        assert!(held.is_back_pressure());
        let words = held.to_string();
        assert!(words.starts_with("back-pressure: 99 % of the send lag"), "{words}");
        assert!(words.contains("the middleware holds its writer up; write calls took 90.0 %"), "{words}");
        // writing itself takes all of its time
        let busy = late(0.97, 0.98);
        assert!(!busy.is_back_pressure());
        assert!(busy.to_string().contains("what writing costs holds the sender up"), "{busy}");
        // it spins between stalls
        assert!(writing(100_000, 0.97, 0.98).is_back_pressure());
        // it was woken late
        let woken = late(0.4, 0.1);
        assert!(!woken.is_back_pressure() && woken.to_string().starts_with("sender-limited"), "{woken}");
        // not late, thus neither
        let on_time = run(1_000, 30_000, 900_000, 1000);
        let sender = Sender { in_writes: 1.0, busy: 0.1, ..Sender::default() };
        assert_eq!(Lateness::classify(&RATE, &on_time, 1_000_000_000, sender), None);
    }

    /// A run of 0.66 s on a host with busy cores: its threads used 7 ms and waited for 1.68 s. One write call took
    /// 361 ms.
    #[test]
    fn preempted_write_calls_are_neither_back_pressure_nor_cost() {
        let usage = Usage {
            elapsed_ns: 664_508_981,
            user_ns: 2_000_000,
            system_ns: 5_000_000,
            run_delay_ns: Some(1_681_000_000),
            ..Usage::default()
        };
        let late = |usage: &Usage| {
            let run = run(363_331_583, 349_962_239, 820_000, 650);
            Lateness::classify(&RATE, &run, 664_000_000, Sender::new(0.973, usage)).expect("too late")
        };
        // with and without usage of the writing thread alone
        for driving_ns in [None, Some(3_000_000), Some(660_000_000)] {
            let starved = late(&Usage { driving_ns, ..usage.clone() });
            assert!(!starved.is_back_pressure(), "{starved}");
            let words = starved.to_string();
            assert!(words.starts_with("sender-limited: "), "{words}");
            let why = "its process was kept from its cores (threads used 1.05 % of one, and waited for one for 253 % of the time)";
            assert!(words.contains(why), "{words}");
        }
        // on a quiet host the same calls are back-pressure
        assert!(late(&Usage { run_delay_ns: Some(3_000_000), ..usage }).is_back_pressure());
    }

    /// The middleware's own threads are busy, and the writing thread waits for them.
    #[test]
    fn writer_thread_of_a_busy_process_can_have_time_left() {
        let late = |driving_ns| {
            let usage = Usage {
                elapsed_ns: 1_000_000_000,
                user_ns: 1_100_000_000,
                run_delay_ns: Some(100_000_000),
                driving_ns,
                ..Usage::default()
            };
            let run = run(500_000, 600_000, 900_000, 1000);
            Lateness::classify(&RATE, &run, 1_000_000_000, Sender::new(0.97, &usage)).expect("too late")
        };
        assert!(late(Some(200_000_000)).is_back_pressure());
        for busy in [late(None), late(Some(950_000_000))] {
            assert!(busy.to_string().contains("what writing costs"), "{busy}");
        }
    }

    #[test]
    fn without_intended_times_there_is_no_lag() {
        let late = |load: &Load, response_ns| {
            Lateness::classify(
                load,
                &run(500_000, response_ns, 5_000, 1000),
                1_000_000_000,
                Sender::default(),
            )
        };
        assert_eq!(late(&Load::Max, 600_000), None);
        let burst = Load::Burst { rate: Rate { samples: 100, period_ns: 100_000_000 } };
        assert_eq!(late(&burst, 60_000_000), None);
    }
}
