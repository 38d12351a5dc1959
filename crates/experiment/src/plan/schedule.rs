//! Intended send times of a flow, computed from its [`Load`]; writer and reader compute the same ones.
//!
//! Times are in ns from the start of the measurement. [`Schedule`] returns them in order, for a writer; [`SendTimes`]
//! returns the time of any sequence number, for a reader. Neither allocates after construction.

use std::{hint::black_box, sync::Arc};

use rand::{Rng as _, SeedableRng as _, rngs::ChaCha8Rng};

use crate::factors::{load::Load, rate::Rate};

/// Number of send times of a Poisson flow that are kept for late samples.
const REACH: u64 = 1 << 20;

/// Iterator over the send times of a flow, in the order of the sequence numbers. They never decrease.
#[derive(Debug)]
pub struct Schedule {
    pattern: SendPattern,
    /// Added to each time, in ns.
    delay_ns: u64,
}

#[derive(Debug)]
enum SendPattern {
    Constant(Constant),
    Burst { rate: Rate, at_ns: u64, left: u64 },
    Poisson(Box<Poisson>),
    Trace { times: Arc<[u64]>, next: usize },
}

/// State of a constant rate; the next time is exactly `at_ns + rest / samples`.
#[derive(Debug)]
struct Constant {
    rate: Rate,
    at_ns: u64,
    rest: u64,
}

/// State of a Poisson flow; the exact last time is `at_ns + fraction`.
#[derive(Debug)]
struct Poisson {
    random: ChaCha8Rng,
    mean_ns: f64,
    at_ns: u64,
    fraction: f64,
}

impl Schedule {
    /// Creates the schedule of the flow with this number, from 0. `trace` has the ascending times of the file, if
    /// the load is a trace. Returns `None` if the load has no intended times, is not that of one writer, or its rate is not
    /// known.
    #[must_use]
    pub fn new(load: &Load, seed: u64, flow: usize, trace: Arc<[u64]>) -> Option<Self> {
        let pattern = match load.resolved()? {
            Load::Constant { rate } => {
                SendPattern::Constant(Constant { rate: valid(rate), at_ns: 0, rest: 0 })
            }
            Load::Burst { rate } => {
                SendPattern::Burst { rate: valid(rate), at_ns: 0, left: valid(rate).samples }
            }
            Load::Poisson { rate } => SendPattern::Poisson(Box::new(Poisson::new(valid(rate), seed, flow))),
            Load::Trace { .. } => SendPattern::Trace { times: trace, next: 0 },
            Load::Share { .. } | Load::Max | Load::Throttled { .. } | Load::PerWriter { .. } => return None,
        };
        Some(Self { pattern, delay_ns: 0 })
    }

    /// Returns the schedule with all times later.
    #[must_use]
    pub fn delayed(self, delay_ns: u64) -> Self {
        Self { delay_ns, ..self }
    }

    /// Returns the time that a new schedule takes: until the time of the first sample after `samples`, at most `until_ns`.
    #[must_use]
    pub fn length_ns(self, samples: Option<u64>, until_ns: u64) -> u64 {
        let end_ns = samples.and_then(|samples| SendTimes::with_reach(self, until_ns, 1).at(samples));
        end_ns.unwrap_or(until_ns)
    }

    /// Returns the number of remaining times before `until_ns`. For a new schedule, this is the number of samples
    /// planned in a measured time of that length. Poisson times are drawn one by one.
    #[must_use]
    pub fn planned(self, until_ns: u64) -> u64 {
        let until_ns = until_ns.saturating_sub(self.delay_ns);
        let own = Self { delay_ns: 0, ..self };
        // Samples i with i * period / samples < until.
        let before = |Rate { samples, period_ns }: Rate| {
            let count = (u128::from(until_ns) * u128::from(samples)).div_ceil(u128::from(period_ns));
            u64::try_from(count).unwrap_or(u64::MAX)
        };
        match &own.pattern {
            SendPattern::Constant(constant) => before(constant.rate).saturating_sub(constant.index()),
            SendPattern::Burst { rate, at_ns, left } => {
                let bursts = before(Rate { samples: 1, ..*rate });
                let gone = (at_ns / rate.period_ns).saturating_mul(rate.samples);
                bursts.saturating_mul(rate.samples).saturating_sub(gone.saturating_add(rate.samples - left))
            }
            SendPattern::Poisson(_) => own.take_while(|&at_ns| at_ns < until_ns).count() as u64,
            SendPattern::Trace { times, next } => {
                (times.partition_point(|&at_ns| at_ns < until_ns) as u64).saturating_sub(*next as u64)
            }
        }
    }
}

impl Iterator for Schedule {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let at_ns = match &mut self.pattern {
            SendPattern::Constant(constant) => constant.next(),
            SendPattern::Burst { rate, at_ns, left } => {
                if *left == 0 {
                    *at_ns = at_ns.saturating_add(rate.period_ns);
                    *left = rate.samples;
                }
                *left -= 1;
                *at_ns
            }
            SendPattern::Poisson(poisson) => poisson.next(),
            SendPattern::Trace { times, next } => {
                let at_ns = times.get(*next)?;
                *next += 1;
                *at_ns
            }
        };
        Some(at_ns.saturating_add(self.delay_ns))
    }
}

/// Makes a rate valid that was deserialized without a check.
fn valid(rate: Rate) -> Rate {
    Rate { samples: rate.samples.max(1), period_ns: rate.period_ns.max(1) }
}

impl Constant {
    #[inline]
    fn next(&mut self) -> u64 {
        let Rate { samples, period_ns } = self.rate;
        let now = self.at_ns;
        self.at_ns = now.saturating_add(period_ns / samples);
        // The sum may exceed 64 bits; it is less than 2 * samples.
        let rest = u128::from(self.rest) + u128::from(period_ns % samples);
        let carry = rest >= u128::from(samples);
        self.at_ns = self.at_ns.saturating_add(u64::from(carry));
        self.rest = (if carry { rest - u128::from(samples) } else { rest }) as u64;
        now
    }

    /// Returns the number of the next sample.
    fn index(&self) -> u64 {
        let scaled = u128::from(self.at_ns) * u128::from(self.rate.samples) + u128::from(self.rest);
        u64::try_from(scaled / u128::from(self.rate.period_ns)).unwrap_or(u64::MAX)
    }
}

impl Poisson {
    fn new(Rate { samples, period_ns }: Rate, seed: u64, flow: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(flow as u64);
        Self { random, mean_ns: period_ns as f64 / samples as f64, at_ns: 0, fraction: 0.0 }
    }

    /// Draws the next exponentially distributed interval by inversion.
    #[inline]
    fn next(&mut self) -> u64 {
        // Uniform in (0, 1], so that its logarithm is finite.
        let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        self.fraction -= uniform.ln() * self.mean_ns;
        let whole = self.fraction.floor();
        self.fraction -= whole;
        self.at_ns = self.at_ns.saturating_add(whole as u64);
        self.at_ns
    }
}

/// Send time of any sequence number of a flow.
#[derive(Debug)]
pub struct SendTimes {
    schedule: Schedule,
    until_ns: u64,
    /// Number of the sample that `schedule` returns next.
    next: u64,
    /// Latest times of a Poisson flow, indexed by the sequence number modulo the length.
    ring: Box<[u64]>,
}

impl SendTimes {
    /// Creates the lookup from a new schedule. No sample is planned at or after `until_ns`.
    #[must_use]
    pub fn new(schedule: Schedule, until_ns: u64) -> Self {
        Self::with_reach(schedule, until_ns, REACH)
    }

    fn with_reach(schedule: Schedule, until_ns: u64, reach: u64) -> Self {
        let mut ring = Box::default();
        if matches!(schedule.pattern, SendPattern::Poisson(_)) {
            // Touches every page now, so that the hot path has no page faults. An optimizer may not leave it out.
            ring = vec![u64::MAX; reach as usize].into_boxed_slice();
            black_box(&mut ring);
            ring.fill(0);
        }
        Self { schedule, until_ns, next: 0, ring }
    }

    /// Returns the intended send time of a sample. Returns `None` if no sample with that number is planned, or if a
    /// Poisson flow is more than 2^20 samples past it.
    #[inline]
    pub fn at(&mut self, sequence: u64) -> Option<u64> {
        let at_ns = match &mut self.schedule.pattern {
            SendPattern::Constant(constant) => {
                let after = sequence.checked_add(1)?;
                // Samples usually arrive in order.
                if sequence != self.next {
                    constant.go_to(sequence)?;
                }
                self.next = after;
                constant.next()
            }
            SendPattern::Burst { rate, .. } => (sequence / rate.samples).checked_mul(rate.period_ns)?,
            SendPattern::Trace { times, .. } => *times.get(usize::try_from(sequence).ok()?)?,
            SendPattern::Poisson(poisson) => {
                let reach = self.ring.len() as u64;
                while self.next <= sequence {
                    if poisson.at_ns >= self.until_ns {
                        return None;
                    }
                    self.ring[(self.next % reach) as usize] = poisson.next();
                    self.next += 1;
                }
                if self.next - sequence > reach {
                    return None;
                }
                self.ring[(sequence % reach) as usize]
            }
        };
        let at_ns = at_ns.saturating_add(self.schedule.delay_ns);
        (at_ns < self.until_ns).then_some(at_ns)
    }
}

impl Constant {
    #[inline]
    fn go_to(&mut self, sequence: u64) -> Option<()> {
        let samples = u128::from(self.rate.samples);
        let scaled = u128::from(sequence) * u128::from(self.rate.period_ns);
        self.at_ns = u64::try_from(scaled / samples).ok()?;
        self.rest = (scaled % samples) as u64;
        Some(())
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
