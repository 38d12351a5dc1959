//! True latency, capacity and loss of a configuration.

use std::sync::OnceLock;

use crate::{
    config::Config,
    distribution::Component,
    mg1_queue::Mg1Queue,
    quantile::{quantile, slices},
};

/// Maximum number of retransmissions of a reliable sample; the last transmission always succeeds.
pub const MOST_RETRANSMISSIONS: u32 = 64;

/// True results of a configuration for one writer, one size, one mode and one time of a run.
///
/// The latency is one-way with an idle server, as in a closed loop: from the write to the delivery.
#[derive(Clone, Debug)]
pub struct GroundTruth<'c> {
    config: &'c Config,
    /// Factor of the drawn latency.
    factor: f64,
    /// Latency that policies add, in ns.
    qos_ns: f64,
    reliable: bool,
    /// Mean time of the server, in ns.
    transit_ns: f64,
    /// Coefficient of variation of the server time.
    jitter: f64,
    /// Server time in slices `(probability, time in ns)`, computed on first use.
    transits: OnceLock<Vec<(f64, f64)>>,
    loss: f64,
    /// Time since the start of the run, in ns.
    at_ns: u64,
}

impl<'c> GroundTruth<'c> {
    /// Creates the truth at the time `at_ns` since the start of a run with the factor `mode`. `qos_ns` is what the
    /// policies add ([`Config::qos_ns`]), `bytes` the payload of a sample.
    #[must_use]
    pub fn new(config: &'c Config, reliable: bool, qos_ns: f64, bytes: u64, mode: f64, at_ns: u64) -> Self {
        let factor = mode * config.factor_at(at_ns);
        let transit_ns = (config.transit_ns(bytes) as f64 * factor).round();
        let loss = config.loss_of(bytes);
        let jitter = config.jitter;
        Self { config, factor, qos_ns, reliable, transit_ns, jitter, transits: OnceLock::new(), loss, at_ns }
    }

    /// Returns the truth of a writer whose server moves `copies` copies of each packet, one for each reader: its
    /// capacity, and the latency to the reader of the last copy.
    #[must_use]
    pub fn of_copies(self, copies: u32) -> Self {
        let copies = f64::from(copies.max(1));
        // The sum of independent gamma variates of one scale has a gamma distribution, too.
        let (transit_ns, jitter) = (self.transit_ns * copies, self.jitter / copies.sqrt());
        Self { transit_ns, jitter, transits: OnceLock::new(), ..self }
    }

    /// Returns the truth of a reader with this factor of the latency to it.
    #[must_use]
    pub fn of_reader(self, factor: f64) -> Self {
        Self { factor: self.factor * factor, ..self }
    }

    /// Returns the server time in slices `(probability, time in ns)`.
    fn transits(&self) -> &[(f64, f64)] {
        self.transits.get_or_init(|| {
            let transit = self.transit_ns;
            // A time of 0 has no spread.
            if self.jitter == 0.0 || transit < 0.5 {
                return vec![(1.0, transit)];
            }
            let spread = Component::spread(self.jitter);
            slices(|q| transit * quantile(q, |x| spread.cdf(x)))
        })
    }

    /// Returns the probability that a sample written at the time of this truth arrives within `x` ns, given that it
    /// arrives.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        let within = |&(probability, transit): &(f64, f64)| probability * self.served_cdf(x, transit);
        self.transits().iter().map(within).sum()
    }

    /// Returns the same probability, given a server time of `transit_ns`.
    fn served_cdf(&self, x: f64, transit_ns: f64) -> f64 {
        let Some(stall) = self.config.stall else { return self.moving_cdf(x, transit_ns) };
        let at = self.at_ns as f64;
        let (period, length) = (stall.period_ns as f64, stall.length_ns as f64);
        // A sample that is due in a stall arrives at its end: during a stall the distribution function stays constant.
        let into = (at + x).rem_euclid(period);
        let (until, included) =
            if into >= period - length { (at + x - into + period - length, false) } else { (at + x, true) };
        // A stall also stops the server.
        let done = if self.transit_ns > 0.0 {
            stall.work(self.at_ns, transit_ns as u64)
        } else {
            stall.postpone(self.at_ns)
        };
        let left = until - done as f64 + transit_ns;
        self.moving_cdf(if included { left } else { left - 1e-3 }, transit_ns)
    }

    /// Returns the same probability, given a server time of `transit_ns` and without stalls.
    fn moving_cdf(&self, x: f64, transit_ns: f64) -> f64 {
        let Config { reorder, hold_ns, retransmit_ns, .. } = *self.config;
        let left = x - transit_ns - self.qos_ns;
        self.retransmissions()
            .map(|(times, probability)| {
                let rest = left - times * retransmit_ns as f64;
                let held = if reorder > 0.0 { self.drawn(rest - hold_ns as f64) } else { 0.0 };
                probability * ((1.0 - reorder) * self.drawn(rest) + reorder * held)
            })
            .sum()
    }

    /// Returns the quantile `q` of the latency in ns of samples written at the time of this truth.
    ///
    /// # Panics
    /// Panics if `q` is not in (0, 1).
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        quantile(q, |x| self.cdf(x))
    }

    /// Returns mean and standard deviation of the latency in ns, without stalls.
    #[must_use]
    pub fn mean_and_sd(&self) -> (f64, f64) {
        let Config { reorder, hold_ns, retransmit_ns, .. } = *self.config;
        let (mean, variance) = self.config.latency.mean_and_variance();
        let (mut again, mut square) = (0.0, 0.0);
        for (times, probability) in self.retransmissions() {
            again += probability * times;
            square += probability * times * times;
        }
        let (hold, resend) = (hold_ns as f64, retransmit_ns as f64);
        let mean = self.transit_ns + self.qos_ns + self.factor * mean + again * resend + reorder * hold;
        let variance = self.factor * self.factor * variance
            + (self.jitter * self.transit_ns).powi(2)
            + (square - again * again) * resend * resend
            + reorder * (1.0 - reorder) * hold * hold;
        (mean, variance.max(0.0).sqrt())
    }

    /// Returns the packets of the size of this truth that the server processes per second; `None`: unlimited.
    #[must_use]
    pub fn capacity_pps(&self) -> Option<f64> {
        let open = self.config.stall.map_or(1.0, |stall| stall.open_share());
        (self.transit_ns > 0.0).then(|| open * 1e9 / self.transit_ns)
    }

    /// Returns the capacity in samples/s with `samples` per packet of the size of this truth; `None`: unlimited. A
    /// lost transmission uses server time; retransmissions use none.
    #[must_use]
    pub fn capacity_sps(&self, samples: u64) -> Option<f64> {
        self.capacity_pps().map(|packets| packets * samples as f64)
    }

    /// Returns the delivered samples/s for a constant offered rate, with one sample per packet. The excess over the
    /// capacity is either not accepted (the writer waits) or dropped (full queue).
    #[must_use]
    pub fn delivered_sps(&self, offered_sps: f64) -> f64 {
        self.capacity_pps().map_or(offered_sps, |capacity| offered_sps.min(capacity)) * (1.0 - self.loss())
    }

    /// Returns the waiting time for the server with independent arrivals at `rate_pps` packets/s. `None` without a
    /// server time, with stalls, and at or above the capacity.
    #[must_use]
    pub fn waiting(&self, rate_pps: f64) -> Option<Mg1Queue> {
        let capacity = self.capacity_pps()?;
        let known = self.config.stall.is_none() && rate_pps > 0.0 && rate_pps < capacity;
        known.then(|| Mg1Queue::new(rate_pps, self.transit_ns, self.jitter))
    }

    /// Returns the share of samples that enter the server and are never delivered.
    #[must_use]
    pub fn loss(&self) -> f64 {
        if self.reliable { 0.0 } else { self.loss }
    }

    /// Returns the share of pings without an echo if both directions have this truth.
    #[must_use]
    pub fn ping_loss(&self) -> f64 {
        1.0 - (1.0 - self.loss()) * (1.0 - self.loss())
    }

    /// Returns the share of delivered samples that are delivered twice.
    #[must_use]
    pub fn duplicates(&self) -> f64 {
        if self.reliable { 0.0 } else { self.config.duplicate }
    }

    /// Iterates over the possible numbers of retransmissions, each with its probability.
    fn retransmissions(&self) -> impl Iterator<Item = (f64, f64)> {
        let (loss, most) = if self.reliable { (self.loss, MOST_RETRANSMISSIONS) } else { (0.0, 0) };
        let so_far = move |times: u32| if times == 0 { 1.0 } else { loss.powi(times.cast_signed()) };
        // Probabilities below the rounding error of 1 are ignored.
        (0..=most).take_while(move |times| so_far(*times) > 1e-18).map(move |times| {
            (f64::from(times), if times == most { so_far(times) } else { so_far(times) * (1.0 - loss) })
        })
    }

    fn drawn(&self, x: f64) -> f64 {
        if x < 0.0 {
            0.0
        } else if self.factor == 0.0 {
            1.0
        } else {
            self.config.latency.cdf(x / self.factor)
        }
    }
}
