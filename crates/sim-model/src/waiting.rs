//! How long packets wait for the server that come at random.

/// A Poisson mass this far out is nothing beside the rounding of 1: its mean is under 1.
const TERMS: usize = 32;
/// States of the queue that are kept at most.
const MOST_STATES: usize = 1 << 20;

/// Waiting for a server, in the order of coming, at independent and exponentially distributed distances: the queue M/G/1,
/// in its steady state.
///
/// What a sample of an open loop takes beside that is its time in the server and its latency. With a constant latency the
/// sum is its response time; with another one the order of samples, which is kept, adds to it.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Packets in each ns.
    rate: f64,
    service_ns: f64,
    /// Standard deviation of that over its mean.
    jitter: f64,
    /// Of a server that always takes as long: the probability that no more packets are there than the index, the one being
    /// served not counted. Then 1.
    at_most: Vec<f64>,
}

impl Waiting {
    pub(crate) fn new(rate_pps: f64, service_ns: f64, jitter: f64) -> Self {
        let rate = rate_pps / 1e9;
        let at_most = if jitter > 0.0 { Vec::new() } else { at_most(rate * service_ns) };
        Self { rate, service_ns, jitter, at_most }
    }

    /// The share of time in which the server works.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.rate * self.service_ns
    }

    /// The mean: Pollaczek and Khinchine.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        let load = self.load();
        load * (1.0 + self.jitter * self.jitter) * self.service_ns / (2.0 * (1.0 - load))
    }

    /// The probability of waiting for `x` ns or less, where the server always takes as long; none where it does not.
    ///
    /// G. J. Franx, *A simple solution for the M/D/c waiting time distribution*, Operations Research Letters 29, 2001.
    #[must_use]
    pub fn cdf(&self, x: f64) -> Option<f64> {
        if self.at_most.is_empty() {
            return None;
        }
        if x < 0.0 {
            return Some(0.0);
        }
        // the next whole service time after x, and what comes until then
        let services = (x / self.service_ns).floor() as usize + 1;
        let coming = self.rate * (services as f64 * self.service_ns - x).max(0.0);
        let (mut mass, mut sum) = ((-coming).exp(), 0.0);
        for number in 0..services.min(TERMS) {
            sum += mass * self.at_most.get(services - 1 - number).copied().unwrap_or(1.0);
            mass *= coming / (number + 1) as f64;
        }
        Some(sum.min(1.0))
    }

    /// The smallest time within which a share `q` of the packets is in the server, where that always takes as long; none where
    /// it does not.
    ///
    /// # Panics
    /// If `q` is not between 0 and 1, both exclusive.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.cdf(0.0).map(|_| crate::truth::quantile(q, |x| self.cdf(x).unwrap_or(1.0)))
    }
}

/// The probability that so many packets or fewer wait in the queue M/D/1 of this load, until that is 1.
///
/// Seen at departures, the queue crosses each level upwards as often as downwards; so each state follows from those below it
/// by sums of positive terms.
fn at_most(load: f64) -> Vec<f64> {
    // more than so many come while one is served
    let mut more = Vec::with_capacity(TERMS);
    let mut mass = (-load).exp();
    let none = mass;
    let mut tail = -(-load).exp_m1();
    for number in 1..=TERMS {
        more.push(tail);
        mass *= load / number as f64;
        tail = (tail - mass).max(0.0);
    }
    let mut states = vec![1.0 - load];
    let mut sum = 1.0 - load;
    let mut at_most = Vec::new();
    while at_most.len() < MOST_STATES {
        let level = states.len() - 1;
        // from the empty queue as from the one with a single packet, which has just left
        let mut upwards = states[0] * more.get(level).copied().unwrap_or(0.0);
        for below in 1..=level.min(TERMS - 1) {
            upwards += states[level + 1 - below] * more[below];
        }
        let next = upwards / none;
        states.push(next);
        sum += next;
        at_most.push(sum.min(1.0));
        if 1.0 - sum < 1e-14 || next < 1e-18 {
            break;
        }
    }
    at_most
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: f64 = 100.0;

    fn waiting(load: f64) -> Waiting {
        Waiting::new(load * 1e9 / SERVICE, SERVICE, 0.0)
    }

    #[test]
    fn nobody_waits_as_often_as_the_server_is_free_and_the_mean_is_that_of_the_distribution() {
        for load in [0.01, 0.3, 0.5, 0.7, 0.9, 0.99] {
            let waiting = waiting(load);
            let at = |x: f64| waiting.cdf(x).expect("always as long");
            assert!((at(0.0) - (1.0 - load)).abs() < 1e-12, "{load}: {}", at(0.0));
            assert_eq!(at(-1.0), 0.0);
            // the mean is the integral of what is left: midpoints
            let (mut mean, step) = (0.0, 0.25);
            let mut x = step / 2.0;
            while at(x) < 1.0 - 1e-12 && x < 1e6 {
                mean += (1.0 - at(x)) * step;
                x += step;
            }
            assert!((mean / waiting.mean_ns() - 1.0).abs() < 1e-5, "{load}: {mean}, {}", waiting.mean_ns());
        }
    }

    /// Erlang's own solution, which is precise as long as its terms of both signs are small.
    #[test]
    fn it_is_the_distribution_that_erlang_found() {
        for load in [0.2_f64, 0.5, 0.8] {
            for x in [0.0, 30.0, 99.0, 100.0, 101.0, 250.0, 420.0, 777.0] {
                let rate = load / SERVICE;
                let mut erlang = 0.0;
                let mut factorial = 1.0;
                for number in 0..=(x / SERVICE) as i32 {
                    if number > 0 {
                        factorial *= f64::from(number);
                    }
                    let left = rate * (f64::from(number) * SERVICE - x);
                    erlang += left.powi(number) / factorial * (-left).exp();
                }
                erlang *= 1.0 - load;
                let found = waiting(load).cdf(x).expect("always as long");
                assert!((found - erlang).abs() < 1e-9, "{load}, {x}: {found}, {erlang}");
            }
        }
    }

    #[test]
    fn of_a_server_that_jitters_the_mean_is_known_and_no_more() {
        let jittering = Waiting::new(0.5e9 / SERVICE, SERVICE, 1.0);
        assert_eq!((jittering.cdf(1.0), jittering.quantile(0.5)), (None, None));
        // M/M/1: load over what is left of it, in service times
        assert!((jittering.mean_ns() - SERVICE).abs() < 1e-9, "{}", jittering.mean_ns());
        assert!((waiting(0.5).mean_ns() - SERVICE / 2.0).abs() < 1e-9);
        let median = waiting(0.9).quantile(0.5).expect("always as long");
        assert!((waiting(0.9).cdf(median).expect("always as long") - 0.5).abs() < 1e-9);
    }
}
