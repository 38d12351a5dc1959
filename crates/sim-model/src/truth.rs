//! What measuring must find.

use std::sync::OnceLock;

use crate::{Component, Config, RoundTrip, Waiting, round_trip::slices};

/// A sample of a reliable writer is sent again so often at most; the last transmission gets through.
pub const MOST_RETRANSMISSIONS: u32 = 64;

/// The true answer of a configuration for one writer, one size, one mode, at one time of a run.
///
/// Latency is of one way with the server idle, as a closed loop finds it: from the write to the delivery.
#[derive(Clone, Debug)]
pub struct Truth<'c> {
    config: &'c Config,
    /// Of the drawn latency.
    factor: f64,
    /// What policies add to it.
    qos_ns: f64,
    reliable: bool,
    /// Time of the server, on average.
    transit_ns: f64,
    /// That time in slices, `(probability, time)`, once it was needed.
    transits: OnceLock<Vec<(f64, f64)>>,
    loss: f64,
    /// Since the beginning of the run.
    at_ns: u64,
}

impl<'c> Truth<'c> {
    /// At a time since the beginning of a run that is in the mode of this factor. `qos_ns` is what the policies add
    /// ([`Config::qos_ns`]), `bytes` the payload of a sample.
    #[must_use]
    pub fn new(config: &'c Config, reliable: bool, qos_ns: f64, bytes: u64, mode: f64, at_ns: u64) -> Self {
        let factor = mode * config.factor_at(at_ns);
        let transit_ns = (config.transit_ns(bytes) as f64 * factor).round();
        let loss = config.loss_of(bytes);
        Self { config, factor, qos_ns, reliable, transit_ns, transits: OnceLock::new(), loss, at_ns }
    }

    /// The time of the server in slices of probability.
    fn transits(&self) -> &[(f64, f64)] {
        self.transits.get_or_init(|| {
            let transit = self.transit_ns;
            // what takes no time does not spread either
            if self.config.jitter == 0.0 || transit < 0.5 {
                return vec![(1.0, transit)];
            }
            let spread = Component::spread(self.config.jitter);
            slices(|q| transit * quantile(q, |x| spread.cdf(x)))
        })
    }

    /// The probability that a sample that is written at the time of this truth comes within `x` ns, of those that come.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        let within = |&(probability, transit): &(f64, f64)| probability * self.served_cdf(x, transit);
        self.transits().iter().map(within).sum()
    }

    /// The same of those for which the server takes so long.
    fn served_cdf(&self, x: f64, transit_ns: f64) -> f64 {
        let Some(stall) = self.config.stall else { return self.moving_cdf(x, transit_ns) };
        let at = self.at_ns as f64;
        let (period, length) = (stall.period_ns as f64, stall.length_ns as f64);
        // what is due in a stall comes at its end: within one, nothing more comes than before it
        let into = (at + x).rem_euclid(period);
        let (until, included) =
            if into >= period - length { (at + x - into + period - length, false) } else { (at + x, true) };
        // the server stands still too
        let done = if self.transit_ns > 0.0 {
            stall.work(self.at_ns, transit_ns as u64)
        } else {
            stall.postpone(self.at_ns)
        };
        let left = until - done as f64 + transit_ns;
        self.moving_cdf(if included { left } else { left - 1e-3 }, transit_ns)
    }

    /// Without stalls.
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

    /// The smallest time within which a share `q` of the samples comes that are written at the time of this truth.
    ///
    /// # Panics
    /// If `q` is not between 0 and 1, both exclusive.
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        quantile(q, |x| self.cdf(x))
    }

    /// The round trip, both ways being like this one, in a configuration without stalls: there the way back depends on when
    /// the way out ends.
    #[must_use]
    pub fn round_trip(&self) -> RoundTrip<'c> {
        RoundTrip::of(self.clone())
    }

    /// Mean and standard deviation. Stalls are not in it.
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
            + (self.config.jitter * self.transit_ns).powi(2)
            + (square - again * again) * resend * resend
            + reorder * (1.0 - reorder) * hold * hold;
        (mean, variance.max(0.0).sqrt())
    }

    /// Packets of so many bytes that the server takes a second; none if it has no limit.
    #[must_use]
    pub fn capacity_pps(&self) -> Option<f64> {
        let open = self.config.stall.map_or(1.0, |stall| stall.open_share());
        (self.transit_ns > 0.0).then(|| open * 1e9 / self.transit_ns)
    }

    /// Samples a second that the server takes where so many make a packet of the bytes of this truth; none if it has no
    /// limit. A transmission that is lost has been in the server; sending again takes none of its time.
    #[must_use]
    pub fn capacity_sps(&self, samples: u64) -> Option<f64> {
        self.capacity_pps().map(|packets| packets * samples as f64)
    }

    /// Samples a second that come, of so many that are offered evenly for long, each in a packet of its own. What is over the
    /// capacity does not get in: the writer waits, or the full queue drops it.
    #[must_use]
    pub fn delivered_sps(&self, offered_sps: f64) -> f64 {
        self.capacity_pps().map_or(offered_sps, |capacity| offered_sps.min(capacity)) * (1.0 - self.loss())
    }

    /// How long packets wait for the server that are offered independently, so many a second. None where nobody waits, or
    /// nobody knows: without a server, with stalls, and at its capacity or over it.
    #[must_use]
    pub fn waiting(&self, rate_pps: f64) -> Option<Waiting> {
        let capacity = self.capacity_pps()?;
        let known = self.config.stall.is_none() && rate_pps > 0.0 && rate_pps < capacity;
        known.then(|| Waiting::new(rate_pps, self.transit_ns, self.config.jitter))
    }

    /// The share of samples that the server took and that never come.
    #[must_use]
    pub fn loss(&self) -> f64 {
        if self.reliable { 0.0 } else { self.loss }
    }

    /// The share of pings without an echo, both ways being like this one.
    #[must_use]
    pub fn ping_loss(&self) -> f64 {
        1.0 - (1.0 - self.loss()) * (1.0 - self.loss())
    }

    /// The share of samples that came and come again.
    #[must_use]
    pub fn duplicates(&self) -> f64 {
        if self.reliable { 0.0 } else { self.config.duplicate }
    }

    /// How often a sample is sent again, and how probable that is.
    fn retransmissions(&self) -> impl Iterator<Item = (f64, f64)> {
        let (loss, most) = if self.reliable { (self.loss, MOST_RETRANSMISSIONS) } else { (0.0, 0) };
        let so_far = move |times: u32| if times == 0 { 1.0 } else { loss.powi(times.cast_signed()) };
        // what is less probable than the rounding of 1 plays no part
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

/// The smallest value of which the distribution function `cdf` reaches `q`.
pub(crate) fn quantile(q: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    assert!(q > 0.0 && q < 1.0, "{q} is no quantile");
    let mut enough = 1.0;
    // what is added up may miss 1 by its rounding
    while cdf(enough) < q && enough < 1e30 {
        enough *= 2.0;
    }
    let mut too_little = -1.0;
    for _ in 0..120 {
        let middle = f64::midpoint(too_little, enough);
        if cdf(middle) >= q { enough = middle } else { too_little = middle }
    }
    enough.max(0.0)
}
