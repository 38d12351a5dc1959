//! Waiting time of packets for the server with random arrivals.

/// Number of Poisson terms: with a mean below 1, later terms are smaller than the rounding error of 1.
const TERMS: usize = 32;
/// Maximum number of queue states.
const MOST_STATES: usize = 1 << 20;

/// Waiting time in the queue M/G/1 in its steady state: first come, first served, with independent and exponentially
/// distributed interarrival times.
///
/// Server time and latency of a sample come in addition. With a constant latency the sum is the response time in an
/// open loop; with a random latency the delivery in order adds to it.
#[derive(Clone, Debug)]
pub struct Mg1Queue {
    /// Arrival rate in packets/ns.
    rate: f64,
    service_ns: f64,
    /// Coefficient of variation of the server time.
    jitter: f64,
    /// With constant server time: probability that at most as many packets wait as the index, without the one in
    /// service; 1 beyond the end.
    at_most: Vec<f64>,
}

impl Mg1Queue {
    pub(crate) fn new(rate_pps: f64, service_ns: f64, jitter: f64) -> Self {
        let rate = rate_pps / 1e9;
        let at_most = if jitter > 0.0 { Vec::new() } else { at_most(rate * service_ns) };
        Self { rate, service_ns, jitter, at_most }
    }

    /// Returns the utilization of the server, 0 to 1.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.rate * self.service_ns
    }

    /// Returns the mean waiting time in ns, by the Pollaczek-Khinchine formula.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        let load = self.load();
        load * (1.0 + self.jitter * self.jitter) * self.service_ns / (2.0 * (1.0 - load))
    }

    /// Returns the probability of a waiting time of at most `x` ns; `None` if the server time is not constant.
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
        // The next multiple of the service time after x, and the expected arrivals until then.
        let services = (x / self.service_ns).floor() as usize + 1;
        let coming = self.rate * (services as f64 * self.service_ns - x).max(0.0);
        let (mut mass, mut sum) = ((-coming).exp(), 0.0);
        for number in 0..services.min(TERMS) {
            sum += mass * self.at_most.get(services - 1 - number).copied().unwrap_or(1.0);
            mass *= coming / (number + 1) as f64;
        }
        Some(sum.min(1.0))
    }

    /// Returns the quantile `q` of the waiting time in ns; `None` if the server time is not constant.
    ///
    /// # Panics
    /// Panics if `q` is not in (0, 1).
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.cdf(0.0).map(|_| crate::quantile::quantile(q, |x| self.cdf(x).unwrap_or(1.0)))
    }
}

/// Returns the probabilities that at most 0, 1, 2 ... packets wait in the queue M/D/1 of this load, until they reach
/// 1.
///
/// At departures the queue length crosses each level upwards as often as downwards. Each state therefore follows from
/// the states below it by sums of positive terms.
fn at_most(load: f64) -> Vec<f64> {
    // Element k: probability of more than k arrivals during one service.
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
        // The empty queue behaves like the one with a single packet, which has just left.
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

    fn waiting(load: f64) -> Mg1Queue {
        Mg1Queue::new(load * 1e9 / SERVICE, SERVICE, 0.0)
    }

    #[test]
    fn wait_distribution_has_idle_probability_and_mean() {
        for load in [0.01, 0.3, 0.5, 0.7, 0.9, 0.99] {
            let waiting = waiting(load);
            let at = |x: f64| waiting.cdf(x).expect("always as long");
            assert!((at(0.0) - (1.0 - load)).abs() < 1e-12, "{load}: {}", at(0.0));
            assert_eq!(at(-1.0), 0.0);
            // The mean is the integral of the complementary distribution function; midpoint rule.
            let (mut mean, step) = (0.0, 0.25);
            let mut x = step / 2.0;
            while at(x) < 1.0 - 1e-12 && x < 1e6 {
                mean += (1.0 - at(x)) * step;
                x += step;
            }
            assert!((mean / waiting.mean_ns() - 1.0).abs() < 1e-5, "{load}: {mean}, {}", waiting.mean_ns());
        }
    }

    /// Compares with Erlang's solution, which is precise while its alternating terms are small.
    #[test]
    fn wait_distribution_equals_erlangs_formula() {
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
    fn only_the_mean_is_known_for_a_server_with_jitter() {
        let jittering = Mg1Queue::new(0.5e9 / SERVICE, SERVICE, 1.0);
        assert_eq!((jittering.cdf(1.0), jittering.quantile(0.5)), (None, None));
        // M/M/1: load / (1 - load) service times.
        assert!((jittering.mean_ns() - SERVICE).abs() < 1e-9, "{}", jittering.mean_ns());
        assert!((waiting(0.5).mean_ns() - SERVICE / 2.0).abs() < 1e-9);
        let median = waiting(0.9).quantile(0.5).expect("always as long");
        assert!((waiting(0.9).cdf(median).expect("always as long") - 0.5).abs() < 1e-9);
    }
}
